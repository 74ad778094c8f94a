"""Evidence for the intents that matter to an answer, without a look at the utterances of the others.

What the head says of every intent is known at little cost, and cosines and words can only add so much to it. So the
utterances of the intents that promise most are looked at, and then those of every other that could still pass a
threshold or come second: for these the evidence is what a look at every row would find. Intents that can do neither and
do not promise much are left out; only an intent from the third place on, itself below every threshold, can be missing
in a ranking for that (on development sets in 2 of 1,000 messages, from the fourth or fifth place).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from intentmatch.heldout import OF_WORDS, heard
from intentmatch.index import ExactIndex
from intentmatch.words import OwnedWords, Words

# With fewer of either, a look at everything takes no longer.
_FEWEST_INTENTS, _FEWEST_ROWS = 64, 4096
# Those looked at first by their vectors, and of these by their words.
_FIRST, _FIRST_WORDS = 24, 8
# Where so large a part of the intents has to be looked at, one product over all rows is quicker.
_PART = 1 / 3
# A promise is part of what a cosine will add: half of the most that words could.
_PROMISED = OF_WORDS / 2
_ROUNDING = 1e-5


@dataclass(slots=True)
class Scores:
    """Of one message, by meaning. What was not looked at has a score of -1, and evidence and cosines of -inf."""

    scores: NDArray[np.float32]
    """One for each intent."""
    evidence: NDArray[np.float64]
    """One for each intent."""
    cosines: NDArray[np.float32]
    """One for each utterance."""

    def raise_to(self, intent: int, score: float) -> None:
        """Let an intent have at least this score, and as much more evidence."""
        more = score - float(self.scores[intent])
        if more > 0:
            self.scores[intent] = score
            self.evidence[intent] += more


class Leading:
    """Looks at the leading intents of an index. `enough` is the evidence from which on one could pass a threshold."""

    def __init__(self, index: ExactIndex, words: OwnedWords, enough: float, ranked: int) -> None:
        self._index = index
        self._words = words
        self._centres = index.centres()
        self._enough = enough
        self._ranked = ranked

    @staticmethod
    def worth_it(intents: int, rows: int) -> bool:
        """Whether so many are enough for a look at some to take less time than one at all."""
        return intents >= _FEWEST_INTENTS and rows >= _FEWEST_ROWS

    def look(
        self, vector: NDArray[np.float32], words: Words, logits: NDArray[np.float32], needed: Sequence[int]
    ) -> Scores | None:
        """Scores and evidence of the leading intents and of those `needed`; None where too many would be looked at."""
        said = heard(logits)
        of_words = self._words.at_most(words)
        promising = said + self._centres @ vector + _PROMISED * of_words
        looked = np.append(np.argpartition(-promising, _FIRST)[:_FIRST], needed).astype(np.int64)
        looked = np.unique(looked)
        scores = np.full(len(said), -1.0, dtype=np.float32)
        cosines = np.full(len(self._index.vectors), -np.inf, dtype=np.float32)
        evidence = np.full(len(said), -np.inf)
        scores[looked] = self._index.look(vector, looked.tolist(), cosines)

        most = said + 1.0 + OF_WORDS * of_words + _ROUNDING
        most[looked] += scores[looked] - 1.0

        def read(some: NDArray[np.int64]) -> None:
            spelled = self._words.best(words, some.tolist())
            evidence[some] = scores[some] + (OF_WORDS * spelled + said[some])
            most[some] = -np.inf

        order = looked[np.argsort(-most[looked], kind="stable")]
        read(np.union1d(order[:_FIRST_WORDS], np.array(needed, dtype=np.int64)))
        unseen = most >= min(self._best(evidence, 2), self._enough)
        unseen[looked] = False
        more = np.flatnonzero(unseen)
        if len(more) > _PART * len(said):
            return None
        if len(more):
            scores[more] = self._index.look(vector, more.tolist(), cosines)
            most[more] += scores[more] - 1.0
        looked = np.concatenate([looked, more])
        left = looked[most[looked] >= min(self._best(evidence, self._ranked), self._enough)]
        if len(left):
            read(left)
        return Scores(scores, evidence, cosines)

    @staticmethod
    def _best(evidence: NDArray[np.float64], place: int) -> float:
        return float(np.partition(evidence, -place)[-place])
