"""Tokenized texts in two flat arrays, for fast sampling in the training loop."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# In a shorter text, a typo may produce another word.
_LETTERS_FOR_A_TYPO = 4


class Pieces(NamedTuple):
    """Token ids of many texts."""

    numbers: NDArray[np.int32]
    starts: NDArray[np.int64]
    """Start of each text in `numbers`, and the end of the last one; shape `(texts + 1,)`."""

    @classmethod
    def from_texts(cls, texts: Iterable[str], encode: Callable[[str], Iterable[int]]) -> Pieces:
        """Tokenize texts with the `encode` function of a tokenizer."""
        numbers, starts = array("i"), array("q", [0])
        for text in texts:
            numbers.extend(encode(text))
            starts.append(len(numbers))
        return cls(np.array(numbers, dtype=np.int32), np.array(starts, dtype=np.int64))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each text."""
        return np.diff(self.starts)

    def select(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the concatenated tokens of the texts at `rows`, and the number of tokens of each."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        ends = np.cumsum(lengths)
        # Without a loop over the texts, of which a step draws thousands.
        before = np.repeat(self.starts[rows] - ends + lengths, lengths.astype(np.intp))
        places = np.arange(len(before)) + before
        return self.numbers[places], lengths


def mistyped(text: str, random: np.random.Generator) -> str:
    """Add one typo to a text: swap, drop or double a letter, or replace it with another letter of the text."""
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
