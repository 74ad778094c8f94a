"""Read a YAML file or folder into one `Registry`, and collect the problems of all files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from intentmatch.core.arguments import check_argument
from intentmatch.core.errors import NOWHERE, Location, Problem, RegistryError
from intentmatch.core.settings import resolve
from intentmatch.core.types import Case, Registry
from intentmatch.registry import checks as rules
from intentmatch.registry.confinement import ReadLimits, outside
from intentmatch.registry.descriptions import described
from intentmatch.registry.reading import nodes
from intentmatch.registry.reading.comments import Comment, comments
from intentmatch.registry.reading.file_content import FileContent
from intentmatch.registry.reading.grammar import FileGrammar
from intentmatch.registry.reading.merge import merge_files
from intentmatch.registry.templates.expansion import expand as expanded
from intentmatch.storage.atomic import real_path
from intentmatch.storage.file_lock import NAME as LOCK
from intentmatch.storage.regular_files import is_file, read_regular, too_large
from intentmatch.storage.transaction import recover

SUFFIXES = (".yaml", ".yml")


Remembered = dict[Path, tuple[bytes, FileContent, tuple[Problem, ...]]]
"""Cache of parsed files: digest, content and problems by path."""


def read_registry(
    path: str | os.PathLike[str],
    *,
    expand: bool = True,
    remembered: Remembered | None = None,
    limits: ReadLimits | None = None,
) -> Registry:
    """Read a YAML file, or all YAML files of a folder and its subfolders, with the files that they include.

    Templates are expanded into sentences; `expand=False` keeps one utterance per line. Files whose content matches
    the `remembered` cache are not parsed again. Only regular files within the `limits` are read; without them, those of
    the environment hold.

    Raises `RegistryError` with the errors of all files. Warnings alone do not raise; `examine` returns them.

    `limits` was added in 0.3.0.
    """
    check_argument("path", path, str | os.PathLike[str])
    check_argument("remembered", remembered, dict | None)
    check_argument("limits", limits, ReadLimits | None)
    registry, problems = examine(path, expand=expand, remembered=remembered, limits=limits)
    if any(problem.severity == "error" for problem in problems):
        raise RegistryError(problems)
    return registry


def examine(
    path: str | os.PathLike[str],
    *,
    expand: bool = True,
    overrides: Mapping[Path, bytes | None] | None = None,
    remembered: Remembered | None = None,
    limits: ReadLimits | None = None,
    held: Mapping[Path, bytes] | None = None,
) -> tuple[Registry, list[Problem]]:
    """Return what could be read, and all problems sorted by location. Never raises for invalid content.

    The problems are the same with `expand=False`. `overrides` gives the content of files by path, in place of what
    is on disk; the files need not exist, and None stands for a file that does not. `remembered` is the cache of
    `read_registry`; it is updated to hold exactly the files read. `limits` are as for `read_registry`.

    `held` holds all files in memory, by their paths below `path`: then no file is read from disk.
    """
    limits = limits or ReadLimits.from_settings(path)
    if held is None:
        contents, problems = _read_files(Path(path), overrides or {}, remembered, limits)
    else:
        merged = {**held, **(overrides or {})}
        in_memory = {file: raw for file, raw in merged.items() if raw is not None}
        contents, problems = _read_held(in_memory, remembered, limits)
    if not contents and not problems:
        problems.append(not_found(Path(path)))
    unexpanded, found = merge_files(contents)
    problems += found
    problems += outside(unexpanded.settings, unexpanded.setting_locations, limits)
    registry, found = expanded(unexpanded)
    registry = described(registry)
    problems += found
    # In a registry that is empty because of errors, the checks would only repeat them.
    if registry.intents or all(problem.severity != "error" for problem in problems):
        root = Location(str(path))
        # The reason why these have no utterances is already reported.
        unread = {registry[name].location for content in contents for name in content.unread if name in registry}
        found = [p for p in rules.check(registry) if p.rule != "no-utterances" or p.location not in unread]
        if any(problem.rule == "no-intents" for problem in found):
            # That a file is empty is then no second problem.
            problems = [problem for problem in problems if problem.rule != "empty-file"]
        problems += [replace(p, location=root) if p.location == NOWHERE else p for p in found]
    return registry if expand else unexpanded, sorted(problems)


def read_comments(path: str | os.PathLike[str], limits: ReadLimits | None = None) -> dict[str, list[Comment]]:
    """Return the comments of each file that `examine` would read; invalid files may have none."""
    found: dict[str, list[Comment]] = {}
    for file in yaml_files(path, limits):
        try:
            found[str(file)] = comments(file.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError):
            continue
    return found


def yaml_files(
    path: str | os.PathLike[str], limits: ReadLimits | None = None, *, remembered: Remembered | None = None
) -> list[Path]:
    """Return the files that `examine` would read, in its order; `remembered` is as for `read_registry`."""
    limits = limits or ReadLimits.from_settings(path)
    return [Path(content.path) for content in _read_files(Path(path), {}, remembered, limits)[0]]


def settings_on_disk(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Location]]:
    """Return the `settings:` of the YAML at a path, and where they stand. Invalid files have none.

    Files of a folder that do not have the word are not parsed.
    """
    found: dict[str, tuple[Any, Location]] = {}
    for file in yaml_files(path) if is_file(path) else own_files(path):
        with suppress(OSError):
            raw = read_regular(file, resolve().max_file_bytes)
            if b"settings" in raw:
                found |= _read_file(file, raw)[0].settings
    return {name: value for name, (value, _) in found.items()}, {name: place for name, (_, place) in found.items()}


def problems_of(file: Path, text: str) -> list[Problem]:
    """Return what is wrong with the text of one file. Nothing is read."""
    return list(_read_file(file, text.encode())[1])


def own_files(path: str | os.PathLike[str]) -> list[Path]:
    """Return the YAML files at a path, without the files that they include."""
    return _files(Path(path))[0]


def folders(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the folder at a path and its visible subfolders; nothing for a file."""
    for folder, subfolders, _ in os.walk(path):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        yield Path(folder)


