"""Show the source line of a problem with a caret under its place, as Rust and Ruff do."""

from __future__ import annotations

import shutil
from functools import lru_cache
from pathlib import Path

from intentmatch.core.errors import Location

_TAB = "    "
# Characters without width that letters and emoji need.
_JOINERS = "\u200c\u200d\ufe0f"
_CUT = "…"
_LEAST_WIDTH = 40
# Columns that stay visible behind the caret of a long line.
_AFTER_CARET = 12


def excerpt(place: Location) -> list[str]:
    """Return the source line with its number, and a line with a caret; empty if the file does not have the place.

    Long lines are cut to the width of the terminal. Control characters are replaced.
    """
    lines = _lines(place.path)
    if not 0 < place.line <= len(lines):
        return []
    line = lines[place.line - 1]
    if not line.strip() or place.column > len(line) + 1:
        return []
    before, after = _printable(line[: place.column - 1]), _printable(line[place.column - 1 :])
    number = str(place.line)
    width = max(_LEAST_WIDTH, shutil.get_terminal_size().columns - len(number) - len("   | "))
    before, after = _cut(before, after, width)
    margin = " " * _width(before)
    return [f"  {number} | {before}{after}".rstrip(), f"  {' ' * len(number)} | {margin}^"]


def _lines(path: str) -> list[str]:
    try:
        state = Path(path).stat()
    except (OSError, ValueError):
        return []
    # A file with a hundred problems is read once, and again when it has changed.
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=16)
def _read(path: str, changed: int, size: int) -> list[str]:
    """Return the lines of a file; the date and size of the file are part of the cache's key."""
    from intentmatch.registry.reading.comments import split_lines

    try:
        # Reading a pipe would consume it.
        raw = Path(path).read_bytes() if Path(path).is_file() else b""
        return split_lines(raw.decode("utf-8-sig", "replace"))
    except OSError:
        return []


def _printable(text: str) -> str:
    shown = (sign if sign.isprintable() or sign in _JOINERS else "\ufffd" for sign in text.replace("\t", _TAB))
    return "".join(shown)


def _width(text: str) -> int:
    """Return the columns that a text takes in a terminal: two for a wide character, none for an accent."""
    from rich.cells import cell_len

    return cell_len(text)


def _cut(before: str, after: str, width: int) -> tuple[str, str]:
    """Cut the start and the end of a line, so that it fits the width and its place remains visible."""
    room = width - min(_AFTER_CARET, _width(after)) - 1
    if _width(before) > room:
        while before and _width(before) >= room:
            before = before[1:]
        before = _CUT + before
    room = width - _width(before)
    if _width(after) > room:
        while after and _width(after) >= room:
            after = after[:-1]
        after += _CUT
    return before, after
