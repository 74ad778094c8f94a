"""Word alignment: how many of a message's words an utterance has, and the other way round, by meaning.

Each piece of the message meets its nearest piece of the utterance, and each piece of the utterance its nearest of the
message. The mean cosines of both directions, in which rare pieces weigh more, are precision and recall; the similarity
is their harmonic mean. In the message, the embedded network also weighs the pieces: what stands around a request has
little salience (`encoders.context`). The pieces are those of the embedded model, whatever encoder makes the vectors.

A vector of the whole text can be near an utterance that lacks the one word that matters. On development sets word
alignment therefore tells out-of-scope messages from the rest better than the same pieces as a sum.

Source: Zhang et al. 2020, "BERTScore: Evaluating Text Generation with BERT".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.encoders.context import embedded_context
from intentmatch.pieces.vectors import DIM, embedded_piece_vectors
from intentmatch.runtime.block_sizes import ALIGNED_TEXTS

LEADING = 5
"""Leading intents of a message whose nearest utterances are aligned with it."""

WORD_WEIGHT, TRANSFORMER_WORD_WEIGHT = 1.3, 0.5
"""Weights of the word similarity of an intent's nearest utterance in the evidence: with a static model, and with a
transformer, whose vectors already tell words apart. With all-MiniLM-L6-v2, 1.3 loses 0.2 to 2.7 points of first
candidates on three of five development sets; with the embedded encoder, 0.65 gains none and loses 0.002 to 0.005 in
AUROC.
"""
_TRANSFORMERS = frozenset({"sentence_transformer", "onnx", "remote"})

_Pieces = tuple[Vectors, NDArray[np.float32], Sequence[int] | NDArray[np.integer[Any]]]
"""The unit vectors of the pieces of several texts in order, their weights, and how many pieces each text has."""

# So that a text of pieces that do not count still has weights.
_LEAST_SALIENCE = np.float32(1e-3)
# Larger than the id of any piece.
_NO_PIECE = 2**31 - 1


def word_weight(encoder: str) -> float:
    """Return the weight of word similarity for an encoder, given by its name or by the setting `encoder`."""
    return TRANSFORMER_WORD_WEIGHT if encoder.partition(":")[0] in _TRANSFORMERS else WORD_WEIGHT


class WordAlignment:
    """Aligns messages with the utterances of a registry. Immutable, safe to use from many threads."""

    def __init__(self, pieces: NDArray[np.int32], counts: NDArray[np.int32], weight: float = WORD_WEIGHT) -> None:
        """Prepare the utterances: `pieces` of all of them in order, and how many pieces each has.

        `weight` is that of the similarities in the evidence.
        """
        self.pieces, self.counts, self.weight = pieces, counts, weight
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
        self._rarity = (np.log((1 + len(counts)) / (1 + utterances)) + 1).astype(np.float32)
        # Of the pieces of an utterance, as if the registry did not have the utterance.
        self._rarity_elsewhere = (np.log(max(1, len(counts)) / np.maximum(1, utterances)) + 1).astype(np.float32)
        self._vectors = np.zeros((size, DIM), dtype=np.float32)
        self._vectors[:-1] = embedded_piece_vectors().unit(known)
        self._known_weights = self._weights_of_utterances()

    def _weights_of_utterances(self) -> NDArray[np.float32]:
        """Return the summed rarity of each utterance's pieces; 1 for an utterance without."""
        sums = np.ones(len(self.counts), dtype=np.float32)
        some = np.flatnonzero(self.counts)
        if len(some):
            sums[some] = np.add.reduceat(self._rarity.take(self._places), self._begins.take(some))
        return sums

    @cached_property
    def _salience(self) -> NDArray[np.float32]:
        """The salience of all pieces of the utterances, which only cross-validation needs."""
        spans = zip(self._begins.tolist(), self._ends.tolist(), strict=True)
        return _saliences([self.pieces[begin:end].tolist() for begin, end in spans])

    @classmethod
    def fit(cls, texts: Sequence[Sequence[int]], weight: float = WORD_WEIGHT) -> WordAlignment:
        """Prepare a registry's utterances, each given by its known pieces; `weight` as in the constructor."""
        flat = [piece for pieces in texts for piece in pieces]
        return cls(np.array(flat, dtype=np.int32), np.array([*map(len, texts)], dtype=np.int32), weight)

    def similarities(self, pieces: Sequence[int], rows: Sequence[int]) -> list[float]:
        """Return the similarity in [0, 1] of a text, given by its known pieces, to each utterance, given by its row."""
        if not pieces:
            return [0.0] * len(rows)
        # For so few pieces a dictionary is three times as fast as numpy.
        found, none = self._place_of, self._unseen
        numbers = [found.get(piece, none) for piece in pieces]
        places = np.array(numbers)
        vectors = self._vectors.take(places, 0)
        if none in numbers:
            unseen = places == none
            vectors[unseen] = embedded_piece_vectors().unit(np.array(pieces, dtype=np.int32)[unseen])
        _, salience = embedded_context().read(pieces)
        return self._aligned(vectors, self._rarity.take(places) * (salience + _LEAST_SALIENCE), rows)

    def similarities_many(
        self,
        texts: Sequence[Sequence[int]],
        rows: Sequence[Sequence[int]],
        saliences: Sequence[NDArray[np.float32]] | None = None,
    ) -> list[list[float]]:
        """Return for each text its similarity to each of its own `rows`, as `similarities` does.

        Takes half the time: only the cosines are computed text by text. `saliences` are those of the pieces of each
        text, if the texts were encoded with them.
        """

        def similarities(some: slice) -> list[list[float]]:
            known = texts[some]
            pieces = np.array([piece for of_text in known for piece in of_text], dtype=np.int32)
            places, unseen = self._looked_up(pieces)
            vectors = self._vectors.take(places, axis=0)
            vectors[unseen] = embedded_piece_vectors().unit(pieces[unseen])
            salience = _saliences(known) if saliences is None else np.concatenate(saliences[some]) + _LEAST_SALIENCE
            weights = self._rarity.take(places) * salience
            return self._aligned_many(vectors, weights, [*map(len, known)], rows[some])

        return [found for some in _blocks(len(texts)) for found in similarities(some)]

    def similarities_of_rows(self, rows: NDArray[np.int64], others: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return for each utterance, given by its row, its similarity to each of its own `others`.

        As `similarities_many` does for their texts, if the registry did not have the utterance.
        """

        def similarities(some: slice) -> list[list[float]]:
            own = rows[some].astype(np.intp, copy=False)
            lengths = self.counts.take(own)
            ranges = _ranges(self._begins.take(own), lengths)
            places = self._places.take(ranges)
            vectors = self._vectors.take(places, axis=0)
            weights = self._rarity_elsewhere.take(places) * self._salience.take(ranges)
            return self._aligned_many(vectors, weights, lengths.tolist(), others[some])

        return [found for some in _blocks(len(rows)) for found in similarities(some)]

    def rows_with(self, pieces: Collection[int], most: int) -> list[int]:
        """Return the rows of the utterances that have all of these pieces; none for more than `most` different ones."""
        different = {*pieces}
        if not 0 < len(different) <= most:
            return []
        found = [self._ends.searchsorted(np.flatnonzero(self.pieces == piece), "right") for piece in different]
        return sorted(set[int].intersection(*(set(rows.tolist()) for rows in found)))

    def rarity(self, pieces: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the inverse document frequency of pieces among the utterances, of the same shape."""
        return self._rarity[self._looked_up(pieces)[0]]

    def to_tensors(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, to be stored in a file."""
        return {"pieces": self.pieces, "piece_counts": self.counts, "word_weight": np.array([self.weight])}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]]) -> WordAlignment | None:
        """Make an alignment from the arrays of `to_tensors`, others are ignored; None if there is none among them."""
        if "pieces" not in tensors:
            return None
        weight = float(tensors["word_weight"][0]) if "word_weight" in tensors else WORD_WEIGHT
        return cls(tensors["pieces"], tensors["piece_counts"], weight)

    def _looked_up(self, pieces: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the positions of pieces in the vocabulary, and which of them no utterance has."""
        places = self._vocabulary.searchsorted(pieces)
        unseen = self._vocabulary.take(places) != pieces
        places[unseen] = self._unseen
        return places, unseen

    def _aligned_many(
        self, vectors: Vectors, rarity: NDArray[np.float32], lengths: Sequence[int], rows: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """Return the similarity of each of several texts to each of its own `rows`.

        `vectors` are those of the pieces of all texts in order, with their `rarity`; `lengths` counts the pieces of
        each text.
        """
        # Texts and utterances without pieces have similarity 0.
        some = [
            [row for row in of_text if self.counts.item(row)] if length else []
            for of_text, length in zip(rows, lengths, strict=True)
        ]
        asked = np.array([row for of_text in some for row in of_text], dtype=np.intp)
        if not len(asked):
            return [[0.0] * len(of_text) for of_text in rows]
        counts = self.counts.take(asked)
        places = self._places.take(_ranges(self._begins.take(asked), counts))
        others = self._vectors.take(places, axis=0), self._rarity.take(places), counts
        values = iter(aligned_many((vectors, rarity, lengths), others, [*map(len, some)]))
        return [
            [next(values) if length and self.counts.item(row) else 0.0 for row in of_text]
            for of_text, length in zip(rows, lengths, strict=True)
        ]

    def _aligned(self, vectors: Vectors, rarity: NDArray[np.float32], rows: Sequence[int]) -> list[float]:
        """Return the similarity of some pieces to each utterance."""
        found = [self._places_of[row] for row in rows]
        lengths = [*map(len, found)]
        if not rows or 0 in lengths:
            some = [row for row, length in zip(rows, lengths, strict=True) if length]
            values = iter(self._aligned(vectors, rarity, some) if some else ())
            return [next(values) if length else 0.0 for length in lengths]
        places, begins = np.concatenate(found), [0, *accumulate(lengths[:-1])]
        others = self._vectors.take(places, 0), self._rarity.take(places), self._known_weights.take(rows)
        return aligned(vectors, rarity, others, begins)


def aligned(
    vectors: Vectors,
    weights: NDArray[np.float32],
    others: tuple[Vectors, NDArray[np.float32], NDArray[np.float32]],
    begins: Sequence[int],
) -> list[float]:
    """Return the similarity in [0, 1] of a text to each of several others.

    `vectors` are the unit vectors of its pieces, shape `(pieces, dim)`, with their weights. `others` are vectors and
    weights of the pieces of all other texts in order, and the summed weights of each of these; `begins` holds the first
    row of each, which all have a piece.
    """
    vectors_of_others, weights_of_others, sums_of_others = others
    cosines = vectors.dot(vectors_of_others.T)
    precision = weights.dot(np.maximum.reduceat(cosines, begins, 1)) / np.add.reduce(weights)
    recall = np.add.reduceat(weights_of_others * np.maximum.reduce(cosines), begins) / sums_of_others
    return _harmonic_means(precision, recall)


def aligned_many(texts: _Pieces, others: _Pieces, others_of_text: Sequence[int]) -> list[float]:
    """Return the similarity in [0, 1] of each of several texts to each of its own others, in order.

    `others_of_text` says how many of the `others` belong to each text. A text without pieces has none.
    """
    vectors, weights, lengths = texts
    vectors_of_others, weights_of_others, lengths_of_others = others
    ends: NDArray[np.int64] = np.cumsum(lengths_of_others)
    begins = ends - lengths_of_others
    precision, best = np.empty(len(begins), np.float32), np.empty(len(vectors_of_others), np.float32)
    begins_list, ends_list = begins.tolist(), ends.tolist()
    piece = other = 0
    for length, number in zip(lengths, others_of_text, strict=True):
        if number:
            own, them = slice(piece, piece + length), slice(other, other + number)
            first, last = begins_list[other], ends_list[other + number - 1]
            cosines = vectors[own].dot(vectors_of_others[first:last].T)
            maxima = np.maximum.reduceat(cosines, [begin - first for begin in begins_list[them]], axis=1)
            precision[them] = weights[own].dot(maxima) / np.add.reduce(weights[own])
            np.maximum.reduce(cosines, axis=0, out=best[first:last])
        piece, other = piece + length, other + number
    recall = np.add.reduceat(weights_of_others * best, begins) / np.add.reduceat(weights_of_others, begins)
    return _harmonic_means(precision, recall)


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


def _harmonic_means(precision: NDArray[np.floating[Any]], recall: NDArray[np.floating[Any]]) -> list[float]:
    # For so few numbers a loop is faster than numpy.
    both = zip(precision.tolist(), recall.tolist(), strict=True)
    return [2.0 * one * other / (one + other) if one > 0.0 and other > 0.0 else 0.0 for one, other in both]
