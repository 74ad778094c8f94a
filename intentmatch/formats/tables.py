"""Tables and lines of JSON: a message and its intent in each row, perhaps with a language.

The columns are known by usual names, or by what the user says: `{"text": "Frage", "intent": "2"}`, where numbers count
from 1 and are for tables without a header.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from intentmatch.errors import Location, Problem, RegistryError
from intentmatch.formats import tree
from intentmatch.formats.draft import Draft
from intentmatch.formats.format import Feature, Files, Format, Sure
from intentmatch.formats.source import File
from intentmatch.registry.nodes import NodeError
from intentmatch.types import Registry

_NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "utterance", "message", "sentence", "question", "query", "phrase", "example", "pattern"),
    "intent": ("intent", "label", "intent_name", "class", "category", "tag", "target"),
    "language": ("language", "lang", "locale"),
}
"""Column to the usual names of it, in lower case, the likeliest first."""
_HEADER = ("text", "intent", "language")
_DELIMITERS = ",\t;|"
_HINT = "say which columns they are with --columns text=NAME,intent=NAME (or 1, 2, ... where there is no header)"
_SAYS: frozenset[Feature] = frozenset({"languages"})


class Row(NamedTuple):
    """The cells of a row, and where it begins."""

    cells: Sequence[str]
    place: Location


def columns_of(header: Sequence[str]) -> dict[str, int]:
    """The columns that a header names, by position."""
    names = [name.strip().lower() for name in header]
    found: dict[str, int] = {}
    for column, usual in _NAMES.items():
        position = next((names.index(name) for name in usual if name in names), None)
        if position is not None:
            found[column] = position
    return found


def read_rows(rows: Iterable[Row], place: Location, draft: Draft) -> None:
    """Put a table with a header, or with columns that the user numbers, into the draft."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        draft.warn(place, "empty-file", "the table is empty")
        return
    chosen = _chosen(first, draft)
    if chosen is None:
        return
    if all(name.isdigit() for name in draft.columns.values()) and draft.columns:
        _read_row(first, chosen, draft)
    else:
        unread = [name for number, name in enumerate(first.cells) if number not in chosen.values() and name.strip()]
        if unread:
            draft.not_expressed(first.place, f"columns that are not read: {', '.join(unread)}")
    for row in rows:
        _read_row(row, chosen, draft)


def _chosen(first: Row, draft: Draft) -> dict[str, int] | None:
    """The position of each column; None with a problem noted where there is no telling."""
    names = [name.strip().lower() for name in first.cells]
    found = columns_of(first.cells)
    for column, name in draft.columns.items():
        if name.isdigit() and 0 < int(name) <= len(names):
            found[column] = int(name) - 1
        elif name.lower() in names:
            found[column] = names.index(name.lower())
        else:
            draft.error(first.place, "no-column", f"there is no column {name!r}", f"there are {', '.join(first.cells)}")
            return None
    if not {"text", "intent"} <= set(found):
        message = f"no telling which column is the message and which the intent: {', '.join(first.cells)}"
        draft.error(first.place, "no-column", message, _HINT)
        return None
    return found


def _read_row(row: Row, columns: Mapping[str, int], draft: Draft) -> None:
    if not any(cell.strip() for cell in row.cells):
        return

    def cell(column: str) -> str:
        position = columns.get(column, len(row.cells))
        return row.cells[position].strip() if position < len(row.cells) else ""

    text, name = cell("text"), cell("intent")
    if text and name:
        draft.intent(name, row.place).say(text, row.place, cell("language"))
    else:
        draft.warn(row.place, "incomplete-row", f"a row without {'an intent' if text else 'a message'} is left out")


def _delimiter(line: str) -> str | None:
    """What parts the columns of a header: the sign that makes columns of usual names."""
    best = max(_DELIMITERS, key=lambda sign: len(columns_of(_cells(line, sign))))
    if columns_of(_cells(line, best)):
        return best
    return max(_DELIMITERS, key=line.count) if any(sign in line for sign in _DELIMITERS) else None


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter), [])


