"""Registries in the database: files, revisions, and an edit as one transaction with the revision as its condition."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from intentmatch.core.errors import (
    ChangedMeanwhileError,
    DamagedContentError,
    InputError,
    Location,
    Problem,
    UnknownNameError,
)
from intentmatch.storage.contents import Files, checked_name, digest_of
from intentmatch.storage.postgres import audit_rows
from intentmatch.storage.postgres.database import Connection, Database, storable
from intentmatch.storage.postgres.removed import MARK

ANY = "*"
"""In place of a digest: whatever the files hold."""

_COLUMNS = "number, parent, author, time, note, digest"
_ADD = "INSERT INTO intentmatch.revisions (bot, number, parent, author, note, digest) VALUES (%s, %s, %s, %s, %s, %s)"


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """A state of all files of a bot."""

    number: int
    """Counts from 1 for each bot."""
    parent: int | None
    author: str | None
    time: datetime
    note: str
    digest: str
    """Digest of all files."""


class RegistryStore:
    """The files and revisions of one bot."""

    def __init__(self, database: Database, bot: str | None = None) -> None:
        """Without a name, `bot` is that of the address."""
        self.database = database
        self.bot = database.bot if bot is None else bot

    def newest(self) -> StoredRevision:
        """Return the newest revision. Raises `UnknownNameError` if the database has no such bot."""
        with self.database.rows() as connection:
            return self.newest_in(connection)

    def read(self, number: int | None = None) -> tuple[StoredRevision, Files]:
        """Return a revision, by default the newest, and its files, both of one moment.

        Raises `UnknownNameError`, and `DamagedContentError` if the files do not match the digests from when they were
        written.
        """
        with self.database.rows() as connection:
            found = self.newest_in(connection) if number is None else self._revision(connection, number)
            return found, self._files(connection, found)

    def revisions(self, most: int = 100) -> list[StoredRevision]:
        """Return the newest revisions, the newest first."""
        with self.database.rows() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM intentmatch.revisions WHERE bot = %s ORDER BY number DESC LIMIT %s",  # noqa: S608 - constant
                [self.bot, most],
            ).fetchall()
        return [StoredRevision(*row) for row in rows]

    def write(self, files: Files, *, author: str | None, note: str, expected: str | None) -> StoredRevision:
        """Write all files as a new revision in one transaction, and return it.

        `expected` is the digest of the files that were edited, `ANY` for any, or None for a bot that does not exist.
        Files that equal those of the newest revision make no new one.

        Raises `ChangedMeanwhileError` if the files have another digest by now; then nothing is written.
        """
        with self.database.rows() as connection:
            return self.write_in(connection, files, author=author, note=note, expected=expected)

    def write_noted(self, files: Files, *, author: str, note: str, expected: str) -> StoredRevision:
        """Do as `write`, with an entry in the audit log of the bot."""
        with self.database.rows() as connection:
            stored = self.write_in(connection, files, author=author, note=note, expected=expected)
            audit_rows.note_in(
                connection, self.bot, author=author, what=note, digest=stored.digest, revision=str(stored.number)
            )
        return stored

    def write_in(
        self, connection: Connection, files: Files, *, author: str | None, note: str, expected: str | None
    ) -> StoredRevision:
        """Do as `write`, within a transaction of the caller."""
        for name in files:
            checked_name(name)
        if not files:
            raise InputError("a revision needs at least one file")
        # A row to lock, for a bot that is new as well.
        connection.execute("INSERT INTO intentmatch.bots (bot) VALUES (%s) ON CONFLICT DO NOTHING", [self.bot])
        # Others who write the same bot wait here until this transaction ends.
        locked = connection.execute("SELECT revision FROM intentmatch.bots WHERE bot = %s FOR UPDATE", [self.bot])
        (number,) = locked.fetchone() or (0,)
        newest = self._revision(connection, number) if number else None
        held = None if newest is None else newest.digest
        if expected not in (held, ANY):
            raise ChangedMeanwhileError(_changed(self.bot, newest, expected))
        digest = digest_of(files)
        if newest is not None and digest == held:
            return newest
        contents = {name: (hashlib.sha256(content).digest(), content) for name, content in files.items()}
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO intentmatch.contents (bot, digest, content) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                [(self.bot, *pair) for pair in contents.values()],
            )
            row = cursor.execute(
                f"{_ADD} RETURNING {_COLUMNS}",
                [self.bot, number + 1, number or None, author and storable(author), storable(note), digest],
            ).fetchone()
            cursor.executemany(
                "INSERT INTO intentmatch.files (bot, revision, name, digest) VALUES (%s, %s, %s, %s)",
                [(self.bot, number + 1, name, digest) for name, (digest, _) in contents.items()],
            )
            cursor.execute("UPDATE intentmatch.bots SET revision = %s WHERE bot = %s", [number + 1, self.bot])
        assert row is not None  # noqa: S101 - RETURNING gives the row that was written
        return StoredRevision(*row)

    def repeat_in(self, connection: Connection, *, author: str, note: str) -> StoredRevision:
        """Add a revision with the files of the newest one, within a transaction of the caller, and return it."""
        newest = self.newest_in(connection)
        row = connection.execute(
            f"{_ADD} RETURNING {_COLUMNS}",
            [self.bot, newest.number + 1, newest.number, author and storable(author), storable(note), newest.digest],
        ).fetchone()
        connection.execute(
            "INSERT INTO intentmatch.files (bot, revision, name, digest) SELECT bot, %s, name, digest "
            "FROM intentmatch.files WHERE bot = %s AND revision = %s",
            [newest.number + 1, self.bot, newest.number],
        )
        connection.execute("UPDATE intentmatch.bots SET revision = %s WHERE bot = %s", [newest.number + 1, self.bot])
        assert row is not None  # noqa: S101 - RETURNING gives the row that was written
        return StoredRevision(*row)

    def bots(self) -> list[str]:
        """Return the names of all bots that have a revision, sorted; those that this user may see."""
        with self.database.rows() as connection:
            return self.bots_in(connection)

    def exists_in(self, connection: Connection) -> bool:
        """Whether there is the bot, within a transaction of the caller."""
        row = connection.execute("SELECT FROM intentmatch.bots WHERE bot = %s AND revision > 0", [self.bot]).fetchone()
        return row is not None

    def remove(self) -> None:
        """Remove the bot with everything that belongs to it, its revisions too. Raises `UnknownNameError`."""
        with self.database.rows() as connection:
            for table in ("audit", "questions", "keys"):
                connection.execute(f"DELETE FROM intentmatch.{table} WHERE bot = %s", [self.bot])  # noqa: S608 - constant
            # By hand, because contents must go after the files that name them.
            connection.execute("DELETE FROM intentmatch.revisions WHERE bot = %s", [self.bot])
            gone = connection.execute("DELETE FROM intentmatch.bots WHERE bot = %s", [self.bot]).rowcount
            if not gone:
                raise UnknownNameError("bot", self.bot, self.bots_in(connection))

    def newest_in(self, connection: Connection) -> StoredRevision:
        """Do as `newest`, within a transaction of the caller."""
        row = connection.execute(
            f"SELECT {_COLUMNS} FROM intentmatch.revisions WHERE bot = %s ORDER BY number DESC LIMIT 1",  # noqa: S608 - constant
            [self.bot],
        ).fetchone()
        if row is None:
            raise UnknownNameError(
                "bot", self.bot, self.bots_in(connection), f"The database is {self.database.address}."
            )
        return StoredRevision(*row)

    def _revision(self, connection: Connection, number: int) -> StoredRevision:
        row = connection.execute(
            f"SELECT {_COLUMNS} FROM intentmatch.revisions WHERE bot = %s AND number = %s",  # noqa: S608 - constant
            [self.bot, number],
        ).fetchone()
        if row is None:
            newest = self.newest_in(connection).number
            raise UnknownNameError("revision", str(number), None, f"There are revisions 1 to {newest}.")
        return StoredRevision(*row)

    def _files(self, connection: Connection, revision: StoredRevision) -> Files:
        rows = connection.execute(
            "SELECT name, content, digest FROM intentmatch.files JOIN intentmatch.contents USING (bot, digest) "
            "WHERE bot = %s AND revision = %s ORDER BY name",
            [self.bot, revision.number],
        ).fetchall()
        damaged = [name for name, content, digest in rows if hashlib.sha256(content).digest() != digest]
        if damaged:
            raise DamagedContentError(_damaged(f"{self.bot}/{name}", revision.number) for name in damaged)
        # Whoever may write rows must not choose where a command writes files.
        files = {checked_name(name): content for name, content, _ in rows}
        if digest_of(files) != revision.digest:
            raise DamagedContentError([_damaged(self.bot, revision.number)])
        return files

    def bots_in(self, connection: Connection) -> list[str]:
        """Do as `bots`, within a transaction of the caller."""
        rows = connection.execute(
            # In the order of bytes, which is the same on every server and in Python.
            'SELECT bot FROM intentmatch.bots WHERE revision > 0 AND strpos(bot, %s) = 0 ORDER BY bot COLLATE "C"',
            [MARK],
        )
        return [name for (name,) in rows.fetchall()]


def _damaged(place: str, number: int) -> Problem:
    return Problem(
        Location(place),
        "error",
        "damaged",
        f"the database has other content than was written with revision {number}: it does not match its digest",
        "restore the database, or push the files again with a change in this one (`intentmatch push --force`)",
    )


def _changed(bot: str, newest: StoredRevision | None, expected: str | None) -> str:
    if newest is None:
        return f"the bot {bot!r} does not exist any more; nothing was written"
    if expected is None:
        return f"the bot {bot!r} exists already, with revision {newest.number}; nothing was written"
    who = newest.author or "another program"
    return (
        f"{who} wrote revision {newest.number} of the bot {bot!r} meanwhile ({newest.note}); nothing was written. "
        "Try again"
    )
