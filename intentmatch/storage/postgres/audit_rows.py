"""The audit log of a bot in PostgreSQL: rows that its users can add and not change."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from intentmatch.storage.postgres.database import Connection, Database


class AuditRow(NamedTuple):
    """A write."""

    time: datetime
    author: str
    what: str
    digest: str
    revision: str | None


def note_in(connection: Connection, bot: str, *, author: str, what: str, digest: str, revision: str | None) -> None:
    """Add an entry within the transaction of the write."""
    connection.execute(
        "INSERT INTO intentmatch.audit (bot, author, what, digest, revision) VALUES (%s, %s, %s, %s, %s)",
        [bot, author, what, digest, revision],
    )


def entries(database: Database, most: int, bot: str | None = None) -> list[AuditRow]:
    """Return the newest entries of a bot, by default of the address's, the newest first. Raises `DatabaseError`."""
    bot = database.bot if bot is None else bot
    with database.rows(bot) as connection:
        rows = connection.execute(
            "SELECT time, author, what, digest, revision FROM intentmatch.audit "
            "WHERE bot = %s ORDER BY id DESC LIMIT %s",
            [bot, most],
        ).fetchall()
    return [AuditRow(*row) for row in rows]