def _recognise_csv(file: File) -> Sure:
    first = next((line for line in file.lines if line.strip()), "")
    if len(first) > 1000 or first.lstrip()[:1] in ("{", "["):
        return Sure.NO
    delimiter = _delimiter(first)
    known = columns_of(_cells(first, delimiter)) if delimiter else {}
    if {"text", "intent"} <= set(known):
        return Sure.LIKELY
    return Sure.POSSIBLE if file.suffix in (".csv", ".tsv") else Sure.NO


def _read_csv(files: Sequence[File], draft: Draft) -> None:
    for file in files:
        read_rows(_csv_rows(file), file.location, draft)


def _csv_rows(file: File) -> Iterator[Row]:
    text = file.text.replace("\r\n", "\n").replace("\r", "\n")
    first = next((line for line in text.split("\n") if line.strip()), "")
    # Apostrophes and lone quotes are usual in what programs write with tabs.
    delimiter = _delimiter(first) or ","
    quotes = None if delimiter == "\t" and '\t"' not in text else '"'
    table = csv.reader(io.StringIO(text), delimiter=delimiter, quotechar=quotes)
    line = 1
    try:
        for cells in table:
            yield Row(cells, Location(file.place, line))
            line = table.line_num + 1
    except csv.Error as error:
        problem = Problem(Location(file.place, line), "error", "csv-syntax", f"not readable as a table: {error}")
        raise RegistryError([problem]) from None


def _write_csv(registry: Registry, problems: list[Problem]) -> Files:
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(_HEADER)
    table.writerows(_rows(registry))
    return {"intents.csv": out.getvalue()}


def _rows(registry: Registry) -> Iterator[tuple[str, str, str]]:
    for intent in registry:
        for utterance in intent.utterances:
            yield utterance.text, intent.name, utterance.language or ""


def _recognise_jsonl(file: File) -> Sure:
    first = next((line for line in file.lines if line.strip()), "")
    if not first.startswith("{") or not first.rstrip().endswith("}"):
        return Sure.NO
    try:
        keys = tree.Value(tree.json_node(first, file.place), file.location).keys
    except NodeError:
        return Sure.NO
    return Sure.LIKELY if {"text", "intent"} <= set(columns_of(list(keys))) else Sure.NO


def _read_jsonl(files: Sequence[File], draft: Draft) -> None:
    for file in files:
        for number, line in enumerate(file.text.split("\n"), 1):
            if line.strip():
                _read_json_line(line, Location(file.place, number), draft)


def _read_json_line(line: str, place: Location, draft: Draft) -> None:
    try:
        value = tree.Value(tree.json_node(line, place.path, place.line), place, note=draft.warn)
    except NodeError as error:
        draft.error(error.problem.location, error.problem.rule, error.problem.message, "write one object a line")
        return
    entries = [(key, inner) for key, inner in value.entries() if inner]
    cells = [inner.text() or "" if inner.is_text else "" for _, inner in entries]
    columns = _chosen(Row([key for key, _ in entries], place), draft)
    if columns is not None:
        _read_row(Row(cells, place), columns, draft)


def _write_jsonl(registry: Registry, problems: list[Problem]) -> Files:
    rows = (dict(zip(_HEADER, row, strict=True)) for row in _rows(registry))
    lines = (json.dumps({key: value for key, value in row.items() if value}, ensure_ascii=False) for row in rows)
    return {"intents.jsonl": "".join(f"{line}\n" for line in lines)}


CSV = Format("csv", "tables: CSV and TSV with a header", _recognise_csv, _read_csv, _write_csv, _SAYS)
JSONL = Format("jsonl", "JSON lines with text and intent", _recognise_jsonl, _read_jsonl, _write_jsonl, _SAYS)
