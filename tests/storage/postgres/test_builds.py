"""Builds: made by one, kept in small numbers."""

from __future__ import annotations

import threading

import pytest


@pytest.fixture
def builds(postgres_address):
    from intentmatch.storage.postgres.builds import BuildStore
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    database = Database(postgres_address)
    RegistryStore(database).write({"a.yaml": b"a"}, author=None, note="", expected=None)
    yield BuildStore(database)
    database.close()


def put(builds, key, content=b"x", *, provisional=False):
    from intentmatch.storage.postgres.builds import StoredBuild

    with builds.making(key) as connection:
        builds.put_in(connection, key, StoredBuild(content, provisional))


def test_a_trained_build_replaces_a_provisional_one(builds):
    assert builds.get("k") is None
    put(builds, "k", b"first", provisional=True)
    assert builds.get("k").provisional
    put(builds, "k", b"second")

    assert (builds.get("k").content, builds.get("k").provisional) == (b"second", False)


def test_the_newest_builds_are_kept(builds):
    for number in range(12):
        put(builds, str(number))

    assert [number for number in range(12) if builds.get(str(number))] == list(range(4, 12))


def test_the_second_waits_for_the_first(builds):
    inside, order = threading.Event(), []

    def second() -> None:
        inside.wait(60)
        with builds.making("k"):
            order.append("second")

    waiting = threading.Thread(target=second)
    waiting.start()
    with builds.making("k"):
        inside.set()
        waiting.join(0.3)
        order.append("first")
    waiting.join(60)

    assert order == ["first", "second"]


def test_failed_build_releases_the_lock(builds):
    def fail() -> None:
        with builds.making("k"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    put(builds, "k")
    assert builds.get("k") is not None


def test_builds_are_read_in_binary(builds):
    """As text, a build of more than 512 MB cannot be read: PostgreSQL refuses to make 1 GB of characters of it."""
    formats = []

    class Watched:
        def __init__(self, connection):
            self._connection = connection

        def execute(self, *arguments, **options):
            cursor = self._connection.execute(*arguments, **options)
            formats.append(cursor.pgresult.fformat(0))
            return cursor

    put(builds, "k", b"\0\xff")
    with builds._database.rows() as connection:
        found = builds.get_in(Watched(connection), "k")

    assert (found.content, found.provisional) == (b"\0\xff", False)
    assert formats == [1]
