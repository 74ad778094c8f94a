"""A tenant that writes any SQL: no statement reads, changes, deletes or adds rows of another bot.

`mall` is the attacker, with a role that may see the bot `mall` alone; `shop` is the victim.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from inbox.results import result
from postgres_server import make_tenant
from server.candidates.test_file_store import RECORD, sample

REFUSED = yaml.safe_load(Path(__file__).with_name("refused_statements.yaml").read_text(encoding="utf-8"))
_ROWS = """
INSERT INTO intentmatch.bots VALUES ('{bot}', 1);
INSERT INTO intentmatch.contents VALUES ('{bot}', 'd', 'text of {bot}'), ('{bot}', 'e', 'more');
INSERT INTO intentmatch.revisions (bot, number, note, digest) VALUES ('{bot}', 1, 'note of {bot}', 'd');
INSERT INTO intentmatch.files VALUES ('{bot}', 1, 'a.yaml', 'd'), ('{bot}', 1, 'b.yaml', 'e');
INSERT INTO intentmatch.artefacts VALUES ('{bot}', 'k', false, 'built'), ('{bot}', 'l', false, 'built');
INSERT INTO intentmatch.vectors VALUES ('{bot}', 'encoder', 'k', 'v'), ('{bot}', 'encoder', 'l', 'v');
INSERT INTO intentmatch.inboxes VALUES ('{bot}', 'redacted', 'salt');
INSERT INTO intentmatch.messages (bot, key, text, count, first, last)
    VALUES ('{bot}', 'k', 'said to {bot}', 1, 1, 1), ('{bot}', 'l', 'said to {bot}', 1, 1, 1);
INSERT INTO intentmatch.corrections SELECT bot, id, 'intent', 1 FROM intentmatch.messages WHERE bot = '{bot}';
INSERT INTO intentmatch.audit (bot, author, what, digest) VALUES ('{bot}', 'ann', 'w', 'd'), ('{bot}', 'bob', 'w', 'd');
INSERT INTO intentmatch.questions VALUES ('{bot}', 'c', 'text', now()), ('{bot}', 'd', 'text', now());
INSERT INTO intentmatch.keys (digest, bot, role, name) VALUES ('{bot}', '{bot}', 'match', 'ann');
INSERT INTO intentmatch.sample (bot, key, text, verdict, probability, priority, chance, time)
    VALUES ('{bot}', 'k', 'said', 'matched', 1, 1, 1, 1), ('{bot}', 'l', 'said', 'matched', 1, 1, 1, 1);
INSERT INTO intentmatch.candidates VALUES ('{bot}', 'one', '{{}}');
INSERT INTO intentmatch.candidate_counts VALUES ('{bot}', 'p', 'same', 1), ('{bot}', 'p', 'other', 1);
INSERT INTO intentmatch.candidate_samples (bot, present, kind, answers, time)
    VALUES ('{bot}', 'p', 'same', '[]', 1), ('{bot}', 'p', 'other', '[]', 1);
