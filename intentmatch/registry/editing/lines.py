"""Lines of a text: their boundaries, neighbouring text and comments, and splices of whole lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_BREAK = re.compile(r"\r\n|\n|\r")
# Not `^`, which does not match after a lone `\r`; YAML takes that as a line break.
_FILLED_LINE = re.compile(r"(?<![^\r\n])[ \t]*[^\s][^\r\n]*")
_COMMENT = re.compile(r"[ \t]+#[^\r\n]*")
_COMMENT_LINE = re.compile(r"([ \t]*)#[^\r\n]*(?:\r\n|\n|\r|\Z)")


class Splice(NamedTuple):
    """Replacement text for a span."""

    start: int
    end: int
    text: str


class Lines:
    """The lines of a text; positions count characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = _BREAK.search(text)
        self.ending = found[0] if found else "\n"
        """The line ending that the text uses."""

    def start(self, position: int) -> int:
        """Return the start of the line with this position."""
        return max(self.text.rfind("\n", 0, position), self.text.rfind("\r", 0, position)) + 1

    def next_line(self, position: int) -> int:
        """Return the start of the next line."""
        found = _BREAK.search(self.text, position)
        return found.end() if found else len(self.text)

    def column(self, position: int) -> int:
        """Return the column of a position, from 0."""
        return position - self.start(position)

    def same(self, position: int, other: int) -> bool:
        """Return whether two positions are on one line."""
        return self.start(position) == self.start(other)

    def whole(self, position: int) -> str:
        """Return the line with this position, without its ending."""
        return self.text[self.start(position) : self.next_line(position)].rstrip("\r\n")

    def before(self, position: int) -> str:
        """Return the text before a position on its line."""
        return self.text[self.start(position) : position]

    def rest_of_line(self, position: int) -> str:
        """Return the text after a position on its line."""
        return self.text[position : self.next_line(position)].rstrip("\r\n")

    def comment_after(self, position: int) -> str:
        """Return the comment after a position, with the space before it."""
        found = _COMMENT.match(self.text, position)
        return found[0] if found else ""

    def comments_above(self, position: int) -> int:
        """Return the start of the comment lines right above a line that are in the column of this position."""
        start, column = self.start(position), self.column(position)
        while start:
            above = self.start(self._end_before(start))
            found = _COMMENT_LINE.fullmatch(self.text, above, start)
            # A comment in another column is about another level.
            if found is None or len(found[1]) != column:
                break
            start = above
        return start

    def comments_below(self, position: int, column: int) -> int:
        """Return the start of the next line, after any comment lines that are indented deeper than `column`."""
        place = self.next_line(position)
        while (found := _COMMENT_LINE.match(self.text, place)) and len(found[1]) > column:
            place = found.end()
        return place

    def has_blank(self, start: int, end: int) -> bool:
        """Return whether a span contains a blank line."""
        return any(not line.strip() for line in _BREAK.split(self.text[start:end])[:-1])

    def inserted(self, place: int, column: int, lines: Sequence[str]) -> Splice:
        """Insert lines before the line at `place`; a text without a final line ending stays without one."""
        text = self.ending.join(" " * column + line if line else "" for line in lines)
        if place and self.text[place - 1] not in "\r\n":
            return Splice(place, place, self.ending + text)
        return Splice(place, place, text + self.ending)

    def moved(self, start: int, end: int, columns: int) -> str:
        """Return whole lines indented by more columns."""
        return _FILLED_LINE.sub(" " * columns + r"\g<0>", self.text[start:end])

    def removed(self, start: int, end: int) -> Splice:
        """Remove whole lines; a text without a final line ending stays without one."""
        if start and self.text[end - 1] not in "\r\n":
            start = self._end_before(start)
        return Splice(start, end, "")

    def _end_before(self, start: int) -> int:
        """Return the end, without its line ending, of the line above the one that starts here."""
        return start - (2 if self.text.endswith("\r\n", 0, start) else 1)
