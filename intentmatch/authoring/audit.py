"""The audit log: one line of JSON for each write, with who, what, when, and the revision."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timezone
from pathlib import Path

from intentmatch.core.erasure import Erasure
from intentmatch.core.errors import InputError
from intentmatch.core.rare_lines import RareLines
from intentmatch.storage.atomic import write_file
from intentmatch.storage.unwritable import unwritable, with_advice
from intentmatch.text.printable import shown_json

NAME = "audit.jsonl"
_BLOCK = 1 << 16
_SHOWN = 100

_log = logging.getLogger(__name__)
_damaged_lines = RareLines()


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A write, or an attempt that failed after it was allowed."""

    time: str
    """ISO 8601, in UTC."""
    author: str
    """Name of the key."""
    what: str
    """What was done, in words."""
    digest: str
    """Digest of the files afterwards."""
    revision: str | None
    """Id of the revision; None if none was kept."""


_NAMES = [field.name for field in fields(AuditEntry)]


def _entry(line: bytes) -> AuditEntry | None:
    """Return the entry of a line; None for anything else, whatever a program or a person has written."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    # Anyone who may write the file can put any JSON into it.
    if not isinstance(found, dict) or sorted(found) != sorted(_NAMES):
        return None
    if not all(isinstance(value, str) or (name == "revision" and value is None) for name, value in found.items()):
        return None
    try:
        # Readers convert the time, which fails for some of those that parse.
        datetime.fromisoformat(found["time"]).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None
    return AuditEntry(**found)


def _line(entry: AuditEntry) -> bytes:
    # Read in terminals too, where a control character in a note could rewrite a line.
    return shown_json(json.dumps(asdict(entry), ensure_ascii=False)).encode("utf-8", "backslashreplace")


class AuditLog:
    """A file that is only ever appended to, but for words of users that are erased."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def prepare(self) -> None:
        """Raise `InputError` if the log cannot be written: then nothing else may be written either."""
        self._append(b"")

    def note(self, author: str, what: str, digest: str, revision: str | None) -> None:
        """Append an entry, and wait until the disk has it. Raises `InputError`."""
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        entry = AuditEntry(now, author, what, digest, revision)
        self._append(_line(entry) + b"\n")

    def entries(self, most: int) -> list[AuditEntry]:
        """Return the newest entries, the newest first; lines that are no entries are left out, and logged.

        Raises `InputError` if the log cannot be read.
        """
        found: list[AuditEntry] = []
        try:
            for line in self._lines_backwards():
                if len(found) == most:
                    break
                if (entry := _entry(line)) is not None:
                    found.append(entry)
                elif line.strip() and _damaged_lines.due(self._file):
                    _log.warning("the audit log %s has a line that is no entry: %r", self._file, line[:_SHOWN])
        except OSError as error:
            raise InputError(f"the audit log {self._file} cannot be read: {with_advice(error)}") from error
        return found

    def erase(self, erasure: Erasure) -> int:
        """Replace words of messages in all entries; return how many entries have changed. Raises `InputError`.

        The caller must keep others from writing. Who wrote what when stays.
        """
        # Nothing was ever written.
        if not self._file.is_file():
            return 0
        changed = 0
        try:
            lines = self._file.read_bytes().split(b"\n")
            for number, line in enumerate(lines):
                entry = _entry(line)
                if entry is not None and (what := erasure.without(entry.what)) != entry.what:
                    lines[number] = _line(replace(entry, what=what))
                    changed += 1
            if changed:
                write_file(self._file, b"\n".join(lines))
        except OSError as error:
            raise InputError(unwritable(f"the audit log {self._file}", error)) from error
        return changed

    def _append(self, line: bytes) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            # One write in append mode: lines of several processes never mix.
            descriptor = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if line:
                    os.write(descriptor, line)
                    # Before the caller goes on: a write that is not in the log must not outlive a crash.
                    os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise InputError(unwritable(f"the audit log {self._file}", error)) from error

    def _lines_backwards(self) -> Iterator[bytes]:
        if not self._file.is_file():
            return
        with self._file.open("rb") as file:
            end, rest = file.seek(0, os.SEEK_END), b""
            while end:
                start = max(0, end - _BLOCK)
                file.seek(start)
                # A block may begin in the middle of a line, whose beginning is in the block before.
                first, *lines = (file.read(end - start) + rest).split(b"\n")
                yield from lines[::-1]
                end, rest = start, first
            yield rest
