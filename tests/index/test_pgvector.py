"""The index in PostgreSQL: near rows, exact scores, and exact search while the database is away."""

from __future__ import annotations

import logging
import threading

import numpy as np
import pytest
from postgres_server import make_tenant

from intentmatch.core.errors import DatabaseError
from intentmatch.index import ExactIndex, load_index
from intentmatch.matching.matcher import Matcher

ROWS, OWNERS, DIM = 3000, 60, 32


def rows_of(count, seed=7):
    """Return unit rows around a few hundred centres, like the utterances of many intents."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(1).normal(size=(300, DIM))
    rows = (centres[random.integers(0, 300, count)] + 0.4 * random.normal(size=(count, DIM))).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


VECTORS = rows_of(ROWS)
OWNER_OF_ROW = np.repeat(np.arange(OWNERS), ROWS // OWNERS).tolist()


@pytest.fixture(scope="module")
def address(postgres):
    pytest.importorskip("pgvector", reason="needs the extra postgres")
    from intentmatch.storage.postgres.address import Address

    return Address.parse(postgres.url())


@pytest.fixture(scope="module")
def index(address):
    return load_index("pgvector", VECTORS, OWNER_OF_ROW, "mean2", database=address)


def test_recall_at_10_is_at_least_99_percent(index):
    """Each row occurs once, best first, with its own cosine."""
    found, queries = 0, rows_of(100, seed=8)
    for query in queries:
        rows, cosines = index.search(query, 10)
        assert len(set(rows.tolist())) == len(rows) == 10
        assert cosines == pytest.approx(VECTORS[rows] @ query, abs=1e-6)
        assert (np.diff(cosines) <= 0).all()
        found += len({*rows.tolist()} & {*np.argsort(-(VECTORS @ query))[:10].tolist()})

    assert found >= 0.99 * 10 * len(queries)


def test_database_is_asked_and_not_this_process(index, monkeypatch):
    monkeypatch.setattr(ExactIndex, "search", None)
    monkeypatch.setattr(ExactIndex, "best_owners", None)

    assert len(index.search(VECTORS[0], 3)[0]) == 3
    assert 0 in index.best_owners(VECTORS[:1], 5)[0]


def test_owner_of_the_nearest_row_is_a_candidate(index):
    for row in range(0, ROWS, 500):
        assert row // (ROWS // OWNERS) in index.best_owners(VECTORS[row : row + 1], 10)[0]


def test_filter_finds_owners_that_are_far_away(index):
    """Iterative scans go on until enough rows pass: without them, a rare owner would not be found."""
    exact = ExactIndex(VECTORS, OWNER_OF_ROW, "mean2")
    queries, among = rows_of(20, seed=10), np.array([3, 17])
    for query in queries:
        (found,) = index.best_owners(query[None], 2, among)
        assert sorted(found.tolist()) == [3, 17]
    wide = np.arange(0, OWNERS, 5)
    for query in queries:
        (found,), (best,) = index.best_owners(query[None], 3, wide), exact.best_owners(query[None], 1, wide)
        assert {*found.tolist()} <= {*wide.tolist()}
        assert best[0] in found


def test_rows_are_written_once(index, address):
    from intentmatch.storage.postgres.database import Database

    again = load_index("pgvector", VECTORS.copy(), OWNER_OF_ROW, "mean2", database=address)
    other = load_index("pgvector", VECTORS[:100], OWNER_OF_ROW[:100], "mean2", database=address)
    with Database(address).transaction() as connection:
        count = connection.execute(f"SELECT count(*) FROM {other._table}").fetchone()

    assert again._table == index._table != other._table
    assert count == (100,)


def tables_of(address):
    from intentmatch.storage.postgres.database import Database

    with Database(address).transaction() as connection:
        rows = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace('intentmatch_index_postgres') "
            "AND relkind = 'r' AND obj_description(oid, 'pg_class') = %s",
            [f"bot {address.bot}"],
        ).fetchall()
    return {f"intentmatch_index_postgres.{name}" for (name,) in rows}


def test_tables_of_earlier_registries_are_dropped(address, caplog):
    mine, other = address.of("growing"), address.of("other")
    kept = load_index("pgvector", VECTORS[:50], OWNER_OF_ROW[:50], "mean2", database=other)
    made = [
        load_index("pgvector", VECTORS[:count], OWNER_OF_ROW[:count], "mean2", database=mine) for count in range(60, 66)
    ]

    assert tables_of(mine) == {one._table for one in made[-3:]}
    assert tables_of(other) == {kept._table}
    assert made[-1].search(VECTORS[7], 1)[0].tolist() == [7]
    with caplog.at_level(logging.WARNING, "intentmatch"):
        assert made[0].search(VECTORS[7], 1)[0].tolist() == [7]
    assert "the search is exact" in caplog.text


def test_role_of_a_tenant_makes_a_table_of_its_own(address, postgres):
    from intentmatch.storage.postgres.address import Address
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate

    migrate(Database(address))
    mine = load_index("pgvector", VECTORS[:80], OWNER_OF_ROW[:80], "mean2", database=address.of("shared"))
    with Database(address).transaction() as connection:
        for role in ("indexer", "stranger"):
            make_tenant(connection, role, "shared")
            connection.execute(f"CREATE SCHEMA intentmatch_index_{role} AUTHORIZATION {role}")
    theirs, others = (
        load_index(
            "pgvector",
            VECTORS[:80],
            OWNER_OF_ROW[:80],
            "mean2",
            database=Address.parse(postgres.url(user=role, more="/shared")),
        )
        for role in ("indexer", "stranger")
    )

    assert len({mine._table, theirs._table, others._table}) == 3
    assert theirs.search(VECTORS[7], 1)[0].tolist() == [7]
    with pytest.raises(DatabaseError, match="permission denied"), others._database.transaction() as connection:
        connection.execute(f"SELECT * FROM {theirs._table}")
    for schema in ("intentmatch_index_indexer", "intentmatch_index_postgres"):
        with pytest.raises(DatabaseError, match="permission denied"), others._database.transaction() as connection:
            connection.execute(f"CREATE VIEW {schema}.trap AS SELECT 1 AS row")
    with Database(address).transaction() as connection:
        for role in ("indexer", "stranger"):
            connection.execute(f"DROP OWNED BY {role}")


def test_schema_of_another_role_is_refused(address, postgres):
    """A view in it would be read in place of a table, with the rights of the reader."""
    from intentmatch.storage.postgres.address import Address
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate

    migrate(Database(address))
    with Database(address).transaction() as connection:
        make_tenant(connection, "squatted", "shared")
        connection.execute("CREATE SCHEMA intentmatch_index_squatted")
        connection.execute("GRANT ALL ON SCHEMA intentmatch_index_squatted TO squatted")
    with pytest.raises(DatabaseError, match="belongs to the role postgres: it must belong to squatted"):
        load_index(
            "pgvector",
            VECTORS[:80],
            OWNER_OF_ROW[:80],
            "mean2",
            database=Address.parse(postgres.url(user="squatted", more="/shared")),
        )
    with Database(address).transaction() as connection:
        connection.execute("DROP SCHEMA intentmatch_index_squatted")


def test_concurrent_searches_agree(index):
    alone = [index.search(query, 5)[0].tolist() for query in VECTORS[:8]]
    found: dict[int, list[int]] = {}
    threads = [
        threading.Thread(target=lambda n=n: found.update({n: index.search(VECTORS[n], 5)[0].tolist()}))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert [found[n] for n in range(8)] == alone


def test_search_is_exact_while_the_database_is_away(index, postgres, caplog):
    exact = ExactIndex(VECTORS, OWNER_OF_ROW, "mean2")
    queries = rows_of(3, seed=11)
    postgres.stop()
    try:
        with caplog.at_level(logging.WARNING, "intentmatch"):
            for query in queries:
                assert index.search(query, 5)[0].tolist() == exact.search(query, 5)[0].tolist()
                assert index.best_owners(query[None], 3)[0].tolist() == exact.best_owners(query[None], 3)[0].tolist()
    finally:
        postgres.start()

    assert caplog.text.count("the search is exact until it is back") == 1
    assert len(index.search(queries[0], 5)[0]) == 5


def test_misspelt_setting_is_noticed(address, monkeypatch):
    """PostgreSQL accepts any name with a point, and only warns for a known prefix."""
    from intentmatch.index import pgvector
    from intentmatch.storage.postgres.database import Database

    with Database(address).transaction() as connection:
        pgvector.prepare_pgvector(connection)
    for wrong in (("hnsw.iterative_scans", "strict_order"), ("hnsw.iterative_scan", "strict")):
        monkeypatch.setattr(pgvector, "_ITERATIVE", wrong)
        with (
            pytest.raises(DatabaseError, match=r"must be 0\.8 or newer"),
            Database(address).transaction() as connection,
        ):
            pgvector.prepare_pgvector(connection)


def test_without_a_database_the_search_is_exact():
    assert type(load_index("pgvector", VECTORS, OWNER_OF_ROW, "mean2")) is ExactIndex


def test_bot_of_a_database_is_searched_there(postgres_address):
    from intentmatch.index.pgvector import PgvectorIndex
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    files = {"a.yaml": b"intents: {greet: {utterances: {en: [hello, hi there]}}, bye: {utterances: {en: [goodbye]}}}\n"}
    RegistryStore(Database(postgres_address)).write(files, author=None, note="", expected=None)
    matcher = Matcher.load(postgres_address, index="pgvector", scorer="cosine")

    assert isinstance(matcher.snapshot()._engine._scoring._index, PgvectorIndex)
    assert matcher.match("hi there you").intent == "greet"
