"""The comments of YAML text, with their places, and how far down each one speaks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import yaml

from intentmatch.registry.reading.nodes import LOADER

# Where YAML ends a line, and so where the reader's positions count one.
LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")

_Place = tuple[int, int]


class Comment(NamedTuple):
    """What stands behind a `#`, and the lines it is about; lines and columns count from 1."""

    line: int
    column: int
    text: str
    first: int
    """The line that it stands on or, where it has a line of its own, the next one with content."""
    last: int
    """The last line of what begins there: of a key, all that is indented below it."""


def comments(text: str) -> list[Comment]:
    """Every comment of a YAML text, in order; none where the text is no YAML, which is for the reader to say.

    A `#` inside a quoted or a block text is no comment.
    """
    if "#" not in text:
        return []
    spans = _scalars(text)
    if spans is None:
        return []
    lines = LINE_BREAK.split(text)
    found: list[_Place] = []
    for number, line in enumerate(lines):
        column = line.find("#")
        while column >= 0:
            if (column == 0 or line[column - 1] in " \t") and not _inside(spans, (number, column)):
                found.append((number, column))
                break
            column = line.find("#", column + 1)
    bare = {number for number, column in found if not lines[number][:column].strip()}
    blocks = [number for number, line in enumerate(lines) if line.strip() and number not in bare]
    return [_comment(lines, blocks, number, column) for number, column in found]


def _comment(lines: Sequence[str], blocks: Sequence[int], number: int, column: int) -> Comment:
    """The comment at a position, both from 0; `blocks` are the lines that hold more than a comment."""
    at = bisect_right(blocks, number) - 1
    own_line = at < 0 or blocks[at] != number
    if own_line:
        at += 1
    text = lines[number][column + 1 :].strip()
    if at >= len(blocks):
        return Comment(number + 1, column + 1, text, number + 1, number + 1)
    first = blocks[at]
    depth = _depth(lines[first])
    last = first
    for below in blocks[at + 1 :]:
        if _depth(lines[below]) <= depth:
            break
        last = below
    return Comment(number + 1, column + 1, text, first + 1, last + 1)


def _depth(line: str) -> float:
    """How far a line is indented; a list may stand right below its key, and counts as half a step deeper."""
    bare = line.lstrip(" ")
    return len(line) - len(bare) + (0.5 if bare.startswith("- ") else 0.0)


def _scalars(text: str) -> list[tuple[_Place, _Place]] | None:
    """Start and end, each line and column from 0, of every quoted and block text; None for what is no YAML."""
    try:
        tokens = [token for token in yaml.scan(text, Loader=LOADER) if isinstance(token, yaml.ScalarToken)]
    except yaml.YAMLError:
        return None
    return [
        ((t.start_mark.line, t.start_mark.column), (t.end_mark.line, t.end_mark.column)) for t in tokens if not t.plain
    ]


def _inside(spans: list[tuple[_Place, _Place]], place: _Place) -> bool:
    at = bisect_right(spans, (place, place)) - 1
    return at >= 0 and spans[at][0] <= place < spans[at][1]