"""
# Those that refer to others stand before them.
TABLES = (
    *(
        "files",
        "contents",
        "revisions",
        "artefacts",
        "vectors",
        "corrections",
        "messages",
        "sample",
        "inboxes",
        "audit",
    ),
    *("questions", "keys", "candidate_counts", "candidate_samples", "candidates", "tenants", "bots"),
)
_SCANS = ("seqscan", "indexscan", "bitmapscan")
_ONLY = {one: [f"enable_{other} = off" for other in _SCANS if other != one] for one in _SCANS}
PLANNERS = {
    "as it is": [],
    "only seqscan": [*_ONLY["seqscan"], "enable_memoize = off", "enable_material = off", "work_mem = '64kB'"],
    "only indexscan": _ONLY["indexscan"],
    "only bitmapscan": _ONLY["bitmapscan"],
    "parallel": [
        *("debug_parallel_query = on", "parallel_setup_cost = 0", "parallel_tuple_cost = 0"),
        *("min_parallel_table_scan_size = 0", "max_parallel_workers_per_gather = 2"),
    ],
}
_TURN = "length(set_config('app.bot', 'shop', true)) > 0"
READS = (
    "SELECT * FROM intentmatch.{table} WHERE bot = 'shop'",
    f"SELECT {_TURN}, one.* FROM intentmatch.{{table}} AS one",
    f"SELECT one.* FROM intentmatch.{{table}} AS one WHERE {_TURN}",
    f"SELECT one.* FROM (SELECT {_TURN} OFFSET 0) AS turn, intentmatch.{{table}} AS one",
    f"SELECT two.* FROM intentmatch.{{table}} AS one, LATERAL (SELECT {_TURN}, * FROM intentmatch.{{table}}) AS two",
    f"SELECT two.* FROM intentmatch.{{table}} AS one LEFT JOIN intentmatch.{{table}} AS two ON {_TURN}",
    f"WITH turn AS MATERIALIZED (SELECT {_TURN}) SELECT one.* FROM turn, intentmatch.{{table}} AS one",
    f"SELECT one.* FROM intentmatch.{{table}} AS one ORDER BY {_TURN}, bot DESC",
    f"SELECT {_TURN}, bot, count(*) FROM intentmatch.{{table}} GROUP BY bot",
    f"SELECT one.* FROM intentmatch.{{table}} AS one TABLESAMPLE BERNOULLI (100) WHERE {_TURN}",
    f"SELECT one.* FROM intentmatch.{{table}} AS one WHERE ctid = ANY(ARRAY['(0,1)', '(0,2)', '(0,3)']::tid[]) OR "
    f"NOT {_TURN}",
    "SELECT * FROM intentmatch.{table} WHERE pg_temp.spy(bot)",
    "SELECT * FROM intentmatch.{table} WHERE bot OPERATOR(pg_temp.===) 'shop'",
    "SELECT * FROM pg_temp.view_{table}",
    f"SELECT {_TURN}, one.* FROM pg_temp.view_{{table}} AS one",
    "SELECT * FROM intentmatch.{table} FOR UPDATE",
    "SELECT query_to_xml($$ SELECT set_config('app.bot', 'sh' || 'op', true), one.* FROM intentmatch.{table} one $$, "
    "true, true, '')",
)
WRITES = (
    f"UPDATE intentmatch.{{table}} SET bot = bot WHERE {_TURN}",
    "UPDATE intentmatch.{table} SET bot = 'shop'",
    "UPDATE intentmatch.{table} SET bot = set_config('app.bot', 'shop', true)",
    f"UPDATE intentmatch.{{table}} SET {{change}} WHERE {_TURN} RETURNING *",
    f"UPDATE intentmatch.{{table}} AS one SET {{change}} FROM (SELECT {_TURN} OFFSET 0) AS turn RETURNING one.*",
    f"DELETE FROM intentmatch.{{table}} WHERE {_TURN}",
    f"DELETE FROM intentmatch.{{table}} AS one USING (SELECT {_TURN} OFFSET 0) AS turn RETURNING one.*",
    f"WITH gone AS (DELETE FROM intentmatch.{{table}} WHERE {_TURN} RETURNING *) SELECT * FROM gone",
    "TRUNCATE intentmatch.{table} CASCADE",
    "INSERT INTO intentmatch.{table} ({columns}) SELECT {columns} FROM {row}",
    f"INSERT INTO intentmatch.{{table}} ({{columns}}) SELECT {{columns}} FROM {{row}} WHERE {_TURN}",
    f"INSERT INTO intentmatch.{{table}} ({{columns}}) SELECT {{columns}} FROM {{row}}, (SELECT {_TURN} OFFSET 0) AS t"
    " ON CONFLICT DO NOTHING",
    f"INSERT INTO intentmatch.{{table}} ({{columns}}) SELECT {{columns}} FROM {{row}} RETURNING {_TURN}",
    f"MERGE INTO intentmatch.{{table}} AS one USING (SELECT {_TURN} OFFSET 0) AS turn ON true WHEN MATCHED THEN DELETE",
    f"MERGE INTO intentmatch.{{table}} AS one USING (SELECT {{columns}}, {_TURN} FROM {{row}}) AS row ON false "
    "WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ({row_columns})",
    f"INSERT INTO intentmatch.{{table}} ({{columns}}) SELECT {{columns}} FROM {{own}} UNION ALL SELECT {{columns}}"
    f" FROM {{row}} WHERE {_TURN}",
    f"COPY (DELETE FROM intentmatch.{{table}} WHERE {_TURN} RETURNING *) TO STDOUT",
    "COPY intentmatch.{table} ({columns}) FROM STDIN",
    "UPDATE pg_temp.view_{table} SET bot = 'shop'",
    f"DELETE FROM pg_temp.view_{{table}} WHERE {_TURN}",
)


class Tenant:
    """A transaction of the attacker, which is never committed."""

    def __init__(self, connection) -> None:
        self._connection = connection

    def run(self, statement: str) -> list[str]:
        """Run a statement, and return its rows, or its error, as text."""
        import psycopg

        self._connection.execute("SELECT set_config('app.bot', 'mall', true)")
        try:
            with self._connection.transaction(), self._connection.cursor() as cursor:
                if statement.startswith("COPY"):
                    with cursor.copy(statement) as copy:
                        return list(map(str, copy.rows())) if statement.endswith("TO STDOUT") else []
                cursor.execute(statement)
                return list(map(str, cursor.fetchall())) if cursor.description else []
        except psycopg.Error as error:
            # The context repeats the statement.
            return [str(error).partition("CONTEXT")[0]]

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Compare the rows of the victim at the end of the block, and undo it."""
        import psycopg

        before = self._others()
        with self._connection.transaction():
            yield
            assert self._others() == before
            raise psycopg.Rollback

    def _others(self) -> dict[str, list[str]]:
        self._connection.execute("SET LOCAL SESSION AUTHORIZATION DEFAULT")
        found = rows_of_others(self._connection)
        self._connection.execute("SET LOCAL SESSION AUTHORIZATION mall")
        return found


