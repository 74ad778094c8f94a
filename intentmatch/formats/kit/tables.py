"""Read the rows of a table: each has a message and its intent, and may have a language and a response.

Columns are recognised by common names, or named by the user: `{"text": "Frage", "intent": "2"}`. Numbers count from 1
and are for tables without a header. A table with responses instead of intents gets an intent for each response.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from intentmatch.core.errors import InputError, Location
from intentmatch.core.types import Registry
from intentmatch.formats.kit.draft import Draft, IntentDraft, few
from intentmatch.formats.kit.format import Feature
from intentmatch.text.normalize import fold

HEADER = ("text", "intent", "language")
SAYS: frozenset[Feature] = frozenset({"languages"})

_NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "utterance", "message", "sentence", "question", "query", "phrase", "example", "pattern"),
    "intent": ("intent", "label", "intent_name", "class", "category", "tag", "target"),
    "language": ("language", "lang", "locale"),
    "response": ("response", "answer", "reply"),
}
"""Column to its common names in lower case, the most likely first."""
_HINT = "name them with --columns text=NAME,intent=NAME (or by numbers from 1 if there is no header)"
# Characters of a cell in a message, and of a question that becomes the name of an intent.
_MAX_SHOWN_CHARS = 30
_MAX_NAME_CHARS = 40


class Row(NamedTuple):
    """The cells of a row and the location of its first cell."""

    cells: Sequence[str]
    place: Location


def columns_of(header: Sequence[str]) -> dict[str, int]:
    """Return the columns that a header names, with their positions."""
    names = [name.strip().lower() for name in header]
    found: dict[str, int] = {}
    for column, usual in _NAMES.items():
        position = next((names.index(name) for name in usual if name in names), None)
        if position is not None:
            found[column] = position
    return found


def is_complete(columns: Iterable[str]) -> bool:
    """Return whether the columns are sufficient: a text with an intent or a response."""
    columns = set(columns)
    return {"text", "intent"} <= columns or {"text", "response"} <= columns


def read_tables(tables: Iterable[Iterable[Row]], draft: Draft) -> None:
    """Read tables into the draft. Each has a header, or columns that the user numbered."""
    useless: list[Row] = []
    for table in tables:
        rows = (row for row in table if any(cell.strip() for cell in row.cells))
        first = next(rows, None)
        if first is not None and not _read_table(first, rows, draft):
            useless.append(first)
    for row in useless:
        message = f"cannot tell which column is the message and which is the intent: {_shown(row.cells)}"
        if draft.intents:
            draft.warn(row.place, "no-column", f"{message}; the table is skipped", _HINT)
        else:
            draft.error(row.place, "no-column", message, _HINT)


def read_row(row: Row, columns: Mapping[str, int], draft: Draft) -> None:
    """Read one row into the draft. A row without a message or an intent is reported and skipped."""

    def cell(column: str) -> str:
        position = columns.get(column, len(row.cells))
        return row.cells[position].strip() if position < len(row.cells) else ""

    text, name, response = cell("text"), cell("intent"), cell("response")
    if not text or not (name or response):
        draft.warn(row.place, "incomplete-row", f"a row without {'an intent' if text else 'a message'} is skipped")
        return
    intent = draft.intent(name, row.place) if name else _intent_of(response, text, row.place, draft)
    intent.say(text, row.place, cell("language"))
    if response:
        intent.respond(response, row.place, cell("language"))


def rows_of(registry: Registry) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of a registry, with the columns of `HEADER`."""
    for intent in registry:
        for utterance in intent.utterances:
            yield utterance.text, intent.name, utterance.language or ""


def _read_table(first: Row, rows: Iterator[Row], draft: Draft) -> bool:
    """Read one table. Return whether its columns were recognised."""
    if len(first.cells) == 1 and not draft.columns and set(columns_of(first.cells)) == {"intent"}:
        draft.note(
            first.place, "one-column", "the table has only intent names; each name is imported as its own utterance"
        )
        for row in rows:
            read_row(Row([row.cells[0]] * 2 if row.cells else [], row.place), {"text": 0, "intent": 1}, draft)
        return True
    columns = _column_positions(first, draft)
    if not is_complete(columns):
        return False
    if draft.columns and all(name.isdigit() for name in draft.columns.values()):
        read_row(first, columns, draft)
    else:
        unread = [name for number, name in enumerate(first.cells) if number not in columns.values() and name.strip()]
        if unread:
            draft.not_expressed(first.place, f"columns that are not imported: {_shown(unread)}")
    for row in rows:
        read_row(row, columns, draft)
    return True


def _column_positions(first: Row, draft: Draft) -> dict[str, int]:
    """Return the position of each column. Raises `InputError` if the user named a column that does not exist."""
    names = [name.strip().lower() for name in first.cells]
    chosen: dict[str, int] = {}
    for column, name in draft.columns.items():
        if column not in _NAMES:
            raise InputError(f"unknown column {column!r} in --columns; use one of {', '.join(_NAMES)}")
        if name.isdigit() and 0 < int(name) <= len(names):
            chosen[column] = int(name) - 1
        elif name.lower() in names:
            chosen[column] = names.index(name.lower())
        else:
            raise InputError(f"{first.place}: there is no column {name!r}; the columns are {_shown(first.cells)}")
    numbered = draft.columns and all(name.isdigit() for name in draft.columns.values())
    return chosen if numbered else {**columns_of(first.cells), **chosen}


def _intent_of(response: str, question: str, place: Location, draft: Draft) -> IntentDraft:
    """Return the intent with this response, or a new one that is named after its first question."""
    for intent in draft.intents.values():
        if response in intent.responses.values():
            return intent
    name = "_".join(fold(question)[:_MAX_NAME_CHARS].split()) or "question"
    while name in draft.intents:
        name += "_"
    intent = draft.intent(name, place)
    intent.title = question
    return intent


def _shown(cells: Iterable[str]) -> str:
    return few(
        cell if len(cell) <= _MAX_SHOWN_CHARS else f"{cell[:_MAX_SHOWN_CHARS]}..." for cell in cells if cell.strip()
    )
