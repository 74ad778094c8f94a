"""Revisions in the database: text as it is, one transaction with its condition, and one bot apart from another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from postgres_server import make_tenant

from intentmatch.core.errors import (
    ChangedMeanwhileError,
    DamagedContentError,
    DatabaseError,
    InputError,
    UnknownNameError,
)

FILES = {"shop.yaml": "language: de # ü\r\nintents: {}\n".encode(), "more/tax.yaml": b"\xef\xbb\xbfa: 1\n\xff"}


@pytest.fixture
def store(postgres_address):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    database = Database(postgres_address)
    yield RegistryStore(database)
    database.close()


def test_files_come_back_byte_for_byte(store):
    written = store.write(FILES, author="ann", note="first", expected=None)
    revision, files = store.read()

    assert files == FILES
    assert revision == written
    assert (revision.number, revision.parent, revision.author, revision.note) == (1, None, "ann", "first")
    assert revision.time.tzinfo is not None


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        ("UPDATE intentmatch.contents SET content = 'x' WHERE bot = %s AND content LIKE 'language%%'", "shop.yaml"),
        ("DELETE FROM intentmatch.files WHERE bot = %s AND name = 'more/tax.yaml'", ""),
        ("UPDATE intentmatch.files SET name = 'other.yaml' WHERE bot = %s AND name = 'shop.yaml'", ""),
    ],
)
def test_content_that_does_not_match_its_digest_is_refused(store, damage, place):
    revision = store.write(FILES, author="ann", note="first", expected=None)
    with store.database.rows() as connection:
        connection.execute(damage, [store.bot])
    with pytest.raises(DamagedContentError) as caught:
        store.read()

    (problem,) = caught.value.problems
    assert problem.location.path == (f"{store.bot}/{place}" if place else store.bot)
    assert "revision 1: it does not match its digest" in problem.message
    # What the hint says.
    pushed = store.write({**FILES, "shop.yaml": b"a"}, author="ann", note="again", expected="*")
    assert (pushed.parent, store.read()[1]["shop.yaml"]) == (revision.number, b"a")


def test_revisions_have_parents_and_stay_readable(store):
    first = store.write(FILES, author="ann", note="first", expected=None)
    second = store.write({"shop.yaml": b"a"}, author="bob", note="second", expected=first.digest)

    assert [one.number for one in store.revisions()] == [2, 1]
    assert [one.number for one in store.revisions(1)] == [2]
    assert second.parent == 1
    assert store.read(1) == (first, FILES)
    assert store.newest() == second


def test_same_files_make_no_revision(store):
    first = store.write(FILES, author="ann", note="first", expected=None)

    assert store.write(dict(FILES), author="bob", note="again", expected=first.digest) == first


def test_content_is_kept_once(store):
    digest = None
    for number in range(3):
        files = {**FILES, "n.yaml": str(number).encode()}
        digest = store.write(files, author=None, note="", expected=digest).digest
    with store.database.rows() as connection:
        count = connection.execute("SELECT count(*) FROM intentmatch.contents WHERE bot = %s", [store.bot]).fetchone()

    assert count == (5,)


@pytest.mark.parametrize("expected", [None, "0123456789abcdef"])
def test_stale_edit_writes_nothing(store, expected):
    store.write(FILES, author="ann", note="first", expected=None)

    with pytest.raises(ChangedMeanwhileError, match="nothing was written"):
        store.write({"shop.yaml": b"a"}, author="bob", note="late", expected=expected)
    assert store.read()[1] == FILES


def test_any_condition_overwrites(store):
    store.write(FILES, author="ann", note="first", expected="*")

    assert store.write({"a.yaml": b"a"}, author="ann", note="second", expected="*").number == 2


def test_edit_of_a_missing_bot(store):
    with pytest.raises(ChangedMeanwhileError, match="does not exist any more"):
        store.write(FILES, author="ann", note="late", expected="0123456789abcdef")
    with pytest.raises(UnknownNameError, match="unknown bot"):
        store.read()
    assert store.bot not in store.bots()


def test_unknown_revision_and_no_files(store):
    store.write(FILES, author="ann", note="first", expected=None)

    with pytest.raises(UnknownNameError, match="There are revisions 1 to 1"):
        store.read(7)
    with pytest.raises(InputError, match="at least one file"):
        store.write({}, author="ann", note="none", expected="*")


def test_file_outside_of_the_folder_is_neither_written_nor_read(store):
    with pytest.raises(InputError, match="not a valid name"):
        store.write({"../a.yaml": b"a"}, author="ann", note="", expected=None)
    store.write(FILES, author="ann", note="first", expected=None)
    with store.database.rows() as connection:
        connection.execute(
            "UPDATE intentmatch.files SET name = '../../x.yaml' WHERE name = 'shop.yaml' AND bot = %s", [store.bot]
        )

    with pytest.raises(InputError, match="not a valid name"):
        store.read()


def test_note_and_author_may_hold_any_character(store):
    written = store.write(FILES, author="a\0n\ud800", note="n\0", expected=None)

    assert (written.author, written.note) == ("a\ufffdn?", "n\ufffd")


def test_removed_bot_leaves_no_rows(store):
    store.write(FILES, author="ann", note="first", expected=None)
    store.remove()

    with pytest.raises(UnknownNameError):
        store.remove()
    with store.database.rows() as connection:
        for table in ("bots", "contents", "revisions", "files"):
            found = connection.execute(f"SELECT count(*) FROM intentmatch.{table} WHERE bot = %s", [store.bot])
            assert found.fetchone() == (0,)


def test_many_editors_at_once_lose_nothing(store):
    """Each of 4 writers adds 5 lines, and tries again when another one was quicker."""
    store.write({"a.yaml": b""}, author=None, note="first", expected=None)
    refused = []

    def edit(author: str) -> None:
        for number in range(5):
            while True:
                revision, files = store.read()
                line = f"{author}{number}\n".encode()
                try:
                    store.write({"a.yaml": files["a.yaml"] + line}, author=author, note="add", expected=revision.digest)
                    break
                except ChangedMeanwhileError:
                    refused.append(author)

    threads = [threading.Thread(target=edit, args=[name]) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    revision, files = store.read()

    assert revision.number == 21
    assert sorted(files["a.yaml"].split()) == sorted(f"{a}{n}".encode() for a in "abcd" for n in range(5))


def test_thousand_revisions(store):
    """Those between the first and the last are rows that the database makes, which takes a fraction of the time."""
    first = store.write(FILES, author="ann", note="edit 1", expected=None)
    with store.database.rows() as connection:
        connection.execute(
            "INSERT INTO intentmatch.revisions (bot, number, parent, note, digest) "
            "SELECT %s, n, n - 1, 'edit ' || n, %s FROM generate_series(2, 999) n",
            [store.bot, first.digest],
        )
        connection.execute(
            "INSERT INTO intentmatch.files SELECT bot, n, name, digest "
            "FROM intentmatch.files, generate_series(2, 999) n WHERE bot = %s",
            [store.bot],
        )
        connection.execute("UPDATE intentmatch.bots SET revision = 999 WHERE bot = %s", [store.bot])
    store.write({"a.yaml": b"last"}, author="ann", note="edit 1000", expected=first.digest)
    begun = time.monotonic()
    found, newest, old = store.revisions(1000), store.read(), store.read(500)
    took = time.monotonic() - begun

    assert [one.number for one in found] == list(range(1000, 0, -1))
    assert newest[1] == {"a.yaml": b"last"}
    assert old[1] == FILES
    assert took < 60


_KILLED = """
import sys, time
from intentmatch.storage.postgres.database import Database
from intentmatch.storage.postgres.registries import RegistryStore
database = Database(sys.argv[1])
with database.rows() as connection:
    store = RegistryStore(database)
    store.write_in(connection, {"a.yaml": b"half"}, author="ann", note="killed", expected="*")
    print("written", flush=True)
    time.sleep(60)
