"""The version of the schema `intentmatch`: the migrations that a database has, and those that it lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from intentmatch.core.errors import DatabaseError

if TYPE_CHECKING:
    import psycopg

_NAME = re.compile(r"(\d{4})_(\w+)\.sql")


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


def check(connection: psycopg.Connection[Any]) -> None:
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


def version_of(connection: psycopg.Connection[Any]) -> int:
    """Return the version of the schema; 0 if there is none."""
    # `to_regclass` gives null for a table that is missing, where a query would end the transaction.
    (exists,) = connection.execute("SELECT to_regclass('intentmatch.migrations') IS NOT NULL").fetchone() or (False,)
    if not exists:
        return 0
    (version,) = connection.execute("SELECT coalesce(max(version), 0) FROM intentmatch.migrations").fetchone() or (0,)
    return int(version)
