"""Zips that may be read: what no honest program packs is refused by a sentence, before anything is unpacked."""

from __future__ import annotations

import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping

from intentmatch.core.errors import InputError

MAX_FILES = 20_000
MAX_TOTAL_BYTES = 256_000_000
# Text packs ten to one, and lists of nothing but the same line perhaps a hundred to one.
MAX_RATIO = 200
# A small file may pack as well as it likes.
_WORTH_A_RATIO = 1_000_000


def opened(data: bytes, place: str) -> zipfile.ZipFile:
    """A zip that may be read: no more comes out of its entries than was checked.

    Raises `InputError` for one that is damaged, locked or dangerous.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError, struct.error) as error:
        raise InputError(f"{place} is not a readable zip: {error}") from error
    entries = archive.infolist()
    if len(entries) > MAX_FILES:
        raise InputError(f"{place} is refused: it contains more than {MAX_FILES:,} files")
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
        raise InputError(f"{place} is refused: its entry {entry.filename!r} points outside of the archive")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise InputError(f"{place} is refused: its entry {entry.filename!r} is a link")
    if entry.file_size > max(_WORTH_A_RATIO, MAX_RATIO * entry.compress_size):
        raise InputError(f"{place} is refused: its entry {entry.filename!r} has a suspiciously high compression ratio")
    if entry.flag_bits & 0x1:
        raise InputError(f"{place} is protected by a password; unpack it and name the folder")


def unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, place: str, most: int) -> bytes:
    """At most so many bytes of an entry. Raises `InputError` where it is damaged."""
    try:
        with archive.open(entry) as packed_file:
            return packed_file.read(most)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{place} cannot be unpacked: {error}") from error