"""


def test_kill_in_a_write_leaves_the_revision_before(store, postgres_address):
    first = store.write(FILES, author="ann", note="first", expected=None)
    process = subprocess.Popen([sys.executable, "-c", _KILLED, postgres_address], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"written\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait(60)
    process.stdout.close()

    assert store.read() == (first, FILES)
    assert store.write({"a.yaml": b"b"}, author="bob", note="next", expected=first.digest).number == 2


def test_role_sees_the_bot_of_its_setting_only(store, postgres, postgres_address):
    """The role of `app.bot` reads and writes its own bot, and neither sees nor changes another."""
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    store.write(FILES, author="ann", note="first", expected=None)
    with store.database.transaction() as connection:
        make_tenant(connection, "tenant", store.bot)
    mine, other = (Database(postgres.url(user="tenant", more=f"/{bot}")) for bot in (store.bot, "other"))

    assert RegistryStore(mine).read()[1] == FILES
    assert RegistryStore(mine).bots() == [store.bot]
    assert RegistryStore(mine).write({"a.yaml": b"a"}, author="bob", note="mine", expected="*").number == 2
    with pytest.raises(UnknownNameError, match="known are none"):
        RegistryStore(other).read()
    with other.rows() as connection:
        for table in ("bots", "contents", "revisions", "files"):
            assert connection.execute(f"SELECT count(*) FROM intentmatch.{table}").fetchone() == (0,)
        assert connection.execute("UPDATE intentmatch.bots SET revision = 9").rowcount == 0
    with pytest.raises(DatabaseError, match="row-level security"), other.rows() as connection:
        connection.execute("INSERT INTO intentmatch.bots VALUES (%s)", ["stolen"])
    with pytest.raises(DatabaseError, match="permission denied"), mine.rows() as connection:
        connection.execute("DELETE FROM intentmatch.revisions")
    mine.close()
    other.close()


@pytest.mark.parametrize("becomes", ["", "SET ROLE intentmatch_bot", "SET SESSION AUTHORIZATION tenant"])
def test_role_cannot_choose_the_bot_of_another_tenant(store, postgres, becomes):
    """Neither by the address nor by SQL of its own, whichever table it looks into."""
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.keys import KeyStore
    from intentmatch.storage.postgres.registries import RegistryStore

    store.write(FILES, author="ann", note="first", expected=None)
    KeyStore(store.database).add(f"key of {store.bot}", "match")
    with store.database.transaction() as connection:
        make_tenant(connection, "tenant", f"{store.bot}-2")
        tables = [
            name
            for (name,) in connection.execute(
                "SELECT table_name FROM information_schema.columns WHERE table_schema = 'intentmatch' "
                "AND column_name = 'bot'"
            ).fetchall()
        ]
    thief = Database(postgres.url(user="tenant", more=f"/{store.bot}"))

    with pytest.raises(UnknownNameError):
        RegistryStore(thief).read()
    with thief.transaction() as connection:
        connection.execute(becomes)
        connection.execute("SELECT set_config('app.bot', %s, false)", [store.bot])
        for table in tables:
            rows = connection.execute(f"SELECT * FROM intentmatch.{table} WHERE bot = %s", [store.bot]).fetchall()
            assert (table, rows) == (table, [])
        connection.rollback()
    assert {"bots", "contents", "files", "keys", "messages", "questions", "sample", "tenants", "vectors"} <= {*tables}
    for statement in (
        "INSERT INTO intentmatch.tenants VALUES (current_user, '*')",
        f"INSERT INTO intentmatch.revisions (bot, number, note, digest) VALUES ('{store.bot}', 2, '', 'd')",
        f"INSERT INTO intentmatch.questions VALUES ('{store.bot}', 'c', 't', now())",
    ):
        with pytest.raises(DatabaseError, match=r"permission denied|row-level security"), thief.rows() as connection:
            connection.execute(statement)
    thief.close()


def test_role_of_all_bots_sees_each(store, postgres):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    store.write(FILES, author="ann", note="first", expected=None)
    with store.database.transaction() as connection:
        make_tenant(connection, "tenant", "*")
    server = Database(postgres.url(user="tenant", more=f"/{store.bot}"))

    assert RegistryStore(server).read()[1] == FILES
    assert RegistryStore(server).write({"b.yaml": b"b"}, author="bob", note="", expected="*").number == 2
    server.close()


def test_every_table_is_under_row_level_security(store):
    with store.database.transaction() as connection:
        rows = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'intentmatch'::regnamespace AND relkind = 'r' "
            "AND NOT relrowsecurity"
        ).fetchall()

    assert rows == [("migrations",)]
