"""Read logged messages, which have no expected intent, from files."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from intentmatch.core.errors import InputError, Location, Problem, RegistryError
from intentmatch.core.types import Case
from intentmatch.evaluation.logs import is_about_something_else
from intentmatch.registry import read_text

_RULE = "message"


def read_messages(path: str | os.PathLike[str]) -> tuple[Case, ...]:
    """Read each distinct message of a file, with the location of its first occurrence; ignore `Case.expected`.

    Raises `InputError` for an unsupported suffix, and `RegistryError` with the location of every problem.
    """
    file = Path(path)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path}: unsupported file type {file.suffix!r}; messages can be read from {', '.join(READERS)}"
        )
    cases: dict[str, Case] = {}
    problems: list[Problem] = []
    for found in reader(file, read_text(file)):
        if isinstance(found, Problem):
            problems.append(found)
        # Each text once: a message that many users wrote is answered in one way.
        elif found.text.strip():
            cases.setdefault(found.text, found)
    if not cases and not problems:
        problems.append(_problem(file, 1, "the file has no messages", "write one message per line"))
    if problems:
        raise RegistryError(problems)
    return tuple(cases.values())


def _lines(file: Path, text: str) -> Iterator[Case]:
    for number, line in enumerate(text.split("\n"), 1):
        yield Case(line.strip(), None, location=Location(str(file), number))


def _json_lines(file: Path, text: str) -> Iterator[Case | Problem]:
    """Objects with `text`, as the webhook and `match --json` log them; other keys and lines of a log are ignored."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            if not is_about_something_else(values):
                yield _case(values, file, number)
        except (ValueError, RecursionError) as error:
            yield _problem(file, number, f"invalid JSON: {error}", "write one JSON object per line")


def _table(file: Path, text: str, delimiter: str = ",") -> Iterator[Case | Problem]:
    """Rows below a header with `text`; other columns are ignored."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    table = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        table.fieldnames = [name.strip().lower() for name in table.fieldnames or ()]
        if "text" not in table.fieldnames:
            yield _problem(file, 1, "the header has no column `text`", "name a column `text` in the first line")
            return
        for row in table:
            line_breaks = sum(cell.count("\n") for cell in row.values() if isinstance(cell, str))
            yield _case(row, file, table.line_num - line_breaks)
    except csv.Error as error:
        yield _problem(file, max(1, table.line_num), f"invalid table: {error}", "check the quotes")


def _case(values: Any, file: Path, number: int) -> Case | Problem:
    text = values.get("text", values.get("message")) if isinstance(values, dict) else None
    if not isinstance(text, str):
        return _problem(file, number, "`text` is missing", "each record needs a `text`; other keys are ignored")
    return Case(text, None, location=Location(str(file), number))


def _problem(file: Path, line: int, message: str, hint: str) -> Problem:
    return Problem(Location(str(file), line), "error", _RULE, message, hint)


READERS: Mapping[str, Callable[[Path, str], Iterable[Case | Problem]]] = {
    ".txt": _lines,
    ".jsonl": _json_lines,
    ".csv": _table,
    ".tsv": partial(_table, delimiter="\t"),
}
"""File suffix to reader."""
