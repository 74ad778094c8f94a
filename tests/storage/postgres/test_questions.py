"""Open questions of conversations: kept for a time, taken once."""

from __future__ import annotations

import threading

import pytest

from intentmatch.core.erasure import Erasure
from intentmatch.dialogue import Dialogue, MemoryStore, Store
from intentmatch.matching.matcher import Matcher


@pytest.fixture(params=["memory", "database"])
def store(request):
    """Both stores of this package obey the same contract."""
    if request.param == "memory":
        return MemoryStore()
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    from intentmatch.storage.postgres.questions import QuestionStore

    return QuestionStore(request.getfixturevalue("postgres_address"))


@pytest.mark.parametrize("conversation", ["ann", "lone \ud800", "nul \0", "x" * 3000, ""])
def test_text_is_taken_once(store, conversation):
    assert isinstance(store, Store)
    store.put(conversation, "first", 60)
    store.put(conversation, "second ü", 60)

    assert store.pop("another") is None
    assert store.pop(conversation) == "second ü"
    assert store.pop(conversation) is None


def test_text_expires(store):
    store.put("ann", "text", 0.0)

    assert store.pop("ann") is None


def test_one_of_many_takes_it(store):
    store.put("ann", "text", 60)
    found = []
    threads = [threading.Thread(target=lambda: found.append(store.pop("ann"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(filter(None, found)) == ["text"]


def test_expired_texts_are_removed(postgres_address):
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.questions import QuestionStore

    QuestionStore(postgres_address).put("old", "text", 0.0)
    QuestionStore(postgres_address).put("new", "text", 60)
    with Database(postgres_address).rows() as connection:
        count = connection.execute(
            "SELECT count(*) FROM intentmatch.questions WHERE bot = current_setting('app.bot')"
        ).fetchone()
    assert count == (1,)


def test_conversation_goes_on_in_another_process(postgres_address, tmp_path):
    from intentmatch.storage.postgres.questions import QuestionStore

    (tmp_path / "a.yaml").write_text(
        "intents:\n  close: {utterances: {en: [close my account]}, confirm: true, response: {en: Closed.}}\n"
    )
    matcher = Matcher.load(tmp_path)
    Dialogue(matcher, store=QuestionStore(postgres_address)).take("close my account", "ann")
    turn = Dialogue(matcher, store=QuestionStore(postgres_address)).take("yes", "ann")

    assert turn.reply == "Closed."


def test_texts_that_quote_a_message_are_erased(store):
    store.put("ann", '{"message": "call Bob \\u00dcbel"}', 60)
    store.put("ben", '{"message": "call Anna"}', 60)

    assert store.erase(Erasure(contains="bob übel"), ("be", "other")) == 0
    assert store.erase(Erasure(contains="bob übel")) == 1
    assert store.pop("ann") is None
    assert store.pop("ben") is not None
