"""Evidence for the intents that lead for a message, without a look at the utterances of the others.

What the head says of every intent is known from two small products. Only the utterances of the few intents that it puts
first are looked at.
"""

from __future__ import annotations

from collections.abc import Collection
from math import exp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.head import Head
from intentmatch.heldout import OF_LOGIT, OF_PROBABILITY, heard
from intentmatch.index import ExactIndex
from intentmatch.types import Vectors
from intentmatch.words import Words

# With fewer intents, a look at everything takes no longer.
_FEWEST_INTENTS = 32
# Where so many messages look at an intent, on average, it pays to hold them against it at once.
_MESSAGES_OF_AN_INTENT = 2
# So many are looked at: the first ones, and up to the second number those that are nearly as likely as the very first.
_FEWEST, _MOST, _NEARLY = 5, 10, 0.3


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

    def __init__(self, index: ExactIndex, head: Head) -> None:
        self._index = index
        self._of_vectors, self._of_words, self._bias = head.parts(index.vectors.shape[1])

    @staticmethod
    def worth_it(intents: int) -> bool:
        """Whether so many are enough for a look at some to take less time than one at all."""
        return intents >= _FEWEST_INTENTS

    def gains_from(self, messages: int) -> bool:
        """Whether so many take less time with `look_many` than with a `look` for each."""
        return messages * _FEWEST >= _MESSAGES_OF_AN_INTENT * len(self._index.owners)

    def look(
        self, vector: NDArray[np.float32], words: Words, needed: Collection[int], allowed: Collection[int] | None
    ) -> Look:
        """The leading intents, of all or of those `allowed`, and those `needed`."""
        # `dot` begins in half the time of `@`, which counts where there is little to do.
        logits = vector.dot(self._of_vectors)
        logits += words.values.dot(self._of_words.take(words.places, axis=0))
        logits += self._bias
        most = logits[logits.argmax()]
        highest, certainty = float(most), OF_PROBABILITY / float(np.add.reduce(np.exp(logits - most)))

        def heard_of(logit: float) -> float:
            return certainty * exp(logit - highest) + OF_LOGIT * logit

        contenders = []

        def hold_against(intent: int, heard: float) -> None:
            score, row = self._index.look(vector, intent)
            contenders.append(Contender(intent, score, heard + score, row))

        first = _first(logits, allowed)
        best = sorted(zip(logits[first].tolist(), first.tolist(), strict=True), reverse=True)
        least = heard_of(best[0][0]) - _NEARLY
        for place, (logit, intent) in enumerate(best):
            if (heard := heard_of(logit)) < least and place >= _FEWEST:
                break
            hold_against(intent, heard)
        for intent in needed:
            if all(one.intent != intent for one in contenders):
                hold_against(intent, heard_of(float(logits[intent])))
        return Look(contenders, heard_of(float(logits[logits.argmin()])))

    def logits(self, vectors: Vectors, words: Vectors) -> Vectors:
        """What the head says of some messages, shape `(messages, intents)`; `words` are rows of `WordVectors`."""
        logits = vectors @ self._of_vectors
        logits += words @ self._of_words
        logits += self._bias
        return logits

    def look_many(self, vectors: Vectors, logits: Vectors) -> list[Look]:
        """As `look` for each of some messages, with nothing needed and all allowed; `logits` are what the head says.

        An intent's utterances are held against all messages that look at it at once, which takes a third of the time.
        """
        said = heard(logits)
        first = said.argpartition(-_MOST, axis=1)[:, -_MOST:]
        leading = np.take_along_axis(said, first, axis=1)
        places = (-leading).argsort(axis=1).argsort(axis=1)
        messages, which = np.nonzero((places < _FEWEST) | (leading >= leading.max(axis=1)[:, None] - _NEARLY))
        looked = first[messages, which]
        scores, rows = np.empty(len(looked), dtype=np.float32), np.empty(len(looked), dtype=np.int64)
        order = np.argsort(looked, kind="stable")
        for pairs in np.split(order, np.flatnonzero(np.diff(looked[order])) + 1):
            scores[pairs], rows[pairs] = self._index.look_many(vectors[messages[pairs]], int(looked[pairs[0]]))
        evidence = said[messages, looked] + scores
        columns = (column.tolist() for column in (looked, scores, evidence, rows))
        contenders = list(map(Contender, *columns))
        ends = np.cumsum(np.bincount(messages, minlength=len(vectors))).tolist()
        spans = zip([0, *ends], ends, said.min(axis=1).tolist(), strict=False)
        return [Look(contenders[start:end], least) for start, end, least in spans]


def _first(logits: NDArray[np.float32], allowed: Collection[int] | None) -> NDArray[np.int64]:
    if allowed is None:
        return logits.argpartition(-_MOST)[-_MOST:]
    some = np.fromiter(allowed, np.int64, len(allowed))
    return some if len(some) <= _MOST else some[_first(logits[some], None)]
