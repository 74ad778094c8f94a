"""Texts as piece numbers in two flat arrays, which is what a training loop can draw from quickly."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# A typing mistake in a shorter text can make another word of it.
_LETTERS_FOR_A_TYPO = 4


class Pieces(NamedTuple):
    """Many texts, one after another."""

    numbers: NDArray[np.int32]
    starts: NDArray[np.int64]
    """Where each text begins in `numbers`, and at last where the last one ends: shape `(texts + 1,)`."""

    @classmethod
    def cut(cls, texts: Iterable[str], encode: Callable[[str], Iterable[int]]) -> Pieces:
        """Cut texts with a tokenizer's `encode`."""
        numbers, starts = array("i"), array("q", [0])
        for text in texts:
            numbers.extend(encode(text))
            starts.append(len(numbers))
        return cls(np.array(numbers, dtype=np.int32), np.array(starts, dtype=np.int64))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Pieces of each text."""
        return np.diff(self.starts)

    def select(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The pieces of some texts, one text after another, and the number of each one's pieces."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.starts[rows] - ends + lengths, lengths)
        return self.numbers[places], lengths


def mistyped(text: str, random: np.random.Generator) -> str:
    """A text with one typing mistake: letters swapped, one left out, doubled, or replaced by another of the text."""
    letters = [place for place, char in enumerate(text) if char.isalpha()]
    if len(letters) < _LETTERS_FOR_A_TYPO:
        return text
    place = letters[random.integers(len(letters))]
    before, char, after = text[:place], text[place], text[place + 1 :]
    match random.integers(4):
        case 0 if after[:1].isalpha():
            return before + after[0] + char + after[1:]
        case 1:
            return before + char + char + after
        case 2:
            return before + text[letters[random.integers(len(letters))]] + after
        case _:
            return before + after
