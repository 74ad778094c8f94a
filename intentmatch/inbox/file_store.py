"""The file of an inbox: a SQLite database that any number of processes may write to.

The number and the age of messages are limited. Messages are redacted or hashed before they are written, and
overwritten on the disk when they are deleted. The mode of a file never changes, so it tells what the file may contain.
"""

from __future__ import annotations

import math
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from intentmatch.core.erasure import Erasure, last_erased
from intentmatch.core.errors import InputError
from intentmatch.inbox import sample
from intentmatch.inbox.sample import SECONDS_IN_A_DAY, Judged, SampledAnswer, sampled_answer
from intentmatch.inbox.store import SECONDS_BETWEEN_DELETIONS, SHARE_OF_A_DELETION, Entry, Handled, Missed
from intentmatch.inbox.stored_rows import given_back, key_of, missed_of, renaming, row_of
from intentmatch.storage.unwritable import with_advice

# Raise this with every change that an older version of intentmatch would read wrongly.
_VERSION = 1
_SECONDS_FOR_A_LOCK = 10.0

_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB UNIQUE, text TEXT, language TEXT, verdict TEXT, intents TEXT,
    confidence REAL, count INTEGER, first REAL, last REAL, handled TEXT);
CREATE INDEX IF NOT EXISTS by_age ON messages (last);
CREATE TABLE IF NOT EXISTS corrections (
    message INTEGER REFERENCES messages (id) ON DELETE CASCADE, intent TEXT, count INTEGER,
    PRIMARY KEY (message, intent)) WITHOUT ROWID;
"""
_SEEN = """
INSERT INTO messages (key, text, language, verdict, intents, confidence, count, first, last)
VALUES (:key, :text, :language, :verdict, :intents, :confidence, :seen, :time, :time)
ON CONFLICT (key) DO UPDATE SET count = count + excluded.count, last = max(last, excluded.last),
    language = coalesce(excluded.language, language), verdict = coalesce(excluded.verdict, verdict),
    intents = coalesce(excluded.intents, intents), confidence = coalesce(excluded.confidence, confidence)
