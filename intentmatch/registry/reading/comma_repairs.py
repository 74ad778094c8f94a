"""Guess at commas that are missing in brackets and braces, as in JSON, and at those that are too many."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from intentmatch.registry.reading.line_parts import shown
from intentmatch.registry.reading.repair import Finder, Repair

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
# What may end an entry of a list or a mapping, and what may begin the next one.
_END, _START = re.compile(r'(?:["\]}]|\b(?:true|false|null|-?[0-9.]+))$'), ('"', "{", "[")
_MESSAGE = "a comma is missing here"


def _at_end_of_line(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A comma between an entry and the entry on the next line."""
    above = next((each for each in range(number - 1, -1, -1) if lines[each].strip()), None)
    if above is None or not lines[number].lstrip().startswith(_START):
        return
    line = lines[above].rstrip()
    if _END.search(line):
        hint = f"write a `,` at the end of the line{shown(line + ',')}"
        yield Repair(above, [f"{line},"], len(line), _MESSAGE, hint)


def _within_line(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """Commas between two entries of one line."""
    line = lines[number]
    # Texts in quotes may hold anything.
    bare = _QUOTED.sub(lambda text: f'"{"x" * (len(text[0]) - 2)}"', line)
    gaps = [found.start() for found in re.finditer(r'(?<=["\]}])\s+(?=["{\[])', bare)]
    if gaps:
        repaired = line
        # From the end, so that the positions of the others stay right.
        for gap in reversed(gaps):
            repaired = f"{repaired[:gap]},{repaired[gap:]}"
        yield Repair(number, [repaired], gaps[0], _MESSAGE, f"write a `,` there{shown(repaired)}")


def _twice(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A comma in brackets or braces with nothing before it."""
    line = lines[number]
    if found := re.search(r"(?<=[\[{,])\s*(?P<comma>,)", line):
        at = found.start("comma")
        repaired = f"{line[: found.start()]}{line[at + 1 :]}"
        message = "nothing stands before this comma"
        yield Repair(number, [repaired], at, message, f"remove the comma{shown(repaired)}")


COMMA_FINDERS: tuple[Finder, ...] = (_at_end_of_line, _within_line, _twice)
