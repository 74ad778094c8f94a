"""The source of an import: a file, a folder or a zip, as files by relative path.

Files are read on first use. A zip is read in memory and never unpacked to disk.
"""

from __future__ import annotations

import codecs
import os
import zipfile
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from intentmatch.core.errors import InputError, Location, Problem, RegistryError
from intentmatch.formats.kit import tree
from intentmatch.formats.kit.archive import MAX_FILES, MAX_TOTAL_BYTES, open_zip, read_entry
from intentmatch.registry.reading.nodes import Node, NodeError, line_and_column

_T = TypeVar("_T")

MAX_FILE_BYTES = 64_000_000
STANDARD_INPUT = "<stdin>"
"""Path and place of text that was read from standard input."""
# Bytes that are enough to recognise a binary file.
_HEAD = 1024

_BYTE_ORDER_MARKS = (
    # UTF-32 first: its byte order mark begins with the mark of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "__MACOSX"})
# An office document is a zip too, but one file for its format.
_OFFICE = "[Content_Types].xml"
_ZIP = (b"PK\3\4", b"PK\5\6")

Load = Callable[[int], bytes]
"""Reads at most this many bytes of a file."""


class File:
    """One file of a source: its bytes, text and JSON or YAML nodes, each computed once."""

    def __init__(self, source: Source, path: str, place: str, load: Load) -> None:
        self.source = source
        self.path = path
        """The path relative to the source, with slashes."""
        self.place = place
        """The path for locations in problems."""
        self._load = load

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def suffix(self) -> str:
        """The file extension in lower case, with its dot."""
        return PurePosixPath(self.path).suffix.lower()

    @property
    def location(self) -> Location:
        """The location of the first character."""
        return Location(self.place)

    @property
    def data(self) -> bytes:
        """All bytes of the file. Raises `InputError` if it cannot be read."""
        return _or_raise(self._data)

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the file, for recognition; empty if it cannot be read."""
        try:
            return self._load(_HEAD)
        except InputError:
            return b""

    @property
    def text(self) -> str:
        """The text without a byte order mark. Raises `RegistryError` if the file is not text."""
        return _or_raise(self._text)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The root of each JSON or YAML document. Raises `RegistryError` if the file is neither."""
        return _or_raise(self._nodes)

    @property
    def root(self) -> tree.Value:
        """The first JSON or YAML document, for recognition; empty if there is none. It reports no problems."""
        found = self._nodes
        return tree.Value(found[0] if isinstance(found, tuple) and found else None, self.location)

    @property
    def lines(self) -> list[str]:
        """The lines of the text, for recognition; empty if the file is not text."""
        return self._text.splitlines() if isinstance(self._text, str) else []

    @property
    def problem(self) -> Problem | None:
        """Why the file cannot be read: an I/O error, or a syntax error in a file named like JSON or YAML.

        Standard input has no name: there, a bracket at the beginning stands for JSON.
        """
        is_json = self.suffix == ".json" or (self.path == STANDARD_INPUT and self.head.lstrip()[:1] in (b"{", b"["))
        named = is_json or self.suffix in tree.YAML_SUFFIXES
        failure = self._nodes if named else self._data
        if isinstance(failure, RegistryError):
            return failure.problems[0]
        if isinstance(failure, InputError):
            return Problem(self.location, "error", "unreadable", str(failure))
        return None

    def resolve_reference(self, path: str) -> File | None:
        """Return the file at a path relative to this file; None if it does not exist in the source."""
        return self.source.find(PurePosixPath(self.path).parent.joinpath(*path.replace("\\", "/").split("/")))

    @cached_property
    def _data(self) -> bytes | InputError:
        try:
            # One byte more than allowed shows that a file is too large.
            return self.source.count_bytes(self._load(MAX_FILE_BYTES + 1), self.place)
        except InputError as error:
            return error

    @cached_property
    def _text(self) -> str | InputError:
        try:
            # Do not read all of an image or another binary file.
            if b"\0" in self.head and not self.head.startswith(tuple(mark for mark, _ in _BYTE_ORDER_MARKS)):
                return RegistryError([Problem(self.location, "error", "encoding", "this is not a text file")])
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


class ParsedFile(File):
    """A file that was never text: it has nodes alone."""

    def __init__(self, source: Source, place: str, node: Node) -> None:
        super().__init__(source, place, place, lambda most: b"")
        self._node = node

    @cached_property
    def _nodes(self) -> tuple[Node, ...]:
        return (self._node,)


class Source:
    """The files at a path, sorted by relative path."""

    _root: Path | None

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """List the files at a path. Raises `InputError` if it does not exist, or for a dangerous zip."""
        self._begin(Path(path), str(path))
        try:
            if self.path.is_dir():
                self._root = self.path
                self._add_folder()
            elif self.path.is_file():
                self._root = self.path.parent
                self._add_content(self.path.name, partial(_read, self.path))
            else:
                raise InputError(f"{self.place}: no such file or folder")
        except OSError as error:
            raise InputError(f"{self.place} cannot be read: {error.strerror or error}") from error

    @classmethod
    def of_bytes(cls, data: bytes, place: str) -> Source:
        """Return a source of one file, or of the files in a zip, whose content is in memory.

        Raises `InputError` for a dangerous zip.
        """
        source = cls._empty(place)
        source._add_content(place, lambda most: data[:most])
        return source

    @classmethod
    def of_node(cls, node: Node, place: str) -> Source:
        """Return a source of one file that is parsed already."""
        source = cls._empty(place)
        source._files[place] = ParsedFile(source, place, node)
        return source

    @classmethod
    def _empty(cls, place: str) -> Source:
        source = cls.__new__(cls)
        source._begin(Path(place), place)
        return source

    def _begin(self, path: Path, place: str) -> None:
        self.path = path
        self.place = place
        self._bytes = 0
        self._files: dict[str, File] = {}
        self._root = None
        self.referenced: set[str] = set()
        """Paths that were looked up by `find`."""
        self.links: list[str] = []
        """Symbolic links that point outside of the folder and are not followed."""

    def __iter__(self) -> Iterator[File]:
        return iter([self._files[path] for path in sorted(self._files)])

    def __len__(self) -> int:
        return len(self._files)

    def find(self, path: PurePosixPath | str) -> File | None:
        """Return the file at a relative path, or None if it does not exist or lies outside of the source.

        If the source is a single file, files in the same folder are found too.
        """
        parts: list[str] = []
        for part in PurePosixPath(path).parts:
            if part == ".." and parts:
                parts.pop()
            # A colon ends the letter of a drive.
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
            self._add(relative, str(file), partial(_read, file))
        return self._files.get(relative)

    def count_bytes(self, data: bytes, place: str) -> bytes:
        """Return `data` and add its size to the total. Raises `InputError` if the file or the total is too large."""
        self._bytes += len(data)
        if len(data) > MAX_FILE_BYTES:
            raise InputError(f"{place} is larger than {MAX_FILE_BYTES // 1_000_000} MB")
        if self._bytes > MAX_TOTAL_BYTES:
            raise InputError(
                f"{self.place} contains more than {MAX_TOTAL_BYTES // 1_000_000} MB of text; import fewer files at once"
            )
        return data

    def _add(self, path: str, place: str, load: Load) -> None:
        if len(self._files) >= MAX_FILES:
            raise InputError(
                f"{self.place} contains more than {MAX_FILES:,} files; name only the folder with the intents"
            )
        self._files[path] = File(self, path, place, load)

    def _add_folder(self) -> None:
        for folder, subfolders, names in os.walk(self.path, onerror=_fail):
            subfolders[:] = [name for name in subfolders if not name.startswith(".") and name not in _SKIPPED_FOLDERS]
            for file in (Path(folder, name) for name in names if not name.startswith(".")):
                relative = file.relative_to(self.path).as_posix()
                if _inside(file, self.path):
                    self._add(relative, str(file), partial(_read, file))
                elif file.is_symlink():
                    self.links.append(relative)

    def _add_content(self, name: str, load: Load) -> None:
        """Add a file, or the files in it if it is a zip."""
        if load(len(_ZIP[0])) in _ZIP:
            # Read the zip into memory: no handle stays open, and the archive cannot change during the import.
            archive = open_zip(self.count_bytes(load(MAX_FILE_BYTES + 1), self.place), self.place)
            if _OFFICE not in archive.namelist():
                # A reference must not lead from a zip to files beside it.
                self._root = None
                self._add_archive(archive)
                return
        self._add(name, self.place, load)

    def _add_archive(self, archive: zipfile.ZipFile) -> None:
        for entry in archive.infolist():
            path = entry.filename.replace("\\", "/")
            if not entry.is_dir() and not any(
                part.startswith(".") or part in _SKIPPED_FOLDERS for part in path.split("/")
            ):
                place = f"{self.place}/{path}"
                self._add(path, place, partial(read_entry, archive, entry, place))


def _read(file: Path, most: int) -> bytes:
    try:
        with file.open("rb") as open_file:
            return open_file.read(most)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error


def _fail(error: OSError) -> None:
    raise error


def _inside(file: Path, root: Path) -> bool:
    """Return whether a path is a regular file in the folder, with links resolved."""
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
        message = f"byte 0x{error.object[error.start]:02X} is not valid {encoding.removesuffix('-sig').upper()}"
        raise RegistryError([Problem(location, "error", "encoding", message, "save the file as UTF-8")]) from None
    # UTF-16 without a byte order mark is valid UTF-8 with a zero beside each letter.
    if "\0" in text:
        location = Location(place, *line_and_column(text, text.index("\0")))
        raise RegistryError([Problem(location, "error", "encoding", "this is not a text file", "name a text file")])
    return text


def _or_raise(found: _T | InputError) -> _T:
    if isinstance(found, InputError):
        # The error is kept, and each raise would lengthen its traceback.
        raise found.with_traceback(None)
    return found
