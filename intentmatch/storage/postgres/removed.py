"""Removed bots: their rows stay under another name, so that a bot comes back with everything it had.

What can be made again is deleted. Keys and open questions belong to the name, not to the rows.
"""

from __future__ import annotations

from intentmatch.storage.postgres.database import Connection

MARK = "@"
"""Stands in the name of a removed bot, and in no other."""


def rename(connection: Connection, old: str, new: str) -> bool:
    """Give a bot another name within a transaction of the caller; whether there is such a bot.

    Raises `psycopg.errors.UniqueViolation` if the new name is taken.
    """
    for table in ("artefacts", "vectors"):
        connection.execute(f"DELETE FROM intentmatch.{table} WHERE bot = %s", [old])  # noqa: S608 - constant
    renamed = connection.execute("UPDATE intentmatch.bots SET bot = %s WHERE bot = %s", [new, old]).rowcount
    # The audit log has the name without a foreign key.
    connection.execute("UPDATE intentmatch.audit SET bot = %s WHERE bot = %s", [new, old])
    return bool(renamed)


def removed(connection: Connection) -> list[str]:
    """Return the names of all removed bots."""
    rows = connection.execute("SELECT bot FROM intentmatch.bots WHERE strpos(bot, %s) > 0", [MARK])
    return [name for (name,) in rows.fetchall()]
