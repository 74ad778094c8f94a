"""Guess at signs that YAML does not know: marks of a merge, bullets, full-width colons, wide spaces, escapes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from intentmatch.registry.reading.line_parts import shown
from intentmatch.registry.reading.repair import Finder, Repair

_MERGE = re.compile(r"(?:<<<<<<<|>>>>>>>|\|\|\|\|\|\|\|)(?: |$)|=======$")
_BULLET = re.compile(r"(?P<before>[ ]*)(?P<sign>[–—−•·●▪‣*])[ \u00a0]+(?P<text>\S.*)")
_COLON = re.compile(r"(?P<before>[ ]*(?:-[ ]+)*[\w.-]+[ ]*)：[ \u3000]*(?P<after>.*)")
_SPACES = "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"
# In the indentation, after dashes, and after the colon of a key.
_WIDE_SPACE = re.compile(rf"(?P<before>[ ]*(?:-[ ]*)*(?:[\w.-]+:[ ]*)?)[{_SPACES}]")
_ESCAPE = re.compile(r"\\(?P<sign>.)")
_ESCAPES = frozenset('0abt\tnvfre "/\\\\N_LPxuU')


def _merge_marks(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """The marks that git leaves around the two versions of a line."""
    if not _MERGE.match(lines[number]):
        return
    marks = [each for each, line in enumerate(lines) if _MERGE.match(line)]
    first, last = marks[0], marks[-1]
    # Both versions stay, and marks become blank lines, so that all lines keep their numbers.
    without = ["" if each in marks else lines[each] for each in range(first, last + 1)]
    hint = "keep one of the two versions, and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`"
    yield Repair(first, without, 0, "this merge conflict is not resolved", hint)


def _bullet(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """Another sign in place of the dash of a list item."""
    if found := _BULLET.fullmatch(lines[number]):
        repaired = f"{found['before']}- {found['text']}"
        message = f"`{found['sign']}` begins no item of a list in YAML"
        hint = f"begin the line with a dash and a space{shown(repaired)}"
        yield Repair(number, [repaired], found.start("sign"), message, hint)


def _full_width_colon(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A full-width colon after a key."""
    if found := _COLON.fullmatch(lines[number]):
        repaired = f"{found['before']}: {found['after']}".rstrip()
        hint = f"write `:` and a space{shown(repaired)}"
        yield Repair(number, [repaired], found.end("before"), "a full-width colon ends no key in YAML", hint)


def _wide_space(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A no-break or full-width space where YAML expects a space."""
    if found := _WIDE_SPACE.match(lines[number]):
        start = found.end("before")
        end = start + len(lines[number][start:]) - len(lines[number][start:].lstrip(_SPACES + " "))
        repaired = lines[number][:start] + " " * (end - start) + lines[number][end:]
        name = "full-width" if lines[number][start] == "\u3000" else "no-break"
        message = f"a {name} space stands here; YAML allows only plain spaces"
        yield Repair(number, [repaired], start, message, "replace it by a plain space")


def _escape(lines: Sequence[str], number: int) -> Iterator[Repair]:
    """A backslash in double quotes that begins no escape of YAML."""
    start = lines[number].find('"')
    unknown = [it for it in _ESCAPE.finditer(lines[number], max(start, 0)) if it["sign"] not in _ESCAPES]
    if start >= 0 and unknown:
        line = lines[number]
        repaired = line[:start] + _ESCAPE.sub(
            lambda it: it[0] if it["sign"] in _ESCAPES else f"\\{it[0]}", line[start:]
        )
        message = f"`{unknown[0][0]}` is no escape of a text in double quotes"
        hint = "write two backslashes for one, or use single quotes"
        yield Repair(number, [repaired], unknown[0].start(), message, hint)


SIGN_FINDERS: tuple[Finder, ...] = (_merge_marks, _wide_space, _full_width_colon, _bullet, _escape)
