"""Guess the layout of a table whose columns have no known names, from its content alone.

Four layouts are known: a column of messages beside a column of intents; one column an intent, with its name on top; one
column of groups, apart by empty rows; and one column that is one intent. A guess says in words what was taken for what.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import few
from intentmatch.formats.kit.source import STANDARD_INPUT
from intentmatch.text.normalize import fold, language_code

# Shares of the filled cells of a column; see `_label_column`.
_MIN_FILLED = 0.6
_MAX_DISTINCT_LABELS = 0.8
_MIN_DISTINCT_TEXTS = 0.8
_MAX_LABEL_CHARS = 60
_MAX_NAME_CHARS = 40
_MAX_NAME_WORDS = 4
_MAX_HEADER_WORDS = 2
_MAX_SHOWN_CHARS = 30
# A question, its answer, and the question again among its variants.
_MIN_ANSWERED_LINES = 3

_IDENTIFIER = re.compile(r"[\w.:/-]*[^\W\d_][\w.:/-]*")
_COMPOUND = re.compile(r"\w[_./-]\w|[a-z][A-Z]")
_SUFFIXES = frozenset({".csv", ".tsv", ".txt", ".xlsx"})
_NUMBER = re.compile(r"[-+]?[\d.,]+%?")
_LANGUAGE = re.compile(r"[A-Za-z]{2}([-_][A-Za-z]{2,4})?")
_SENTENCE_END = re.compile(r"[?!.…。？！]\s*$")


class TableRow(NamedTuple):
    """The cells of a row and the location of its first cell."""

    cells: Sequence[str]
    place: Location


class TableLine(NamedTuple):
    """A message of a table with the name of its intent; either may be empty."""

    intent: str
    text: str
    place: Location
    response: str = ""


class Guess(NamedTuple):
    """The lines of a table and a sentence that says how it was read."""

    lines: list[TableLine]
    taken: str


def guess(rows: Sequence[TableRow], *, has_header: bool = False) -> Guess | None:
    """Guess the layout of a table with its empty rows. Return None if no layout fits, or more than one.

    With `has_header`, the first row is known to be a header, and only the columns are guessed.
    """
    filled = [row for row in rows if any(cell.strip() for cell in row.cells)]
    used = used_columns(filled)
    if len(filled) < 2:
        return None
    if has_header:
        return _labelled(filled, used, has_header=True)
    if len(used) == 1:
        return _one_column(rows, used[0])
    return _labelled(filled, used) or _column_an_intent(filled, used)


def by_column(rows: Sequence[TableRow]) -> Guess | None:
    """Read each column as an intent with its name in the first row; None if there are no messages below names."""
    filled = [row for row in rows if any(cell.strip() for cell in row.cells)]
    names = {number: cell.strip() for number, cell in enumerate(filled[0].cells) if cell.strip()} if filled else {}
    lines = [
        TableLine(names.get(number, ""), cell.strip(), row.place)
        for row in filled[1:]
        for number, cell in enumerate(row.cells)
        if cell.strip()
    ]
    return Guess(lines, f"each column is read as an intent: {few(names.values())}") if lines else None


def as_one_intent(rows: Sequence[TableRow], column: int, name: str) -> Guess:
    """Read the cells of a column as the messages of one intent."""
    cells = [(row.cells[column].strip(), row.place) for row in rows if len(row.cells) > column]
    lines = [TableLine(name, text, place) for text, place in cells if text]
    return Guess(lines, f"the table has one column; its messages are read as the intent {name!r}")


def are_names(cells: Sequence[str]) -> bool:
    """Return whether cells look like names of intents: they are repeated, or all of them are single words."""
    return _is_label_column(cells) or all(map(_IDENTIFIER.fullmatch, cells))


def used_columns(rows: Sequence[TableRow]) -> list[int]:
    """Return the positions of the columns that have any text."""
    return sorted({number for row in rows for number, cell in enumerate(row.cells) if cell.strip()})


def title(rows: Sequence[TableRow]) -> str:
    """Return the name of a table: its sheet, or its file without the suffix."""
    path = PurePath(rows[0].place.path)
    name = path.stem if path.suffix.lower() in _SUFFIXES else path.name
    return "messages" if name == STANDARD_INPUT else name


def name_of(text: str) -> str:
    """Return a name for an intent from the first words of a message."""
    return "_".join(fold(text)[:_MAX_NAME_CHARS].split()) or "question"


def shown(cell: str) -> str:
    """Return a cell in quotes, shortened."""
    cell = " ".join(cell.split())
    return repr(cell if len(cell) <= _MAX_SHOWN_CHARS else f"{cell[:_MAX_SHOWN_CHARS]}...")


def _labelled(rows: Sequence[TableRow], used: Sequence[int], *, has_header: bool = False) -> Guess | None:
    """A column of messages beside a column of intents, which are repeated or look like identifiers."""
    columns = {number: [_cell(row, number) for row in rows] for number in used}
    texts = [number for number in used if _is_text_column(columns[number][1:])]
    labels = [number for number in used if number not in texts and _is_label_column(columns[number])]
    if not labels and len(texts) > 1:
        # Each intent once: told apart from the messages by its form alone.
        labels = [number for number in texts if all(map(_IDENTIFIER.fullmatch, columns[number]))]
        texts = [number for number in texts if number not in labels and _mostly_sentences(columns[number][1:])]
    if len(labels) != 1 or len(texts) != 1:
        return None
    (label,), (text,) = labels, texts
    has_header = has_header or _is_header(columns[label], columns[text])
    names = [f"column {number + 1}" for number in (text, label)]
    if has_header:
        names = [f"{name} ({shown(columns[number][0])})" for name, number in zip(names, (text, label), strict=True)]
    taken = f"the columns are taken by their content: text is {names[0]}, intent is {names[1]}"
    taken += "; the first row is read as their header" if has_header else "; there is no header"
    ignored = [number + 1 for number in used if number not in (text, label)]
    if ignored:
        taken += f"; not imported: column {', '.join(map(str, ignored))}"
    lines = [TableLine(_cell(row, label), _cell(row, text), row.place) for row in rows[1 if has_header else 0 :]]
    return Guess(lines, taken)


def _is_text_column(cells: Sequence[str]) -> bool:
    texts = _filled(cells)
    if not texts or len(texts) < _MIN_FILLED * len(cells) or all(map(_NUMBER.fullmatch, texts)):
        return False
    return len(set(texts)) >= _MIN_DISTINCT_TEXTS * len(texts) and not _are_languages(texts)


def _is_label_column(cells: Sequence[str]) -> bool:
    """Whether short values repeat, as the names of intents beside their messages do."""
    labels = _filled(cells)
    # Without the first cell, which may be a header in words.
    if len(labels) < _MIN_FILLED * len(cells) or all(map(_NUMBER.fullmatch, labels[1:])):
        return False
    if max(map(len, labels)) > _MAX_LABEL_CHARS or _are_languages(labels[1:]):
        return False
    distinct = len(set(labels))
    return 2 <= distinct <= _MAX_DISTINCT_LABELS * len(labels)


def _is_header(labels: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether the first row is a header: one or two words above the messages, and a label that never comes again."""
    if labels[0] in labels[1:] or len(texts[0].split()) > _MAX_HEADER_WORDS or _SENTENCE_END.search(texts[0]):
        return False
    # A label like all others is the first of the data.
    looks_like_others = _is_identifier(labels[0]) and all(map(_is_identifier, labels[1:]))
    return not looks_like_others and _mostly_sentences(texts[1:])


