"""A candidate's record, counts and samples in a SQLite file that all workers of a machine share."""

from __future__ import annotations

import json
import random
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from intentmatch.core.erasure import Erasure, last_erased
from intentmatch.core.errors import InputError
from intentmatch.server.candidates.records import SAMPLES_OF_A_KIND, CandidateRecord, Sample, State, newest, sample_of

NAME = "candidate.sqlite"

_SECONDS_FOR_A_LOCK = 10.0
_TICK = 2_000_000_000
"""Nanoseconds: the coarsest times that file systems keep."""
_TABLES = """
CREATE TABLE IF NOT EXISTS candidate (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT, record TEXT);
CREATE TABLE IF NOT EXISTS counts (present TEXT, name TEXT, count INTEGER, PRIMARY KEY (present, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS samples (
    present TEXT, kind TEXT, chance REAL, text TEXT, language TEXT, answers TEXT, time REAL);
CREATE INDEX IF NOT EXISTS by_kind ON samples (present, kind, chance);
CREATE TABLE IF NOT EXISTS erased (one INTEGER PRIMARY KEY CHECK (one = 1), at REAL);
"""
# The samples with the smallest random numbers are a uniform sample, however many workers draw.
_TOO_MANY = """
DELETE FROM samples WHERE rowid IN (SELECT rowid FROM (
    SELECT rowid, row_number() OVER (PARTITION BY present, kind ORDER BY chance) AS place FROM samples)
    WHERE place > ?)
"""


