"""Search in PostgreSQL with pgvector, for registries beyond a machine's memory; scores of what it finds are exact.

The database holds rows as float16 in an HNSW graph (Malkov & Yashunin 2018, see `approximate`). Iterative scans go on
in the graph until enough rows pass a filter, which needs pgvector 0.8. The full vectors stay in the file of the
artefact, which is mapped: only those of the rows found are read. While the database is away, the search is exact.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.errors import DatabaseError
from intentmatch.core.types import KeptVectors, Vectors
from intentmatch.index.exact import ExactIndex
from intentmatch.storage.postgres.address import Address
from intentmatch.storage.postgres.database import Connection, Database

_log = logging.getLogger(__name__)

SCHEMA = "intentmatch_index_"
"""Begins the name of a role's schema, in which nobody else makes tables: a stranger's view could run as the role."""

# Recall at 10 of the graph is 100% among 20,000 utterances of public intent lists and 99.85% among random rows, which
# are harder (bench_postgres). Where comparing all rows is cheaper, PostgreSQL does that.
_CONNECTIVITY, _EXPANSION_ADD, _EXPANSION_SEARCH = 24, 128, 768
_ITERATIVE = ("hnsw.iterative_scan", "strict_order")
# Number of nearest rows whose owners are candidates, and of further owners with the nearest centres.
_ROWS, _CENTRES = 64, 8
# Rows that are read at a time: the vectors of a mapped file need not fit in memory.
_COPIED = 4096
# Tables of a bot and a role: of the newest registry, of the one before, and of a candidate.
_MOST_KEPT = 3
_COMMENT = "bot "
_NEAREST = "ORDER BY vector <#> %(query)s::halfvec LIMIT %(count)s"


class PgvectorIndex(ExactIndex):
    """Index whose rows are searched by a database, which gets them once for all replicas.

    The rows of a registry are a table of their own, in a schema that belongs to the role: no other tenant reads it.
    The oldest tables of a bot are dropped; a replica that still uses one of them searches exactly.

    Raises `MissingExtraError` without pgvector's package, and `DatabaseError` if the database cannot hold the rows.
    """

    def __init__(self, vectors: KeptVectors, owners: Sequence[int], aggregation: str, address: Address) -> None:
        super().__init__(vectors, owners, aggregation)
        self._register = plugins.require("pgvector.psycopg", what="The index pgvector", extra="postgres")
        self._half = plugins.require("pgvector", what="The index pgvector", extra="postgres").HalfVector
        self._column_of_row = np.repeat(np.arange(len(self.owners)), self._sizes)
        self._centres = self.centres()
        self._database = Database(address)
        self._failing = False
        with self._database.transaction() as connection:
            self._search_path = prepare_pgvector(connection)
            self._schema = _own_schema(connection)
            # The bot is a part of it, because the tables of each bot are counted.
            self._table = f"{self._schema}.rows_{_digest(address.bot, self.vectors, self._column_of_row)}"
            # A name of a role may have `%`, which begins a placeholder.
            self._select = f"SELECT row FROM {self._table}".replace("%", "%%")  # noqa: S608 - quoted, and a digest
            made = self._prepare(connection)
        if made:
            self._drop_old_tables()

    def search(self, query: NDArray[np.float32], count: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the `count` nearest of the rows that the database finds, best first, and their cosines."""
        rows = self._found(query, max(count, _ROWS))
        if rows is None:
            return super().search(query, count)
        cosines = self._one_query(self.vectors[rows], query)
        order = np.argsort(-cosines, kind="stable")[:count]
        return rows[order], cosines[order]

    def best_owners(
        self, queries: Vectors, count: int, among: NDArray[np.int64] | None = None
    ) -> list[NDArray[np.int64]]:
        """Return, per query, the columns of owners with the nearest rows or centres; `among` restricts them."""
        found = []
        for query in queries:
            rows = self._found(query, _ROWS, among)
            if rows is None:
                return super().best_owners(queries, count, among)
            near = self._centres @ query if among is None else self._centres[among] @ query
            nearest = np.argsort(-near)[:_CENTRES]
            found.append(np.union1d(self._column_of_row[rows], nearest if among is None else among[nearest]))
        return found

    def _found(
        self, query: NDArray[np.float32], count: int, among: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64] | None:
        """Return the rows that the database finds, ascending; None if it cannot be asked now."""
        where = "" if among is None else "WHERE owner = ANY(%(among)s)"
        # As text, because the type is registered only on the connection that writes the rows.
        parameters: dict[str, Any] = {"query": self._half(query).to_text(), "count": count}
        if among is not None:
            parameters["among"] = among.tolist()
        try:
            # The settings and the query take one round trip.
            with self._database.transaction() as connection, connection.pipeline():
                self._choose_scan(connection)
                found = connection.execute(f"{self._select} {where} {_NEAREST}", parameters).fetchall()
        except DatabaseError as error:
            if not self._failing:
                _log.warning("the index in the database is away, and the search is exact until it is back: %s", error)
            self._failing = True
            return None
        self._failing = False
        return np.sort(np.fromiter((row for (row,) in found), np.int64, len(found)))

    def _choose_scan(self, connection: Connection) -> None:
        connection.execute(
            "SELECT set_config('hnsw.ef_search', %s, true), set_config(%s, %s, true), "
            "set_config('search_path', %s, true)",
            [str(_EXPANSION_SEARCH), *_ITERATIVE, self._search_path],
        )

    def _prepare(self, connection: Connection) -> bool:
        """Have the database hold the rows and their graph; of several replicas, one writes them.

        Returns whether it was this one.
        """
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [self._table])
        (there,) = connection.execute("SELECT to_regclass(%s) IS NOT NULL", [self._table]).fetchone() or (False,)
        if there or not len(self.vectors):
            return False
        self._register.register_vector(connection)
        dim = self.vectors.shape[1]
        connection.execute(
            f"CREATE TABLE {self._table} "
            f"(row integer PRIMARY KEY, owner integer NOT NULL, vector halfvec({dim}) NOT NULL)"
        )
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY {self._table} (row, owner, vector) FROM STDIN WITH (FORMAT BINARY)") as copy,
        ):
            copy.set_types(["int4", "int4", "halfvec"])
            for start in range(0, len(self.vectors), _COPIED):
                block = np.asarray(self.vectors[start : start + _COPIED], dtype=np.float32)
                for row, vector in enumerate(block, start):
                    copy.write_row((row, int(self._column_of_row[row]), self._half(vector)))
        # pgvector builds a graph much more slowly once it outgrows this memory, of which PostgreSQL gives 64 MB by
        # default.
        connection.execute("SET LOCAL maintenance_work_mem = '256MB'")
        connection.execute(
            f"CREATE INDEX ON {self._table} USING hnsw (vector halfvec_ip_ops) "
            f"WITH (m = {_CONNECTIVITY}, ef_construction = {_EXPANSION_ADD})"
        )
        connection.execute(f"CREATE INDEX ON {self._table} (owner)")
        # Without statistics, the planner cannot tell when comparing all rows is cheaper than the graph; autovacuum
        # comes later.
        connection.execute(f"ANALYZE {self._table}")
        # The name of a bot needs no quoting.
        connection.execute(f"COMMENT ON TABLE {self._table} IS '{_COMMENT}{self._database.bot}'")
        return True

    def _drop_old_tables(self) -> None:
        """Drop all but the newest tables that this role has made for the bot."""
        try:
            with self._database.transaction() as connection:
                # While a `DROP` waits for the replicas that search in a table, all later searches in it wait too.
                connection.execute("SET LOCAL lock_timeout = '5s'")
                connection.execute(
                    "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))",
                    [f"{self._schema} {self._database.bot}"],
                )
                # PostgreSQL does not record when a table was made; a newer one has a higher oid.
                tables = connection.execute(
                    "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r' "
                    "AND pg_get_userbyid(relowner) = current_user AND obj_description(oid, 'pg_class') = %s "
                    "ORDER BY oid DESC OFFSET %s",
                    [self._schema, f"{_COMMENT}{self._database.bot}", _MOST_KEPT],
                ).fetchall()
                for (name,) in tables:
                    connection.execute(f"DROP TABLE IF EXISTS {self._schema}.{name}")
        except DatabaseError as error:  # the next revision tries again
            _log.warning("old rows of the index were not dropped: %s", error)


