"""The audit log of a bot in PostgreSQL: rows that servers can add and not change."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from intentmatch.core.erasure import Erasure
from intentmatch.core.errors import InputError
from intentmatch.storage.postgres.database import Connection, Database, storable


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
        [bot, storable(author), storable(what), digest, revision],
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


def erase(database: Database, erasure: Erasure) -> int:
    """Replace words of messages in all entries of the bot; return how many entries have changed.

    Raises `InputError` if the role may not change the log, as those of servers may not.
    """
    bot = database.bot
    with database.rows() as connection:
        rows = connection.execute("SELECT id, what FROM intentmatch.audit WHERE bot = %s", [bot]).fetchall()
        changed = [(erasure.without(what), number) for number, what in rows if erasure.quoted_in(what)]
        if not changed:
            return 0
        # Asked first: a refused UPDATE would only say that permission is denied.
        found = connection.execute("SELECT has_column_privilege('intentmatch.audit', 'what', 'UPDATE')").fetchone()
        if not (found and found[0]):
            raise InputError(
                f"entries of the audit log with the words: {len(changed)}. This role may not change the log. Run "
                "`intentmatch inbox erase` as the owner of the tables"
            )
        with connection.cursor() as cursor:
            cursor.executemany("UPDATE intentmatch.audit SET what = %s WHERE id = %s", changed)
    return len(changed)
