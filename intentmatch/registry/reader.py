"""A folder or file of YAML to one `Registry`, with every problem of every file collected first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from intentmatch.errors import Location, Problem, RegistryError
from intentmatch.registry import nodes, rules
from intentmatch.registry.comments import Comment, comments
from intentmatch.registry.grammar import FileContent, FileGrammar
from intentmatch.types import Case, Intent, Registry

SUFFIXES = (".yaml", ".yml")


def read_registry(path: str | os.PathLike[str]) -> Registry:
    """The registry in a YAML file, or in all YAML files of a folder and its subfolders.

    Raises `RegistryError` with every error of every file. Warnings alone raise nothing; see `examine`.
    """
    registry, problems = examine(path)
    if any(problem.severity == "error" for problem in problems):
        raise RegistryError(problems)
    return registry


def examine(
    path: str | os.PathLike[str], instead: Mapping[Path, bytes] | None = None
) -> tuple[Registry, list[Problem]]:
    """Whatever could be read, and every problem found, sorted by place. Never raises for bad content.

    `instead` is read in place of what these files hold, whether they are there or not.
    """
    contents: list[FileContent] = []
    instead = instead or {}
    files, problems = _files(Path(path))
    files = sorted({*files, *instead})
    for file in files:
        content, found = _read_file(file, instead.get(file))
        contents.append(content)
        problems += found
    if not files and not problems:
        problems.append(_nothing_there(Path(path)))
    registry, found = _merge(contents)
    problems += found
    # A registry left empty by errors above would only repeat them.
    if registry.intents or all(problem.severity != "error" for problem in problems):
        everywhere = Location(str(path))
        found = rules.check(registry)
        problems += [replace(p, location=everywhere) if p.location == rules.NOWHERE else p for p in found]
    return registry, sorted(problems)


def read_comments(path: str | os.PathLike[str]) -> dict[str, list[Comment]]:
    """The comments of each file that `examine` would read; of one that it complains about, perhaps none."""
    found: dict[str, list[Comment]] = {}
    for file in _files(Path(path))[0]:
        try:
            found[str(file)] = comments(file.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError):
            continue
    return found


def yaml_files(path: str | os.PathLike[str]) -> list[Path]:
    """The files that `examine` would read, in its order."""
    return _files(Path(path))[0]


def read_tests(path: str | os.PathLike[str]) -> tuple[Case, ...]:
    """The `tests:` of one YAML file, which needs no intents. Raises `RegistryError` with every error of the file."""
    content, problems = _read_file(Path(path))
    if any(problem.severity == "error" for problem in problems):
        raise RegistryError(problems)
    return tuple(content.tests)


def read_text(file: Path, raw: bytes | None = None) -> str:
    """A file of UTF-8, with or without a byte order mark. Raises `RegistryError` saying which byte is none.

    `raw` is what the file holds, where that is known already.
    """
    try:
        raw = file.read_bytes() if raw is None else raw
    except OSError as error:
        raise RegistryError([_unreadable(file, error)]) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The error counts from behind a byte order mark; `error.object` is what it counts in.
        before = error.object[: error.start].decode("utf-8")
        place = Location(str(file), *nodes.line_and_column(before, len(before)))
        message = f"byte 0x{error.object[error.start]:02X} is not UTF-8"
        raise RegistryError([Problem(place, "error", "encoding", message, "save the file as UTF-8")]) from None


def is_yaml(path: str | os.PathLike[str]) -> bool:
    """Whether a path is for this reader: a folder, a file with a YAML suffix, or nothing at all (which it reports)."""
    return not Path(path).is_file() or Path(path).suffix.lower() in SUFFIXES


def _files(path: Path) -> tuple[list[Path], list[Problem]]:
    """The YAML files at a path, in an order that does not depend on the file system, and what could not be looked into.

    Hidden files and folders are left out.
    """
    problems: list[Problem] = []

    def note(error: OSError) -> None:
        problems.append(_unreadable(error.filename or path, error))

    try:
        if not path.is_dir():
            return ([path] if path.exists() else []), problems
    except OSError as error:
        note(error)
        return [], problems
    found: list[Path] = []
    for folder, subfolders, names in os.walk(path, onerror=note):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        found += [Path(folder, n) for n in names if n.lower().endswith(SUFFIXES) and not n.startswith(".")]
    return sorted(file for file in found if not file.is_fifo()), problems


def _unreadable(path: str | os.PathLike[str], error: OSError) -> Problem:
    return Problem(Location(str(path)), "error", "unreadable", error.strerror or str(error))


def _nothing_there(path: Path) -> Problem:
    place = Location(str(path))
    if path.is_dir():
        return Problem(place, "error", "no-files", "there is no .yaml or .yml file here", "add one with `intents:`")
    return Problem(place, "error", "not-found", "there is no such file or folder", "name a folder of .yaml files")


def _read_file(file: Path, raw: bytes | None = None) -> tuple[FileContent, list[Problem]]:
    try:
        text = read_text(file, raw)
    except RegistryError as error:
        return FileContent(), list(error.problems)
    grammar = FileGrammar(str(file), len(text))
    try:
        content = grammar.read(nodes.parse(text, str(file)))
    except nodes.NodeError as error:
        return FileContent(), [*grammar.problems, error.problem]
    return content, grammar.problems


def _merge(contents: Sequence[FileContent]) -> tuple[Registry, list[Problem]]:
    """One registry of many files: an intent may be spread over them, but say each thing about itself once."""
    problems: list[Problem] = []
    intents: dict[str, Intent] = {}
    settings: dict[str, tuple[Any, Location]] = {}
    for content in contents:
        for intent in content.intents:
            known = intents.get(intent.name)
            if known is None:
                intents[intent.name] = intent
            else:
                problems += _contradictions(known, intent)
                intents[intent.name] = _joined(known, intent)
        for name, (value, location) in content.settings.items():
            if name in settings:
                hint = f"the first one is at {settings[name][1].short}; keep one of the two"
                message = f"setting {name!r} stands in two files"
                problems.append(Problem(location, "error", "setting-redefined", message, hint))
            settings.setdefault(name, (value, location))
    return (
        Registry(
            tuple(intents.values()),
            {name: value for name, (value, _) in settings.items()},
            {name: location for name, (_, location) in settings.items()},
            tuple(case for content in contents for case in content.tests),
        ),
        problems,
    )


def _contradictions(known: Intent, more: Intent) -> Iterator[Problem]:
    said_twice = [
        key
        for key in ("title", "description", "threshold")
        if getattr(known, key) is not None and getattr(more, key) is not None
    ]
    said_twice += [f"response {language}".strip() for language in known.responses if language in more.responses]
    said_twice += [f"metadata {key}" for key in known.metadata if key in more.metadata]
    place = more.location or Location("registry")
    first = known.location.short if known.location else "elsewhere"
    for what in said_twice:
        message = f"intent {more.name!r} is given its {what} a second time"
        hint = f"it is also described at {first}; keep one of the two"
        yield Problem(place, "error", "intent-redefined", message, hint)


def _joined(known: Intent, more: Intent) -> Intent:
    return replace(
        known,
        utterances=known.utterances + more.utterances,
        negatives=known.negatives + more.negatives,
        title=known.title if known.title is not None else more.title,
        description=known.description if known.description is not None else more.description,
        threshold=known.threshold if known.threshold is not None else more.threshold,
        responses={**more.responses, **known.responses},
        metadata={**more.metadata, **known.metadata},
    )
