"""Distinguish typing mistakes from other differences between two texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

from rapidfuzz.distance import OSA

_LETTERS_FOR_ONE_MISTAKE = 4
_LETTERS_FOR_TWO_MISTAKES = 8


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
    mistakes = 2 if letters >= _LETTERS_FOR_TWO_MISTAKES else 1 if letters >= _LETTERS_FOR_ONE_MISTAKE else 0
    return bool(OSA.distance(word, other, score_cutoff=mistakes) <= mistakes)


def _takes_typos(word: str) -> bool:
    """Return whether typos are allowed: not in numbers, nor in scripts whose characters are words or syllables."""
    return not any(c.isdigit() or (unicodedata.category(c) == "Lo" and ord(c) >= 0x2E80) for c in word)


def letters_of(folded: str) -> str:
    """Return a folded text without its spaces."""
    return folded.replace(" ", "")