def prepare_pgvector(connection: Connection) -> str:
    """Install pgvector in the database if it is not there; find its names in this transaction, by the search path.

    Returns the search path. Raises `DatabaseError` without iterative scans: PostgreSQL accepts a setting with a
    misspelt name, so that its existence has to be looked up.
    """
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    # `pg_temp` stands last: where it is not named, PostgreSQL searches it first, and a role may make types there.
    row = connection.execute(
        "SELECT set_config('search_path', format('pg_catalog, %I, pg_temp', nspname), true) "
        "FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'"
    ).fetchone()
    # The extension defines its settings when it is first used.
    connection.execute("SELECT '[1]'::vector")
    name, value = _ITERATIVE
    setting = connection.execute("SELECT enumvals FROM pg_settings WHERE name = %s", [name]).fetchone()
    if row is None or setting is None or value not in (setting[0] or ()):
        raise DatabaseError(f"its pgvector has no setting {name} = {value}: it must be 0.8 or newer")
    return str(row[0])


def _own_schema(connection: Connection) -> str:
    """Return the quoted name of the schema of the role; make it if there is none.

    Raises `DatabaseError` if it belongs to another role, or if the role may not make one.
    """
    name, schema, owner = connection.execute(
        "SELECT current_user, quote_ident(%(begin)s || current_user), (SELECT pg_get_userbyid(nspowner) "
        "FROM pg_namespace WHERE oid = to_regnamespace(quote_ident(%(begin)s || current_user)))",
        {"begin": SCHEMA},
    ).fetchone() or ("", "", None)
    if owner is None:
        # Two that find none make one.
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [schema])
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    elif owner != name:
        raise DatabaseError(f"the schema {schema} belongs to the role {owner}: it must belong to {name}")
    return str(schema)


def _digest(whose: str, vectors: KeptVectors, columns: NDArray[np.int64]) -> str:
    # Another kind of graph is another table, which replicas of an earlier version do not search.
    digest = hashlib.sha256(f"{whose} {vectors.shape} {_CONNECTIVITY} {_EXPANSION_ADD}".encode())
    for start in range(0, len(vectors), _COPIED):
        digest.update(np.ascontiguousarray(vectors[start : start + _COPIED]).tobytes())
    digest.update(columns.tobytes())
    return digest.hexdigest()[:24]