@pytest.fixture(scope="module")
def tenants(postgres) -> Iterator[str]:
    """The name of a database with rows of both bots in all tables."""
    import psycopg

    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate

    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE tenants")
    database = Database(postgres.url("tenants"))
    migrate(database)
    with database.transaction() as connection:
        for bot in ("mall", "shop"):
            connection.execute(_ROWS.format(bot=bot).encode())
        make_tenant(connection, "mall", "mall")
        make_tenant(connection, "shop", "shop")
    database.close()
    yield "tenants"
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE tenants WITH (FORCE)")


@pytest.fixture
def tenant(postgres, tenants):
    """The attacker."""
    import psycopg

    with psycopg.connect(postgres.url(tenants), prepare_threshold=None) as connection:
        connection.execute("SET LOCAL SESSION AUTHORIZATION mall")
        connection.execute(_TOOLS.encode())
        yield Tenant(connection)
        connection.rollback()


@pytest.fixture(params=PLANNERS)
def planned(request, tenant):
    """The attacker, with one of several settings of the planner."""
    for setting in PLANNERS[request.param]:
        assert tenant.run(f"SET LOCAL {setting}") == []
    return tenant


# The cost has the planner call them first, where it may.
_TOOLS = """
CREATE FUNCTION pg_temp.spy(bot text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
    PERFORM set_config('app.bot', 'shop', true);
    IF bot <> 'mall' THEN RAISE EXCEPTION 'seen: %', bot; END IF;
    RETURN true;
END $$;
CREATE FUNCTION pg_temp.same(a text, b text) RETURNS boolean LANGUAGE sql COST 0.0001
    AS $$ SELECT pg_temp.spy(a) AND a = b $$;
CREATE OPERATOR pg_temp.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.same);
""" + "".join(f"CREATE VIEW pg_temp.view_{table} AS SELECT * FROM intentmatch.{table};\n" for table in TABLES)


def rows_of_others(connection) -> dict[str, list[str]]:
    """Every row that is not the attacker's, as the superuser sees it."""
    query = "SELECT to_jsonb(one)::text FROM intentmatch.{} AS one WHERE bot IS DISTINCT FROM 'mall' ORDER BY 1"
    return {table: [row for (row,) in connection.execute(query.format(table)).fetchall()] for table in TABLES}


