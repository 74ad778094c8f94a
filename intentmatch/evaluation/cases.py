"""Read test cases from files: `tests:` in YAML, NLU data and test stories of Rasa, JSON lines, CSV and TSV."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from intentmatch import formats
from intentmatch.core.errors import NOWHERE, InputError, Location, Problem, RegistryError
from intentmatch.core.types import Case
from intentmatch.formats.kit.source import Source
from intentmatch.formats.rasa.cases import OUT_OF_SCOPE_NAMES
from intentmatch.languages.country_codes import language_named
from intentmatch.registry import check_tests, read_tests, read_text
from intentmatch.registry.reading.grammar import OUT_OF_SCOPE
from intentmatch.text.normalize import language_code

_LANGUAGE_KEYS = ("language", "lang")
_HINT = f"each case needs `text` and `intent`: an intent name, or {OUT_OF_SCOPE} if no intent should match"
# Problems of a Rasa file that concern its slots and languages, and messages without a case.
_RASA_IGNORED = frozenset(
    {"not-expressed", "learned-slot", "renamed-slot", "bad-label", "language", "test-data", "known-test"}
)


def read_cases(
    path: str | os.PathLike[str], known: Collection[str], skipped: list[Problem] | None = None
) -> tuple[Case, ...]:
    """Read the test cases of a file; its suffix selects the reader, and `known` are the valid intent names.

    A case that expects another intent is an error. With `skipped`, the case is left out instead, and a warning is
    appended to `skipped`; it is an error if no case is left.

    Raises `RegistryError` with the location of every problem, and `InputError` for an unsupported suffix.
    """
    file = Path(path)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path}: unsupported file type {file.suffix!r}; test cases can be read from {', '.join(READERS)}"
        )
    cases = tuple(reader(file))
    problems = list(check_tests(cases, known))
    # Without a case that is left, nothing would be evaluated and everything pass.
    if skipped is not None and (kept := tuple(case for case in cases if _names(case) <= set(known))):
        skipped += (replace(problem, severity="warning") for problem in problems)
        return kept
    if not cases:
        problems.append(Problem(Location(str(file)), "error", "no-tests", "the file has no test cases", _HINT))
    if problems:
        raise RegistryError(problems)
    return cases


def _names(case: Case) -> set[str]:
    """Return the intents that a case expects."""
    return {case.expected} if isinstance(case.expected, str) else set(case.expected or ())


def _yaml(file: Path) -> Iterable[Case]:
    return _rasa_cases(file) if _is_rasa(file) else read_tests(file)


def _is_rasa(file: Path) -> bool:
    """Whether a YAML file has an `nlu:` block or stories; False for invalid YAML, which `read_tests` reports."""
    return any({"nlu", "stories"} & set(found.root.keys) for found in Source(file))


def _rasa_cases(file: Path) -> list[Case]:
    """The examples of each intent in the `nlu:` block and the messages of stories, in file order, without entity marks.

    Synonyms, lookups and regexes hold no cases. An unreadable example is an error here; the importer only warns.
    """
    found = formats.read(file, "rasa")
    problems = [_rasa_problem(problem) for problem in found.problems if problem.rule not in _RASA_IGNORED]
    cases = [
        Case(utterance.text, None if intent.name in OUT_OF_SCOPE_NAMES else intent.name, None, utterance.location)
        for intent in found.registry
        for utterance in intent.utterances
    ]
    cases += found.registry.tests
    return _checked(sorted(cases, key=lambda case: case.location or NOWHERE), problems)


def _rasa_problem(problem: Problem) -> Problem:
    hint = problem.hint or "below `nlu:`, write `- intent: NAME` and `examples: |`, then one example per `- ` line"
    return replace(problem, severity="error", rule="test-case", hint=hint)


def _json_lines(file: Path) -> list[Case]:
    """Objects with `text`, `intent` (null for out of scope) and `language` or `lang`; other keys are ignored."""
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
            problems.append(
                _problem(place, f"invalid JSON: {getattr(error, 'msg', error)}", "write one JSON object per line")
            )
            continue
        if not isinstance(values, dict):
            problems.append(_problem(place, "not a JSON object", _HINT))
            continue
        cases += _case(values, place, problems)
    return _checked(cases, problems)


def _table(file: Path, delimiter: str) -> list[Case]:
    """Rows below a header with `text`, `intent` and optionally `language` or `lang`; other columns are ignored."""
    problems: list[Problem] = []
    cases: list[Case] = []
    for number, row in _rows(file, delimiter):
        place = Location(str(file), number)
        if None in row or None in row.values():
            problems.append(
                _problem(place, "not as many cells as the header", "quote cells that contain the delimiter")
            )
        else:
            cases += _case(row, place, problems)
    return _checked(cases, problems)


def _rows(file: Path, delimiter: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each row, keyed by the header's names, with the number of its first line."""
    text = read_text(file).replace("\r\n", "\n").replace("\r", "\n")
    # Strict, so that a quote that is never closed is an error and does not swallow the rest of the file.
    table = csv.DictReader(io.StringIO(text), delimiter=delimiter, strict=True)
    line = 1
    try:
        table.fieldnames = [name.strip().lower() for name in table.fieldnames or ()]
        missing = [name for name in ("text", "intent") if name not in table.fieldnames]
        if missing:
            message = f"the header has no column `{missing[0]}`"
            raise RegistryError(
                [_problem(Location(str(file)), message, "name the columns in the first line: text,intent,language")]
            )
        line = table.line_num + 1
        for row in table:
            # `line_num` is the last line of a row, whose cells may hold line breaks.
            line_breaks = sum(cell.count("\n") for cell in row.values() if isinstance(cell, str))
            yield table.line_num - line_breaks, row
            line = table.line_num + 1
    except csv.Error as error:
        message = f"invalid table: {error}"
        raise RegistryError([_problem(Location(str(file), line), message, "check the quotes")]) from None


def _case(values: Mapping[str, Any], place: Location, problems: list[Problem]) -> Iterator[Case]:
    """Yield the case of a record, or add a problem and yield nothing."""
    text, code = values.get("text"), next((values[key] for key in _LANGUAGE_KEYS if values.get(key)), None)
    language = language_code(code) if isinstance(code, str) else None
    if not isinstance(text, str) or not text:
        problems.append(_problem(place, "`text` is missing or empty", _HINT))
    elif "intent" not in values or not _is_expectation(values["intent"]):
        problems.append(_problem(place, "`intent` is missing or invalid", _HINT))
    elif code is not None and language is None:
        named = language_named(code) if isinstance(code, str) else None
        hint = f"did you mean `{named}`?" if named else "use a BCP-47 code such as en, pt-BR or zh-Hant"
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


def _checked(cases: list[Case], problems: list[Problem]) -> list[Case]:
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
"""File suffix to reader."""
