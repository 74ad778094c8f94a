"""Lay out text in the cells of a terminal: wrap lines between words, and align columns in every script.

A cell is the width of a Latin letter; Chinese and Japanese signs take two cells, combining marks none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

import click

SEPARATOR = "  "
"""Stands between two columns; tables are indented by as much."""

_RULE = "─"
_LEFT_TO_RIGHT_MARK = "\u200e"
# Scripts without spaces between words, in which a line may break between any two signs: Han, kana and full width.
_BREAKABLE = "\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
# Latin letters, typographic quotes, dashes and arrows take one cell each.
_NARROW = re.compile("[ -\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u257f]*")
# Signs that never begin a line.
_CLOSING = "、。，．！？：；）」』】〉》”’…ー々'\"),.:;!?"
# Signs that never end a line.
_OPENING = "“‘\"'(（「『【〈《"
_WORD = re.compile(
    rf" +|[{_OPENING}]*[{_BREAKABLE}][{_CLOSING}]*|(?:(?![{_OPENING}]+[{_BREAKABLE}])[^ {_BREAKABLE}])+[{_CLOSING}]*"
)
_BEGIN = re.compile(r"(?:\x1b\[[0-9;]*m)* *")
# More columns than this do not fit beside each other as facts about a row.
_MOST_FACTS = 9
_SHORT_FACT = 30
_NO_BREAK = "\u00a0"
# Cells of a first column in which some names have room.
_LEAST_FIRST = 8


def cells(text: str) -> int:
    """Return the cells that a text takes; codes of colours take none."""
    text = click.unstyle(text)
    # Most text: the table of widths is asked for each sign of the rest only.
    if _NARROW.fullmatch(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def padded(text: str, width: int) -> str:
    """Fill a text up with spaces; behind a right-to-left text, a mark keeps these and the next column to its right."""
    mark = _LEFT_TO_RIGHT_MARK if any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in text) else ""
    return text + mark + " " * (width - cells(text))


def wrapped(text: str, width: int, indent: str | None = None) -> list[str]:
    """Break a text between its words into lines of at most `width` cells.

    Further lines begin with `indent`, by default two spaces more than the first one. Only a word that is longer than a
    line is broken. Line breaks of the text stay.
    """
    return [line for part in text.split("\n") for line in _wrapped(part, width, indent)]


def _wrapped(text: str, width: int, indent: str | None) -> Iterator[str]:
    if cells(text) <= width:
        yield text
        return
    # Colours and indentation: further lines begin below the text, and codes take no cells.
    begin = _BEGIN.match(text)
    line, gap, empty = begin[0] if begin else "", "", True
    if indent is None:
        indent = click.unstyle(line) + SEPARATOR
    for word in _words(text[len(line) :], max(1, width - cells(indent))):
        if word.startswith(" "):
            gap = word
        elif empty or cells(line + gap + word) <= width:
            line, gap, empty = line + ("" if empty else gap) + word, "", False
        else:
            yield line
            line, gap = indent + word, ""
    yield line


def _words(text: str, width: int) -> Iterator[str]:
    """Yield words and the spaces between them; a word wider than a line in parts."""
    for word in _WORD.findall(text):
        rest = word
        while cells(rest) > width:
            end = next(end for end in range(len(rest), 0, -1) if end == 1 or cells(rest[:end]) <= width)
            # A mark stays with its letter.
            while end > 1 and unicodedata.category(rest[end]) in ("Mn", "Mc", "Me", "Cf"):
                end -= 1
            yield rest[:end]
            rest = rest[end:]
        yield rest


def table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], width: int, header_style: Callable[[str], str] = str
) -> list[str]:
    """Lay out a table with a rule below its headers in at most `width` cells.

    Columns become narrower by wrapping their cells between words. If that is not enough, a long first cell gets a line
    of its own above its row. What still does not fit is laid out as several tables if there are many columns, and
    otherwise as facts below the first cell of each row. `header_style` is applied to each line of the headers.
    """
    natural = [max(cells(row[column]) for row in [headers, *rows]) for column in range(len(headers))]
    least = [max(_longest_word(row[column]) for row in [headers, *rows]) for column in range(len(headers))]
    widths = _fitted(natural, least, width) or _overhanging(headers, natural, least, width)
    if widths is not None:
        return list(_drawn(headers, rows, widths, header_style))
    split = 0
    if len(headers) > _MOST_FACTS:
        split = next((n for n in range(len(headers) - 1, 1, -1) if _fitted(natural[:n], least[:n], width)), 0)
    if not split:
        return [line for row in rows for line in _as_facts(headers, row, width)]
    first = table(headers[:split], [row[:split] for row in rows], width, header_style)
    others = [[row[0], *row[split:]] for row in rows]
    return [*first, "", *table([headers[0], *headers[split:]], others, width, header_style)]


def _fitted(natural: Sequence[int], least: Sequence[int], width: int) -> list[int] | None:
    """Return the widths of the columns, the widest ones made narrower; None if they do not fit."""
    room = width - len(SEPARATOR) * len(natural)
    widths = list(natural)
    while sum(widths) > room:
        wide = [column for column in range(len(widths)) if widths[column] > least[column]]
        if not wide:
            return None
        # Cell by cell from the widest: narrow columns, such as numbers, keep their width.
        widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _overhanging(headers: Sequence[str], natural: Sequence[int], least: Sequence[int], width: int) -> list[int] | None:
    """Return widths with which long words of the first column do not fit into it; None if little would be left."""
    first = width - sum(natural[1:]) - len(SEPARATOR) * len(natural)
    if first < max(_LEAST_FIRST, _longest_word(headers[0])):
        return None
    return [min(first, least[0]), *natural[1:]]


def _drawn(
    headers: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int], header_style: Callable[[str], str]
) -> Iterator[str]:
    if any(headers):
        yield from map(header_style, _row(headers, widths))
        yield SEPARATOR + _RULE * (sum(widths) + len(SEPARATOR) * (len(widths) - 1))
    whole = sum(widths) + len(SEPARATOR) * (len(widths) - 1)
    for row in rows:
        shown = row
        if _longest_word(row[0]) > widths[0]:
            yield from (SEPARATOR + line for line in wrapped(row[0], whole, ""))
            shown = ["", *row[1:]]
        yield from _row(shown, widths)


def _row(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    columns = [wrapped(cell, width, "") for cell, width in zip(row, widths, strict=True)]
    for number in range(max(map(len, columns))):
        parts = [column[number] if number < len(column) else "" for column in columns]
        yield aligned(parts, widths)


def aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    """Return one line of cells, padded to the widths of their columns."""
    # No spaces at line ends, which would wrap in a narrow terminal and stay in a copy.
    return (SEPARATOR + SEPARATOR.join(map(padded, row, widths))).rstrip(" " + _LEFT_TO_RIGHT_MARK)


def _as_facts(headers: Sequence[str], row: Sequence[str], width: int) -> Iterator[str]:
    """Yield the first cell of a row, and below it the others with their headers."""
    facts = [f"{header} {cell}".strip() for header, cell in zip(headers[1:], row[1:], strict=True) if cell]
    # A short fact is not broken.
    kept = (fact.replace(" ", _NO_BREAK) if cells(fact) <= _SHORT_FACT else fact for fact in facts)
    yield from wrapped(SEPARATOR + row[0], width)
    for line in wrapped(SEPARATOR * 2 + ", ".join(kept), width, SEPARATOR * 2):
        yield line.replace(_NO_BREAK, " ")


def _longest_word(text: str) -> int:
    return max((cells(word) for word in _WORD.findall(text)), default=0)
