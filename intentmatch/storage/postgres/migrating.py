"""Migrate the schema `intentmatch`: numbered files of SQL, each applied once and in order."""

from __future__ import annotations

from intentmatch.storage.postgres.database import Database
from intentmatch.storage.postgres.schema import Migration, migrations, pending, version_of

# Any number that no other program takes for its advisory locks: "intentma" as eight bytes.
_LOCK = int.from_bytes(b"intentma", "big")


def migrate(database: Database, target: int | None = None) -> list[Migration]:
    """Apply what is missing, up to the version `target`, in one transaction; return the applied migrations.

    Of several processes that migrate at once, one does it and the others wait. Raises `DatabaseError`.
    """
    with database.transaction() as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        todo = [one for one in pending(migrations(), version_of(connection)) if target is None or one.version <= target]
        if todo:
            connection.execute("CREATE SCHEMA IF NOT EXISTS intentmatch")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS intentmatch.migrations "
                "(version integer PRIMARY KEY, name text NOT NULL, applied timestamptz NOT NULL DEFAULT now())"
            )
        for one in todo:
            connection.execute(one.sql.encode())
            connection.execute(
                "INSERT INTO intentmatch.migrations (version, name) VALUES (%s, %s)", [one.version, one.name]
            )
    return todo
