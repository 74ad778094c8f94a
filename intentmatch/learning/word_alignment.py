"""Word alignment: how many of a message's words an intent has, and of an utterance's words the message, by meaning.

Each piece of the message meets its nearest piece among all utterances of the intent: a paraphrase takes its words from
here and there, while a message about another subject has a word that no line comes near. The other way round, each
piece of the nearest utterance meets its nearest piece of the message. A piece is as far away as one minus the cosine.
Precision and recall are one minus the root mean square of these distances, in which important pieces weigh more: so one
word that is missing counts more than many small differences. The similarity is their harmonic mean.

Important are pieces that are rare in the registry and long in the embedded model, and in a message those with much
salience: what stands around a request has little (`encoders.context`). The pieces are those of the embedded model,
whatever encoder makes the vectors.

A vector of the whole text can be near an utterance that lacks the one word that matters. On development sets word
alignment therefore tells out-of-scope messages from the rest better than the same pieces as a sum.

Source: Zhang et al. 2020, "BERTScore: Evaluating Text Generation with BERT", which has means of cosines with one text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.encoders.context import embedded_context
from intentmatch.learning.intent_pieces import IntentPieces
from intentmatch.pieces.vectors import DIM, embedded_piece_vectors
from intentmatch.runtime.block_sizes import ALIGNED_TEXTS

LEADING = 5
"""Leading intents of a message whose words are aligned with it."""

WORD_WEIGHT, TRANSFORMER_WORD_WEIGHT = 1.3, 0.5
"""Weights of the word similarity of an intent in the evidence: with a static model, and with a transformer, whose
vectors already tell words apart. With all-MiniLM-L6-v2, 1.3 loses 0.2 to 2.7 points of first candidates on three of
five development sets; with the embedded encoder, 0.65 gains none and loses 0.002 to 0.005 in AUROC.
"""
_TRANSFORMERS = frozenset({"sentence_transformer", "onnx", "remote"})

# So that a text of pieces that do not count still has weights.
_LEAST_SALIENCE = np.float32(1e-3)
# Larger than the id of any piece.
_NO_PIECE = 2**31 - 1


def word_weight(encoder: str) -> float:
    """Return the weight of word similarity for an encoder, given by its name or by the setting `encoder`."""
    return TRANSFORMER_WORD_WEIGHT if encoder.partition(":")[0] in _TRANSFORMERS else WORD_WEIGHT


class WordAlignment:
    """Aligns messages with the intents of a registry. Safe to use from many threads."""

    def __init__(
        self, pieces: NDArray[np.int32], counts: NDArray[np.int32], owners: Sequence[int], weight: float = WORD_WEIGHT
    ) -> None:
        """Prepare the utterances: `pieces` of all of them in order, how many each has, and its intent; intents rise.

        `weight` is that of the similarities in the evidence.
        """
        self.pieces, self.counts, self.weight = pieces, counts, weight
        self._owners = owners
        self._ends = np.cumsum(counts)
        self._begins = self._ends - counts
        known, places = np.unique(pieces, return_inverse=True)
        # The last place stands for all pieces that no utterance has.
        self._unseen = len(known)
        self._place_of = {piece: place for place, piece in enumerate(known.tolist())}
        # A last entry, so that a search for any piece ends within the array.
        self._vocabulary = np.append(known, np.int32(_NO_PIECE))
        self._places = places.astype(np.int32)
        spans = zip(self._begins.tolist(), self._ends.tolist(), strict=True)
        self._places_of = [self._places[begin:end] for begin, end in spans]
        size = len(self._vocabulary)
        # Counts are asked for because numpy imports numpy.ma to find unique numbers alone.
        once, _ = np.unique(
            np.repeat(np.arange(len(counts), dtype=np.int64), counts) * size + places, return_counts=True
        )
        utterances = np.bincount((once % size).astype(np.intp, copy=False), minlength=size)
        lengths = np.append(embedded_piece_vectors().lengths(known), np.float32(1.0))
        self._importance = (np.log((1 + len(counts)) / (1 + utterances)) + 1).astype(np.float32) * lengths
        # Of the pieces of an utterance, as if the registry did not have the utterance.
        elsewhere = np.log(max(1, len(counts)) / np.maximum(1, utterances)) + 1
        self._importance_elsewhere = elsewhere.astype(np.float32) * lengths
        self._vectors = np.zeros((size, DIM), dtype=np.float32)
        self._vectors[:-1] = embedded_piece_vectors().unit(known)
        self._wholes = self._summed_importance()
        self._intents = IntentPieces(self._places_of, owners, self._vectors)

    def _summed_importance(self) -> NDArray[np.float32]:
        """Return the summed importance of each utterance's pieces; 1 for an utterance without."""
        sums = np.ones(len(self.counts), dtype=np.float32)
        some = np.flatnonzero(self.counts)
        if len(some):
            sums[some] = np.add.reduceat(self._importance.take(self._places), self._begins.take(some))
        return sums

    @cached_property
    def _salience(self) -> NDArray[np.float32]:
        """The salience of all pieces of the utterances, which only cross-validation needs."""
        spans = zip(self._begins.tolist(), self._ends.tolist(), strict=True)
        return _saliences([self.pieces[begin:end].tolist() for begin, end in spans])

    @classmethod
    def fit(cls, texts: Sequence[Sequence[int]], owners: Sequence[int], weight: float = WORD_WEIGHT) -> WordAlignment:
        """Prepare a registry's utterances, each given by its known pieces; the rest as in the constructor."""
        flat = np.array([piece for pieces in texts for piece in pieces], dtype=np.int32)
        counts = np.array([*map(len, texts)], dtype=np.int32)
        return cls(flat, counts, owners, weight)

    def similarities(self, pieces: Sequence[int], rows: Sequence[int]) -> list[float]:
        """Return the similarity in [0, 1] of a text, given by its known pieces, to some intents.

        Each intent is given by the row of its utterance that is nearest to the text. All its utterances count.
        """
        if not pieces:
            return [0.0] * len(rows)
        # For so few pieces a dictionary is three times as fast as numpy.
        found, none = self._place_of, self._unseen
        numbers = [found.get(piece, none) for piece in pieces]
        places = np.array(numbers)
        vectors, importance = self._vectors.take(places, 0), self._importance.take(places)
        if none in numbers:
            unseen = places == none
            self._see(np.array(pieces, dtype=np.int32)[unseen], unseen, vectors, importance)
        _, salience = embedded_context().read(pieces)
        return self._aligned(pieces, vectors, importance * (salience + _LEAST_SALIENCE), rows)

    def similarities_many(
        self,
        texts: Sequence[Sequence[int]],
        rows: Sequence[Sequence[int]],
        saliences: Sequence[NDArray[np.float32]] | None = None,
    ) -> list[list[float]]:
        """Return for each text its similarity to the intents of its own `rows`, as `similarities` does.

        Takes half the time: only the cosines are computed text by text. `saliences` are those of the pieces of each
        text, if the texts were encoded with them.
        """

        def similarities(some: slice) -> list[list[float]]:
            known = texts[some]
            pieces = np.array([piece for of_text in known for piece in of_text], dtype=np.int32)
            places, unseen = self._looked_up(pieces)
            vectors, importance = self._vectors.take(places, axis=0), self._importance.take(places)
            self._see(pieces[unseen], unseen, vectors, importance)
            salience = _saliences(known) if saliences is None else np.concatenate(saliences[some]) + _LEAST_SALIENCE
            return self._aligned_many(known, vectors, importance * salience, rows[some])

        return [found for some in _blocks(len(texts)) for found in similarities(some)]

    def similarities_of_rows(
        self, rows: NDArray[np.int64], others: Sequence[Sequence[int]], without: Sequence[Collection[int]]
    ) -> list[list[float]]:
        """Return for each utterance, given by its row, its similarity to the intents of its own `others`.

        As `similarities_many` does for their texts, if the registry did not have the utterance: `without` holds its
        copies, which do not count.
        """

        def similarities(some: slice) -> list[list[float]]:
            own = rows[some].astype(np.intp, copy=False)
            ranges = _ranges(self._begins.take(own), self.counts.take(own))
            places = self._places.take(ranges)
            importance = self._importance_elsewhere.take(places) * self._salience.take(ranges)
            texts = [self.pieces[self._begins[row] : self._ends[row]].tolist() for row in own.tolist()]
            vectors = self._vectors.take(places, axis=0)
            return self._aligned_many(texts, vectors, importance, others[some], without[some])

        return [found for some in _blocks(len(rows)) for found in similarities(some)]

    def rows_with(self, pieces: Collection[int], most: int) -> list[int]:
        """Return the rows of the utterances that have all of these pieces; none for more than `most` different ones."""
        different = {*pieces}
        if not 0 < len(different) <= most:
            return []
        found = [self._ends.searchsorted(np.flatnonzero(self.pieces == piece), "right") for piece in different]
        return sorted(set[int].intersection(*(set(rows.tolist()) for rows in found)))

    def importance(self, pieces: Sequence[int]) -> NDArray[np.float32]:
        """Return how much pieces count in a text where all have the same salience, shape `(pieces,)`."""
        ids = np.array(pieces, dtype=np.int32)
        places, unseen = self._looked_up(ids)
        found: NDArray[np.float32] = self._importance.take(places)
        found[unseen] *= embedded_piece_vectors().lengths(ids[unseen])
        return found

    def to_tensors(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, to be stored in a file."""
        return {"pieces": self.pieces, "piece_counts": self.counts, "word_weight": np.array([self.weight])}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]], owners: Sequence[int]) -> WordAlignment:
        """Make an alignment from the arrays of `to_tensors`; others are ignored.

        `owners` are the intents of the utterances, as in the constructor.
        """
        return cls(tensors["pieces"], tensors["piece_counts"], owners, float(tensors["word_weight"][0]))

    @staticmethod
    def _see(
        pieces: NDArray[np.int32], unseen: NDArray[np.bool_], vectors: Vectors, importance: NDArray[np.float32]
    ) -> None:
        """Put in the vectors and the importance of the pieces that no utterance has."""
        vectors[unseen] = embedded_piece_vectors().unit(pieces)
        importance[unseen] *= embedded_piece_vectors().lengths(pieces)

    def _looked_up(self, pieces: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the positions of pieces in the vocabulary, and which of them no utterance has."""
        places = self._vocabulary.searchsorted(pieces)
        unseen = self._vocabulary.take(places) != pieces
        places[unseen] = self._unseen
        return places, unseen

    def _aligned(
        self,
        pieces: Sequence[int],
        vectors: Vectors,
        importance: NDArray[np.float32],
        rows: Sequence[int],
    ) -> list[float]:
        """Return the similarity of a text to the intents of some rows, from the vectors of its pieces."""
        found = [self._places_of[row] for row in rows]
        lengths = [*map(len, found)]
        if not rows or 0 in lengths:
            some = [row for row, length in zip(rows, lengths, strict=True) if length]
            values = iter(self._aligned(pieces, vectors, importance, some) if some else ())
            return [next(values) if length else 0.0 for length in lengths]
        places, begins = np.concatenate(found), [0, *accumulate(lengths[:-1])]
        best = np.maximum.reduce(vectors.dot(self._vectors.take(places, 0).T))
        of_rows = zip(
            lacking(best, self._importance.take(places), begins), self._wholes.take(rows).tolist(), strict=True
        )
        weights: list[float] = importance.tolist()
        own, whole = self._lacking(pieces, vectors, weights, rows), sum(weights)
        return [_similarity(one, whole, *other) for one, other in zip(own, of_rows, strict=True)]

    def _aligned_many(
        self,
        texts: Sequence[Sequence[int]],
        vectors: Vectors,
        importance: NDArray[np.float32],
        rows: Sequence[Sequence[int]],
        without: Sequence[Collection[int]] | None = None,
    ) -> list[list[float]]:
        """Return the similarity of each of several texts to the intents of its own `rows`.

        `vectors` are those of the pieces of all texts in order, with their `importance`.
        """
        # Texts and utterances without pieces have similarity 0.
        some = [
            [row for row in of_text if self.counts.item(row)] if text else []
            for of_text, text in zip(rows, texts, strict=True)
        ]
        asked = np.array([row for of_text in some for row in of_text], dtype=np.intp)
        if not len(asked):
            return [[0.0] * len(of_text) for of_text in rows]
        counts = self.counts.take(asked)
        places = self._places.take(_ranges(self._begins.take(asked), counts))
        others, ends = self._vectors.take(places, axis=0), np.cumsum(counts)
        of_texts, wholes, best = list[float](), list[float](), np.empty(len(places), np.float32)
        ends_list, weights = [0, *ends.tolist()], importance.tolist()
        piece = other = 0
        for number, (text, of_text) in enumerate(zip(texts, some, strict=True)):
            if of_text:
                own, to = slice(piece, piece + len(text)), other + len(of_text)
                span = slice(ends_list[other], ends_list[to])
                np.maximum.reduce(vectors[own].dot(others[span].T), axis=0, out=best[span])
                left_out = without[number] if without else ()
                of_texts += self._lacking(text, vectors[own], weights[own], of_text, left_out)
                wholes += [sum(weights[own])] * len(of_text)
                other = to
            piece += len(text)
        of_rows = lacking(best, self._importance.take(places), ends - counts)
        values = map(_similarity, of_texts, wholes, of_rows, self._wholes.take(asked).tolist())
        return [
            [next(values) if text and self.counts.item(row) else 0.0 for row in of_text]
            for of_text, text in zip(rows, texts, strict=True)
        ]

    def _lacking(
        self,
        pieces: Sequence[int],
        vectors: Vectors,
        weights: Sequence[float],
        rows: Sequence[int],
        without: Collection[int] = (),
    ) -> list[float]:
        """Return how much of a text the intent of each row lacks, from the importance of the text's pieces."""
        owners, lacking_in = self._owners, self._intents.lacking
        return [lacking_in(pieces, vectors, weights, owners[row], without) for row in rows]


def lacking(
    cosines: NDArray[np.float32], importance: NDArray[np.float32], begins: Sequence[int] | NDArray[np.integer[Any]]
) -> list[float]:
    """Return how much each of several texts lacks: the weighted sum of the squared distances of its pieces.

    `cosines` are those of the pieces of all texts to what is nearest, with their `importance`; `begins` holds the first
    piece of each text.
    """
    distances = 1.0 - cosines
    distances *= distances
    distances *= importance
    sums: list[float] = np.add.reduceat(distances, begins).tolist()
    return sums


def _similarity(lacking: float, whole: float, lacking_of_other: float, whole_of_other: float) -> float:
    """Return the similarity in [0, 1] of two texts, from how much of each the other lacks, and how much each has."""
    found, found_of_other = 1.0 - sqrt(lacking / whole), 1.0 - sqrt(lacking_of_other / whole_of_other)
    if found <= 0.0 or found_of_other <= 0.0:
        return 0.0
    return 2.0 * found * found_of_other / (found + found_of_other)


def _saliences(texts: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """Return the salience of all pieces of some texts in order."""
    _, found = embedded_context().read_many([pieces for pieces in texts if pieces])
    found += _LEAST_SALIENCE
    return found


def _blocks(texts: int) -> list[slice]:
    return [slice(start, start + ALIGNED_TEXTS) for start in range(0, texts, ALIGNED_TEXTS)]


def _ranges(begins: NDArray[np.integer[Any]], lengths: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """Return the numbers of several ranges in order, such as 3, 4, 9 for ranges of 2 from 3 and of 1 from 9."""
    ends = np.cumsum(lengths, dtype=np.intp)
    numbers = np.arange(int(ends[-1]) if len(ends) else 0, dtype=np.intp)
    numbers += np.repeat(begins - (ends - lengths), lengths)
    return numbers