def included(file: Path, raw: bytes | None = None) -> list[str]:
    """Return the `include:` entries of a file as written; none for an invalid file. `raw` is as for `read_text`."""
    return [name for name, _ in _read_file(file, raw)[0].includes]


def read_tests(path: str | os.PathLike[str]) -> tuple[Case, ...]:
    """Return the `tests:` of one YAML file, which needs no intents. Raises `RegistryError` with all its errors."""
    content, problems = _read_file(Path(path))
    if any(problem.severity == "error" for problem in problems):
        raise RegistryError(problems)
    return tuple(content.tests)


def read_text(file: Path, raw: bytes | None = None) -> str:
    """Decode a UTF-8 file, with or without a byte order mark; `raw` is its content if already read.

    Raises `RegistryError` if the file cannot be read, or with the location of the first invalid byte.
    """
    try:
        raw = read_regular(file, resolve().max_file_bytes) if raw is None else raw
    except OSError as error:
        raise RegistryError([_unreadable(file, error)]) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # `error.start` counts in `error.object`, which has no byte order mark.
        before = error.object[: error.start].decode("utf-8")
        place = Location(str(file), *nodes.line_and_column(before, len(before)))
        message = f"byte 0x{error.object[error.start]:02X} is not UTF-8"
        raise RegistryError([Problem(place, "error", "encoding", message, "save the file as UTF-8")]) from None


def is_yaml(path: str | os.PathLike[str]) -> bool:
    """Return whether this reader handles a path: a folder, a YAML file, or a missing path (which it reports)."""
    return not is_file(path) or Path(path).suffix.lower() in SUFFIXES


def _files(path: Path) -> tuple[list[Path], list[Problem]]:
    """Return the sorted YAML files at a path without hidden ones, and a problem for each unreadable folder.

    An edit of these files that was interrupted is completed first.
    """
    problems: list[Problem] = []

    def note(error: OSError) -> None:
        problems.append(_unreadable(error.filename or path, error))

    try:
        if not path.is_dir():
            if not path.exists():
                return [], problems
            recover([real_path(path).parent])
            return [path], problems
    except OSError as error:
        note(error)
        return [], problems
    found, locked = _walk(path, note)
    if locked:
        recover(locked)
        # The second walk meets the same unreadable folders.
        problems.clear()
        found, _ = _walk(path, note)
    return sorted(file for file in found if not file.is_fifo()), problems


def _walk(path: Path, note: Callable[[OSError], None]) -> tuple[list[Path], list[Path]]:
    """Return the YAML files of a folder and its visible subfolders, and the folders that an edit has locked."""
    found: list[Path] = []
    locked: list[Path] = []
    for folder, subfolders, names in os.walk(path, onerror=note):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        found += [Path(folder, n) for n in names if n.lower().endswith(SUFFIXES) and not n.startswith(".")]
        locked += [real_path(Path(folder))] if LOCK in names else []
    return found, locked


def _unreadable(path: str | os.PathLike[str], error: OSError) -> Problem:
    return Problem(Location(str(path)), "error", "unreadable", error.strerror or str(error))


NO_INTENTS_HINT = (
    "`intentmatch init` writes a folder of intents, `intentmatch import` makes one from another program's files, and "
    "`-i` names one that exists"
)


