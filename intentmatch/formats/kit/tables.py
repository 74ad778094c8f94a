"""Read the rows of a table: each has a message and its intent, and may have a language and a response.

Columns are recognised by common names, or named by the user: `{"text": "Frage", "intent": "2"}`. Numbers count from 1
and are for tables without a header; `{"text": "*"}` says that each column is an intent. A table with responses instead
of intents gets an intent for each response; responses in JSON, as in query logs, name the intent. If no table has known
columns, their layout is guessed from the content, see `table_layout`, and a note says what was taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from intentmatch.core.errors import InputError, Location
from intentmatch.core.types import Registry
from intentmatch.formats.kit.draft import Draft, IntentDraft, few
from intentmatch.formats.kit.format import Feature
from intentmatch.formats.kit.predictions import is_json, top_intent
from intentmatch.formats.kit.table_layout import (
    Guess,
    TableLine,
    TableRow,
    as_one_intent,
    by_column,
    guess,
    name_of,
    shown,
    title,
    used_columns,
)

HEADER = ("text", "intent", "language")
SAYS: frozenset[Feature] = frozenset({"languages"})

_NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "utterance", "message", "sentence", "question", "query", "phrase", "example", "pattern"),
    "intent": ("intent", "label", "intent_name", "class", "category", "tag", "target"),
    "language": ("language", "lang", "locale"),
    "response": ("response", "answer", "reply"),
}
"""Column to its common names in lower case, the most likely first."""
_HINT = (
    "name them with --columns text=NAME,intent=NAME (or by numbers from 1 if there is no header), "
    "with response=NAME in place of intent=NAME if a column has the bot's answers, "
    "or with --columns text=* if each column is an intent"
)
_GUESSED = "guessed-columns"
_EACH_COLUMN = "*"
"""As the name of the text column: each column holds the messages of an intent."""


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


def read_tables(tables: Iterable[Iterable[TableRow]], draft: Draft, *, has_header: bool = False) -> None:
    """Read tables into the draft. Each has a header, columns that the user named, or a layout that can be guessed.

    With `has_header`, the first row of each is known to be one, as the keys of records are.
    """
    # All tables first, because only a source without any known columns is guessed.
    unknown = [rows for table in tables if not _read_table(rows := list(table), draft, is_record=has_header)]
    may_guess = not draft.intents and not draft.columns
    for rows in unknown:
        if may_guess and (found := guess(rows, has_header=has_header)) is not None:
            _read_guess(found, rows, draft)
            continue
        first = next(row for row in rows if not _is_empty(row))
        message = f"cannot tell which column is the message and which is the intent: {_shown(first.cells)}"
        if draft.intents:
            draft.warn(first.place, "no-column", f"{message}; the table is skipped", _HINT)
        else:
            draft.error(first.place, "no-column", message, _HINT)


def read_row(row: TableRow, columns: Mapping[str, int], draft: Draft) -> None:
    """Read one row into the draft. A row without a message or an intent is reported and skipped."""

    def cell(column: str) -> str:
        position = columns.get(column, len(row.cells))
        return row.cells[position].strip() if position < len(row.cells) else ""

    line = TableLine(cell("intent"), cell("text"), row.place, cell("response"))
    if not line.intent and is_json(line.response):
        line = line._replace(intent=top_intent(line.response) or "", response="")
        message = "the intents are those that another program predicted for these messages"
        draft.note(row.place, "predicted-intents", message, "check them with `intentmatch lint`")
    _read_line(line, draft, cell("language"))


def rows_of(registry: Registry) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of a registry, with the columns of `HEADER`."""
    for intent in registry:
        for utterance in intent.utterances:
            yield utterance.text, intent.name, utterance.language or ""


def _read_line(line: TableLine, draft: Draft, language: str | None = None) -> None:
    name, text, place, response = line
    if not text or not (name or response):
        draft.warn(place, "incomplete-row", f"a row without {'an intent' if text else 'a message'} is skipped")
        return
    intent = draft.intent(name, place) if name else _intent_of(response, text, place, draft)
    intent.say(text, place, language)
    if response:
        intent.respond(response, place, language)


def _read_guess(found: Guess, rows: Sequence[TableRow], draft: Draft) -> None:
    draft.note(rows[0].place, _GUESSED, found.taken, f"if this is wrong, {_HINT}")
    for line in found.lines:
        _read_line(line, draft)


def _read_table(table: Sequence[TableRow], draft: Draft, *, is_record: bool) -> bool:
    """Read one table. Return whether its columns were recognised, or it is empty. Records are never one column."""
    rows = [row for row in table if not _is_empty(row)]
    if not rows:
        return True
    first, *others = rows
    if draft.columns.get("text") == _EACH_COLUMN:
        if found := by_column(rows):
            _read_guess(found, rows, draft)
        return found is not None
    is_one_column = len(used_columns(rows)) == 1 and not is_record
    if is_one_column and set(columns_of(first.cells)) == {"intent"} and not draft.columns:
        draft.note(
            first.place, "one-column", "the table has only intent names; each name is imported as its own utterance"
        )
        position = columns_of(first.cells)["intent"]
        for row in others:
            read_row(row, {"text": position, "intent": position}, draft)
        return True
    columns = _column_positions(first, draft)
    if not is_complete(columns):
        return is_one_column and _read_only_column(rows, columns, draft)
    if _are_numbers(draft.columns):
        read_row(first, columns, draft)
    else:
        _note_header(first, columns, draft)
    for row in others:
        read_row(row, columns, draft)
    return True


def _read_only_column(rows: Sequence[TableRow], columns: Mapping[str, int], draft: Draft) -> bool:
    """Read the only column, if its name or the user says that it has messages. Return whether it has."""
    if set(columns) != {"text"}:
        return False
    messages = rows if _are_numbers(draft.columns) else rows[1:]
    _read_guess(as_one_intent(messages, columns["text"], title(rows)), rows, draft)
    return True


def _note_header(header: TableRow, columns: Mapping[str, int], draft: Draft) -> None:
    """Report columns of a header that are not read, and those that could have been taken instead."""
    unread = [name for number, name in enumerate(header.cells) if number not in columns.values() and name.strip()]
    if unread:
        draft.not_expressed(header.place, f"columns that are not imported: {_shown(unread)}")
    for column, position in columns.items():
        rivals = [name for name in unread if name.strip().lower() in _NAMES[column]]
        # Who named the column has chosen.
        if rivals and column not in draft.columns:
            message = f"the {column} is taken from {shown(header.cells[position])}, not from {_shown(rivals)}"
            draft.note(header.place, _GUESSED, message, f"if this is wrong, {_HINT}")


def _are_numbers(columns: Mapping[str, str]) -> bool:
    """Whether the user named columns by numbers: then there is no header."""
    return bool(columns) and all(name.isdigit() for name in columns.values())


def _is_empty(row: TableRow) -> bool:
    return not any(cell.strip() for cell in row.cells)


def _column_positions(first: TableRow, draft: Draft) -> dict[str, int]:
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
    return chosen if _are_numbers(draft.columns) else {**columns_of(first.cells), **chosen}


def _intent_of(response: str, question: str, place: Location, draft: Draft) -> IntentDraft:
    """Return the intent with this response, or a new one that is named after its first question."""
    if response in draft.answering:
        return draft.answering[response]
    name = name_of(question)
    # Questions that begin alike get the same name.
    while name in draft.intents:
        name += "_"
    intent = draft.intent(name, place)
    intent.title = question
    return intent


def _shown(cells: Iterable[str]) -> str:
    return few(shown(cell)[1:-1] for cell in cells if cell.strip())
