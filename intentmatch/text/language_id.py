"""Identify the language of a message among the languages of a registry.

Multinomial naive Bayes over character bigrams (Dunning 1994, "Statistical Identification of Language"), trained on the
registry's own utterances. The nearest utterance cannot tell the language: for a multilingual encoder, a sentence and
its translation have nearly the same vector.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from intentmatch.runtime.block_sizes import LANGUAGE_ID_TEXTS

# Without it, one bigram that a language never had would rule the language out.
SMOOTHING = 0.1
"""Count added to every bigram of every language."""
_SCRIPTS = {"CJK": "Han"}
# Words of any length come from users: both numbers bound the memory of the cache.
_CACHED_WORDS, _LONGEST_CACHED_WORD = 4096, 40
_NO_CODES = np.empty(0, dtype=np.uint64)


class LanguageGuess:
    """Language identifier, trained on folded texts with their languages. Texts without a language are ignored."""

    def __init__(self, texts: Sequence[str], languages: Sequence[str | None]) -> None:
        by_language: dict[str, list[str]] = {}
        for text, language in zip(texts, languages, strict=True):
            if language is not None:
                by_language.setdefault(language, []).append(text)
        self.languages = sorted(by_language)
        counted = [_counted(by_language[language]) for language in self.languages]
        # Counts are asked for because numpy imports numpy.ma to find unique numbers alone.
        together = [codes for codes, _ in counted]
        seen = np.unique(np.concatenate(together), return_counts=True)[0] if counted else _NO_CODES
        rows = {pair: row for row, pair in enumerate(_pairs_of(seen))}
        counts = np.zeros((len(seen), len(self.languages)), dtype=np.float64)
        for column, (codes, frequencies) in enumerate(counted):
            counts[np.searchsorted(seen, codes), column] = frequencies
        log_probabilities = np.log((counts + SMOOTHING) / (counts + SMOOTHING).sum(axis=0, keepdims=True))
        # No bound method: that would keep a replaced registry's tables until the garbage collector finds the cycle.
        self._likelihood = partial(_likelihood, rows, log_probabilities)
        self._cached_likelihood = lru_cache(_CACHED_WORDS)(self._likelihood)

    def guess(
        self, words: Iterable[str], among: Collection[str] | None = None, evidence: NDArray[np.float64] | None = None
    ) -> str | None:
        """Return the most likely language of the words of a folded message; None if none of its bigrams is known.

        `among` restricts the answer to some languages. `evidence` holds log likelihoods from elsewhere, which are added
        to those of the bigrams, shape `(languages,)`.
        """
        languages = self.languages if among is None else [name for name in self.languages if name in among]
        if len(languages) < 2:
            return languages[0] if languages else None
        likelihoods = None if evidence is None else evidence.copy()
        for word in words:
            known = self._cached_likelihood(word) if len(word) <= _LONGEST_CACHED_WORD else self._likelihood(word)
            if known is not None:
                likelihoods = known.copy() if likelihoods is None else np.add(likelihoods, known, out=likelihoods)
        if likelihoods is None:
            return None
        if among is not None:
            likelihoods = likelihoods[[self.languages.index(name) for name in languages]]
        return languages[int(likelihoods.argmax())]


def _likelihood(
    rows_of: Mapping[str, int], log_probabilities: NDArray[np.float64], word: str
) -> NDArray[np.float64] | None:
    """Return the log likelihoods of a word's known bigrams, shape `(languages,)`; None without any."""
    rows = [row for row in map(rows_of.get, pairs(word)) if row is not None]
    found: NDArray[np.float64] = np.add.reduce(log_probabilities.take(rows, axis=0), axis=0)
    return found if rows else None


def _counted(texts: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the bigrams of all texts as ascending codes, and their frequencies."""
    found, counted = [_NO_CODES], [np.empty(0, dtype=np.int64)]
    for start in range(0, len(texts), LANGUAGE_ID_TEXTS):
        padded = f" {' '.join(texts[start : start + LANGUAGE_ID_TEXTS])} "
        letters = np.frombuffer(padded.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
        codes, frequencies = np.unique((letters[:-1] << np.uint64(32)) | letters[1:], return_counts=True)
        found.append(codes)
        counted.append(frequencies)
    codes, places = np.unique(np.concatenate(found), return_inverse=True)
    return codes, np.bincount(places, np.concatenate(counted), len(codes)).astype(np.int64)


def _pairs_of(codes: NDArray[np.uint64]) -> Iterator[str]:
    """Yield the bigrams of these codes as text."""
    letters = np.column_stack([codes >> np.uint64(32), codes & np.uint64(0xFFFFFFFF)]).astype("<u4")
    text = letters.tobytes().decode("utf-32-le", "surrogatepass")
    return (text[start : start + 2] for start in range(0, len(text), 2))


def script(letter: str) -> str:
    """Return the script of a letter, taken from its Unicode name; "Other" for letters without a name."""
    first = unicodedata.name(letter, "other").split()[0]
    return _SCRIPTS.get(first, first.capitalize())


def pairs(text: str) -> list[str]:
    """Return the character bigrams of a folded text, with a space before and after it."""
    padded = f" {text} "
    return [padded[start : start + 2] for start in range(len(padded) - 1)]
