"""Hits by spelling: the author's own line, and that line with typing mistakes in it.

A typing mistake keeps the number of words and the first letter of each, changes one letter of a word of four or more
letters and at most two of a word of eight or more. That is far stricter than a ratio over the whole line, which would
call "turn the light on" and "turn the light off" the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

_LETTERS_FOR_ONE_MISTAKE = 4
_LETTERS_FOR_TWO_MISTAKES = 8
_CANDIDATES = 50


class Hit(NamedTuple):
    """A row of the registry that a message agrees with."""

    row: int
    similarity: float
    """1.0, or the share of characters that agree: 1 - (optimal string alignment distance / longer length)."""


class LexicalIndex:
    """Folded utterances: `folded[row]` belongs to the intent `owners[row]`."""

    def __init__(self, folded: Sequence[str], owners: Sequence[int], cut_off: float) -> None:
        self._owners = tuple(owners)
        self._cut_off = cut_off
        self._rows: dict[str, list[int]] = {}
        for row, text in enumerate(folded):
            self._rows.setdefault(text, []).append(row)
        self._distinct = list(self._rows)

    def exact(self, folded: str) -> dict[int, Hit]:
        """Owner to its first row that folds to the same text."""
        return self._first_by_owner((row, 1.0) for row in self._rows.get(folded, ()))

    def fuzzy(self, folded: str) -> dict[int, Hit]:
        """Owner to its best row that differs by typing mistakes only, at or above the cut-off."""
        if self._cut_off >= 1.0:
            return {}
        near = process.extract(
            folded, self._distinct, scorer=OSA.normalized_similarity, score_cutoff=self._cut_off, limit=_CANDIDATES
        )
        return self._first_by_owner(
            (row, similarity) for text, similarity, _ in near if only_typos(folded, text) for row in self._rows[text]
        )

    def _first_by_owner(self, rows: Iterable[tuple[int, float]]) -> dict[int, Hit]:
        hits: dict[int, Hit] = {}
        for row, similarity in rows:
            hits.setdefault(self._owners[row], Hit(row, similarity))
        return hits


def only_typos(message: str, utterance: str) -> bool:
    """Whether two folded texts differ by typing mistakes, or by where the spaces are, and in nothing else."""
    if message.replace(" ", "") == utterance.replace(" ", ""):
        return True
    words, others = message.split(" "), utterance.split(" ")
    return len(words) == len(others) and all(map(_same_word, words, others))


def _same_word(word: str, other: str) -> bool:
    if word == other:
        return True
    if word[0] != other[0] or not (_takes_typos(word) and _takes_typos(other)):
        return False
    letters = min(len(word), len(other))
    mistakes = 2 if letters >= _LETTERS_FOR_TWO_MISTAKES else 1 if letters >= _LETTERS_FOR_ONE_MISTAKE else 0
    return bool(OSA.distance(word, other, score_cutoff=mistakes) <= mistakes)


def _takes_typos(word: str) -> bool:
    """Numbers never; nor scripts in which a single character is a word or a syllable."""
    return not any(c.isdigit() or (unicodedata.category(c) == "Lo" and ord(c) >= 0x2E80) for c in word)