def _column_an_intent(rows: Sequence[TableRow], used: Sequence[int]) -> Guess | None:
    """Names of intents on top, messages below; of unequal number, or with names that can be nothing else."""
    names = [_cell(rows[0], number) for number in used]
    if not all(map(_is_name, names)) or len({name.casefold() for name in names}) < len(names):
        return None
    heights = {sum(1 for row in rows[1:] if _cell(row, number)) for number in used}
    cells = [cell for row in rows[1:] for cell in row.cells if cell.strip()]
    are_distinct = len(set(cells)) >= _MIN_DISTINCT_TEXTS * len(cells)
    are_messages = 0 not in heights and are_distinct and not any(_NUMBER.fullmatch(cell.strip()) for cell in cells)
    are_identifiers = all(map(_IDENTIFIER.fullmatch, names)) and any(map(_is_identifier, names))
    return by_column(rows) if are_messages and (len(heights) > 1 or are_identifiers) else None


def _one_column(rows: Sequence[TableRow], column: int) -> Guess:
    groups: list[list[tuple[str, Location]]] = [[]]
    for row in rows:
        if text := _cell(row, column):
            groups[-1].append((text, row.place))
        elif groups[-1]:
            groups.append([])
    groups = [group for group in groups if group]
    # An empty cell ends a group: a question with its answer and variants, or a name above its lines.
    if all(_repeats_first(group) for group in groups):
        return _answered(groups)
    if len(groups) > 1 and all(len(group) > 1 for group in groups):
        return _named_groups(groups)
    lines = [line for group in groups for line in group]
    first = lines[0][0]
    if first.endswith(":") or (_is_identifier(first) and _mostly_sentences([text for text, _ in lines[1:]])):
        return as_one_intent([TableRow([text], place) for text, place in lines[1:]], 0, first.rstrip(": "))
    return as_one_intent(rows, column, title(rows))


