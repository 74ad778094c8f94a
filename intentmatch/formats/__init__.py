"""Other programs' files to unexpanded registries, and back; what cannot be expressed is a `Problem`, never silence.

One module for each format, each with a `Format`. A format is recognised by what is in the files, not by their names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from intentmatch.core import plugins
from intentmatch.core.errors import InputError, Location, Problem
from intentmatch.core.types import Registry, checked_language_code
from intentmatch.formats.kit import losses
from intentmatch.formats.kit.archive import packed
from intentmatch.formats.kit.draft import Draft, few
from intentmatch.formats.kit.format import Files, Format, Imported, Sure
from intentmatch.formats.kit.source import File, Source

__all__ = ["Format", "Imported", "by_name", "formats", "put", "read", "render", "write"]

_HINT = "Name one with --format."


def formats() -> dict[str, Format]:
    """Every format there is, by name: our own, and those that other packages add."""
    return {name: by_name(name) for name in plugins.names("formats")}


def by_name(name: str) -> Format:
    """The format of a name. Raises `UnknownNameError`."""
    found: Format = plugins.named("formats", name)
    return found


def read(
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - the word of the command line
    *,
    language: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Imported:
    """What a file, folder or zip says. Raises `InputError` where that cannot be told, or can be told in several ways.

    `language` is that of whatever does not say its own; `columns` are for tables, see `tables`.
    """
    source = Source(path)
    chosen = by_name(format) if format else _recognised(source)
    if chosen.read is None:
        raise InputError(f"{chosen.name} cannot be read, only written")
    files = [file for file in source if chosen.recognise(file)]
    draft = Draft(checked_language_code(language) if language else None)
    draft.columns = dict(columns or {})
    if format and not files:
        # Its reader will say what it misses.
        files = list(source)
    chosen.read(files, draft)
    _note_unread(source, files, draft)
    registry = draft.registry()
    return Imported(registry, chosen.name, draft.problems)


def render(registry: Registry, format: str) -> tuple[Files, list[Problem]]:  # noqa: A002 - as above
    """The files of an unexpanded registry in a format, and what that cannot say, sorted by place.

    Raises `InputError` for a format that is only read, and for text that no file can hold.
    """
    chosen = by_name(format)
    if chosen.write is None:
        writable = ", ".join(name for name, other in formats().items() if other.write)
        raise InputError(f"{format} cannot be written, only read. Formats that can be written: {writable}")
    kept, problems = losses.without(registry, chosen.says)
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
    """Write an unexpanded registry in a format, and give what that cannot say, sorted by place.

    One file is written to the path, or into it where that is a folder; several make a folder of it or, where it ends in
    .zip, a zip. What is there is left alone unless `force` is given. Raises `InputError` where nothing can be written.
    """
    files, problems = render(registry, format)
    put(files, path, force=force)
    return problems


def put(files: Files, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write files as `write` does. Raises `InputError` where they cannot be written."""
    target = Path(path)
    try:
        content = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
        if not force and target.exists() and not (target.is_dir() and not any(target.iterdir())):
            raise InputError(f"{target} already exists; choose another path, or overwrite it with --force")
        if target.suffix.lower() == ".zip":
            content = {target.name: packed(content)}
        elif target.is_dir() or len(content) > 1:
            for name, data in content.items():
                file = target / name
                if not file.resolve().is_relative_to(target.resolve()):
                    raise InputError(f"{name!r} is not a valid file name in {target}")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(next(iter(content.values())))
    except (OSError, ValueError) as error:
        raise InputError(f"{target} cannot be written: {getattr(error, 'strerror', None) or error}") from error


def _recognised(source: Source) -> Format:
    sure = {
        name: max((found.recognise(file) for file in source), default=Sure.NO)
        for name, found in formats().items()
        if found.read is not None
    }
    best = max(sure.values())
    likeliest = [name for name, how in sure.items() if how == best]
    if best == Sure.NO:
        known = ", ".join(sure)
        raise InputError(f"{source.place}: unknown format. {_seen(source)} Known formats: {known}. {_HINT}")
    if len(likeliest) > 1:
        raise InputError(f"{source.place} could be {' or '.join(likeliest)}. {_HINT}")
    return by_name(likeliest[0])


def _seen(source: Source) -> str:
    """What there is, for somebody who expected it to be known."""
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
