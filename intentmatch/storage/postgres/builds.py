"""Artefacts in the database: one replica builds under a lock, and the others load what it has built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from intentmatch.storage.postgres.database import Connection, Database

MOST_BYTES = 900_000_000
"""Larger artefacts are not shared: a value in PostgreSQL has at most 1 GB."""

# Other releases and other settings have builds of their own while an update rolls out.
_MOST_KEPT = 8
_SECONDS_FOR_THE_LOCK = 600


@dataclass(frozen=True, slots=True)
class StoredBuild:
    """A file of an artefact."""

    content: bytes
    provisional: bool
    """Whether its calibration is still that of the revision before."""


class BuildStore:
    """The builds of one bot."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._bot = database.bot

    def get(self, key: str) -> StoredBuild | None:
        """Return a build, or None if nobody has made it. Raises `DatabaseError`."""
        with self._database.rows() as connection:
            return self.get_in(connection, key)

    @contextmanager
    def making(self, key: str) -> Iterator[Connection]:
        """Yield a transaction in which no other replica makes this build. Waits for one that does.

        The lock ends with the transaction, also if the process is killed, and works behind a pooler. Raises
        `DatabaseError`, also if the other one takes longer than ten minutes.
        """
        with self._database.rows() as connection:
            connection.execute(f"SET LOCAL lock_timeout = '{_SECONDS_FOR_THE_LOCK}s'")
            # The transaction waits while the build is made.
            connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            # An advisory lock is a number; with 64 bits, two keys hardly ever share one.
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{self._bot} {key}"])
            yield connection

    def get_in(self, connection: Connection, key: str) -> StoredBuild | None:
        """Do as `get`, within a transaction of the caller."""
        # As text, PostgreSQL makes two characters of a byte, and refuses more than 1 GB of them.
        row = connection.execute(
            "SELECT content, provisional FROM intentmatch.artefacts WHERE bot = %s AND key = %s",
            [self._bot, key],
            binary=True,
        ).fetchone()
        return None if row is None else StoredBuild(*row)

    def put_in(self, connection: Connection, key: str, build: StoredBuild) -> None:
        """Keep a build, in place of a provisional one, and remove the oldest."""
        connection.execute(
            "INSERT INTO intentmatch.artefacts (bot, key, provisional, content) VALUES (%s, %s, %s, %s) "
            "ON CONFLICT (bot, key) DO UPDATE SET provisional = excluded.provisional, content = excluded.content, "
            "created = now()",
            [self._bot, key, build.provisional, build.content],
        )
        connection.execute(
            "DELETE FROM intentmatch.artefacts WHERE bot = %s AND key IN (SELECT key FROM intentmatch.artefacts "
            "WHERE bot = %s ORDER BY created DESC, key OFFSET %s)",
            [self._bot, self._bot, _MOST_KEPT],
        )
