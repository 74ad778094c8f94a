"""Evidence for the intents that lead for a message, without a look at the utterances of the others.

What the head says of every intent, how near its centre is, and how much of the message's words it has, is known from
small products. Only the utterances of the few intents that promise most by that are looked at.
"""

from __future__ import annotations

from collections.abc import Collection
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
_MESSAGES_OF_AN_INTENT = 2
# So many are looked at: those that promise most, and to the second number whoever promises nearly as much as the first.
_FEWEST, _MOST, _NEARLY = 7, 10, 0.5
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
    """Looks at the leading intents of an index."""

    def __init__(self, index: ExactIndex, words: OwnedWords, head: Head) -> None:
        dim = index.vectors.shape[1]
        self._index = index
        self._words = words
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
        return messages * _FEWEST >= _MESSAGES_OF_AN_INTENT * len(self._bias)

    def look(
        self, vector: NDArray[np.float32], words: Words, needed: Collection[int], allowed: Collection[int] | None
    ) -> Look:
        """The leading intents, of all or of those `allowed`, and those `needed`."""
        count = len(self._bias)
        of_vector = vector @ self._by_vector
        of_words = self._by_word.take(words.places, axis=0)
        said = heard(of_vector[:count] + words.values @ of_words[:, :count] + self._bias)
        bound = np.minimum(np.abs(words.values) @ of_words[:, count:], _ONE)
        promise = of_vector[count:] + _HALF_OF_WORDS * bound + said
        if allowed is not None:
            promise[np.setdiff1d(np.arange(count), list(allowed))] = -np.inf
        looked = self._most_promising(promise)
        looked += [intent for intent in needed if intent not in looked]
        looks = [self._index.look(vector, intent) for intent in looked]
        of_each = zip(looked, looks, said[looked].tolist(), self._words.best(words, looked), strict=True)
        contenders = [
            Contender(intent, score, sure + score + OF_WORDS * spelled, row)
            for intent, (score, row), sure, spelled in of_each
        ]
        return Look(contenders, float(said.min()))

    def _most_promising(self, promise: NDArray[np.float64]) -> list[int]:
        first = promise.argpartition(-_MOST)[-_MOST:]
        pairs = sorted(zip(promise[first].tolist(), first.tolist(), strict=True), reverse=True)
        least = pairs[0][0] - _NEARLY
        return [
            intent
            for place, (promised, intent) in enumerate(pairs)
            if (place < _FEWEST or promised >= least) and promised > -np.inf
        ]

    def look_many(self, vectors: Vectors, words: Vectors) -> list[Look]:
        """As `look` for each of some messages, with nothing needed and all allowed; `words` are rows of `WordVectors`.

        An intent's utterances are held against all messages that look at it at once, which takes a third of the time.
        """
        count = len(self._bias)
        of_vectors = vectors @ self._by_vector
        said = heard(of_vectors[:, :count] + words @ self._by_word[:, :count] + self._bias)
        bounds = np.minimum(np.abs(words) @ self._by_word[:, count:], _ONE)
        promises = of_vectors[:, count:] + _HALF_OF_WORDS * bounds + said
        first = promises.argpartition(-_MOST, axis=1)[:, -_MOST:]
        promised = np.take_along_axis(promises, first, axis=1)
        places = (-promised).argsort(axis=1).argsort(axis=1)
        messages, which = np.nonzero((places < _FEWEST) | (promised >= promised.max(axis=1)[:, None] - _NEARLY))
        looked = first[messages, which]
        scores, rows = np.empty(len(looked), dtype=np.float32), np.empty(len(looked), dtype=np.int64)
        spelled = np.empty(len(looked), dtype=np.float32)
        order = np.argsort(looked, kind="stable")
        for pairs in np.split(order, np.flatnonzero(np.diff(looked[order])) + 1):
            intent, some = int(looked[pairs[0]]), messages[pairs]
            scores[pairs], rows[pairs] = self._index.look_many(vectors[some], intent)
            spelled[pairs] = self._words.best_many(words[some], intent)
        evidence = said[messages, looked] + scores + OF_WORDS * spelled
        columns = (column.tolist() for column in (looked, scores, evidence, rows))
        contenders = list(map(Contender, *columns))
        ends = np.cumsum(np.bincount(messages, minlength=len(vectors))).tolist()
        spans = zip([0, *ends], ends, said.min(axis=1).tolist(), strict=False)
        return [Look(contenders[start:end], least) for start, end, least in spans]
