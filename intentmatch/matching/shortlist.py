"""Evidence for the intents that lead for a message, without a look at the utterances of the others.

What the head says of every intent is known from two small products. Only the utterances of the few intents that it puts
first are looked at.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.index import ExactIndex
from intentmatch.learning.fusion import head_term, head_term_of_one
from intentmatch.learning.head import HeadLogits
from intentmatch.learning.token_features import SparseVector

# With fewer intents, a look at everything takes no longer.
_FEWEST_INTENTS = 32
# Where so many messages look at an intent, on average, it pays to hold them against it at once.
_MESSAGES_OF_AN_INTENT = 2
# So many are looked at: the first ones, and up to the second number those that are nearly as likely as the very first.
_FEWEST, _MOST, _NEARLY = 5, 10, 0.3


class Scored(NamedTuple):
    """An intent that may be what a message means."""

    intent: int
    """Its position in the registry."""
    score: float
    evidence: float
    row: int
    """Of its utterances, the nearest to the message."""


class SearchResult(NamedTuple):
    """What a look at some intents finds."""

    scored: list[Scored]
    """In no order."""
    least: float
    """The least evidence that any intent can have."""


class Shortlist:
    """Looks at the leading intents of an index."""

    def __init__(self, index: ExactIndex, head: HeadLogits) -> None:
        self._index, self._head = index, head

    @staticmethod
    def pays_off(intents: int) -> bool:
        """Whether so many are enough for a look at some to take less time than one at all."""
        return intents >= _FEWEST_INTENTS

    def batching_helps(self, messages: int) -> bool:
        """Whether so many take less time with `search_many` than with a `look` for each."""
        return messages * _FEWEST >= _MESSAGES_OF_AN_INTENT * len(self._index.owners)

    def search(
        self, vector: NDArray[np.float32], words: SparseVector, needed: Collection[int], allowed: Collection[int] | None
    ) -> SearchResult:
        """The leading intents, of all or of those `allowed`, and those `needed`."""
        logits = self._head.logits(vector, words)
        term = head_term_of_one(logits)
        scored = []

        def hold_against(intent: int, head: float) -> None:
            score, row = self._index.score_column(vector, intent)
            scored.append(Scored(intent, score, head + score, row))

        first = _first(logits, allowed)
        best = sorted(zip(logits[first].tolist(), first.tolist(), strict=True), reverse=True)
        least = term(best[0][0]) - _NEARLY
        for place, (logit, intent) in enumerate(best):
            if (head := term(logit)) < least and place >= _FEWEST:
                break
            hold_against(intent, head)
        for intent in needed:
            if all(one.intent != intent for one in scored):
                hold_against(intent, term(float(logits[intent])))
        return SearchResult(scored, term(float(logits[logits.argmin()])))

    def search_many(self, vectors: Vectors, logits: Vectors) -> list[SearchResult]:
        """As `look` for each of some messages, with nothing needed and all allowed; `logits` are what the head says.

        An intent's utterances are held against all messages that look at it at once, which takes a third of the time.
        """
        said = head_term(logits)
        first = said.argpartition(-_MOST, axis=1)[:, -_MOST:]
        leading = np.take_along_axis(said, first, axis=1)
        places = (-leading).argsort(axis=1).argsort(axis=1)
        messages, which = np.nonzero((places < _FEWEST) | (leading >= leading.max(axis=1)[:, None] - _NEARLY))
        looked = first[messages, which]
        scores, rows = np.empty(len(looked), dtype=np.float32), np.empty(len(looked), dtype=np.int64)
        order = np.argsort(looked, kind="stable")
        for pairs in np.split(order, np.flatnonzero(np.diff(looked[order])) + 1):
            scores[pairs], rows[pairs] = self._index.score_column_many(vectors[messages[pairs]], int(looked[pairs[0]]))
        evidence = said[messages, looked] + scores
        columns = (column.tolist() for column in (looked, scores, evidence, rows))
        scored = list(map(Scored, *columns))
        ends = np.cumsum(np.bincount(messages, minlength=len(vectors))).tolist()
        spans = zip([0, *ends], ends, said.min(axis=1).tolist(), strict=False)
        return [SearchResult(scored[start:end], least) for start, end, least in spans]


def _first(logits: NDArray[np.float32], allowed: Collection[int] | None) -> NDArray[np.int64]:
    if allowed is None:
        return logits.argpartition(-_MOST)[-_MOST:]
    some = np.fromiter(allowed, np.int64, len(allowed))
    return some if len(some) <= _MOST else some[_first(logits[some], None)]
