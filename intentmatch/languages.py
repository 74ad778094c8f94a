"""Which of a registry's languages a message is written in, when its sender did not say.

Multinomial naive Bayes over pairs of neighbouring characters (Dunning 1994, "Statistical Identification of Language"),
trained on the registry's own utterances. The nearest utterance is no guide: to a multilingual encoder a sentence and
its translation are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np

_SMOOTHING = 0.1


class LanguageGuess:
    """Learned from folded texts and the language of each; texts without a language are not looked at."""

    def __init__(self, texts: Sequence[str], languages: Sequence[str | None]) -> None:
        by_language: dict[str, list[str]] = {}
        for text, language in zip(texts, languages, strict=True):
            if language is not None:
                by_language.setdefault(language, []).append(text)
        self.languages = sorted(by_language)
        counted = [Counter(_pairs(" ".join(by_language[language]))) for language in self.languages]
        self._pairs = {pair: row for row, pair in enumerate(sorted(set().union(*counted)))}
        counts = np.zeros((len(self._pairs), len(self.languages)), dtype=np.float64)
        for column, pairs in enumerate(counted):
            for pair, count in pairs.items():
                counts[self._pairs[pair], column] = count
        self._log_chances = np.log((counts + _SMOOTHING) / (counts + _SMOOTHING).sum(axis=0, keepdims=True))

    def of(self, folded: str, among: Collection[str] | None = None) -> str | None:
        """The likeliest language of a folded message; None where nothing of it was ever seen.

        `among` names the only languages that come into question.
        """
        possible = [number for number, name in enumerate(self.languages) if among is None or name in among]
        if len(possible) < 2:
            return self.languages[possible[0]] if possible else None
        rows = [self._pairs[pair] for pair in _pairs(folded) if pair in self._pairs]
        if not rows:
            return None
        chances = self._log_chances[rows].sum(axis=0)[possible]
        return self.languages[possible[int(chances.argmax())]]


def _pairs(text: str) -> list[str]:
    padded = f" {text} "
    return list(map("".join, pairwise(padded)))
