"""Find the author's mistake behind a YAML syntax error.

A YAML parser reports where it gives up and what it expected there. The mistake is often elsewhere: a missing dash is
noticed at the next colon, an apostrophe that opens a quote at the next apostrophe. `explain` proposes repairs of the
lines above that place, takes the first repair with which the parser gets further, and goes on from there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from intentmatch.core.errors import Location, Problem
from intentmatch.registry.reading import nodes
from intentmatch.registry.reading.comments import LINE_BREAK, split_lines
from intentmatch.registry.reading.line_parts import take_apart
from intentmatch.registry.reading.repair import Repair
from intentmatch.registry.reading.syntax_repairs import FINDERS, indentation, opens_quote, tab

# Each attempt parses the file again.
_LONGEST_FILE = 200_000
_MOST_ATTEMPTS = 60
# Lines with content, above the place of the error, in which the mistake is looked for.
_LINES_ABOVE = 3
_END = 1 << 60
_INVISIBLE = re.compile("[\x85\u2028\u2029]")


def explain(text: str, error: nodes.NodeError) -> list[Problem]:
    """Return the mistakes behind a syntax error, and behind those that the parser would find after it.

    A mistake is believed only if the parser gets further in the text without it. If no mistake is found, the problem of
    the error is returned as it is.
    """
    path = error.problem.location.path
    if error.reached is not None and (sign := _INVISIBLE.search(text)):
        return _explain_invisible(text, error, sign)
    problems: list[Problem] = []
    lines = split_lines(text)
    attempts = _Attempts()
    left: nodes.NodeError | None = error
    while left is not None and left.reached is not None and not attempts.over and len(text) <= _LONGEST_FILE:
        found = _mistake(lines, left, attempts)
        if found is None:
            break
        repair, left = found
        place = Location(path, repair.first + 1, repair.column + 1)
        # A second mistake on a line may be one of the repair.
        if all(place.line != problem.location.line for problem in problems):
            problems.append(Problem(place, "error", "yaml-syntax", repair.message, repair.hint))
        lines = _with(lines, repair)
    return problems or [error.problem]


def _explain_invisible(text: str, error: nodes.NodeError, sign: re.Match[str]) -> list[Problem]:
    """Return the mistakes of a text with line breaks that editors do not show, and do not count as lines."""
    path, bare = error.problem.location.path, _INVISIBLE.sub(" ", text)
    later: nodes.NodeError | None = None
    try:
        nodes.parse(bare, path)
    except nodes.NodeError as found:
        later = found
    problems = [] if later is None else explain(bare, later)
    if later is None or later.reached is None or _position(bare, later.reached) > _position(text, error.reached):
        place = Location(path, *nodes.line_and_column(text, sign.start()))
        message = f"the invisible character U+{ord(sign[0]):04X} ends a line in YAML"
        problems.insert(0, Problem(place, "error", "yaml-syntax", message, "replace it by a space"))
    return problems


def _position(text: str, place: tuple[int, int] | None) -> int:
    line, column = place or (1, 1)
    starts = [0, *(found.end() for found in LINE_BREAK.finditer(text))]
    return starts[min(line, len(starts)) - 1] + column


class _Attempts:
    """Count the attempts to parse a file."""

    def __init__(self) -> None:
        self._left = _MOST_ATTEMPTS

    def parse(self, lines: Sequence[str]) -> nodes.NodeError | None:
        """Return the error of a text, or None if it has none."""
        self._left -= 1
        try:
            nodes.parse("\n".join(lines), "")
        except nodes.NodeError as error:
            return error
        return None

    @property
    def over(self) -> bool:
        """Whether there are no more attempts."""
        return self._left <= 0


def _mistake(
    lines: list[str], error: nodes.NodeError, attempts: _Attempts
) -> tuple[Repair, nodes.NodeError | None] | None:
    """Return a repair with which the parser gets further, and the error that it finds then; None if there is none."""
    place = error.problem.location
    # The parser finds tabs before it finds other mistakes above them, so that it may get no further.
    tabs = [(repair, attempts.parse(_with(lines, repair))) for repair in tab(lines, place.line - 1, place.column - 1)]
    if tabs:
        # How deep a tab is meant is a guess: the depth with which the parser gets furthest is right.
        return max(tabs, key=lambda found: (found[1] and found[1].reached) or (_END, 0))
    reached = error.reached or (1, 1)
    suspects = _suspects(lines, error)
    for find in FINDERS:
        for number in suspects:
            if find is indentation and number + 1 != reached[0]:
                # It looks for the line itself, from where the parser gave up.
                continue
            for repair in find(lines, number):
                if attempts.over:
                    return None
                later = attempts.parse(_with(lines, repair))
                if later is None or later.reached is None or later.reached > _passed(repair, reached):
                    return repair, later
    return None


def _passed(repair: Repair, reached: tuple[int, int]) -> tuple[int, int]:
    """Return the place that the parser must pass for a repair to count; columns of repaired lines have changed."""
    last = reached[0] if len(repair.lines) > 1 else repair.first + 1
    return max(reached, (last, _END))


def _with(lines: list[str], repair: Repair) -> list[str]:
    """Return the lines after a repair, as many as before."""
    return [*lines[: repair.first], *repair.lines, *lines[repair.first + len(repair.lines) :]]


def _suspects(lines: Sequence[str], error: nodes.NodeError) -> list[int]:
    """Return the 0-based numbers of the lines that may hold the mistake, the likeliest first."""
    reached = min(error.reached[0] if error.reached else 1, len(lines))
    filled = [number for number in range(reached) if lines[number].strip() and lines[number].lstrip()[0] != "#"]
    quotes = [number for number in filled if opens_quote(take_apart(lines[number]).value)]
    # An open quote ends at the next one, however far away.
    near = [error.problem.location.line - 1, *filled[: -_LINES_ABOVE - 2 : -1]]
    return list(dict.fromkeys([*(number for number in near if number in filled), *quotes[:-3:-1]]))
