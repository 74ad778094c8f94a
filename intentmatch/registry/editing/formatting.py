"""Standard layout of YAML files, for `intentmatch format`.

The layout indents by two columns, in front of dashes too. It removes unneeded quotes, trailing spaces, repeated blank
lines, and blank lines at the start and end. Brackets remain, on one line if they fit and otherwise opened into lines;
brackets that contain comments are left as they are. Order, comments and texts do not change.

The writer works on the layout of the source. Libraries that keep comments in a parsed tree, such as ruamel.yaml, lose
comments between brackets and rewrite `+1` or `1e999`, which are texts here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import yaml

from intentmatch.core.errors import InputError
from intentmatch.registry.editing.document import WIDTH, Document
from intentmatch.registry.editing.folder import Folder
from intentmatch.registry.editing.layout import WrittenNode, bare, dash, read_as
from intentmatch.registry.editing.quoting import Place, is_plain, written
from intentmatch.registry.reading.comments import LINE_BREAK, comments

_STEP = 2
# Start or end of a document.
_MARKER = re.compile(r"%.*|(?:---|\.\.\.)(?=\s|\Z)")
_TO_COMMENT = re.compile(r"\s*:?\s*(?:[&!]\S*\s+)*")
# An escape that the author wrote to make a character visible.
_ESCAPE = re.compile(r'\\[^"\\]')
_Point = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Format:
    """Brings every file into the standard layout."""

    def apply(self, folder: Folder) -> Folder:
        """Format every file. Raises `InputError` if that would change the content of a file."""
        for file, document in folder.documents.items():
            folder = folder.replaced(file, formatted(document))
        return folder


def formatted(document: Document) -> Document:
    """Return a file in the standard layout. Raises `InputError` if that would change its content."""
    refusal = InputError(f"{document.path} cannot be formatted without changing its content. Format it by hand")
    try:
        new = document.replaced(_FormattedLines(document.body).text(document.root))
    except yaml.YAMLError:
        raise refusal from None
    # Not every layout of YAML can be foreseen, but a text or a comment that changed can be seen.
    if _content(new) != _content(document):
        raise refusal
    return new


def _content(document: Document) -> tuple[object, list[str]]:
    read = read_as(document.root) if document.root else None
    return read, [comment.text for comment in comments(document.body)]


class _Note(NamedTuple):
    """A comment, or a marker such as `---`; line and column count from 0."""

    line: int
    column: int
    text: str
    alone: bool
    """Whether it is alone on its line."""


class _FormattedLines:
    """Writes the formatted lines from top to bottom."""

    def __init__(self, body: str) -> None:
        self._body = body
        self._old = LINE_BREAK.split(body)
        self._starts = [0, *(found.end() for found in LINE_BREAK.finditer(body))]
        self._notes = deque(self._note_at(comment.line - 1, comment.column - 1) for comment in comments(body))
        self._lines: list[str] = []

    def text(self, root: WrittenNode | None) -> str:
        """Return the formatted file."""
        end = (len(self._old), 0)
        span = (self._point(root.start)[0], self._point(root.end)[0]) if root else end
        self._mark_ends(*span)
        if root is not None:
            self._emit_above(self._point(root.start), 0)
            self._value("", root, 0, end)
        self._emit_notes_until(end, 0)
        ending = "\r\n" if "\r\n" in self._body else "\n"
        return "".join(line + ending for line in self._lines)

    def _mark_ends(self, first: int, last: int) -> None:
        """Treat `---`, `...` and directives outside the root as comments, so that they keep their position."""
        for number, line in enumerate(self._old):
            found = None if first < number <= last else _MARKER.match(line)
            if found:
                self._notes.append(_Note(number, 0, found[0].rstrip(), alone=True))
        self._notes = deque(sorted(self._notes))

    def _children(self, part: WrittenNode, indent: int, limit: _Point, key_column: int) -> None:
        """Emit the items of a list or mapping as lines; `limit` is where the next part begins."""
        units = part.entries or tuple((item, item) for item in part.items)
        for number, (first, value) in enumerate(units):
            following = self._begin(part, number + 1) if number + 1 < len(units) else limit
            self._emit_above(self._begin(part, number), indent)
            key = first if part.kind == "mapping" else None
            head = f"{self._inline(key, 'key')}:" if key else "-"
            self._value(" " * indent + head, value, indent, following, key)
        column = self._begin(part, 0)[1]
        # A comment at the indentation of both the list and its key belongs to the next key.
        while column > key_column and self._notes and self._notes[0].alone and self._notes[0][:2] < limit:
            if self._notes[0].column < column:
                break
            self._emit_note(indent)

    def _begin(self, part: WrittenNode, number: int) -> _Point:
        """Return the start of an item (at its dash) or of a key."""
        if part.kind == "list" and not part.style:
            return self._point(dash(self._body, part, number))
        return self._point((part.items or part.children[::2])[number].start)

    def _value(self, head: str, value: WrittenNode, indent: int, limit: _Point, key: WrittenNode | None = None) -> None:
        """Emit the value after a dash or a colon."""
        line = self._on_one_line(value, len(head) + 1)
        if line is None and value.children and not (value.style and self._has_note_inside(value)):
            self._block(head, value, indent, limit, key)
            return
        self._emit_notes_until(self._point(value.start), indent)
        # A value without a key follows a dash, mostly one space after it.
        column = self._point(key.start)[1] if key else max(0, self._point(value.start)[1] - _STEP)
        lines = self._raw(value, indent, column) if line is None else [line]
        while self._has_note_inside(value):
            self._notes.popleft()
        lines[0] = f"{head} {lines[0]}".rstrip() if head else lines[0]
        lines[-1] += self._note_beside(value.end)
        self._lines += lines

    def _block(self, head: str, value: WrittenNode, indent: int, limit: _Point, key: WrittenNode | None) -> None:
        """Emit a list or mapping below its key, or beside its dash."""
        properties = self._properties(value)
        column = -1 if key is None else self._point(key.start)[1]
        if not head:
            self._children(value, indent, limit, column)
        elif key is not None or properties:
            beside = self._note_beside(value.end if value.style else key.end if key else value.start)
            self._lines.append(f"{head} {properties}".rstrip() + beside)
            self._children(value, indent + _STEP, limit, column)
        else:
            first = value
            # The first line of nested lists stands beside the dash, so comments before it go above the dash.
            while first.kind != "alias" and first.children:
                first = first.children[0]
            self._emit_notes_until(self._point(first.start), indent)
            mark = len(self._lines)
            self._children(value, indent + _STEP, limit, column)
            while not self._lines[mark]:
                del self._lines[mark]
            self._lines[mark] = f"{head} {self._lines[mark].lstrip(' ')}"

    def _on_one_line(self, part: WrittenNode, column: int) -> str | None:
        """Return a value that fits on the line of its key, otherwise None."""
        if part.kind in ("list", "mapping") and (not part.style or self._has_note_inside(part)):
            return None
        text = self._inline(part)
        is_one = part.kind == "alias" or (part.kind == "text" and not self._has_break(part))
        return text if text is not None and (is_one or column + len(text) <= WIDTH) else None

    def _inline(self, part: WrittenNode, place: Place = "line") -> str | None:
        """Return a part without line breaks, None for a text that needs them."""
        properties = self._properties(part)
        if part.kind == "alias":
            # In YAML 1.2 a colon may be part of an alias's name: `*a:` needs a space.
            return f"*{part.text}" + " " * (place == "key")
        if part.kind == "text":
            raw = self._body[bare(self._body, part) : part.end]
            escapes = part.style == '"' and _ESCAPE.search(raw)
            folded = self._has_break(part)
            if place == "line" and (part.style in ("|", ">") or (folded and (escapes or "\n" in part.text))):
                return None
            if part.style and not properties and not escapes and is_plain(part.text, place):
                return part.text
            return properties + (written(part.text, part.style, place) if folded else raw)
        pieces = [self._inline(child, "brackets") or "" for child in part.items]
        pieces += [f"{self._inline(key, 'key')}: {self._inline(value, 'brackets')}" for key, value in part.entries]
        closing = "]" if part.kind == "list" else "}"
        return f"{properties}{part.style}{', '.join(pieces)}{closing}"

    def _raw(self, part: WrittenNode, indent: int, column: int) -> list[str]:
        """Return the lines of a part unchanged but indented; its key or dash was in `column`."""
        first, *more = LINE_BREAK.split(self._body[part.start : part.end])
        if part.style in ("|", ">"):
            return [first.rstrip(), *self._raw_block(part, first, more, indent)]
        # Lines between brackets keep their relative indentation, which may align items by hand.
        depths = [_depth(line) + indent - column if part.children else 0 for line in more]
        lines = [" " * max(depth, indent + _STEP) + line.strip(" \t") for depth, line in zip(depths, more, strict=True)]
        return [first, *(line if line.strip() else "" for line in lines)]

    def _raw_block(self, part: WrittenNode, header: str, lines: list[str], indent: int) -> list[str]:
        filled = next((line for line in LINE_BREAK.split(part.text) if line.strip()), "")
        begin = next((_depth(line) for line in lines if line.strip()), 0) - _depth(filled)
        # An indicator such as `|2` counts from the column of the key, and lets a text begin with spaces.
        digit = re.match(r"\S*?([1-9])", header[bare(self._body, part) - part.start :])
        moved = " " * (indent + (int(digit[1]) if digit else _STEP))
        below = self._point(part.end)[0] + 1
        # Of `|+` the blank lines at the end belong to the text and are no layout.
        while "+" in header.split("#", maxsplit=1)[0] and below < len(self._old) - 1 and not self._old[below].strip():
            lines.append("")
            below += 1
        return [moved + line[begin:] if len(line) > begin else "" for line in lines]

    def _properties(self, part: WrittenNode) -> str:
        """Return anchor and tag, each followed by a space."""
        return "".join(f"{word} " for word in self._body[part.start : bare(self._body, part)].split())

    def _emit_above(self, point: _Point, indent: int) -> None:
        """Emit the comments above a point, and a blank line if the source has one."""
        self._emit_notes_until(point, indent)
        line, column = point
        if not self._old[line][:column].strip(" -") and line:
            self._emit_blank(line)

    def _emit_blank(self, line: int) -> None:
        """Emit a blank line if the source has one above this line."""
        if line and not self._old[line - 1].strip() and self._lines and self._lines[-1]:
            self._lines.append("")

    def _emit_notes_until(self, point: _Point, indent: int) -> None:
        while self._notes and self._notes[0][:2] < point:
            self._emit_note(indent)

    def _emit_note(self, indent: int) -> None:
        note = self._notes.popleft()
        if note.alone:
            self._emit_blank(note.line)
        self._lines.append(" " * indent + note.text)

    def _note_beside(self, end: int) -> str:
        """Take the comment right after a position, with the space before it."""
        if not self._notes or self._notes[0].alone:
            return ""
        note = self._notes[0]
        if not _TO_COMMENT.fullmatch(self._body, end, self._starts[note.line] + note.column):
            return ""
        if self._point(end)[0] != note.line:
            return ""
        self._notes.popleft()
        before = self._old[note.line][: note.column]
        return " " * (len(before) - len(before.rstrip())) + note.text

    def _has_break(self, part: WrittenNode) -> bool:
        return LINE_BREAK.search(self._body, bare(self._body, part), part.end) is not None

    def _has_note_inside(self, part: WrittenNode) -> bool:
        """Return whether the next comment is inside a part."""
        return bool(self._notes) and self._point(part.start) <= self._notes[0][:2] < self._point(part.end)

    def _note_at(self, line: int, column: int) -> _Note:
        old = self._old[line]
        return _Note(line, column, old[column:].rstrip(), alone=not old[:column].strip())

    def _point(self, position: int) -> _Point:
        line = bisect_right(self._starts, position) - 1
        return line, position - self._starts[line]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
