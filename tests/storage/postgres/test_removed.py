"""A bot that gets another name keeps all its rows; what can be made again goes."""

from __future__ import annotations

import pytest

IDENTITY = "shop@20260102T030405Z-1a2b"
# Keys and open questions are of the name, so that they have no foreign key; builds and vectors are made again.
_NOT_RENAMED = {"keys", "questions", "migrations"}


@pytest.fixture
def database(new_database):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate
    from intentmatch.storage.postgres.registries import RegistryStore

    database = Database(new_database())
    migrate(database)
    for files in ({"a.yaml": b"1"}, {"a.yaml": b"2", "b.yaml": b"1"}):
        RegistryStore(database, "shop").write(files, author="ann", note="", expected="*")
    with database.rows() as connection:
        connection.execute("INSERT INTO intentmatch.vectors VALUES ('shop', 'encoder', 'key', 'vector')")
        connection.execute("INSERT INTO intentmatch.candidates VALUES ('shop', 'one', '{}')")
        connection.execute("INSERT INTO intentmatch.candidate_counts VALUES ('shop', 'present', 'same', 3)")
    yield database
    database.close()


def counts(connection, bot):
    tables = connection.execute(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'intentmatch' AND column_name = 'bot'"
    )
    query = "SELECT count(*) FROM intentmatch.{} WHERE bot = %s"
    found = {table: connection.execute(query.format(table), [bot]).fetchone()[0] for (table,) in tables.fetchall()}
    return {table: count for table, count in found.items() if count and table not in _NOT_RENAMED}


def test_rows_have_the_new_name_and_come_back(database):
    from intentmatch.storage.postgres.registries import RegistryStore
    from intentmatch.storage.postgres.removed import removed, rename

    with database.rows() as connection:
        before = counts(connection, "shop")
        assert rename(connection, "shop", IDENTITY)
    with database.rows() as connection:
        assert counts(connection, "shop") == {}
        assert counts(connection, IDENTITY) == {name: n for name, n in before.items() if name != "vectors"}
        assert removed(connection) == [IDENTITY]
    assert RegistryStore(database, "shop").bots() == []
    with database.rows() as connection:
        assert rename(connection, IDENTITY, "shop")
        assert not rename(connection, IDENTITY, "shop")

    assert RegistryStore(database, "shop").read()[1] == {"a.yaml": b"2", "b.yaml": b"1"}
    assert RegistryStore(database, "shop").read(1)[1] == {"a.yaml": b"1"}
    assert RegistryStore(database, "shop").bots() == ["shop"]


def test_every_table_of_a_bot_follows_its_name(database):
    """A table of a later migration needs `ON UPDATE CASCADE`, or a line in `rename`."""
    with database.rows() as connection:
        rows = connection.execute(
            "SELECT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f' AND confupdtype <> 'c' "
            "AND connamespace = 'intentmatch'::regnamespace AND conkey[1] = 1"
        ).fetchall()

    assert rows == []


@pytest.mark.parametrize("name", ["shop@", "shop@now", f"{IDENTITY}x", "@20260102T030405Z-1a2b"])
def test_other_names_are_refused(database, name):
    from intentmatch.core.errors import DatabaseError
    from intentmatch.storage.postgres.removed import rename

    with pytest.raises(DatabaseError, match="bots_bot_check"), database.rows() as connection:
        rename(connection, "shop", name)
