"""Files of logged messages, of which nobody has said what they mean."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from intentmatch.core.errors import InputError, Location, Problem, RegistryError
from intentmatch.core.types import Case
from intentmatch.registry import read_text

_RULE = "message"


def read_messages(path: str | os.PathLike[str]) -> tuple[Case, ...]:
    """Each distinct message of a file with the place where it first stands; what the cases expect means nothing.

    Raises `InputError` for a suffix that nobody reads, and `RegistryError` with every problem and its place.
    """
    file = Path(path)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: messages are read from {', '.join(READERS)}, not from {file.suffix or 'this'!r}")
    cases: dict[str, Case] = {}
    problems: list[Problem] = []
    for found in reader(file, read_text(file)):
        if isinstance(found, Problem):
            problems.append(found)
        elif found.text.strip():
            cases.setdefault(found.text, found)
    if not cases and not problems:
        problems.append(_problem(file, 1, "there is no message here", "write one a line"))
    if problems:
        raise RegistryError(problems)
    return tuple(cases.values())


def _lines(file: Path, text: str) -> Iterator[Case]:
    for number, line in enumerate(text.split("\n"), 1):
        yield Case(line.strip(), None, location=Location(str(file), number))


def _json_lines(file: Path, text: str) -> Iterator[Case | Problem]:
    """Objects with `text`, as the webhook and `match --json` log them; other keys are not looked at."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield _case(json.loads(line), file, number)
        except (ValueError, RecursionError) as error:
            yield _problem(file, number, f"no JSON: {error}", "write one object a line")


def _table(file: Path, text: str) -> Iterator[Case | Problem]:
    """Rows below a header with `text`; other columns are not looked at."""
    table = csv.DictReader(io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n")), strict=True)
    try:
        table.fieldnames = [name.strip().lower() for name in table.fieldnames or ()]
        if "text" not in table.fieldnames:
            yield _problem(file, 1, "the header has no column `text`", "write `text` in the first line")
            return
        for row in table:
            inside = sum(cell.count("\n") for cell in row.values() if isinstance(cell, str))
            yield _case(row, file, table.line_num - inside)
    except csv.Error as error:
        yield _problem(file, max(1, table.line_num), f"not readable as a table: {error}", "check the quotes")


def _case(values: Any, file: Path, number: int) -> Case | Problem:
    text = values.get("text", values.get("message")) if isinstance(values, dict) else None
    if not isinstance(text, str):
        return _problem(file, number, "there is no `text`", "each needs one; other keys are not looked at")
    return Case(text, None, location=Location(str(file), number))


def _problem(file: Path, line: int, message: str, hint: str) -> Problem:
    return Problem(Location(str(file), line), "error", _RULE, message, hint)


READERS: Mapping[str, Callable[[Path, str], Iterable[Case | Problem]]] = {
    ".txt": _lines,
    ".jsonl": _json_lines,
    ".csv": _table,
}
"""Suffix of a file to what reads it."""