def not_found(path: Path) -> Problem:
    """Return the problem of a path at which there are no intents, with what to do."""
    place = Location(str(path))
    if path.is_dir():
        return Problem(place, "error", "no-files", "there is no .yaml or .yml file here", NO_INTENTS_HINT)
    return Problem(place, "error", "not-found", "there is no such file or folder", NO_INTENTS_HINT)


def _read_files(
    path: Path, overrides: Mapping[Path, bytes | None], remembered: Remembered | None, limits: ReadLimits
) -> tuple[list[FileContent], list[Problem]]:
    """Read the files at a path and the files that they include, each once; return contents and problems."""
    contents: list[FileContent] = []
    files, problems = _files(path)
    removed = {file for file, raw in overrides.items() if raw is None}
    new = [file for file in overrides if not file.exists()]
    seen: set[Path] = set()
    waiting = sorted({*files, *new} - removed, reverse=True)
    while waiting:
        file = waiting.pop()
        # A link to a file, or an include of the folder's own file, would define every intent twice.
        if (known := Path(os.path.realpath(file))) in seen:
            continue
        seen.add(known)
        if not limits.allows(file):
            problems.append(limits.refused(file, Location(str(file))))
            continue
        content, found = _read_file(file, overrides.get(file), remembered, limits.most)
        contents.append(content)
        problems += found
        included: list[Path] = []
        for name, place in content.includes:
            more, found = _included(file.parent / name, place, limits)
            included += [other for other in more if other not in removed]
            problems += found
        # The last one waits on top, so the first include is read next.
        waiting += included[::-1]
    _forget(remembered, contents)
    return contents, problems


def _read_held(
    held: Mapping[Path, bytes], remembered: Remembered | None, limits: ReadLimits
) -> tuple[list[FileContent], list[Problem]]:
    """Read files in memory, each once and in the order in which `_read_files` would read them from disk."""
    contents: list[FileContent] = []
    problems: list[Problem] = []
    seen: set[Path] = set()
    waiting = sorted(held, reverse=True)
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        if len(held[file]) > limits.most:
            problems.append(_unreadable(file, OSError(too_large(limits.most))))
            continue
        content, found = _read_file(file, held[file], remembered, limits.most)
        contents.append(content)
        problems += found
        included: list[Path] = []
        for name, place in content.includes:
            target = Path(os.path.normpath(file.parent / name))
            more = [target] if target in held else sorted(other for other in held if target in other.parents)
            included += more
            if not more:
                message = f"{target}: there is no such file or folder"
                problems.append(Problem(place, "error", "not-found", message))
        waiting += included[::-1]
    _forget(remembered, contents)
    return contents, problems


def _forget(remembered: Remembered | None, contents: Sequence[FileContent]) -> None:
    """Remove the files from the cache that were not read."""
    if remembered is not None:
        for gone in remembered.keys() - {Path(content.path) for content in contents}:
            del remembered[gone]


def _included(path: Path, place: Location, limits: ReadLimits) -> tuple[list[Path], list[Problem]]:
    """Return the files that an `include:` entry names; its problems are located at the entry."""
    # A path with the character 0 leads nowhere.
    if "\0" not in str(path) and not limits.allows(path):
        return [], [limits.refused(path, place)]
    files, problems = _files(path)
    if not files and not problems:
        problems = [replace(not_found(path), hint="check the path: it starts at the folder of this file")]
    return files, [replace(p, location=place, message=f"{path}: {p.message}") for p in problems]


def _read_file(
    file: Path, raw: bytes | None = None, remembered: Remembered | None = None, most: int | None = None
) -> tuple[FileContent, Sequence[Problem]]:
    """Return content and problems of a file, from the cache if unchanged; invalid YAML has no content."""
    try:
        raw = read_regular(file, most or resolve().max_file_bytes) if raw is None else raw
    except OSError as error:
        return FileContent(str(file)), [_unreadable(file, error)]
    if remembered is None:
        return _parse_file(file, raw)
    digest = hashlib.sha256(raw).digest()
    if file not in remembered or remembered[file][0] != digest:
        content, problems = _parse_file(file, raw)
        remembered[file] = digest, content, tuple(problems)
    return remembered[file][1:]


def _parse_file(file: Path, raw: bytes | None = None) -> tuple[FileContent, list[Problem]]:
    nothing = FileContent(str(file))
    try:
        text = read_text(file, raw)
    except RegistryError as error:
        return nothing, list(error.problems)
    grammar = FileGrammar(str(file), text)
    try:
        content = grammar.read(nodes.parse(text, str(file)))
    except nodes.NodeError as error:
        from intentmatch.registry.reading import syntax_causes  # its patterns take a tenth of all imports

        return nothing, [*grammar.problems, *syntax_causes.explain(text, error)]
    return content, grammar.problems
