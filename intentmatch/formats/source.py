"""What is to be imported: a file, a folder or a zip, as files by relative path, read when they are first looked at.

A zip is read where it is and never unpacked to disk; what could hurt (too much, too deep, out of the folder, locked)
is refused by a sentence.
"""

from __future__ import annotations

import codecs
import io
import lzma
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from intentmatch.errors import InputError, Location, Problem, RegistryError
from intentmatch.formats import tree
from intentmatch.registry.nodes import Node, NodeError, line_and_column

_T = TypeVar("_T")

MAX_FILES = 20_000
MAX_FILE_BYTES = 64_000_000
MAX_TOTAL_BYTES = 256_000_000
# Text packs ten to one, and lists of nothing but the same line perhaps a hundred to one.
MAX_RATIO = 200
# Enough to tell an archive.
_HEAD = 4
# A small file may pack as well as it likes.
_WORTH_A_RATIO = 1_000_000

_BYTE_ORDER_MARKS = (
    # UTF-32 first: its mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NOT_OURS = frozenset({"node_modules", "__pycache__", "__MACOSX"})
# An office document is a zip too, and one file to its reader.
_OFFICE = "[Content_Types].xml"


class File:
    """One file: its bytes, its text, and its nodes where it is JSON or YAML; each worked out once."""

    def __init__(self, source: Source, path: str, place: str, load: Callable[[], bytes]) -> None:
        self.source = source
        self.path = path
        """Relative to the source, with slashes."""
        self.place = place
        """As it stands in locations."""
        self._load = load

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def suffix(self) -> str:
        """In lower case, with its dot."""
        return PurePosixPath(self.path).suffix.lower()

    @property
    def location(self) -> Location:
        """Its first character."""
        return Location(self.place)

    @property
    def data(self) -> bytes:
        """What it holds. Raises `InputError` where it cannot be read."""
        return _or_raise(self._data)

    @property
    def head(self) -> bytes:
        """What it begins with; of what cannot be read, nothing. For a look."""
        return self._data[:_HEAD] if isinstance(self._data, bytes) else b""

    @property
    def text(self) -> str:
        """Its text, without a byte order mark. Raises `RegistryError` for what is none."""
        return _or_raise(self._text)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The root of each document in it, read as JSON or as YAML. Raises `RegistryError` for what is neither."""
        return _or_raise(self._nodes)

    @property
    def root(self) -> tree.Value:
        """The first document in it; of what is neither JSON nor YAML, nothing. For a look: notes nothing."""
        found = self._nodes
        return tree.Value(found[0] if isinstance(found, tuple) and found else None, self.location)

    @property
    def lines(self) -> list[str]:
        """The lines of its text; of what is no text, none. For a look."""
        return self._text.splitlines() if isinstance(self._text, str) else []

    @property
    def problem(self) -> Problem | None:
        """What keeps it from being read: damage, or the syntax of what is named like JSON or YAML."""
        named = self.suffix in (".json", *tree.YAML_SUFFIXES)
        failure = self._nodes if named else self._data
        if isinstance(failure, RegistryError):
            return failure.problems[0]
        if isinstance(failure, InputError):
            return Problem(self.location, "error", "unreadable", str(failure))
        return None

    def beside(self, path: str) -> File | None:
        """The file that this one names, relative to itself; None where it is not there, or not in the source."""
        return self.source.find(PurePosixPath(self.path).parent.joinpath(*path.replace("\\", "/").split("/")))

    @cached_property
    def _data(self) -> bytes | InputError:
        try:
            return self._load()
        except InputError as error:
            return error

    @cached_property
    def _text(self) -> str | InputError:
        try:
            return _decoded(self.data, self.place)
        except InputError as error:
            return error

    @cached_property
    def _nodes(self) -> tuple[Node, ...] | InputError:
        try:
            return tree.documents(self.text, self.suffix, self.place)
        except NodeError as error:
            return RegistryError([error.problem])
        except InputError as error:
            return error


class Source:
    """The files at a path, in an order that does not depend on the file system."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises `InputError` for what is not there, and for a zip that nobody should open."""
        self.path = Path(path)
        self.place = str(path)
        self._bytes = 0
        self._files: dict[str, File] = {}
        self.referenced: set[str] = set()
        """The paths that other files named."""
        try:
            if self.path.is_dir():
                self._root: Path | None = self.path
                self._add_folder()
            elif self.path.is_file():
                self._add_file()
            else:
                raise InputError(f"{self.place}: there is no such file or folder")
        except OSError as error:
            raise InputError(f"{self.place} cannot be read: {error.strerror or error}") from error

    def __iter__(self) -> Iterator[File]:
        return iter([self._files[path] for path in sorted(self._files)])

    def __len__(self) -> int:
        return len(self._files)

    def find(self, path: PurePosixPath | str) -> File | None:
        """The file at a relative path, also beside the only file that was named; None where there is none.

        A path that leads out of the source has none.
        """
        parts: list[str] = []
        for part in PurePosixPath(path).parts:
            if part == ".." and parts:
                parts.pop()
            elif part in ("..", "/") or ":" in part:
                return None
            else:
                parts.append(part)
        relative = "/".join(parts)
        self.referenced.add(relative)
        if relative not in self._files and self._root is not None:
            file = self._root / relative
            if not _inside(file, self._root):
                return None
            self._add(relative, str(file), partial(self._read, file))
        return self._files.get(relative)

    def _add(self, path: str, place: str, load: Callable[[], bytes]) -> None:
        if len(self._files) >= MAX_FILES:
            raise InputError(f"{self.place} holds more than {MAX_FILES:,} files; name the folder of the intents alone")
        self._files[path] = File(self, path, place, load)

    def _add_folder(self) -> None:
        for folder, subfolders, names in os.walk(self.path):
            subfolders[:] = [n for n in subfolders if not n.startswith(".") and n not in _NOT_OURS]
            for name in names:
                file = Path(folder, name)
                if not name.startswith(".") and _inside(file, self.path):
                    self._add(file.relative_to(self.path).as_posix(), str(file), partial(self._read, file))

    def _add_file(self) -> None:
        self._root = self.path.parent
        if zipfile.is_zipfile(self.path):
            # In memory, so that no handle stays open and the archive cannot change under us.
            archive = check_archive(self._read(self.path), self.place)
            if _OFFICE not in archive.namelist():
                self._root = None
                self._add_archive(archive)
                return
        self._add(self.path.name, self.place, partial(self._read, self.path))

    def _add_archive(self, archive: zipfile.ZipFile) -> None:
        for entry in archive.infolist():
            path = entry.filename.replace("\\", "/")
            if not entry.is_dir() and not any(part.startswith(".") or part in _NOT_OURS for part in path.split("/")):
                place = f"{self.place}/{path}"
                self._add(path, place, partial(self._unpacked, archive, entry, place))

    def _read(self, file: Path) -> bytes:
        try:
            with file.open("rb") as opened:
                return self._counted(opened.read(MAX_FILE_BYTES + 1), str(file))
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror or error}") from error

    def _unpacked(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, place: str) -> bytes:
        try:
            # No more comes out of it than the size that was checked.
            return self._counted(archive.read(entry), place)
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError) as error:
            raise InputError(f"{place} cannot be unpacked: {error}") from error

    def _counted(self, data: bytes, place: str) -> bytes:
        self._bytes += len(data)
        if len(data) > MAX_FILE_BYTES:
            raise InputError(f"{place} is larger than {MAX_FILE_BYTES // 1_000_000} MB")
        if self._bytes > MAX_TOTAL_BYTES:
            raise InputError(f"{self.place} holds more than {MAX_TOTAL_BYTES // 1_000_000} MB; name fewer files")
        return data