def _repeats_first(group: Sequence[tuple[str, Location]]) -> bool:
    """Whether a group is a question, its answer, and its variants, of which the question is one."""
    first = fold(group[0][0])
    return len(group) >= _MIN_ANSWERED_LINES and any(fold(text) == first for text, _ in group[2:])


def _answered(groups: Sequence[Sequence[tuple[str, Location]]]) -> Guess:
    lines = []
    for (question, _), (answer, _), *variants in groups:
        lines += [TableLine(name_of(question), text, place, answer) for text, place in variants]
    return Guess(lines, "each group of rows is read as a question, its answer, and the ways to ask it")


def _named_groups(groups: Sequence[Sequence[tuple[str, Location]]]) -> Guess:
    firsts = [group[0][0] for group in groups]
    are_names = all(first.endswith(":") for first in firsts) or (
        all(map(_is_name, firsts)) and any(map(_is_identifier, firsts))
    )
    lines = []
    for group in groups:
        first = group[0][0]
        name = first.rstrip(": ") if are_names else name_of(first)
        lines += [TableLine(name, text, place) for text, place in (group[1:] if are_names else group)]
    what = (
        "an intent with its name in the first row" if are_names else "an intent that is named after its first message"
    )
    return Guess(lines, f"each group of rows is read as {what}: {few(dict.fromkeys(line.intent for line in lines))}")


def _cell(row: TableRow, number: int) -> str:
    return row.cells[number].strip() if number < len(row.cells) else ""


def _filled(cells: Sequence[str]) -> list[str]:
    return [cell for cell in cells if cell]


def _are_languages(cells: Sequence[str]) -> bool:
    """Whether all cells are codes such as `en` and `pt-BR`. Codes of three letters look like names."""
    return all(_LANGUAGE.fullmatch(cell) and language_code(cell) is not None for cell in cells)


def _mostly_sentences(texts: Sequence[str]) -> bool:
    """Whether at least half of the texts have several words."""
    return 2 * sum(" " in text for text in texts) >= len(texts)


def _is_name(text: str) -> bool:
    """Whether a text could be the name of an intent rather than a message."""
    short = len(text) <= _MAX_NAME_CHARS and len(text.split()) <= _MAX_NAME_WORDS
    return bool(text) and short and not _SENTENCE_END.search(text) and not _NUMBER.fullmatch(text)


def _is_identifier(text: str) -> bool:
    """Whether a text is one word of several parts, such as `order_status`, `orders/status` or `OrderStatus`."""
    return bool(_IDENTIFIER.fullmatch(text) and _COMPOUND.search(text))