class FileCandidateStore:
    """The file, which is opened for each operation. Only its owner may read it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[tuple[int, int, int], CandidateRecord | None] | None = None

    def read(self) -> CandidateRecord | None:
        """Return the record of the last candidate; None if there is none. Raises `InputError`.

        A file that has not changed since the last look is not opened.
        """
        try:
            found = self.path.stat()
        except OSError:
            return None
        state = found.st_ino, found.st_mtime_ns, found.st_size
        read = self._read
        if read is None or read[0] != state:
            with self._open("DEFERRED") as database:
                read = state, _record(database)
            # A write within the same tick of the clock would go unnoticed.
            self._read = read if time.time_ns() > found.st_mtime_ns + _TICK else None
        return read[1]

    def begin(self, record: CandidateRecord) -> None:
        """Replace the record; counts and samples of a candidate with another id are removed. Raises `InputError`."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # SQLite gives its journal the permissions of the file, which hold words of users too.
            self.path.touch(mode=0o600)
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror or error}") from error
        with self._open() as database:
            before = _record(database)
            if before is None or before.id != record.id:
                _empty(database)
            database.execute("INSERT OR REPLACE INTO candidate VALUES (1, ?, ?)", [record.id, record.to_json()])

    def end(self, identity: str, state: State, reason: str, ended: float, beside: str) -> bool:
        """End a running candidate; False if it does not run any more, or another one does. Raises `InputError`."""
        if not self.path.is_file():
            return False
        with self._open() as database:
            record = _running(database, identity)
            if record is None:
                return False
            changed = replace(record, state=state, reason=reason, ended=ended, beside=beside)
            database.execute("UPDATE candidate SET record = ?", [changed.to_json()])
            return True

    def clear(self) -> None:
        """Remove record, counts and samples. Raises `InputError`."""
        if self.path.is_file():
            with self._open() as database:
                _empty(database)

    def add(
        self, identity: str, present: str, counts: Mapping[str, int], samples: Sequence[Sample], oldest: float
    ) -> bool:
        """Add counts and samples, as `CandidateStore.add`. Raises `InputError`."""
        if not self.path.is_file():
            return False
        with self._open() as database:
            if _running(database, identity) is None:
                return False
            database.executemany(
                "INSERT INTO counts VALUES (?, ?, ?) "
                "ON CONFLICT (present, name) DO UPDATE SET count = count + excluded.count",
                [(present, name, count) for name, count in counts.items()],
            )
            (mark,) = database.execute("SELECT at FROM erased").fetchone() or (None,)
            erased = last_erased(mark, time.time())
            # What was said before an erasure may hold the erased words: a worker kept it in memory meanwhile.
            rows = [_row(present, sample) for sample in samples if sample.time >= erased]
            database.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            database.execute("DELETE FROM samples WHERE time NOT BETWEEN ? AND ?", [oldest, newest(oldest)])
            if samples:
                database.execute(_TOO_MANY, [SAMPLES_OF_A_KIND])
            return True

    def erase(self, erasure: Erasure) -> int:
        """Remove the samples with these messages, and overwrite them in the file. Raises `InputError`."""
        if not self.path.is_file():
            return 0
        with self._open() as database:
            rows = database.execute("SELECT rowid, text FROM samples").fetchall()
            gone = [[number] for number, text in rows if erasure.covers(text)]
            database.executemany("DELETE FROM samples WHERE rowid = ?", gone)
            database.execute("INSERT OR REPLACE INTO erased VALUES (1, ?)", [time.time()])
            return len(gone)

    def counts(self, present: str) -> dict[str, int]:
        """Return the counts beside the present registry with this fingerprint, by name. Raises `InputError`."""
        if not self.path.is_file():
            return {}
        with self._open("DEFERRED") as database:
            return dict(database.execute("SELECT name, count FROM counts WHERE present = ?", [present]).fetchall())

    def samples(self, present: str, oldest: float) -> list[Sample]:
        """Return the samples beside that registry from after `oldest`, the newest first. Raises `InputError`."""
        if not self.path.is_file():
            return []
        with self._open("DEFERRED") as database:
            rows = database.execute(
                "SELECT kind, text, language, answers, time FROM samples WHERE present = ? AND time >= ? "
                "ORDER BY time DESC, rowid DESC", [present, oldest]
            ).fetchall()  # fmt: skip
            return [sample_of(row) for row in rows]

    @contextmanager
    def _open(self, lock: str = "IMMEDIATE") -> Iterator[sqlite3.Connection]:
        """Open the database in one transaction. Raises `InputError` for every problem of the file."""
        database: sqlite3.Connection | None = None
        try:
            # Without an isolation level, since Python's guess whether a statement writes fails in a
            # Turkish locale: BEGIN is ours.
            database = sqlite3.connect(self.path, timeout=_SECONDS_FOR_A_LOCK, isolation_level=None)
            # Deleted rows are overwritten with zeros: erased words must not be found in the file.
            database.execute("PRAGMA secure_delete = ON")
            # IMMEDIATE for writers: a transaction that reads first and then writes fails at once, without waiting for
            # the lock, if another one has written in between.
            database.execute(f"BEGIN {lock}")
            if lock != "DEFERRED":
                # One by one, because `executescript` would commit the transaction.
                for statement in _TABLES.split(";"):
                    database.execute(statement)
            with database:
                yield database
        except (sqlite3.Error, ValueError, TypeError, KeyError, OverflowError) as error:
            raise InputError(f"{self.path} cannot be used: {error}") from error
        finally:
            if database is not None:
                with suppress(sqlite3.Error):
                    database.close()


def _record(database: sqlite3.Connection) -> CandidateRecord | None:
    # A file without tables is one whose first writer was killed.
    if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'candidate'").fetchall():
        return None
    row = database.execute("SELECT record FROM candidate").fetchone()
    return None if row is None else CandidateRecord.from_json(row[0])


def _running(database: sqlite3.Connection, identity: str) -> CandidateRecord | None:
    record = _record(database)
    return record if record is not None and record.id == identity and record.state == "running" else None


def _empty(database: sqlite3.Connection) -> None:
    for table in ("candidate", "counts", "samples"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608 - constants


def _row(present: str, sample: Sample) -> tuple[object, ...]:
    answers = json.dumps([sample.present, sample.candidate])
    # No secret depends on these numbers.
    return present, sample.kind, random.random(), sample.text, sample.language, answers, sample.time  # noqa: S311
