"""Comments of a YAML text, each with its position and the lines that it applies to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import yaml

from intentmatch.registry.reading.nodes import LOADER

# YAML's line breaks; the positions of the reader count these.
LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")

_OTHER_BREAKS = "\r\x85\u2028\u2029"

_Place = tuple[int, int]


def split_lines(text: str) -> list[str]:
    """Split a text at YAML's line breaks."""
    # Mostly, the only line break is \n, for which `str.split` is 20 times as fast.
    return LINE_BREAK.split(text) if any(sign in text for sign in _OTHER_BREAKS) else text.split("\n")


class Comment(NamedTuple):
    """The text after a `#` and the lines that it applies to; lines and columns count from 1."""

    line: int
    column: int
    text: str
    first: int
    """The line of the comment or, for a comment on its own line, the next line with content."""
    last: int
    """The last line of the block that starts at `first`, with everything indented below a key."""


def comments(text: str) -> list[Comment]:
    """Return the comments of a YAML text in order; none for invalid YAML, which the reader reports.

    A `#` inside a quoted text or a block text does not start a comment.
    """
    if "#" not in text:
        return []
    spans = _scalars(text)
    if spans is None:
        return []
    lines = split_lines(text)
    found: list[_Place] = []
    for number, line in enumerate(lines):
        column = line.find("#")
        while column >= 0:
            # YAML begins a comment only after a space: `a#b` is text.
            if (column == 0 or line[column - 1] in " \t") and not _inside(spans, (number, column)):
                found.append((number, column))
                break
            column = line.find("#", column + 1)
    bare = {number for number, column in found if not lines[number][:column].strip()}
    blocks = [number for number, line in enumerate(lines) if line.strip() and number not in bare]
    return [_comment(lines, blocks, number, column) for number, column in found]


def _comment(lines: Sequence[str], blocks: Sequence[int], number: int, column: int) -> Comment:
    """Make the comment at a 0-based position; `blocks` are the lines that hold more than a comment."""
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
    """Indentation of a line; a list item counts half a step deeper, because it may align with its key."""
    bare = line.lstrip(" ")
    return len(line) - len(bare) + (0.5 if bare.startswith("- ") else 0.0)


def _scalars(text: str) -> list[tuple[_Place, _Place]] | None:
    """Return 0-based start and end of every quoted and block text, or None for invalid YAML."""
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
