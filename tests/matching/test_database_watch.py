"""Replicas follow the revisions of a bot, and go on answering while the database is away."""

from __future__ import annotations

import threading
import time

import pytest

from intentmatch.matching.matcher import Matcher

ORDERS = "language: en\nintents:\n  status: {utterances: [where is my order, track my parcel]}\n"
MORE = f"{ORDERS}  cancel: {{utterances: [cancel my order, call off my purchase]}}\n"


def write(address, text):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    return RegistryStore(Database(address)).write({"a.yaml": text.encode()}, author="ann", note="", expected="*")


@pytest.fixture
def bot(postgres_address):
    write(postgres_address, ORDERS)
    return postgres_address


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)


def test_replicas_follow_a_notification(bot, monkeypatch):
    """Without polling."""
    listening = threading.Event()
    monkeypatch.setattr("intentmatch.storage.postgres.notices.Notices._poll", lambda notices: listening.set())
    replicas = [Matcher.load(bot) for _ in range(2)]
    watches = [replica.watch() for replica in replicas]
    assert listening.wait(60)
    write(bot, MORE)
    until(lambda: all(replica.match("cancel my order").intent == "cancel" for replica in replicas))
    for watch in watches:
        watch.stop()

    assert len({replica.registry.fingerprint for replica in replicas}) == 1


def test_polling_alone_finds_a_revision(bot):
    """A pooler may drop notifications."""
    from intentmatch.storage.postgres.database import Database

    with Database(bot).transaction() as connection:
        connection.execute("ALTER TABLE intentmatch.revisions DISABLE TRIGGER tell")
    try:
        matcher = Matcher.load(bot)
        with matcher.watch():
            time.sleep(0.2)
            write(bot, MORE)
            until(lambda: "cancel" in matcher.registry)
    finally:
        with Database(bot).transaction() as connection:
            connection.execute("ALTER TABLE intentmatch.revisions ENABLE TRIGGER tell")


def test_revision_between_loading_and_watching_is_found(bot):
    matcher = Matcher.load(bot)
    write(bot, MORE)
    with matcher.watch():
        until(lambda: "cancel" in matcher.registry)


def test_invalid_revision_is_told_once_and_the_next_is_used(bot):
    problems, loaded = [], []
    matcher = Matcher.load(bot)
    with matcher.watch(on_error=problems.append, on_reload=loaded.append):
        write(bot, "intents: {status: {}}\n")
        until(lambda: problems)
        time.sleep(0.7)
        assert (len(problems), loaded) == (1, [])
        assert matcher.match("track my parcel").intent == "status"
        write(bot, MORE)
        until(lambda: loaded)
    assert "cancel" in matcher.registry


def test_answers_go_on_while_the_server_is_down_and_news_come_after(bot, postgres):
    matcher = Matcher.load(bot)
    with matcher.watch() as watch:
        until(lambda: watch.away_since is None)
        wrong, answered, stopped = [], [0], threading.Event()

        def ask() -> None:
            while not stopped.is_set():
                answered[0] += 1
                if matcher.match("track my parcel").intent != "status":
                    wrong.append(answered[0])

        asking = threading.Thread(target=ask)
        asking.start()
        before = time.time()
        postgres.stop()
        try:
            until(lambda: watch.away_since is not None)
            assert before <= watch.away_since <= time.time()
            count = answered[0]
            until(lambda: answered[0] > count + 100)
        finally:
            postgres.start()
        until(lambda: watch.away_since is None)
        write(bot, MORE)
        until(lambda: "cancel" in matcher.registry)
        stopped.set()
        asking.join(60)
    assert wrong == []


def test_stop_ends_the_threads(bot):
    watch = Matcher.load(bot).watch()
    watch.stop()
    watch.stop()

    names = {thread.name for thread in threading.enumerate()}
    assert "intentmatch-notices" not in names
    assert "intentmatch-watch" not in names


def test_many_bots_of_a_process_share_one_listener(bot, postgres):
    from intentmatch.storage.postgres.database import Database

    other = bot.replace("/bot-", "/other-bot-")
    write(other, ORDERS)
    watches = [Matcher.load(address).watch() for address in (bot, other, bot)]
    until(lambda: _listeners(Database(bot)) == 1)
    time.sleep(0.1)
    assert _listeners(Database(bot)) == 1
    for watch in watches:
        watch.stop()
    until(lambda: _listeners(Database(bot)) == 0)


def _listeners(database):
    with database.transaction() as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE query = 'LISTEN intentmatch'"
        return connection.execute(query).fetchone()[0]
