"""The file of an inbox: a SQLite database that any number of processes may write to.

The number and the age of messages are limited. Messages are redacted or hashed before they are written, and
overwritten on the disk when they are deleted. The mode of a file never changes, so it tells what the file may contain.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
import sqlite3
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import reduce
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from intentmatch.core.erasure import Erasure, last_erased
from intentmatch.core.errors import InputError
from intentmatch.core.result import Verdict
from intentmatch.inbox import sample
from intentmatch.inbox.sample import SECONDS_IN_A_DAY, Drawn, Judged, SampledAnswer, sampled_answer
from intentmatch.storage.postgres.address import Address
from intentmatch.storage.unwritable import with_advice
from intentmatch.text.normalize import fold
from intentmatch.text.redact import WORDS, redact

Handled = Literal["added", "ignored"]

# Raise this with every change that an older version of intentmatch would read wrongly.
_VERSION = 1
_SECONDS_FOR_A_LOCK = 10.0
# Deletion by age takes at most this share of the messages in this time, so that a clock which jumps ahead by months
# deletes a tenth of the messages before somebody sets it right, and not all of them.
SHARE_AT_A_TIME = 0.1
SECONDS_BETWEEN = 3600.0
CHARACTERS = 1000
"""Characters kept of a message, to keep the file small. Longer messages make no good utterances."""

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
_TOO_OLD = """
DELETE FROM messages WHERE id IN (SELECT id FROM messages WHERE last < ? OR last > ? ORDER BY last, id LIMIT ?)
"""
# Messages from ahead of the clock go first: it was set back since, or they would keep all new ones away.
_TOO_MANY = """
DELETE FROM messages WHERE id IN (SELECT id FROM messages ORDER BY last > ?, last DESC, id DESC LIMIT -1 OFFSET ?)
"""
# "No intent" in the database: NULLs would not count as the same key.
_NONE = ""


class Entry(NamedTuple):
    """A received message, or a user's correction of a message."""

    text: str
    time: float
    language: str | None = None
    verdict: Verdict | None = None
    """None for a correction."""
    intents: tuple[str, ...] = ()
    confidence: float | None = None
    corrected: bool = False
    intent: str | None = None
    """The intent of the correction; None for no intent."""
    missed: bool = True
    """Whether the message belongs among those that were not understood."""
    drawn: Drawn | None = None
    """How the answer was drawn for the sample of all answers, if it was."""


@dataclass(frozen=True, slots=True)
class Missed:
    """A message of the inbox."""

    id: int
    text: str | None
    """The stored text; None in an inbox of hashes."""
    language: str | None
    verdict: Verdict | None
    """The last verdict of the matcher; None if there is only a correction."""
    intents: tuple[str, ...]
    """The rivals of an ambiguous message, otherwise the nearest intent."""
    confidence: float | None
    """Calibrated probability that the nearest intent is right."""
    count: int
    """How often the message was received."""
    first: datetime
    last: datetime
    corrections: Mapping[str | None, int]
    """Number of corrections for each intent; the key None is no intent."""

    def to_dict(self) -> dict[str, Any]:
        """Return the message as plain JSON values."""
        return {
            "id": self.id,
            "text": self.text,
            "language": self.language,
            "verdict": self.verdict,
            "intents": list(self.intents),
            "confidence": self.confidence,
            "count": self.count,
            "first": self.first.isoformat(),
            "last": self.last.isoformat(),
            "corrections": [{"intent": intent, "count": count} for intent, count in self.corrections.items()],
        }


class MessageStore(Protocol):
    """Where an inbox keeps its messages."""

    @property
    def path(self) -> Path | Address:
        """Where it is."""

    def write(self, entries: Sequence[Entry], now: float) -> None:
        """Write all entries or none, and delete messages beyond the limits of age and number.

        Entries from before the last erasure are dropped.
        """

    def open_messages(self, now: float) -> list[Missed]:
        """Return unhandled messages within the age limit, oldest first."""

    def handle(self, messages: Iterable[int], how: Handled) -> None:
        """Mark messages as handled: delete their text, and ignore the messages if they are received again.

        Answers to them stay in the sample without the text.
        """

    def reopen(self, texts: Iterable[str]) -> int:
        """Bring back messages with these texts that were added to an intent; return how many."""

    def erase(self, erasure: Erasure) -> tuple[int, int]:
        """Delete messages, handled or not, their corrections and the answers to them; return how many of both."""

    def sampled(self, now: float) -> list[SampledAnswer]:
        """Return the sample of all answers within the age limit, oldest first."""

    def judge(self, number: int, judged: Judged | None, expected: str | None) -> int:
        """Keep a judgement for all answers to the message of an answer; return how many there are, 0 if none."""

    def claim_drift(self, due: float) -> bool:
        """Whether the check for drift that was due at this time is left to do; only the first caller is told so."""

    def put_drift(self, found: str, read: float) -> bool:
        """Keep what a check for drift has found in the sample; False if words were erased since it was read."""

    def drift(self) -> str | None:
        """Return what the last check for drift has found; None if there was none."""


