"""Vectors by content, shared through the database."""

from __future__ import annotations

import logging
import threading

import numpy as np
import pytest
from fakes import WordHashEncoder

TEXTS = ["where is my order", "track my parcel"]


@pytest.fixture
def database(postgres_address):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    found = Database(postgres_address)
    RegistryStore(found).write({"a.yaml": b"a"}, author=None, note="", expected=None)
    yield found
    found.close()


def test_another_machine_finds_the_vectors(database, tmp_path):
    from intentmatch.storage.postgres.shared_vectors import SharedVectors
    from intentmatch.storage.vector_cache import VectorCache

    encoder = WordHashEncoder()
    vectors = encoder.encode(TEXTS)
    SharedVectors(tmp_path / "one", database).put(encoder, TEXTS, vectors)
    found = SharedVectors(tmp_path / "two", database).get(encoder, [*TEXTS, "new", TEXTS[0]])

    assert sorted(found) == [0, 1, 3]
    assert np.array_equal(found[3], vectors[0])
    # Then they are on the other machine's disk.
    assert sorted(VectorCache(tmp_path / "two").get(encoder, TEXTS)) == [0, 1]
    assert SharedVectors(tmp_path / "three", database).get(encoder, TEXTS, "query") == {}


def test_damaged_row_is_not_used(database, tmp_path):
    from intentmatch.storage.postgres.shared_vectors import SharedVectors

    encoder = WordHashEncoder()
    SharedVectors(tmp_path / "one", database).put(encoder, TEXTS, encoder.encode(TEXTS))
    with database.rows() as connection:
        connection.execute("UPDATE intentmatch.vectors SET vector = vector || 'x' WHERE bot = %s", [database.bot])

    assert SharedVectors(tmp_path / "two", database).get(encoder, TEXTS) == {}


def test_replicas_that_encode_the_same_texts_do_not_block_each_other(database, tmp_path, caplog):
    """Rows are written in one order, so that no two writers wait for each other."""
    from intentmatch.storage.postgres.shared_vectors import SharedVectors

    encoder = WordHashEncoder()
    texts = [f"text {number}" for number in range(2000)]
    start = threading.Barrier(4)

    def write(number: int) -> None:
        own = texts if number % 2 else texts[::-1]
        vectors = encoder.encode(own)
        cache = SharedVectors(tmp_path / str(number), database)
        start.wait(60)
        cache.put(encoder, own, vectors)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    with caplog.at_level(logging.WARNING):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert caplog.text == ""
    assert len(SharedVectors(tmp_path / "other", database).get(encoder, texts)) == len(texts)


def test_lost_database_is_only_logged(tmp_path, caplog):
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.shared_vectors import SharedVectors

    encoder = WordHashEncoder()
    cache = SharedVectors(tmp_path, Database("postgres://127.0.0.1:1/db/shop"))
    with caplog.at_level(logging.WARNING):
        cache.put(encoder, TEXTS, encoder.encode(TEXTS))

    assert sorted(cache.get(encoder, TEXTS)) == [0, 1]
    assert "vectors are not shared" in caplog.text
