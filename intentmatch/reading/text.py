"""A text, split once for all who read it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from intentmatch.pieces.embedded import MAX_PIECES, embedded_tokenizer, without_unknown
from intentmatch.text.normalize import fold


class ReadText:
    """A cleaned text with its words, and with its pieces, which are found when they are first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.key = fold(text)
        """The folded text."""
        self.words: Sequence[str] = self.key.split()
        """The words of the folded text; none if it is empty."""
        self._pieces: Sequence[int] | None = None
        self._known_pieces: Sequence[int] | None = None

    def __repr__(self) -> str:
        return f"ReadText({self.text!r})"

    @cached_property
    def distinct(self) -> frozenset[str]:
        """The words of the folded text without repetitions."""
        return frozenset(self.words)

    # Not `cached_property`: before Python 3.12 its lock takes longer than all else here.
    @property
    def pieces(self) -> Sequence[int]:
        """Ids of the embedded tokenizer's pieces."""
        if self._pieces is None:
            self._pieces = embedded_tokenizer().encode(self.text, MAX_PIECES)
        return self._pieces

    @property
    def known_pieces(self) -> Sequence[int]:
        """The pieces without unknown ones; none if they are only word separators."""
        if self._known_pieces is None:
            self._known_pieces = without_unknown(self.pieces)
        return self._known_pieces
