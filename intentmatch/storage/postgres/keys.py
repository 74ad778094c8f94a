"""API keys in PostgreSQL, as digests: made, listed and revoked while servers run.

A key is 32 random bytes, so that a plain SHA-256 protects it: nobody can try that many.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.storage.postgres.database import Database

Role = Literal["match", "author", "admin"]

ALL_BOTS = "*"
_BYTES = 32


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key, without itself."""

    digest: bytes
    """SHA-256 of the key."""
    bot: str
    """Name of the bot, or `ALL_BOTS`."""
    role: Role
    name: str
    """Whose key it is."""
    created: datetime
    revoked: datetime | None


class KeyStore:
    """The keys of one bot, and those for all bots."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, role: Role, *, all_bots: bool = False) -> str:
        """Make a key and return it; it cannot be shown again. Raises `InputError` if the name is taken."""
        if not name.strip() or not name.isprintable():
            raise InputError(f"{name!r} is not a name for a key")
        key = secrets.token_urlsafe(_BYTES)
        bot = ALL_BOTS if all_bots else self._database.bot
        with self._database.rows() as connection:
            # Two at once would both find the name free.
            connection.execute("LOCK TABLE intentmatch.keys IN SHARE ROW EXCLUSIVE MODE")
            taken = connection.execute(
                "SELECT 1 FROM intentmatch.keys WHERE bot = %s AND name = %s AND revoked IS NULL", [bot, name]
            ).fetchone()
            if taken:
                raise InputError(f"there is a key {name!r} already: revoke it first, or choose another name")
            connection.execute(
                "INSERT INTO intentmatch.keys (digest, bot, role, name) VALUES (%s, %s, %s, %s)",
                [hashlib.sha256(key.encode()).digest(), bot, role, name],
            )
        return key

    def all(self, *, every_bot: bool = False) -> list[StoredKey]:
        """Return the keys of the bot and those for all bots, or of `every_bot`, revoked ones too; by time."""
        with self._database.rows() as connection:
            rows = connection.execute(
                "SELECT digest, bot, role, name, created, revoked FROM intentmatch.keys "
                "WHERE %s OR bot IN (%s, %s) ORDER BY created, name",
                [every_bot, self._database.bot, ALL_BOTS],
            ).fetchall()
        return [StoredKey(*row) for row in rows]

    def revoke(self, name: str) -> int:
        """Revoke the keys of a name; servers refuse them as soon as they hear of it. Returns how many.

        Raises `UnknownNameError` if there is none.
        """
        with self._database.rows() as connection:
            where = "bot IN (%s, %s) AND revoked IS NULL"
            parameters = [self._database.bot, ALL_BOTS]
            count: int = connection.execute(
                f"UPDATE intentmatch.keys SET revoked = now() WHERE {where} AND name = %s",  # noqa: S608 - constant
                [*parameters, name],
            ).rowcount
            if not count:
                names = connection.execute(f"SELECT name FROM intentmatch.keys WHERE {where}", parameters)  # noqa: S608 - constant
                raise UnknownNameError("key", name, [one for (one,) in names.fetchall()])
        return count