class Store:
    """The database, which is opened for each operation."""

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
            ahead = now + SECONDS_BETWEEN
            database.execute(_TOO_MANY, [ahead, self._most])
            sample.delete_surplus(database, ahead, self._answers)

    def _delete_old(self, database: sqlite3.Connection, now: float) -> None:
        """Delete messages beyond the age limit, oldest first: at most a tenth of all messages (or one) an hour.

        The clock of this machine may be wrong. After a clock was set back, the hour begins again, and messages that lie
        as far ahead as the limit count as too old: they would be kept until then.
        """
        last = float(_about(database).get("deleted_at", -math.inf))
        if last <= now < last + SECONDS_BETWEEN:
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
        for statement in (_TABLES + sample.TABLE).split(";"):
            database.execute(statement)
        facts = {"version": _VERSION, "mode": self.mode, "salt": secrets.token_bytes(16)}
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
    return max(1, int(rows * SHARE_AT_A_TIME))


def row_of(entry: Entry, mode: str, salt: bytes) -> dict[str, Any] | None:
    """Return what is stored of a message, redacted or hashed as the mode says; None for one without words."""
    redacted = redact(entry.text)
    if not (entry.corrected or _has_words(redacted)):
        return None
    text = entry.text if mode == "plain" else redacted
    return {
        "key": key_of(entry.text, mode, salt),
        "text": None if mode == "hashed" else _storable(text)[:CHARACTERS],
        "language": entry.language,
        "verdict": entry.verdict,
        "intents": json.dumps(entry.intents) if entry.intents else None,
        "confidence": entry.confidence,
        "seen": 0 if entry.corrected else 1,
        "time": entry.time,
        "intent": _storable(entry.intent or _NONE),
    }


def given_back(text: str, mode: str, salt: bytes) -> dict[str, Any]:
    """Return key and text of a handled message, as the mode stores them."""
    kept = text if mode == "plain" else redact(text)
    return {"key": key_of(text, mode, salt), "text": None if mode == "hashed" else _storable(kept)[:CHARACTERS]}


def key_of(text: str, mode: str, salt: bytes) -> bytes:
    """Return the salted hash by which a message is found."""
    kept = text if mode == "plain" else redact(text)
    return hashlib.blake2b(fold(kept).encode("utf-8", "replace"), key=salt, digest_size=16).digest()


def _last_erased(database: sqlite3.Connection, now: float) -> float:
    return last_erased(_about(database).get("erased_at"), now)


def _about(database: sqlite3.Connection) -> dict[str, Any]:
    """Return version, mode and salt of an inbox; nothing if the database is no inbox."""
    if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'about'").fetchall():
        return {}
    return dict(database.execute("SELECT name, value FROM about").fetchall())


def _has_words(text: str) -> bool:
    """Whether a redacted message has letters or symbols besides numbers and addresses, for which bots ask."""
    rest = reduce(lambda left, word: left.replace(word, ""), WORDS, text)
    return any(unicodedata.category(character)[0] in "LS" for character in rest)


def _storable(text: str) -> str:
    """Replace characters that UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


def drift_of(text: str | None) -> dict[str, Any] | None:
    """Return what a check for drift has found, as it is kept; None for a text that no check has written."""
    try:
        found = json.loads(text or "")
        numbers = [found["checked"], found["messages"]]
        kinds = [finding["kind"] for finding in found["findings"]]
        valid = all(type(one) in (int, float) and math.isfinite(one) for one in numbers)
        return found if valid and all(isinstance(kind, str) for kind in kinds) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def missed_of(row: Sequence[Any], corrections: Mapping[str | None, int]) -> Missed:
    """Return the message of a row: id, text, language, verdict, intents, confidence, count, first and last."""
    number, text, language, verdict, intents, confidence, count, first, last = row
    nearest = tuple(json.loads(intents or "[]"))
    return Missed(number, text, language, verdict, nearest, confidence, count, _date(first), _date(last), corrections)


def _date(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)
