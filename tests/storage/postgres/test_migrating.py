"""Migrations: each once, in order, from every earlier version, by one process at a time."""

from __future__ import annotations

import hashlib
import threading

import pytest

from intentmatch.core.errors import DatabaseError
from intentmatch.storage.postgres.schema import Migration, migrations, pending, version_of

KNOWN = [Migration(1, "one", ""), Migration(2, "two", ""), Migration(3, "three", "")]


def test_files_are_numbered_without_gaps():
    assert [one.version for one in migrations()] == list(range(1, len(migrations()) + 1))


@pytest.mark.parametrize(("version", "missing"), [(0, [1, 2, 3]), (2, [3]), (3, [])])
def test_pending_migrations(version, missing):
    assert [one.version for one in pending(KNOWN, version)] == missing


def test_newer_schema_is_refused():
    with pytest.raises(DatabaseError, match="version 4, and this release of intentmatch knows versions up to 3"):
        pending(KNOWN, 4)


def test_migrating_twice_does_nothing(new_database):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate

    database = Database(new_database())

    assert migrate(database) == migrations()
    assert migrate(database) == []
    database.close()


@pytest.mark.parametrize("version", [one.version for one in migrations()])
def test_registry_of_an_earlier_schema_is_kept(new_database, version):
    """The rows of version 1 are written by hand, as its release would."""
    from intentmatch.storage.contents import digest_of
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate
    from intentmatch.storage.postgres.registries import RegistryStore

    database, files = Database(new_database()), {"shop.yaml": "language: de # ü\n".encode()}
    digest = hashlib.sha256(files["shop.yaml"]).digest()
    migrate(database, target=version)
    with database.transaction() as connection:
        assert version_of(connection) == version
        connection.execute("INSERT INTO intentmatch.bots VALUES ('shop', 1)")
        connection.execute("INSERT INTO intentmatch.contents VALUES ('shop', %s, %s)", [digest, files["shop.yaml"]])
        connection.execute(
            "INSERT INTO intentmatch.revisions (bot, number, note, digest) VALUES ('shop', 1, 'first', %s)",
            [digest_of(files)],
        )
        connection.execute("INSERT INTO intentmatch.files VALUES ('shop', 1, 'shop.yaml', %s)", [digest])
    store = RegistryStore(database)
    if version < len(migrations()):
        with pytest.raises(DatabaseError, match=f"version {version}.*intentmatch migrate"):
            store.read()

    applied = migrate(database)
    revision, kept = store.read()

    assert [one.version for one in applied] == list(range(version + 1, len(migrations()) + 1))
    assert (revision.number, revision.note, kept) == (1, "first", files)
    assert store.write(files, author="ann", note="same", expected=digest_of(files)).number == 1
    assert store.write({"a.yaml": b"x"}, author="ann", note="new", expected=digest_of(files)).number == 2
    database.close()


def test_empty_and_newer_databases_are_refused_with_what_to_do(new_database):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate

    address = new_database()
    database = Database(address)
    with pytest.raises(DatabaseError, match="holds no registries yet: `intentmatch push"), database.rows():
        pass
    migrate(database)
    with database.transaction() as connection:
        connection.execute("INSERT INTO intentmatch.migrations VALUES (99, 'later')")
    with pytest.raises(DatabaseError, match="version 99"), Database(address).rows():
        pass
    with pytest.raises(DatabaseError, match="version 99"):
        migrate(database)
    database.close()


def test_two_processes_migrate_at_once(new_database):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate

    address, applied = new_database(), []
    threads = [threading.Thread(target=lambda: applied.append(migrate(Database(address)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(map(len, applied)) == [0, 0, len(migrations())]


def test_failed_migration_leaves_nothing(new_database, monkeypatch):
    from intentmatch.storage.postgres import migrating
    from intentmatch.storage.postgres.database import Database

    database = Database(new_database())
    broken = [*migrations()[:1], Migration(2, "broken", "CREATE TABLE intentmatch.more (a int); SELECT nonsense")]
    monkeypatch.setattr(migrating, "migrations", lambda: broken)

    with pytest.raises(DatabaseError, match="nonsense"):
        migrating.migrate(database)
    with database.transaction() as connection:
        assert version_of(connection) == 0
    database.close()
