"""Which of a registry's languages a message is written in, when its sender did not say, and what an encoder covers.

The guess is multinomial naive Bayes over pairs of neighbouring characters (Dunning 1994, "Statistical Identification of
Language"), trained on the registry's own utterances. The nearest utterance is no guide: to a multilingual encoder a
sentence and its translation are the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from intentmatch.runtime.block_sizes import LANGUAGE_ID_TEXTS
from intentmatch.text.normalize import language_range

SMOOTHING = 0.1
"""What a pair counts that was never seen in a language."""
# Norwegian is written in two ways, and its three codes are used for one another.
_MACROLANGUAGES = {"nb": "no", "nn": "no"}
_SCRIPTS = {"CJK": "Han"}
_NO_CODES = np.empty(0, dtype=np.uint64)


class LanguageGuess:
    """Trained from folded texts and the language of each; texts without a language are not looked at."""

    def __init__(self, texts: Sequence[str], languages: Sequence[str | None]) -> None:
        by_language: dict[str, list[str]] = {}
        for text, language in zip(texts, languages, strict=True):
            if language is not None:
                by_language.setdefault(language, []).append(text)
        self.languages = sorted(by_language)
        counted = [_counted(by_language[language]) for language in self.languages]
        seen = np.unique(np.concatenate([codes for codes, _ in counted])) if counted else _NO_CODES
        self._pairs = {pair: row for row, pair in enumerate(_pairs_of(seen))}
        counts = np.zeros((len(seen), len(self.languages)), dtype=np.float64)
        for column, (codes, times) in enumerate(counted):
            counts[np.searchsorted(seen, codes), column] = times
        self._log_chances = np.log((counts + SMOOTHING) / (counts + SMOOTHING).sum(axis=0, keepdims=True))

    def guess(self, folded: str, among: Collection[str] | None = None) -> str | None:
        """The likeliest language of a folded message; None where nothing of it was ever seen.

        `among` names the only languages that come into question.
        """
        languages = self.languages if among is None else [name for name in self.languages if name in among]
        if len(languages) < 2:
            return languages[0] if languages else None
        rows = [row for row in map(self._pairs.get, pairs(folded)) if row is not None]
        if not rows:
            return None
        chances = np.add.reduce(self._log_chances.take(rows, axis=0), axis=0)
        if among is not None:
            chances = chances[[self.languages.index(name) for name in languages]]
        return languages[int(chances.argmax())]


def _counted(texts: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The pairs of all texts, as numbers that rise, and how often each is there; of some texts at a time."""
    found, counted = [_NO_CODES], [np.empty(0, dtype=np.int64)]
    for start in range(0, len(texts), LANGUAGE_ID_TEXTS):
        padded = f" {' '.join(texts[start : start + LANGUAGE_ID_TEXTS])} "
        letters = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
        codes, times = np.unique((letters[:-1] << np.uint64(32)) | letters[1:], return_counts=True)
        found.append(codes)
        counted.append(times)
    codes, places = np.unique(np.concatenate(found), return_inverse=True)
    return codes, np.bincount(places, np.concatenate(counted), len(codes)).astype(np.int64)


def _pairs_of(codes: NDArray[np.uint64]) -> Iterator[str]:
    """The pairs that are counted under these numbers."""
    letters = np.column_stack([codes >> np.uint64(32), codes & np.uint64(0xFFFFFFFF)]).astype("<u4")
    text = letters.tobytes().decode("utf-32-le", "surrogatepass")
    return (text[start : start + 2] for start in range(0, len(text), 2))


def base_language(code: str) -> str:
    """Return the language subtag without region and script; `nb` and `nn` are `no`."""
    first = language_range(code)[-1]
    return _MACROLANGUAGES.get(first, first)


def script(letter: str) -> str:
    """The script's name as far as the letter's own begins with it; a few ideographs have no name."""
    first = unicodedata.name(letter, "other").split()[0]
    return _SCRIPTS.get(first, first.capitalize())


def pairs(text: str) -> list[str]:
    """The neighbouring characters of a folded text, with a space before and after it."""
    padded = f" {text} "
    return [padded[start : start + 2] for start in range(len(padded) - 1)]
