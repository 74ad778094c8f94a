"""Import the files of other chatbot programs as registries, and export registries to them.

Each format is one module with a `Format`. Files are recognised by their content, not by their names. Registries are
unexpanded: templates stay templates. Everything that a format cannot express is reported as a `Problem`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from intentmatch.core import plugins
from intentmatch.core.errors import InputError, Location, Problem
from intentmatch.core.types import Registry, checked_language_code
from intentmatch.formats import python_objects
from intentmatch.formats.kit import losses
from intentmatch.formats.kit.archive import zip_files
from intentmatch.formats.kit.draft import Draft, few
from intentmatch.formats.kit.format import Files, Format, Imported, Sure
from intentmatch.formats.kit.source import STANDARD_INPUT, File, Source
from intentmatch.storage.atomic import write_report
from intentmatch.storage.unwritable import unwritable

__all__ = ["Format", "Imported", "by_name", "formats", "put", "read", "read_bytes", "read_object", "render", "write"]

_HINT = "Name one with --format."
_FILE_SUFFIXES = frozenset({".csv", ".json", ".jsonl", ".lu", ".md", ".tsv", ".txt", ".xlsx", ".yaml", ".yml"})


def formats() -> dict[str, Format]:
    """Return all formats by name: the built-in ones and those added by other packages."""
    return {name: by_name(name) for name in plugins.names("formats")}


def by_name(name: str) -> Format:
    """Return the format with this name. Raises `UnknownNameError`."""
    found: Format = plugins.named("formats", name)
    return found


def read(
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - the name of the command-line option
    *,
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Imported:
    """Import a file, a folder or a zip.

    `format` is recognised from the content if it is None. `language` is the language of all text whose language the
    files do not state. `columns` names the columns of a table, see `kit.tables`. Raises `InputError` if the path cannot
    be read, if no format fits or if several do.
    """
    return _read(Source(path), format, language, columns)


def read_bytes(
    data: bytes,
    format: str | None = None,  # noqa: A002 - the name of the command-line option
    *,
    place: str = STANDARD_INPUT,
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Imported:
    """Import the content of a file or zip, such as what was pasted on standard input.

    `place` stands for the file in problems; the others are as in `read`. Raises `InputError` as `read` does.
    """
    return _read(Source.of_bytes(data, place), format, language, columns)


def read_object(
    value: Any,
    place: str,
    format: str | None = None,  # noqa: A002 - the name of the command-line option
    *,
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Imported:
    """Import a live Python object, such as a router; `python_objects.KNOWN` lists the kinds.

    `place` is the name of the object in problems, such as `shop:router`; the others are as in `read`. Raises
    `InputError` for an unknown object.
    """
    return _read(Source.of_node(python_objects.to_node(value, place), place), format, language, columns)


def _read(source: Source, format: str | None, language: str | None, columns: Mapping[str, str] | None) -> Imported:  # noqa: A002
    chosen = by_name(format) if format else _recognise(source)
    if chosen.read is None:
        raise InputError(f"{chosen.name} cannot be read, only written")
    files = [file for file in source if chosen.recognise(file)]
    draft = Draft(checked_language_code(language) if language else None)
    draft.columns = dict(columns or {})
    if format and not files:
        # The reader of the named format reports what is missing.
        files = list(source)
    chosen.read(files, draft)
    _note_unread(source, files, draft)
    registry = draft.registry()
    return Imported(registry, chosen.name, draft.problems)


def render(registry: Registry, format: str) -> tuple[Files, list[Problem]]:  # noqa: A002 - as above
    """Convert an unexpanded registry to the files of a format, in memory.

    Returns the files and a problem for each piece that the format cannot express, sorted by location. Raises
    `InputError` if the format can only be read, or if a text cannot be encoded as UTF-8.
    """
    chosen = by_name(format)
    if chosen.write is None:
        writable = ", ".join(name for name, other in formats().items() if other.write)
        raise InputError(f"{format} cannot be written, only read. Formats that can be written: {writable}")
    kept, problems = losses.without_unsupported(registry, chosen.says)
    try:
        files = chosen.write(kept, problems)
    except UnicodeEncodeError as error:
        raise InputError(
            f"{error.object[error.start]!r} is half of a surrogate pair and cannot be written as UTF-8"
        ) from None
    return files, sorted(problems)


def write(
    registry: Registry,
    format: str,  # noqa: A002 - as above
    path: str | os.PathLike[str],
    *,
    force: bool = False,
) -> list[Problem]:
    """Export an unexpanded registry to files.

    A single file is written to `path`, or into it if it is a folder. Several files become a folder, or a zip if `path`
    ends in `.zip`. Returns a problem for each piece that the format cannot express, sorted by location. Raises
    `InputError` if nothing can be written, if `path` exists and `force` is false, or if `path` is the name of a file
    and the format needs a folder.
    """
    files, problems = render(registry, format)
    target = Path(path)
    if (len(files) > 1 or by_name(format).needs_folder) and _is_file_name(target, files):
        raise InputError(
            f"{target} is one file, but {format} needs a folder for {few(files)}; name a folder or a .zip file"
        )
    put(files, path, force=force, folder=by_name(format).needs_folder)
    return problems


def put(files: Files, path: str | os.PathLike[str], *, force: bool = False, folder: bool = False) -> None:
    """Write files to a file, a folder or a zip, as `write` does. Raises `InputError` if they cannot be written.

    With `folder`, a single file is written into a folder too.
    """
    target = Path(path)
    try:
        content = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
        # An empty folder was made for the export.
        if not force and target.exists() and not (target.is_dir() and not any(target.iterdir())):
            raise InputError(f"{target} already exists; choose another path, or overwrite it with --force")
        if _is_zip(target):
            content = {target.name: zip_files(content)}
        elif target.is_dir() or len(content) > 1 or folder:
            for name, data in content.items():
                file = target / name
                # Some formats name files after intents, and a name may hold `../`.
                if not file.resolve().is_relative_to(target.resolve()):
                    raise InputError(f"{name!r} is not a valid file name in {target}")
                file.parent.mkdir(parents=True, exist_ok=True)
                write_report(file, data)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        write_report(target, next(iter(content.values())))
    except (OSError, ValueError) as error:
        raise InputError(unwritable(target, error)) from error


def _is_file_name(target: Path, files: Files) -> bool:
    """Return whether a path names a file: one that exists, or one with a suffix of data files."""
    # By the suffix too: a new `bot.json` would become a folder of that name.
    suffixes = _FILE_SUFFIXES | {Path(name).suffix for name in files}
    return not target.is_dir() and (target.is_file() or target.suffix.lower() in suffixes) and not _is_zip(target)


def _is_zip(target: Path) -> bool:
    return target.suffix.lower() == ".zip"


def _recognise(source: Source) -> Format:
    confidences = {
        name: max((found.recognise(file) for file in source), default=Sure.NO)
        for name, found in formats().items()
        if found.read is not None
    }
    best = max(confidences.values())
    candidates = [name for name, confidence in confidences.items() if confidence == best]
    if best == Sure.NO:
        known = ", ".join(confidences)
        raise InputError(f"{source.place}: unknown format. {_describe(source)} Known formats: {known}. {_HINT}")
    if len(candidates) > 1:
        raise InputError(f"{source.place} could be {' or '.join(candidates)}. {_HINT}")
    return by_name(candidates[0])


def _describe(source: Source) -> str:
    """Describe the content of a source of unknown format."""
    broken = next((file.problem for file in source if file.problem), None)
    if broken is not None:
        return f"{broken}."
    for file in source:
        if file.root["intents"].is_mapping:
            return f"{file.place} looks like intentmatch YAML and needs no import."
        if keys := file.root.keys:
            return f"{file.place} has the keys {few(keys)}."
    return f"Files found: {few(file.path for file in source)}." if len(source) else "It contains no files."


def _note_unread(source: Source, files: Iterable[File], draft: Draft) -> None:
    used = {file.path for file in files} | source.referenced
    unread = [file for file in source if file.path not in used]
    for file in unread:
        if file.problem is not None:
            draft.warn(file.problem.location, file.problem.rule, f"{file.problem.message}; the file is skipped")
    if source.links:
        message = f"symbolic links that point outside of the folder are not followed: {few(source.links)}"
        draft.note(Location(source.place), "unread-file", message)
    if unread:
        message = f"files of another format are skipped: {few(file.path for file in unread)}"
        draft.note(unread[0].location, "unread-file", message)
