"""Everything works through PgBouncer with transaction pooling: two statements may get two connections of the server."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from inbox.results import result

from intentmatch.core.errors import ChangedMeanwhileError, DatabaseError
from intentmatch.inbox import Inbox
from intentmatch.matching.matcher import Matcher

ORDERS = "language: en\nintents:\n  status: {utterances: [where is my order, track my parcel]}\n"
CANCEL = "  cancel: {utterances: [cancel my order, call off my purchase]}\n"


@pytest.fixture(autouse=True)
def _cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def store_of(address):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    return RegistryStore(Database(address))


def push(address, text):
    return store_of(address).write({"bot.yaml": text.encode()}, author="ann", note="push", expected="*")


def test_pooler_gives_clients_connections_of_each_other(pooler):
    """Otherwise the tests below would prove nothing."""
    import psycopg

    pids = set()
    with psycopg.connect(pooler.url(), prepare_threshold=None) as one, psycopg.connect(pooler.url()) as other:
        for connection in (one, other, one, other):
            pids.add(connection.execute("SELECT pg_backend_pid()").fetchone())
            connection.commit()

    assert len(pids) == 1


def test_bot_is_pushed_edited_and_matched(pooled):
    from intentmatch.authoring.database_workspace import DatabaseWorkspace
    from intentmatch.registry.editing.edits import AddUtterance
    from intentmatch.storage.postgres.address import Address

    push(pooled, ORDERS + CANCEL)
    workspace = DatabaseWorkspace(Address.parse(pooled))
    edit = [AddUtterance("status", "any news of my box")]
    workspace.write(edit, author="ann", note="Box", expected=workspace.digest())

    assert Matcher.load(pooled).match("any news of my box").intent == "status"
    assert [(one.author, one.note) for one in workspace.revisions()] == [("ann", "Box"), ("ann", "push")]
    assert [one.what for one in workspace.audit()] == ["Box"]
    with pytest.raises(ChangedMeanwhileError):
        workspace.write(edit, author="bob", note="", expected="0")


def test_statements_that_are_repeated_many_times_are_not_prepared(pooled):
    """PostgreSQL would not know a prepared statement in another connection of the pool."""
    push(pooled, ORDERS)
    wrong = []

    def read() -> None:
        store = store_of(pooled)
        try:
            for _ in range(20):
                assert store.read()[1] == {"bot.yaml": ORDERS.encode()}
        except Exception as error:  # noqa: BLE001 - shown by the test
            wrong.append(error)

    threads = [threading.Thread(target=read) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


def test_statements_that_get_no_connection_fail_in_time(pooler, pooled, monkeypatch):
    """PgBouncer keeps them for two minutes (`query_wait_timeout`)."""
    from intentmatch.storage.postgres import database as module
    from intentmatch.storage.postgres.database import Database

    monkeypatch.setattr(module, "_SECONDS_AWAY", 0.0)
    database = Database(pooled, seconds=1)
    with database.transaction() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    with pooler.paused():
        for _ in range(2):  # with the connection of before, and with a new one
            begun = time.monotonic()
            with pytest.raises(DatabaseError, match="does not answer"), database.transaction():
                pass
            assert time.monotonic() - begun < 20
    with database.transaction() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_limit_is_for_the_first_statement_of_a_transaction(pooled):
    from intentmatch.storage.postgres.database import Database

    with Database(pooled, seconds=1).transaction() as connection:
        connection.execute("SELECT pg_sleep(1.2)")
    with (
        pytest.raises(DatabaseError, match="does not answer"),
        Database(pooled, seconds=1, bounded=True).transaction() as connection,
    ):
        connection.execute("SELECT pg_sleep(3)")


def test_readiness_tells_soon_that_the_pooler_has_no_database(pooler, pooled, monkeypatch):
    from server.several_bots import until
    from starlette.testclient import TestClient

    from intentmatch.server import create_app
    from intentmatch.storage.postgres import notices

    monkeypatch.setattr(notices, "_SECONDS_TO_ANSWER", 1)
    push(pooled, ORDERS)
    with TestClient(create_app(pooled)) as client:
        assert not client.get("/readyz").json()["stale"]
        with pooler.paused():
            begun = time.monotonic()
            until(lambda: client.get("/readyz").json()["stale"])
            seconds = time.monotonic() - begun
            assert client.post("/match", json={"text": "where is my order"}).json()["intent"] == "status"
        until(lambda: not client.get("/readyz").json()["stale"])

    assert seconds < 30


def test_transactions_of_bots_do_not_see_each_others_setting(pooled):
    from intentmatch.storage.postgres.database import Database

    database = Database(pooled)
    with database.transaction("one") as connection:
        assert connection.execute("SELECT current_setting('app.bot')").fetchone() == ("one",)
    with database.connect() as connection:
        assert connection.execute("SELECT current_setting('app.bot', true)").fetchone() in ((None,), ("",))
    connection.close()


def test_inbox_keeps_messages(pooled):
    from intentmatch.storage.postgres.address import Address

    push(pooled, ORDERS)
    inbox = Inbox(Address.parse(pooled))
    for text in ("first thing", "second thing", "first thing"):
        inbox.record(result(text))
    assert inbox.flush()

    assert [(one.text, one.count) for one in inbox.messages()] == [("first thing", 2), ("second thing", 1)]


def test_matcher_hears_of_a_revision_by_polling(pooled, postgres_address):
    """A pooler drops notifications: they go to the connection that listened, whoever has it now."""
    push(pooled, ORDERS)
    matcher, heard = Matcher.load(pooled), threading.Event()
    with matcher.watch(on_reload=lambda registry: heard.set()):
        push(postgres_address, ORDERS + CANCEL)
        assert heard.wait(60)

    assert matcher.match("cancel my order").intent == "cancel"


def test_one_replica_builds_under_a_lock(pooled):
    from intentmatch.storage.postgres.builds import BuildStore, StoredBuild
    from intentmatch.storage.postgres.database import Database

    push(pooled, ORDERS)
    inside, found = threading.Event(), []

    def wait() -> None:
        store = BuildStore(Database(pooled))
        inside.wait(60)
        with store.making("key") as connection:
            found.append(store.get_in(connection, "key"))

    waiting = threading.Thread(target=wait)
    waiting.start()
    store = BuildStore(Database(pooled))
    with store.making("key") as connection:
        inside.set()
        store.put_in(connection, "key", StoredBuild(b"built", False))
    waiting.join(60)

    assert found == [StoredBuild(b"built", False)]


def test_index_in_the_database_is_made_and_searched(pooled):
    pytest.importorskip("pgvector", reason="needs the extra postgres")
    from intentmatch.index import load_index
    from intentmatch.storage.postgres.address import Address

    vectors = np.eye(8, dtype=np.float32)
    index = load_index("pgvector", vectors, list(range(8)), "mean2", database=Address.parse(pooled))

    for row in range(8):
        assert index.search(vectors[row], 1)[0].tolist() == [row]
    assert not index._failing
