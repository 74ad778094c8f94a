"""Evidence for the intents that lead for a message, without a look at the utterances of the others.

What the head says of every intent, how near its centre is, and how much of the message's words it has, is known from
small products. The utterances of the few intents that promise most by that are looked at, and by their words those of
the few that lead then. On development sets (10,618 messages to registries of 22 to 150 intents) the first candidate was
always the one that a look at everything finds, and the second but for 18.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.head import Head
from intentmatch.heldout import OF_WORDS, heard
from intentmatch.index import ExactIndex
from intentmatch.types import Vectors
from intentmatch.words import OwnedWords, Words

# With fewer intents, a look at everything takes no longer.
_FEWEST_INTENTS = 32
# Where so many messages look at an intent, on average, it pays to hold them against it at once.
_MESSAGES_OF_AN_INTENT = 3
# Those looked at by their vectors, and of these by their words.
_LOOKED, _READ = 8, 6
# A promise counts half of the most that words could add.
_HALF_OF_WORDS, _ONE = np.float32(OF_WORDS / 2), np.float32(1.0)


class Contender(NamedTuple):
    """An intent that may be what a message means."""

    intent: int
    """Its position in the registry."""
    score: float
    evidence: float
    row: int
    """Of its utterances, the nearest to the message."""


class Look(NamedTuple):
    """What a look at some intents finds."""

    contenders: list[Contender]
    """In no order."""
    least: float
    """The least evidence that any intent can have."""


class Leading:
    """Looks at the leading intents of an index. `enough` is the evidence from which on one could pass a threshold."""

    def __init__(self, index: ExactIndex, words: OwnedWords, head: Head, enough: float) -> None:
        dim = index.vectors.shape[1]
        self._index = index
        self._words = words
        self._enough = enough
        # What is asked of all intents stands side by side, so that one product answers it.
        self._by_vector = np.hstack([head.weights[:dim], index.centres().T])
        self._by_word = np.hstack([head.of_words(dim), words.greatest])
        self._bias = head.weights[-1]

    @staticmethod
    def worth_it(intents: int) -> bool:
        """Whether so many are enough for a look at some to take less time than one at all."""
        return intents >= _FEWEST_INTENTS

    def gains_from(self, messages: int) -> bool:
        """Whether so many take less time with `look_many` than with a `look` for each."""
        return messages * _LOOKED >= _MESSAGES_OF_AN_INTENT * len(self._bias)

    def look(
        self, vector: NDArray[np.float32], words: Words, needed: Collection[int], allowed: Collection[int] | None
    ) -> Look:
        """The leading intents, of all or of those `allowed`, and those `needed`."""
        count = len(self._bias)
        of_vector = vector @ self._by_vector
        of_words = self._by_word.take(words.places, axis=0)
        said = heard(of_vector[:count] + words.values @ of_words[:, :count] + self._bias)
        bound = np.minimum(np.abs(words.values) @ of_words[:, count:], _ONE) * _HALF_OF_WORDS
        looked = _most_promising(of_vector[count:] + bound + said, allowed)
        looked += [intent for intent in needed if intent not in looked]
        found = []
        for intent, sure, more in zip(looked, said[looked].tolist(), bound[looked].tolist(), strict=True):
            score, row = self._index.look(vector, intent)
            found.append((sure + score + more, more, intent, score, sure + score, row))
        found.sort(reverse=True)
        read = [
            one
            for place, one in enumerate(found)
            if place < _READ or one[0] + one[1] >= self._enough or one[2] in needed
        ]
        spelled = self._words.best(words, [one[2] for one in read])
        contenders = [
            Contender(intent, score, evidence + OF_WORDS * cosine, row)
            for (_, _, intent, score, evidence, row), cosine in zip(read, spelled, strict=True)
        ]
        return Look(contenders, float(said.min()))

    def look_many(self, vectors: Vectors, words: Vectors) -> list[Look]:
        """As `look` for each of some messages, with nothing needed and all allowed; `words` are rows of `WordVectors`.

        An intent's utterances are held against all messages that look at it at once, which takes a third of the time.
        """
        count = len(self._bias)
        of_vectors = vectors @ self._by_vector
        said = heard(of_vectors[:, :count] + words @ self._by_word[:, :count] + self._bias)
        bounds = np.minimum(np.abs(words) @ self._by_word[:, count:], _ONE) * _HALF_OF_WORDS
        promises = of_vectors[:, count:] + bounds + said
        looked = promises.argpartition(-_LOOKED, axis=1)[:, -_LOOKED:]
        messages = np.arange(len(vectors))[:, None]
        scores, rows = np.empty(looked.shape, dtype=np.float32), np.empty(looked.shape, dtype=np.int64)
        for intent, pairs in _grouped(looked):
            scores.flat[pairs], rows.flat[pairs] = self._index.look_many(vectors[pairs // _LOOKED], intent)
        evidence, more = said[messages, looked] + scores, bounds[messages, looked]
        promised = evidence + more
        ranked = np.argsort(np.argsort(-promised, axis=1, kind="stable"), axis=1)
        read = (ranked < _READ) | (promised + more >= self._enough)
        for intent, pairs in _grouped(np.where(read, looked, -1)):
            if intent >= 0:
                evidence.flat[pairs] += OF_WORDS * self._words.best_many(words[pairs // _LOOKED], intent)
        found = zip(*(array.tolist() for array in (looked, scores, evidence, rows, read)), strict=True)
        return [
            Look([Contender(*one) for *one, is_read in zip(*of_message, strict=True) if is_read], least)
            for of_message, least in zip(found, said.min(axis=1).tolist(), strict=True)
        ]


def _grouped(intents: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Each intent once, and where it stands in the flat array."""
    order = np.argsort(intents, axis=None, kind="stable")
    names, begins = np.unique(intents.flat[order], return_index=True)
    return zip(names.tolist(), np.split(order, begins[1:]), strict=True)


def _most_promising(promise: NDArray[np.float64], allowed: Collection[int] | None) -> list[int]:
    most: list[int]
    if allowed is None:
        most = promise.argpartition(-_LOOKED)[-_LOOKED:].tolist()
        return most
    if len(allowed) <= _LOOKED:
        return list(allowed)
    some = np.fromiter(allowed, dtype=np.int64)
    most = some[promise[some].argpartition(-_LOOKED)[-_LOOKED:]].tolist()
    return most
