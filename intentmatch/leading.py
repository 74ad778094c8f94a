"""Evidence for the intents that matter to an answer, without a look at the utterances of the others.

What the head says of every intent is known at little cost, and cosines and words can only add so much to it. So the
utterances of the intents that promise most are looked at, and then those of every other that could still pass a
threshold or come second: for these the evidence is what a look at every row would find. Intents that can do neither and
do not promise much are left out; only an intent from the third place on, itself below every threshold, can be missing
in a ranking for that (on development sets in 3 of 5,100 messages).
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
        scores = np.full(len(said), -1.0, dtype=np.float32)
        evidence = np.full(len(said), -np.inf)
        cosines = np.full(len(self._index.vectors), -np.inf, dtype=np.float32)
        # Of no intent is there more; with 1 for the score where that is not known yet.
        most = said + OF_WORDS * of_words + _ROUNDING

        def look(some: list[int]) -> None:
            scores[some] = self._index.look(vector, some, cosines)

        def read(some: list[int]) -> None:
            evidence[some] = scores[some] + (OF_WORDS * self._words.best(words, some) + said[some])

        first = {*needed, *np.argpartition(promising, -_FIRST)[-_FIRST:].tolist()}
        looked = list(first)
        look(looked)
        reach = dict(zip(looked, (most[looked] + scores[looked]).tolist(), strict=True))
        leading = {*needed, *sorted(reach, key=reach.__getitem__)[-_FIRST_WORDS:]}
        read(list(leading))
        enough = min(self._enough, _best(evidence, 2))
        more = [intent for intent in np.flatnonzero(most + 1.0 >= enough).tolist() if intent not in first]
        if len(more) > _PART * len(said):
            return None
        if more:
            look(more)
            reach.update(zip(more, (most[more] + scores[more]).tolist(), strict=True))
        enough = min(self._enough, _best(evidence, self._ranked))
        left = [intent for intent, most_there in reach.items() if most_there >= enough and intent not in leading]
        if left:
            read(left)
        return Scores(scores, evidence, cosines)


def _best(evidence: NDArray[np.float64], place: int) -> float:
    return float(np.partition(evidence, -place)[-place])
