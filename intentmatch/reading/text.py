"""A text, split once for all who read it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from intentmatch.pieces.embedded import MAX_PIECES, embedded_tokenizer, without_unknown
from intentmatch.text.normalize import fold


class ReadText:
    """A cleaned text with its words and pieces. Each is found when it is first asked for, and kept."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.key = fold(text)
        """The folded text."""

    def __repr__(self) -> str:
        return f"ReadText({self.text!r})"

    @cached_property
    def words(self) -> Sequence[str]:
        """The words of the folded text; none if it is empty."""
        return self.key.split()

    @cached_property
    def distinct(self) -> frozenset[str]:
        """The words of the folded text without repetitions."""
        return frozenset(self.words)

    @cached_property
    def pieces(self) -> Sequence[int]:
        """Ids of the embedded tokenizer's pieces."""
        return embedded_tokenizer().encode(self.text, MAX_PIECES)

    @cached_property
    def known_pieces(self) -> Sequence[int]:
        """The pieces without unknown ones; none if they are only word separators."""
        return without_unknown(self.pieces)
