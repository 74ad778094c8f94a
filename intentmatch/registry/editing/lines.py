"""A text as its lines: where they begin and end, and what stands beside and above them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_BREAK = re.compile(r"\r\n|\n|\r")
_FILLED_LINE = re.compile(r"(?<![^\r\n])[ \t]*[^\s][^\r\n]*")
_COMMENT = re.compile(r"[ \t]+#[^\r\n]*")
_COMMENT_LINE = re.compile(r"([ \t]*)#[^\r\n]*(?:\r\n|\n|\r|\Z)")


class Splice(NamedTuple):
    """Text to stand in place of a part of another."""

    start: int
    end: int
    text: str


class Lines:
    """The lines of a text; positions count characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = _BREAK.search(text)
        self.ending = found[0] if found else "\n"
        """What lines end with."""

    def start(self, position: int) -> int:
        """Where the line with this position begins."""
        return max(self.text.rfind("\n", 0, position), self.text.rfind("\r", 0, position)) + 1

    def after(self, position: int) -> int:
        """Where the next line begins."""
        found = _BREAK.search(self.text, position)
        return found.end() if found else len(self.text)

    def column(self, position: int) -> int:
        """How many characters stand before a position on its line."""
        return position - self.start(position)

    def same(self, position: int, other: int) -> bool:
        """Whether two positions are on one line."""
        return self.start(position) == self.start(other)

    def whole(self, position: int) -> str:
        """The line with this position, without its ending."""
        return self.text[self.start(position) : self.after(position)].rstrip("\r\n")

    def before(self, position: int) -> str:
        """What stands before a position on its line."""
        return self.text[self.start(position) : position]

    def behind(self, position: int) -> str:
        """What stands behind a position on its line."""
        return self.text[position : self.after(position)].rstrip("\r\n")

    def comment_behind(self, position: int) -> str:
        """The comment behind a position, with the space before it."""
        found = _COMMENT.match(self.text, position)
        return found[0] if found else ""

    def comments_above(self, position: int) -> int:
        """Where the comments begin that stand right above a line and as deep as what is at this position."""
        start, column = self.start(position), self.column(position)
        while start:
            above = self.start(self._end_before(start))
            found = _COMMENT_LINE.fullmatch(self.text, above, start)
            if found is None or len(found[1]) != column:
                break
            start = above
        return start

    def comments_below(self, position: int, column: int) -> int:
        """Where the next line begins, or the one below comments there that stand deeper than a column."""
        place = self.after(position)
        while (found := _COMMENT_LINE.match(self.text, place)) and len(found[1]) > column:
            place = found.end()
        return place

    def has_blank(self, start: int, end: int) -> bool:
        """Whether any of the lines between two is blank."""
        return any(not line.strip() for line in _BREAK.split(self.text[start:end])[:-1])

    def inserted(self, place: int, column: int, lines: Sequence[str]) -> Splice:
        """New lines at the beginning of one; a text without a line ending at its end stays so."""
        text = self.ending.join(" " * column + line if line else "" for line in lines)
        if place and self.text[place - 1] not in "\r\n":
            return Splice(place, place, self.ending + text)
        return Splice(place, place, text + self.ending)

    def moved(self, start: int, end: int, columns: int) -> str:
        """Whole lines moved to the right."""
        return _FILLED_LINE.sub(" " * columns + r"\g<0>", self.text[start:end])

    def removed(self, start: int, end: int) -> Splice:
        """Whole lines gone, likewise."""
        if start and self.text[end - 1] not in "\r\n":
            start = self._end_before(start)
        return Splice(start, end, "")

    def _end_before(self, start: int) -> int:
        """Where the line ends, without its ending, that stands above the one that begins here."""
        return start - (2 if self.text.endswith("\r\n", 0, start) else 1)