def check_archive(data: bytes, place: str) -> zipfile.ZipFile:
    """A zip that may be read. Raises `InputError` for one that is damaged, locked or dangerous."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError, struct.error) as error:
        raise InputError(f"{place} is not a zip that can be read: {error}") from error
    entries = archive.infolist()
    if len(entries) > MAX_FILES:
        raise InputError(f"{place} is refused: it holds more than {MAX_FILES:,} files")
    if sum(entry.file_size for entry in entries) > MAX_TOTAL_BYTES:
        raise InputError(f"{place} is refused: it unpacks to more than {MAX_TOTAL_BYTES // 1_000_000} MB")
    for entry in entries:
        _check_entry(entry, place)
    return archive


def packed(files: Mapping[str, bytes]) -> bytes:
    """A zip of files by relative path; equal content gives equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # Without a date it is always of the same day.
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _check_entry(entry: zipfile.ZipInfo, place: str) -> None:
    """Refuse the whole archive for an entry that no honest program writes."""
    path = entry.filename.replace("\\", "/")
    if path.startswith("/") or ":" in path.partition("/")[0] or ".." in path.split("/"):
        raise InputError(f"{place} is refused: its entry {entry.filename!r} leads out of the archive")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise InputError(f"{place} is refused: its entry {entry.filename!r} is a link")
    if entry.file_size > max(_WORTH_A_RATIO, MAX_RATIO * entry.compress_size):
        raise InputError(f"{place} is refused: its entry {entry.filename!r} unpacks to far more than text would")
    if entry.flag_bits & 0x1:
        raise InputError(f"{place} is locked by a password; unpack it, and name the folder")


def _inside(file: Path, root: Path) -> bool:
    """Whether it is a real file that lies in the folder, also when links are followed."""
    try:
        return file.is_file() and file.resolve().is_relative_to(root.resolve())
    except (OSError, ValueError):
        return False


def _decoded(data: bytes, place: str) -> str:
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), "utf-8-sig")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(encoding.removesuffix("-sig"), "replace")
        location = Location(place, *line_and_column(before, len(before)))
        message = f"byte 0x{error.object[error.start]:02X} is not {encoding.removesuffix('-sig').upper()}"
        raise RegistryError([Problem(location, "error", "encoding", message, "save the file as UTF-8")]) from None
    if "\0" in text:
        location = Location(place, *line_and_column(text, text.index("\0")))
        raise RegistryError([Problem(location, "error", "encoding", "this is not text", "name a text file")])
    return text


def _or_raise(found: _T | InputError) -> _T:
    if isinstance(found, InputError):
        raise found.with_traceback(None)
    return found
