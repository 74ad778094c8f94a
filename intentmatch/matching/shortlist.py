"""Shortlist of the intents that can matter to a message.

The head's logits of all intents cost two small matrix products. Only the utterances of the few intents that the head
ranks first are compared with the message.
"""

from __future__ import annotations

from collections.abc import Collection
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.index import ExactIndex
from intentmatch.learning.fusion import Apart, head_term, head_term_of_one
from intentmatch.learning.head import HeadLogits
from intentmatch.learning.token_features import SparseVector

# With fewer intents, comparing all utterances takes no longer.
_FEWEST_INTENTS = 32
# From so many messages per intent on, on average, it pays to compare them with the intent at once.
_MESSAGES_PER_INTENT = 2
# Size of a shortlist: at least the first number; up to the second while head terms are within the third of the best.
# On 11,517 messages of development sets, verdict, intent, rivals and the confidence of the first candidate were those
# of a search of every row.
_FEWEST, _MOST, _NEARLY = 5, 10, 0.3


class Scored(NamedTuple):
    """An intent with its score and evidence for one message."""

    intent: int
    """Position in the registry."""
    score: float
    """Aggregated cosine similarity."""
    evidence: float
    """Fused score, see `learning.fusion`."""
    row: int
    """Row of the intent's utterance that is nearest to the message."""
    words: float | None = None
    """Word similarity of message and utterance in [0, 1]; None if they were not aligned."""


class SearchResult(NamedTuple):
    """The intents that were scored for a message."""

    scored: list[Scored]
    """In no particular order."""
    least: float
    """A lower bound of the evidence of any intent."""


class Shortlist:
    """Finds and scores the intents of an index that the head ranks first."""

    def __init__(self, index: ExactIndex, head: HeadLogits, apart: Apart = MappingProxyType({})) -> None:
        """`apart` holds the intents that do not compete, as in `learning.fusion`."""
        self._index, self._head, self._apart = index, head, apart

    @staticmethod
    def pays_off(intents: int) -> bool:
        """Whether a shortlist is faster than scoring all of so many intents."""
        return intents >= _FEWEST_INTENTS

    def batching_helps(self, messages: int) -> bool:
        """Whether so many messages take less time with `search_many` than with `search` for each."""
        return messages * _FEWEST >= _MESSAGES_PER_INTENT * len(self._index.owners)

    def search(
        self, vector: NDArray[np.float32], words: SparseVector, needed: Collection[int], allowed: Collection[int] | None
    ) -> SearchResult:
        """Score the shortlist for one message, among all intents or those `allowed`, and all that are `needed`."""
        logits = self._head.logits(vector, words)
        term = head_term_of_one(logits, self._apart)
        first = _first(logits, allowed)
        best = sorted(zip(logits.take(first).tolist(), first.tolist(), strict=True), reverse=True)
        chosen = {intent: term(logit, intent) for logit, intent in best[:_FEWEST]}
        least = term(*best[0]) - _NEARLY
        for logit, intent in best[_FEWEST:]:
            if (head := term(logit, intent)) < least:
                break
            chosen[intent] = head
        for intent in needed:
            if intent not in chosen:
                chosen[intent] = term(logits.item(intent), intent)
        found = zip(chosen.items(), self._index.score_columns(vector, chosen), strict=True)
        scored = [Scored(intent, score, head + score, row) for (intent, head), (score, row) in found]
        last = int(logits.argmin())
        return SearchResult(scored, term(logits.item(last), last))

    def search_many(self, vectors: Vectors, logits: Vectors) -> list[SearchResult]:
        """Search for many messages as `search` does, with all intents allowed and none needed.

        `logits` are the head's, shape `(messages, intents)`. The utterances of an intent are compared at once with all
        messages that shortlist it, which takes a third of the time.
        """
        terms = head_term(logits, self._apart)
        first = terms.argpartition(-_MOST, axis=1)[:, -_MOST:]
        best = np.take_along_axis(terms, first, axis=1)
        places = (-best).argsort(axis=1).argsort(axis=1)
        messages, which = np.nonzero((places < _FEWEST) | (best >= best.max(axis=1)[:, None] - _NEARLY))
        intents = first[messages, which]
        scores, rows = np.empty(len(intents), dtype=np.float32), np.empty(len(intents), dtype=np.int64)
        order = np.argsort(intents, kind="stable")
        for pairs in np.split(order, np.flatnonzero(np.diff(intents[order])) + 1):
            scores[pairs], rows[pairs] = self._index.score_column_many(vectors[messages[pairs]], int(intents[pairs[0]]))
        evidence = terms[messages, intents] + scores
        columns = (column.tolist() for column in (intents, scores, evidence, rows))
        scored = list(map(Scored, *columns))
        ends = np.cumsum(np.bincount(messages, minlength=len(vectors))).tolist()
        spans = zip([0, *ends], ends, terms.min(axis=1).tolist(), strict=False)
        return [SearchResult(scored[start:end], least) for start, end, least in spans]


def _first(logits: NDArray[np.float32], allowed: Collection[int] | None) -> NDArray[np.int64]:
    if allowed is None:
        return logits.argpartition(-_MOST)[-_MOST:]
    some = np.fromiter(allowed, np.int64, len(allowed))
    return some if len(some) <= _MOST else some[_first(logits[some], None)]
