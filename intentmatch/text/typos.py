"""Distinguish typing mistakes from other differences between two texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from typing import NamedTuple

from rapidfuzz.distance import OSA


class Tolerance(NamedTuple):
    """How many letters a word needs so that it may have typing mistakes."""

    for_one: int
    for_two: int

    def mistakes(self, letters: int) -> int:
        """Return how many mistakes a word of so many letters may have."""
        return (letters >= self.for_one) + (letters >= self.for_two)


IN_A_LINE = Tolerance(4, 8)
"""In a message that otherwise equals an utterance."""
IN_CONTEXT = Tolerance(2, 5)
"""In a message whose other words, and the frequency of the word that was meant, are evidence as well."""
ALONE = Tolerance(5, 9)
"""Without other evidence: shorter words are too near to each other."""


def only_typos(message: str, utterance: str, known: Collection[str] = ()) -> bool:
    """Return whether two folded texts differ only by typing mistakes or by spaces.

    A word of the message that is in `known` does not count as mistyped.
    """
    if letters_of(message) == letters_of(utterance):
        return True
    words, others = message.split(" "), utterance.split(" ")
    mistyped = [(word, other) for word, other in zip(words, others, strict=False) if word != other]
    return len(words) == len(others) and all(w not in known and _same_word(w, o) for w, o in mistyped)


def _same_word(word: str, other: str) -> bool:
    if word[:1] != other[:1] or not (_takes_typos(word) and _takes_typos(other)):
        return False
    letters = min(len(word), len(other))
    mistakes = IN_A_LINE.mistakes(letters)
    return bool(OSA.distance(word, other, score_cutoff=mistakes) <= mistakes)


def _takes_typos(word: str) -> bool:
    """Return whether typos are allowed: not in numbers, nor in scripts whose characters are words or syllables."""
    return not any(c.isdigit() or (unicodedata.category(c) == "Lo" and ord(c) >= 0x2E80) for c in word)


def letters_of(folded: str) -> str:
    """Return a folded text without its spaces."""
    return folded.replace(" ", "")