@pytest.fixture(scope="module")
def victims(postgres, tenants) -> dict[str, dict[str, str]]:
    """For each table, what statements are filled with: a row of the victim and one of the attacker, with new keys."""
    import psycopg

    found = {}
    with psycopg.connect(postgres.url(tenants)) as connection:
        for table in TABLES:
            query = f"SELECT to_jsonb(one) FROM intentmatch.{table} AS one WHERE bot = %s LIMIT 1"
            row, own = (_new(table, connection.execute(query, [bot]).fetchone()[0]) for bot in ("shop", "mall"))
            found[table] = {
                "table": table,
                "columns": ", ".join(row),
                "row_columns": ", ".join(f"row.{name}" for name in row),
                "change": f"{list(row)[-1]} = {list(row)[-1]}",
                "row": _literal(table, row),
                "own": _literal(table, own),
            }
    return found


def _new(table: str, row: dict) -> dict:
    """Return a row that no key is in the way of."""
    new = {"name": "new", "key": "\\x6e", "conversation": "\\x6e", "intent": "new", "number": 2}
    if table in ("contents", "keys"):
        new["digest"] = "\\x6e"
    if table == "tenants":
        new["role"] = "mall"
    return {name: new.get(name, value) for name, value in row.items() if name != "id"}


def _literal(table: str, row: dict) -> str:
    text = json.dumps(row).replace("'", "''")
    return f"jsonb_populate_record(NULL::intentmatch.{table}, '{text}')"


def test_every_table_has_rows_of_the_victim(postgres, tenants):
    """Otherwise the tests below would prove nothing."""
    import psycopg

    with psycopg.connect(postgres.url(tenants)) as connection:
        tables = connection.execute(
            "SELECT table_name::text FROM information_schema.columns WHERE table_schema = 'intentmatch' "
            "AND column_name = 'bot'"
        ).fetchall()
        found = {table for table, rows in rows_of_others(connection).items() if rows}

    assert {name for (name,) in tables} == {*TABLES} == found


def test_no_statement_reads_rows_of_another_bot(planned):
    """Whatever the planner does, and wherever the statement changes `app.bot`."""
    seen = [
        (table, statement, row)
        for table, statement in itertools.product(TABLES, READS)
        for row in planned.run(statement.format(table=table))
        if "shop" in row
    ]

    assert seen == []


@pytest.mark.parametrize("planned", [one for one in PLANNERS if one != "parallel"], indirect=True)
def test_no_statement_writes_rows_of_another_bot(planned, victims):
    for statement in WRITES:
        with planned.undone():
            for filled in victims.values():
                assert not [row for row in planned.run(statement.format(**filled)) if "shop" in row]


def test_cursor_and_cached_plan_do_not_follow_the_setting(tenant):
    for table in TABLES:
        for statement in (
            f"DECLARE {table}_1 CURSOR FOR SELECT * FROM intentmatch.{table}",
            f"PREPARE {table}_2 AS SELECT * FROM intentmatch.{table} WHERE set_config('app.bot', $1, true) > ''",
            f"CREATE FUNCTION pg_temp.{table}_3() RETURNS SETOF intentmatch.{table} LANGUAGE plpgsql SECURITY DEFINER "
            f"AS $$ BEGIN RETURN QUERY SELECT * FROM intentmatch.{table}; END $$",
        ):
            assert tenant.run(statement) == []
        tenant.run(f"SELECT pg_temp.{table}_3()")
        for statement in (
            f"FETCH 1 FROM {table}_1",
            "SELECT set_config('app.bot', 'sh' || 'op', true) IS NULL",
            f"FETCH ALL FROM {table}_1",
            f"EXECUTE {table}_2 ('shop')",
            f"SELECT one FROM (SELECT {_TURN} OFFSET 0) AS turn, pg_temp.{table}_3() AS one",
        ):
            assert not [row for row in tenant.run(statement) if "shop" in row]


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        (statement, error)
        for errors in REFUSED.values()
        for error, statements in errors.items()
        for statement in statements
    ],
)
def test_ways_around_the_policies_are_refused(postgres, tenants, statement, error):
    import psycopg

    with psycopg.connect(postgres.url(tenants, user="mall")) as connection:
        connection.execute("SELECT set_config('app.bot', 'mall', true)")
        with pytest.raises(psycopg.Error, match=error):
            connection.execute(statement)


def test_statistics_say_nothing_about_rows_of_others(postgres, tenants):
    import psycopg

    with psycopg.connect(postgres.url(tenants), autocommit=True) as connection:
        connection.execute("ANALYZE")
    with psycopg.connect(postgres.url(tenants, user="mall")) as connection:
        found = connection.execute(
            "SELECT * FROM pg_stats WHERE schemaname = 'intentmatch' AND tablename <> 'migrations'"
        )
        assert found.fetchall() == []


