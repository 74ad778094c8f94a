"""A folder or file of YAML to one `Registry`, with every problem of every file collected first."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from intentmatch.core.errors import NOWHERE, Location, Problem, RegistryError
from intentmatch.core.types import Case, Registry
from intentmatch.registry import checks as rules
from intentmatch.registry.reading import nodes
from intentmatch.registry.reading.comments import Comment, comments
from intentmatch.registry.reading.grammar import FileContent, FileGrammar
from intentmatch.registry.reading.merge import merged
from intentmatch.registry.templates.expansion import expand as expanded

SUFFIXES = (".yaml", ".yml")


Remembered = dict[Path, tuple[bytes, FileContent, tuple[Problem, ...]]]
"""Files as they were last read: a digest of what each held, what stands in it, and what is wrong with it."""


def read_registry(
    path: str | os.PathLike[str], *, expand: bool = True, remembered: Remembered | None = None
) -> Registry:
    """The registry in a YAML file, or in all YAML files of a folder and its subfolders, with what they include.

    Each template becomes the sentences that it stands for; with `expand=False` there is one utterance a line of the
    author instead. Files that hold what is `remembered` of them are not taken apart again. Raises `RegistryError` with
    every error of every file. Warnings alone raise nothing; see `examine`.
    """
    registry, problems = examine(path, expand=expand, remembered=remembered)
    if any(problem.severity == "error" for problem in problems):
        raise RegistryError(problems)
    return registry


def examine(
    path: str | os.PathLike[str],
    *,
    expand: bool = True,
    instead: Mapping[Path, bytes] | None = None,
    remembered: Remembered | None = None,
) -> tuple[Registry, list[Problem]]:
    """Whatever could be read, and every problem found, sorted by place. Never raises for bad content.

    The problems are the same with `expand=False`: those of the lines, and of all sentences that they stand for.
    `instead` is read in place of what these files hold, whether they are there or not. `remembered` is as for
    `read_registry`, and afterwards holds these files and no others.
    """
    contents, problems = _contents(Path(path), instead or {}, remembered)
    if not contents and not problems:
        problems.append(_nothing_there(Path(path)))
    unexpanded, found = merged(contents)
    problems += found
    registry, found = expanded(unexpanded)
    problems += found
    # A registry left empty by errors above would only repeat them.
    if registry.intents or all(problem.severity != "error" for problem in problems):
        everywhere = Location(str(path))
        found = rules.check(registry)
        problems += [replace(p, location=everywhere) if p.location == NOWHERE else p for p in found]
    return registry if expand else unexpanded, sorted(problems)


def read_comments(path: str | os.PathLike[str]) -> dict[str, list[Comment]]:
    """The comments of each file that `examine` would read; of one that it complains about, perhaps none."""
    found: dict[str, list[Comment]] = {}
    for file in yaml_files(path):
        try:
            found[str(file)] = comments(file.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError):
            continue
    return found


def yaml_files(path: str | os.PathLike[str]) -> list[Path]:
    """The files that `examine` would read, in its order."""
    return [Path(content.path) for content in _contents(Path(path), {})[0]]


def own_files(path: str | os.PathLike[str]) -> list[Path]:
    """The YAML files at a path, without those that they include."""
    return _files(Path(path))[0]


def folders(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The folder at a path and its subfolders, in which `examine` looks for files; none where there is a file."""
    for folder, subfolders, _ in os.walk(path):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        yield Path(folder)


def included(file: Path, raw: bytes | None = None) -> list[str]:
    """What a file says to include, as it says it; of one that cannot be read, nothing. `raw` is as for `read_text`."""
    return [name for name, _ in _read_file(file, raw)[0].includes]


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


def _contents(
    path: Path, instead: Mapping[Path, bytes], remembered: Remembered | None = None
) -> tuple[list[FileContent], list[Problem]]:
    """What stands in the files at a path and in those that they include, each read once, and what is wrong with it."""
    contents: list[FileContent] = []
    files, problems = _files(path)
    new = [file for file in instead if not file.exists()]
    seen: set[Path] = set()
    waiting = sorted([*files, *new], reverse=True)
    while waiting:
        file = waiting.pop()
        if (known := Path(os.path.realpath(file))) in seen:
            continue
        seen.add(known)
        content, found = _read_file(file, instead.get(file), remembered)
        contents.append(content)
        problems += found
        included: list[Path] = []
        for name, place in content.includes:
            some, found = _included(file.parent / name, place)
            included += some
            problems += found
        waiting += included[::-1]
    if remembered is not None:
        for gone in remembered.keys() - {Path(content.path) for content in contents}:
            del remembered[gone]
    return contents, problems


def _included(path: Path, place: Location) -> tuple[list[Path], list[Problem]]:
    """The files that an `include:` names; what is wrong with it stands at its own place."""
    files, problems = _files(path)
    if not files and not problems:
        problems = [_nothing_there(path)]
    return files, [replace(p, location=place, message=f"{path}: {p.message}") for p in problems]


def _read_file(
    file: Path, raw: bytes | None = None, remembered: Remembered | None = None
) -> tuple[FileContent, Sequence[Problem]]:
    """What stands in a file and what is wrong with it; of one that is no YAML, nothing."""
    if remembered is None:
        return _taken_apart(file, raw)
    try:
        raw = file.read_bytes() if raw is None else raw
    except OSError:
        return _taken_apart(file)
    digest = hashlib.sha256(raw).digest()
    if file not in remembered or remembered[file][0] != digest:
        content, problems = _taken_apart(file, raw)
        remembered[file] = digest, content, tuple(problems)
    return remembered[file][1:]


def _taken_apart(file: Path, raw: bytes | None = None) -> tuple[FileContent, list[Problem]]:
    nothing = FileContent(str(file))
    try:
        text = read_text(file, raw)
    except RegistryError as error:
        return nothing, list(error.problems)
    grammar = FileGrammar(str(file), text)
    try:
        content = grammar.read(nodes.parse(text, str(file)))
    except nodes.NodeError as error:
        return nothing, [*grammar.problems, error.problem]
    return content, grammar.problems
