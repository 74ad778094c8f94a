"""Take lines of YAML apart and put them together again, for advice on mistakes."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

# A line is shown in the hint up to this length.
_LONGEST_SHOWN = 72
_LONGEST_LINE = 1000
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

_PARTS = re.compile(
    r"""(?P<indent>[ ]*)(?P<dashes>(?:-[ ]+)*)
    (?:(?P<key>[^\s"'\[\]{},&*!|>%@`\#:-][^\#:]*?)[ ]*:(?:[ ]+|$))?
    (?P<value>.*?)(?P<comment>\s+\#(?:\s.*)?|\s*)$""",
    re.VERBOSE,
)


class LineParts(NamedTuple):
    """A line of a file, taken apart."""

    indent: int
    dashes: str
    """Dashes of list items with the spaces after them."""
    key: str | None
    """The text before the first colon that ends a key."""
    value: str
    """The text after dashes and key, without a comment."""
    comment: str
    start: int
    """0-based column of `value`."""


def take_apart(line: str) -> LineParts:
    """Return the parts of a line of block YAML; a line of more than 1,000 characters is all value."""
    found = _PARTS.match(line) if len(line) <= _LONGEST_LINE else None
    if found is None:
        return LineParts(0, "", None, line, "", 0)
    key = found["key"]
    return LineParts(len(found["indent"]), found["dashes"], key, found["value"], found["comment"], found.start("value"))


def quoted(text: str) -> str:
    """Return a text in the quotes that need fewer backslashes."""
    if '"' in text and "'" not in text and "\\" not in text:
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False)


def shown(line: str) -> str:
    """Return a repaired line for a hint: after a colon, or nothing if it is too long."""
    bare = line.strip()
    return f": `{bare}`" if len(bare) <= _LONGEST_SHOWN else ""


def columns(shift: int) -> str:
    """Say in words by how many columns something moves: "two columns further right"."""
    count = _NUMBERS[abs(shift)] if abs(shift) < len(_NUMBERS) else str(abs(shift))
    unit = "column" if abs(shift) == 1 else "columns"
    return f"{count} {unit} further {'right' if shift > 0 else 'left'}"
