"""Read and write zips. Dangerous archives (zip bombs, path traversal, links) are refused before unpacking."""

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
# Text compresses about ten to one, and a list of equal lines perhaps a hundred to one.
MAX_RATIO = 200
# Bytes below which the ratio is not checked.
_MIN_RATIO_BYTES = 1_000_000


def open_zip(data: bytes, place: str) -> zipfile.ZipFile:
    """Open a zip and check all entries. Raises `InputError` if it is damaged, encrypted or dangerous."""
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


def zip_files(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of files by relative path. Equal content gives equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # `ZipInfo` without a date uses a constant one.
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _check_entry(entry: zipfile.ZipInfo, place: str) -> None:
    """Refuse the archive because of a dangerous entry."""
    # Archives made on Windows may have backslashes and drive letters.
    path = entry.filename.replace("\\", "/")
    if path.startswith("/") or ":" in path.partition("/")[0] or ".." in path.split("/"):
        raise InputError(f"{place} is refused: its entry {entry.filename!r} points outside of the archive")
    # The upper half is the mode of a Unix file.
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise InputError(f"{place} is refused: its entry {entry.filename!r} is a link")
    if entry.file_size > max(_MIN_RATIO_BYTES, MAX_RATIO * entry.compress_size):
        raise InputError(f"{place} is refused: its entry {entry.filename!r} has a suspiciously high compression ratio")
    # Bit 0 marks an encrypted entry.
    if entry.flag_bits & 0x1:
        raise InputError(f"{place} is protected by a password; unpack it and name the folder")


def read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, place: str, most: int) -> bytes:
    """Read at most `most` bytes of an entry. Raises `InputError` if it is damaged."""
    try:
        with archive.open(entry) as packed_file:
            return packed_file.read(most)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{place} cannot be unpacked: {error}") from error
