"""Versioned migrations of the schema `intentmatch`: numbered files of SQL, each applied once and in order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from intentmatch.core.errors import DatabaseError

if TYPE_CHECKING:
    from intentmatch.storage.postgres.database import Connection, Database

_NAME = re.compile(r"(\d{4})_(\w+)\.sql")
# Any number that no other program takes for its advisory locks: "intentma" as eight bytes.
_LOCK = int.from_bytes(b"intentma", "big")


@dataclass(frozen=True, slots=True, order=True)
class Migration:
    """One file of SQL."""

    version: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """Return the migrations of this release, the oldest first."""
    folder = files("intentmatch.storage.postgres").joinpath("migrations")
    found = ((_NAME.fullmatch(file.name), file) for file in folder.iterdir())
    return sorted(Migration(int(name[1]), name[2], file.read_text(encoding="utf-8")) for name, file in found if name)


def pending(known: Sequence[Migration], version: int) -> list[Migration]:
    """Return the migrations that a schema of this version lacks.

    Raises `DatabaseError` for a schema that is newer than all known migrations.
    """
    newest = known[-1].version
    if version > newest:
        raise DatabaseError(
            f"the schema has version {version}, and this release of intentmatch knows versions up to {newest}: "
            "install the release that wrote it, or a newer one"
        )
    return [one for one in known if one.version > version]


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


def check(connection: Connection) -> None:
    """Raise `DatabaseError` unless the schema has the version of this release."""
    version = version_of(connection)
    todo = pending(migrations(), version)
    if todo and not version:
        raise DatabaseError("it holds no registries yet: `intentmatch push FOLDER ADDRESS` writes the first")
    if todo:
        raise DatabaseError(
            f"its schema has version {version}, and this release needs version {todo[-1].version}: "
            "run `intentmatch migrate ADDRESS`"
        )


def version_of(connection: Connection) -> int:
    """Return the version of the schema; 0 if there is none."""
    (exists,) = connection.execute("SELECT to_regclass('intentmatch.migrations') IS NOT NULL").fetchone() or (False,)
    if not exists:
        return 0
    (version,) = connection.execute("SELECT coalesce(max(version), 0) FROM intentmatch.migrations").fetchone() or (0,)
    return int(version)
