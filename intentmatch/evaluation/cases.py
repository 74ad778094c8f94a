"""Files of test cases to `Case` values: the YAML's own `tests:`, Rasa test data, JSON lines, and CSV or TSV."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from intentmatch.core.errors import InputError, Location, Problem, RegistryError
from intentmatch.core.types import Case
from intentmatch.evaluation.rasa import is_rasa, read_rasa
from intentmatch.registry import check_tests, read_tests, read_text
from intentmatch.registry.reading.grammar import OUT_OF_SCOPE
from intentmatch.text.normalize import language_code

_LANGUAGE_KEYS = ("language", "lang")
_HINT = f"each needs `text` and `intent`: a name, or {OUT_OF_SCOPE} for a message that no intent should answer"


def read_cases(path: str | os.PathLike[str], known: Collection[str]) -> tuple[Case, ...]:
    """The cases of a file, told apart by its suffix; `known` are the intents that may be expected.

    Raises `RegistryError` with every problem, each with its place, and `InputError` for a suffix that nobody reads.
    """
    file = Path(path)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: test cases are read from {', '.join(READERS)}, not from {file.suffix or 'this'!r}")
    cases = tuple(reader(file))
    problems = list(check_tests(cases, known))
    if not cases:
        problems.append(Problem(Location(str(file)), "error", "no-tests", "there is no test case here", _HINT))
    if problems:
        raise RegistryError(problems)
    return cases


def _yaml(file: Path) -> Iterable[Case]:
    return read_rasa(file) if is_rasa(file) else read_tests(file)


def _json_lines(file: Path) -> list[Case]:
    """Objects with `text`, `intent` (null for out of scope) and `language` or `lang`; other keys are not looked at."""
    problems: list[Problem] = []
    cases: list[Case] = []
    for number, line in enumerate(read_text(file).split("\n"), 1):
        if not line.strip():
            continue
        place = Location(str(file), number)
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            place = Location(str(file), number, getattr(error, "colno", 1))
            problems.append(_problem(place, f"no JSON: {getattr(error, 'msg', error)}", "write one object a line"))
            continue
        if not isinstance(values, dict):
            problems.append(_problem(place, "not an object", _HINT))
            continue
        cases += _case(values, place, problems)
    return _sound(cases, problems)


def _table(file: Path, delimiter: str) -> list[Case]:
    """Rows below a header with `text`, `intent` and perhaps `language` or `lang`; other columns are not looked at."""
    problems: list[Problem] = []
    cases: list[Case] = []
    for number, row in _rows(file, delimiter):
        place = Location(str(file), number)
        if None in row or None in row.values():
            problems.append(_problem(place, "not as many cells as the header", "quote a text that holds the delimiter"))
        else:
            cases += _case(row, place, problems)
    return _sound(cases, problems)


def _rows(file: Path, delimiter: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each row by the header's names, with the line it begins in."""
    text = read_text(file).replace("\r\n", "\n").replace("\r", "\n")
    table = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
    line = 1
    try:
        table.fieldnames = [name.strip().lower() for name in table.fieldnames or ()]
        lacking = [name for name in ("text", "intent") if name not in table.fieldnames]
        if lacking:
            message = f"the header has no column `{lacking[0]}`"
            raise RegistryError(
                [_problem(Location(str(file)), message, "write text,intent,language in the first line")]
            )
        line = table.line_num + 1
        for row in table:
            inside = sum(cell.count("\n") for cell in row.values() if isinstance(cell, str))
            yield table.line_num - inside, row
            line = table.line_num + 1
    except csv.Error as error:
        message = f"not readable as a table: {error}"
        raise RegistryError([_problem(Location(str(file), line), message, "check the quotes")]) from None


def _case(values: Mapping[str, Any], place: Location, problems: list[Problem]) -> Iterator[Case]:
    """The case that a record describes; none with a problem noted."""
    text, code = values.get("text"), next((values[key] for key in _LANGUAGE_KEYS if values.get(key)), None)
    language = language_code(code) if isinstance(code, str) else None
    if not isinstance(text, str) or not text:
        problems.append(_problem(place, "there is no `text`", _HINT))
    elif "intent" not in values or not _is_expectation(values["intent"]):
        problems.append(_problem(place, "there is no usable `intent`", _HINT))
    elif code is not None and language is None:
        hint = "use a BCP-47 code such as en, pt-BR or zh-Hant"
        problems.append(Problem(place, "error", "language-code", f"{code!r} is not a language code", hint))
    else:
        yield Case(text, _expected(values["intent"]), language, place)


def _is_expectation(value: object) -> bool:
    if isinstance(value, list):
        names = {name for name in value if isinstance(name, str) and name.strip() and name != OUT_OF_SCOPE}
        return len(names) == len(value) > 1
    return value is None or (isinstance(value, str) and bool(value.strip()))


def _expected(value: Any) -> str | tuple[str, ...] | None:
    if isinstance(value, list):
        return tuple(name.strip() for name in value)
    return None if value is None or value.strip() == OUT_OF_SCOPE else value.strip()


def _problem(place: Location, message: str, hint: str) -> Problem:
    return Problem(place, "error", "test-case", message, hint)


def _sound(cases: list[Case], problems: list[Problem]) -> list[Case]:
    if problems:
        raise RegistryError(problems)
    return cases


READERS: Mapping[str, Callable[[Path], Iterable[Case]]] = {
    ".yaml": _yaml,
    ".yml": _yaml,
    ".jsonl": _json_lines,
    ".csv": lambda file: _table(file, ","),
    ".tsv": lambda file: _table(file, "\t"),
}
"""Suffix of a file to what reads it."""