def test_correction_of_a_message_of_another_bot_is_refused(postgres, tenants):
    """It would tell that the message exists, and be in the way of a correction by its own bot."""
    import psycopg

    with psycopg.connect(postgres.url(tenants)) as connection:
        (theirs,) = connection.execute("SELECT max(id) FROM intentmatch.messages WHERE bot = 'shop'").fetchone()
    for message in (theirs, 10**9):
        with psycopg.connect(postgres.url(tenants, user="mall")) as connection:
            connection.execute("SELECT set_config('app.bot', 'mall', true)")
            with pytest.raises(psycopg.errors.ForeignKeyViolation):
                connection.execute("INSERT INTO intentmatch.corrections VALUES ('mall', %s, 'x', 1)", [message])


def test_names_in_the_search_path_are_not_run_by_others(postgres, tenants):
    """Up to PostgreSQL 14, every role could make functions in the schema `public`."""
    import psycopg

    from intentmatch.storage.postgres.builds import BuildStore
    from intentmatch.storage.postgres.database import Database

    with psycopg.connect(postgres.url(tenants)) as connection:
        connection.execute("GRANT CREATE ON SCHEMA public TO mall")
    with psycopg.connect(postgres.url(tenants, user="mall")) as connection:
        connection.execute(
            "CREATE FUNCTION public.hashtextextended(text, integer) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN "
            "INSERT INTO intentmatch.tenants VALUES ('mall', '*'); RETURN 1; END $$"
        )
        connection.commit()
        with psycopg.connect(postgres.url(tenants)) as owner:
            owner.execute("REVOKE CREATE ON SCHEMA public FROM mall")
    database = Database(postgres.url(tenants, more="/other"))
    with BuildStore(database).making("key"):
        pass
    with database.rows() as connection:
        rows = connection.execute("SELECT bot FROM intentmatch.tenants WHERE role = 'mall'").fetchall()
    database.close()

    assert rows == [("mall",)]


def test_tenant_does_what_a_server_and_its_authors_do(postgres, tenants):
    """All tables that a role may write, through the stores."""
    from intentmatch.authoring.database_workspace import DatabaseWorkspace
    from intentmatch.inbox import Inbox
    from intentmatch.registry.editing.edits import AddUtterance
    from intentmatch.server.candidates.database_store import DatabaseCandidateStore
    from intentmatch.storage.postgres.address import Address
    from intentmatch.storage.postgres.builds import BuildStore, StoredBuild
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.questions import QuestionStore
    from intentmatch.storage.postgres.registries import RegistryStore

    owner = Database(postgres.url(tenants))
    with owner.transaction() as connection:
        make_tenant(connection, "baker", "bakery")
    owner.close()
    address = Address.parse(postgres.url(tenants, user="baker", more="/bakery"))
    store, workspace, inbox = RegistryStore(Database(address)), DatabaseWorkspace(address), Inbox(address)
    files = {"a.yaml": b"language: en\nintents:\n  greet: {utterances: [hello]}\n"}
    store.write(files, author="ann", note="first", expected=None)
    workspace.write([AddUtterance("greet", "hi there")], author="ann", note="Hi", expected=workspace.digest())
    inbox.record(result("a cake"))
    inbox.correct("a cake", "greet")
    assert inbox.flush()
    questions, candidates, builds = QuestionStore(address), DatabaseCandidateStore(address), BuildStore(store.database)
    questions.put("c", "text", 60)
    candidates.begin(RECORD)
    with builds.making("key") as connection:
        builds.put_in(connection, "key", StoredBuild(b"built", False))

    assert [one.note for one in workspace.revisions()] == ["Hi", "first"]
    assert [one.what for one in workspace.audit()] == ["Hi"]
    assert [(one.text, one.corrections) for one in inbox.messages()] == [("a cake", {"greet": 1})]
    assert questions.pop("c") == "text"
    assert candidates.add(RECORD.id, "p", {"same": 1}, [sample()], 0.0)
    assert (candidates.counts("p"), len(candidates.samples("p", 0.0))) == ({"same": 1}, 1)
    assert builds.get("key") == StoredBuild(b"built", False)