"""
# A correction reopens a handled message.
_CORRECTED = """
INSERT INTO corrections SELECT id, :intent, 1 FROM messages WHERE key = :key
ON CONFLICT (message, intent) DO UPDATE SET count = count + 1
"""
_REOPENED = "UPDATE messages SET handled = NULL, text = :text WHERE key = :key AND handled IS NOT NULL"
_GIVEN_BACK = "UPDATE messages SET handled = NULL, text = :text WHERE key = :key AND handled = 'added'"
_RENAMED = (
    "UPDATE messages SET intents = replace(intents, :old_in_list, :new_in_list) WHERE instr(intents, :old_in_list)",
    """
    INSERT INTO corrections SELECT message, :new, count FROM corrections WHERE intent = :old
    ON CONFLICT (message, intent) DO UPDATE SET count = count + excluded.count
    """,
    "DELETE FROM corrections WHERE intent = :old",
)
_TOO_OLD = """
DELETE FROM messages WHERE id IN (SELECT id FROM messages WHERE last < ? OR last > ? ORDER BY last, id LIMIT ?)
"""
# Messages from ahead of the clock go first: it was set back since, or they would keep all new ones away.
_TOO_MANY = """
DELETE FROM messages WHERE id IN (SELECT id FROM messages ORDER BY last > ?, last DESC, id DESC LIMIT -1 OFFSET ?)
"""


class FileStore:
    """The messages in a file, which is opened for each operation."""

    def __init__(self, path: Path, mode: str, messages: int, days: int, answers: int) -> None:
        self.path = path
        self.mode = mode
        self._most, self._seconds, self._answers = messages, days * SECONDS_IN_A_DAY, answers

    def write(self, entries: Sequence[Entry], now: float) -> None:
        """Write all entries or none, and delete messages beyond the limits of age and number.

        Messages beyond the age limit are hidden at once, and deleted a tenth of all messages an hour: see
        `_delete_old`. Raises InputError for a file of another mode, and the errors of `sqlite3` and the file system.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Only the owner may read messages. SQLite gives its journal the same mode.
        self.path.touch(mode=0o600)
        with self._open("IMMEDIATE") as database:
            salt = self._salt(database)
            erased = _last_erased(database, now)
            for entry in entries:
                if entry.time >= erased:
                    self._put(database, entry, salt)
            self._delete_old(database, now)
            ahead = now + SECONDS_BETWEEN_DELETIONS
            database.execute(_TOO_MANY, [ahead, self._most])
            sample.delete_surplus(database, ahead, self._answers)

    def _delete_old(self, database: sqlite3.Connection, now: float) -> None:
        """Delete messages beyond the age limit, oldest first: at most a tenth of all messages (or one) an hour.

        The clock of this machine may be wrong. After a clock was set back, the hour begins again, and messages that lie
        as far ahead as the limit count as too old: they would be kept until then.
        """
        last = float(_about(database).get("deleted_at", -math.inf))
        if last <= now < last + SECONDS_BETWEEN_DELETIONS:
            return
        if last <= now:
            deleted = [
                database.execute(sql, [now - self._seconds, now + self._seconds, _at_a_time(database, table)]).rowcount
                for table, sql in (("messages", _TOO_OLD), ("sample", sample.TOO_OLD))
            ]
            if not any(deleted):
                return
        database.execute("INSERT OR REPLACE INTO about VALUES ('deleted_at', ?)", [now])

    def open_messages(self, now: float) -> list[Missed]:
        """Return unhandled messages within the age limit, oldest first. InputError if the file cannot be used."""
        with self._existing("DEFERRED") as database:
            rows = database.execute(
                "SELECT id, text, language, verdict, intents, confidence, count, first, last FROM messages "
                "WHERE handled IS NULL AND last >= ? ORDER BY id", [now - self._seconds]
            ).fetchall()  # fmt: skip
            corrections: dict[int, dict[str | None, int]] = {}
            for message, intent, count in database.execute("SELECT * FROM corrections ORDER BY message, intent"):
                corrections.setdefault(message, {})[intent or None] = count
            return [missed_of(row, corrections.get(row[0], {})) for row in rows]

    def handle(self, messages: Iterable[int], how: Handled) -> None:
        """Mark messages as handled: delete their text, and ignore the messages if they are received again."""
        with self._existing("IMMEDIATE") as database:
            for message in messages:
                database.execute("UPDATE messages SET handled = ?, text = NULL WHERE id = ?", [how, message])
                database.execute("DELETE FROM corrections WHERE message = ?", [message])
                sample.forget_text(database, message)

    def reopen(self, texts: Iterable[str]) -> int:
        """Bring back messages with these texts that were added to an intent; return how many."""
        if not self.path.is_file():
            return 0  # nothing was missed yet
        with self._existing("IMMEDIATE") as database:
            salt: bytes = _about(database)["salt"]
            rows = [given_back(text, self.mode, salt) for text in texts]
            return max(database.executemany(_GIVEN_BACK, rows).rowcount, 0)

    def rename_intent(self, old: str, new: str) -> None:
        """Write another name wherever an intent is named. InputError if the file cannot be used."""
        with self._existing("IMMEDIATE") as database:
            names = renaming(old, new)
            for statement in _RENAMED:
                database.execute(statement, names)
            sample.rename_intent(database, names)

    def erase(self, erasure: Erasure) -> tuple[int, int]:
        """Delete messages and the answers to them, and overwrite them in the file.

        Raises InputError if the file cannot be used.
        """
        with self._existing("IMMEDIATE") as database:
            key = None if erasure.text is None else key_of(erasure.text, self.mode, _about(database)["salt"])
            rows = database.execute("SELECT id, key, text FROM messages").fetchall()
            gone = [[number] for number, of, text in rows if of == key or erasure.covers(text)]
            database.executemany("DELETE FROM messages WHERE id = ?", gone)
            database.execute("INSERT OR REPLACE INTO about VALUES ('erased_at', ?)", [time.time()])
            return len(gone), sample.erase(database, erasure, key)

    def sampled(self, now: float) -> list[SampledAnswer]:
        """Return the sample of all answers within the age limit. InputError if the file cannot be used."""
        with self._existing("DEFERRED") as database:
            rows = sample.rows(database, now - self._seconds)
        return [sampled_answer(row) for row in rows]

    def judge(self, number: int, judged: Judged | None, expected: str | None) -> int:
        """Keep a judgement for all answers to the message of an answer. InputError if the file cannot be used."""
        with self._existing("IMMEDIATE") as database:
            return sample.judge(database, number, judged, expected)

    def claim_drift(self, due: float) -> bool:
        """Whether the check for drift that was due is left to do. InputError if the file cannot be used."""
        with self._existing("IMMEDIATE") as database:
            return sample.claim_drift(database, due)

    def put_drift(self, found: str, read: float) -> bool:
        """Keep what a check for drift has found; False if words were erased since. InputError as `drift`."""
        with self._existing("IMMEDIATE") as database:
            if read <= _last_erased(database, time.time()):
                return False
            sample.put_drift(database, found)
            return True

    def drift(self) -> str | None:
        """Return what the last check for drift has found. InputError if the file cannot be used."""
        with self._existing("DEFERRED") as database:
            return sample.drift(database)

    @contextmanager
    def _existing(self, lock: str) -> Iterator[sqlite3.Connection]:
        """Open an inbox that exists; raise InputError for every problem of the file."""
        nothing = InputError(f"there is no inbox at {self.path}: no message has been recorded yet")
        if not self.path.is_file():
            raise nothing
        try:
            with self._open(lock) as database:
                if not database.execute("SELECT 1 FROM sqlite_master").fetchall():
                    raise nothing  # whoever began it was stopped before the first message
                if _about(database).get("version") != _VERSION:
                    raise InputError(f"{self.path} is no inbox, or an inbox of another version of intentmatch")
                yield database
        except sqlite3.OperationalError as error:
            raise InputError(f"{self.path} cannot be used now: {with_advice(error)}") from error
        except (sqlite3.Error, ValueError) as error:
            raise InputError(f"{self.path} is no inbox, or it is damaged: {error}. Move the file away") from error

    @contextmanager
    def _open(self, lock: str) -> Iterator[sqlite3.Connection]:
        """Open the database in one transaction; SQLite allows one IMMEDIATE transaction at a time."""
        database = sqlite3.connect(self.path, timeout=_SECONDS_FOR_A_LOCK, isolation_level=None)
        try:
            # Otherwise a power failure just after a transaction may bring its removed journal back, which undoes it.
            database.execute("PRAGMA synchronous = EXTRA")
            # Deleted text is overwritten, and not only unlinked.
            database.execute("PRAGMA secure_delete = ON")
            database.execute("PRAGMA foreign_keys = ON")
            database.execute(f"BEGIN {lock}")
            with database:
                yield database
        finally:
            database.close()

    def _salt(self, database: sqlite3.Connection) -> bytes:
        """Return the salt of the file; create tables and salt in a new file."""
        if not _about(database) and database.execute("SELECT 1 FROM sqlite_master").fetchall():
            raise InputError(f"{self.path} is another program's database: name another file in the setting `inbox`")
        # One by one, since `executescript` commits the transaction.
        for statement in (_TABLES + sample.TABLE).split(";"):
            database.execute(statement)
        facts = {"version": _VERSION, "mode": self.mode, "salt": secrets.token_bytes(16)}
        # Another process may have begun the same file: the first one's salt counts.
        database.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", facts.items())
        about = _about(database)
        if (about["version"], about["mode"]) != (_VERSION, self.mode):
            raise InputError(
                f"{self.path} has the mode {about['mode']} (version {about['version']}), not {self.mode}: name "
                "another file in the setting `inbox`, or move this file away"
            )
        salt: bytes = about["salt"]
        return salt

    def _put(self, database: sqlite3.Connection, entry: Entry, salt: bytes) -> None:
        row = row_of(entry, self.mode, salt)
        if row is None:
            return
        if entry.drawn is not None:
            sample.put(database, row, entry.drawn)
        if not entry.missed:
            return
        database.execute(_SEEN, row)
        if entry.corrected:
            database.execute(_CORRECTED, row)
            database.execute(_REOPENED, row)


def _at_a_time(database: sqlite3.Connection, table: str) -> int:
    """Return how many rows may be deleted at once for their age."""
    (rows,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - a name of ours
    return max(1, int(rows * SHARE_OF_A_DELETION))


def _last_erased(database: sqlite3.Connection, now: float) -> float:
    return last_erased(_about(database).get("erased_at"), now)


def _about(database: sqlite3.Connection) -> dict[str, Any]:
    """Return version, mode and salt of an inbox; nothing if the database is no inbox."""
    if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'about'").fetchall():
        return {}
    return dict(database.execute("SELECT name, value FROM about").fetchall())
