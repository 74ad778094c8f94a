"""A guess at a mistake in lines of YAML, and what makes such guesses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple


class Repair(NamedTuple):
    """A guess at a mistake, with the lines that would be right."""

    first: int
    """0-based number of the first line that changes."""
    lines: Sequence[str]
    """What stands there instead, line for line."""
    column: int
    """0-based column of the mistake."""
    message: str
    hint: str


Finder = Callable[[Sequence[str], int], Iterator[Repair]]
"""Yields guesses at the mistake of one line, named by its 0-based number."""
