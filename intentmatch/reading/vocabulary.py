"""The words of a registry's utterances, counted once for all parts of matching."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from intentmatch.runtime.block_sizes import SPELLING_TEXTS


class Vocabulary:
    """Words of folded utterances. Immutable."""

    def __init__(self, folded: Sequence[str]) -> None:
        self.folded = folded
        """The utterances."""
        self.counts: Counter[str] = Counter()
        """How often each word occurs, in the order in which the words first occur."""
        for start in range(0, len(folded), SPELLING_TEXTS):
            self.counts.update("\n".join(folded[start : start + SPELLING_TEXTS]).split())
        self.words = frozenset(self.counts)
