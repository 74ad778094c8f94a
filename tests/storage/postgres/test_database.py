"""Connections: kept, replaced after a restart, and explained without passwords."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading
import traceback
from unittest.mock import MagicMock

import pytest

from intentmatch.core.errors import DatabaseError


def test_connections_are_kept_and_replaced_when_the_server_ends_them(postgres):
    import psycopg

    from intentmatch.storage.postgres.database import Database

    database = Database(postgres.url())
    with database.transaction() as connection:
        first = connection.info.backend_pid
    with database.transaction() as connection:
        assert connection.info.backend_pid == first
    with psycopg.connect(postgres.url()) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [first])
    other.close()
    with database.transaction() as connection:
        assert connection.info.backend_pid != first
    database.close()


def test_error_in_a_transaction_undoes_everything(postgres):
    from intentmatch.storage.postgres.database import Database

    database = Database(postgres.url())

    def fail() -> None:
        with database.transaction() as connection:
            connection.execute("CREATE TABLE public.undone (a int)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with database.transaction() as connection:
        assert connection.execute("SELECT to_regclass('public.undone')").fetchone() == (None,)
    database.close()


def test_one_caller_at_a_time_waits_for_a_server_that_does_not_answer(monkeypatch):
    psycopg = pytest.importorskip("psycopg", reason="needs the extra postgres")
    from intentmatch.storage.postgres import database as module

    now, asked, answers = [0.0], [], []

    def begin(*_):
        asked.append(now[0])
        now[0] += 5
        if not answers:
            raise psycopg.OperationalError("connection timeout expired")
        return MagicMock(closed=True)

    def call():
        try:
            with database.transaction():
                return True
        except DatabaseError:
            return False

    monkeypatch.setattr(module, "time", MagicMock(monotonic=lambda: now[0]))
    monkeypatch.setattr(module.Database, "_begin", begin)
    database = module.Database("postgresql://nobody@silent.test/bots/shop")

    assert not any(call() for _ in range(40))
    assert asked == [0.0]
    now[0] += 2
    assert not any(call() for _ in range(40))
    assert asked == [0.0, 7.0]
    now[0] += 2
    answers.append(True)
    assert all(call() for _ in range(3))


def test_threads_have_a_connection_each(postgres):
    from intentmatch.storage.postgres.database import Database

    database, seen, both = Database(postgres.url()), set(), threading.Barrier(2, timeout=60)

    def work() -> None:
        with database.transaction() as connection:
            both.wait()
            seen.add(connection.info.backend_pid)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert len(seen) == 2
    database.close()


def _pid(address, queue):
    with address.transaction() as connection:
        queue.put(connection.info.backend_pid)


def test_fork_opens_connections_of_its_own(postgres):
    from intentmatch.storage.postgres.database import Database

    database, context = Database(postgres.url()), multiprocessing.get_context("fork")
    with database.transaction() as connection:
        mine = connection.info.backend_pid
    queue = context.Queue()
    child = context.Process(target=_pid, args=(database, queue))
    child.start()

    assert queue.get(timeout=60) != mine
    child.join(60)
    with database.transaction() as connection:
        assert connection.info.backend_pid == mine
    database.close()


@pytest.mark.parametrize(
    "address",
    [
        "postgres://ann:hunter2secret@127.0.0.1:1/db/shop",
        "postgres://ann:hunter2secret@127.0.0.1:x/db/shop",
        "postgres://ann@127.0.0.1:1/db/shop?password=hunter2secret&nonsense=1",
        "postgres://ann:hunter2secret@[::1/db/shop",
    ],
)
def test_no_error_shows_the_password(address):
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    from intentmatch.storage.postgres.database import Database

    try:
        with Database(address).transaction():
            pass
    except (DatabaseError, ValueError) as error:
        shown = "".join(traceback.format_exception(error)) + repr(error)
        assert "hunter2secret" not in shown
    else:
        raise AssertionError("there is no such server")


def test_password_is_used_and_a_wrong_one_is_not_repeated(postgres):
    from postgres_server import PASSWORD

    from intentmatch.storage.postgres.database import Database

    with Database(postgres.tcp_url()).transaction() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    wrong = postgres.tcp_url().replace("s3cret", "wr0ng")
    with pytest.raises(DatabaseError, match="password authentication failed") as caught, Database(wrong).transaction():
        pass
    assert PASSWORD not in str(caught.value)
    assert "wr0ng" not in str(caught.value)


def test_light_core_imports_no_psycopg():
    code = "import sys, intentmatch.cli, intentmatch.matching.matcher; sys.exit('psycopg' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
