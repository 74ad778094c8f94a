"""The inbox in PostgreSQL does as the inbox in a file: each test runs for both."""

from __future__ import annotations

import threading
import time

import pytest
from results import result

from intentmatch.core.errors import InputError
from intentmatch.core.settings import resolve
from intentmatch.inbox import Inbox

DAY = 86_400.0


def texts(inbox):
    return [message.text for message in inbox.messages()]


def record(place, *messages, **options):
    inbox = Inbox(place, **options)
    for message in messages:
        inbox.record(result(message))
    assert inbox.flush()
    return inbox


def test_messages_are_counted_and_kept_in_order(place, clock):
    record(place, "first thing", "second thing")
    clock[0] += 60
    inbox = record(place, "First thing!")

    assert [(one.text, one.count) for one in inbox.messages()] == [("first thing", 2), ("second thing", 1)]
    assert inbox.messages()[0].last.timestamp() == clock[0]
    assert inbox.messages()[0].first.timestamp() == clock[0] - 60


def test_personal_data_is_redacted_and_hashes_keep_no_text(place):
    inbox = record(place, "mail ann@example.org the bill")

    assert "ann@" not in texts(inbox)[0]


def test_inbox_of_hashes(place):
    assert texts(record(place, "a secret thing", mode="hashed")) == [None]


def test_mode_of_an_inbox_stays(place, caplog):
    record(place, "one thing")
    record(place, "another thing", mode="plain")

    assert "messages are not kept" in caplog.text
    assert "has the mode redacted" in caplog.text
    assert texts(Inbox(place)) == ["one thing"]


def test_added_messages_are_given_back_and_ignored_ones_stay_away(place):
    inbox = record(place, "one thing", "another thing", "a third thing")
    kept = {message.text: message for message in inbox.messages()}
    inbox.handle([kept["one thing"]], "added")
    inbox.handle([kept["another thing"]], "ignored")
    assert texts(inbox) == ["a third thing"]

    assert inbox.reopen(["one thing", "another thing", "no such thing"]) == 1

    assert sorted(texts(inbox)) == ["a third thing", "one thing"]
    assert inbox.reopen(["one thing"]) == 0


def test_corrections_are_counted_and_reopen_a_message(place):
    inbox = record(place, "one thing")
    inbox.handle(inbox.messages(), "ignored")
    assert inbox.messages() == []
    record(place, "one thing")
    assert inbox.messages() == []
    for intent in ("cancel", "cancel", None):
        inbox.correct("one thing", intent, "en")
    (message,) = inbox.messages()

    assert message.corrections == {None: 1, "cancel": 2}
    assert message.text == "one thing"


def test_messages_and_corrections_follow_a_renamed_intent(place):
    """Another intent whose name contains the old one keeps its name; corrections for both names are added up."""
    inbox = Inbox(place)
    inbox.rename_intent("status", "where")  # before the first message
    inbox.record(result("one thing", "ambiguous", nearest=("order_status", "status")))
    for intent in ("status", "status", "where", "order_status", None):
        inbox.correct("one thing", intent)

    inbox.rename_intent("status", "where")

    (message,) = inbox.messages()
    assert message.intents == ("order_status", "where")
    assert message.corrections == {None: 1, "order_status": 1, "where": 3}


def test_number_of_messages_is_limited(place, clock):
    for number in range(5):
        clock[0] += 1
        record(place, f"message about topic {'abcde'[number]}", messages=3)

    assert texts(Inbox(place, messages=3)) == [f"message about topic {letter}" for letter in "cde"]


def test_old_messages_are_hidden_and_deleted(place, clock):
    record(place, "old thing", days=1)
    clock[0] += 2 * DAY
    inbox = record(place, "new thing", days=1)

    assert texts(inbox) == ["new thing"]
    assert texts(Inbox(place, days=90)) == ["new thing"]


@pytest.mark.parametrize("text", ["nul \0 thing", "lone \ud800 thing", "long " * 1000, "мова 🎉"])
def test_any_text_is_kept(place, text):
    inbox = record(place, text)
    inbox.correct(text, "cancel")

    (message,) = inbox.messages()
    assert message.text
    assert message.corrections == {"cancel": 1}


def test_two_replicas_write_the_same_messages(place):
    messages = [f"message about topic {letter}" for letter in "abcdefgh"]
    threads = [
        threading.Thread(target=record, args=[place, *order]) for order in (messages, messages[::-1], messages[3:])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sum(one.count for one in Inbox(place).messages()) == 21


def test_one_of_two_replicas_checks_for_drift(place):
    one, two = record(place, "one thing"), record(place, "one thing")

    assert one.drift() is None
    assert [one.claim_drift(100.0), two.claim_drift(100.0), two.claim_drift(200.0), one.claim_drift(100.0)] == [
        True, False, True, False,
    ]  # fmt: skip
    two.put_drift({"checked": 1.0, "messages": 2, "text": "more of one thing", "findings": []}, time.time())
    assert one.drift() == {"checked": 1.0, "messages": 2, "text": "more of one thing", "findings": []}


def test_messages_from_ahead_of_the_clock_do_not_stay_longer_than_others(place, clock):
    right = clock[0]
    clock[0] += 4000 * DAY
    record(place, "under a wrong clock", days=1)
    clock[0] = right
    for hours in range(3):
        clock[0] = right + hours * 3601
        inbox = record(place, "a new thing", days=1)

    assert texts(inbox) == ["a new thing"]
    assert len(inbox.sampled()) == 0


def test_messages_from_ahead_of_the_clock_keep_no_new_ones_away(place, clock):
    clock[0] += DAY
    record(place, "first thing", "second thing", messages=2)
    clock[0] -= DAY
    inbox = record(place, "a new thing", messages=2)

    assert "a new thing" in texts(inbox)
    assert len(texts(inbox)) == 2


def test_check_for_drift_goes_on_after_the_clock_was_set_back(place):
    inbox = record(place, "one thing")
    due = 100 * DAY

    assert inbox.claim_drift(due + 40 * DAY), "while the clock was wrong"
    assert [inbox.claim_drift(due), inbox.claim_drift(due), inbox.claim_drift(due + DAY)] == [True, False, True]
    assert not inbox.claim_drift(due), "by a replica whose clock is a little behind"


def test_setting_names_the_database_of_the_bot(postgres_address):
    from intentmatch.storage.postgres.address import address_of

    settings = resolve({"inbox": "database"})
    address = address_of(postgres_address)

    assert Inbox.from_settings(settings, address).path == address
    with pytest.raises(InputError, match="needs a bot in PostgreSQL"):
        Inbox.from_settings(settings)


def test_lost_database_delays_and_breaks_nothing(caplog):
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    inbox = record("postgres://ann:hunter2secret@127.0.0.1:1/db/shop", "one thing")

    assert "messages are not kept in postgres://ann@127.0.0.1:1/db/shop" in caplog.text
    assert "hunter2secret" not in caplog.text
    assert str(inbox.path) == "postgres://ann@127.0.0.1:1/db/shop"


@pytest.fixture
def stored(postgres_address):
    """A bot in the database, and its database."""
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.registries import RegistryStore

    database = Database(postgres_address)
    RegistryStore(database).write({"a.yaml": b""}, author="ann", note="", expected="*")
    return postgres_address, database


def change_rows(database, change, *parameters):
    with database.rows() as connection:
        connection.execute(f"UPDATE intentmatch.{change} WHERE bot = %s".encode(), [*parameters, database.bot])


@pytest.mark.parametrize(
    "change",
    [
        "messages SET first = 'NaN'",
        "messages SET last = 1e300",
        "messages SET intents = '['",
        "messages SET intents = '5'",
        "sample SET time = 1e300",
        "sample SET offered = '{'",
        "sample SET probability = 0",
    ],
)
def test_row_that_no_server_writes_is_an_error_with_the_bot(stored, change):
    """Tenants write such rows by SQL: any other error would be one of the server, with a traceback in the log."""
    inbox = record(stored[0], "one thing", sample=1.0)
    change_rows(stored[1], change)

    with pytest.raises(InputError, match=r"the inbox of .* has a row that cannot be read"):
        inbox.messages() if change.startswith("messages") else inbox.sampled()


@pytest.mark.parametrize(
    "found",
    [
        *("{bad", "[1]", "null", "[" * 100_000, '{"checked": 1, "messages": [], "findings": []}'),
        *('{"checked": NaN, "messages": 1, "findings": []}', '{"checked": 1, "messages": 1, "findings": [5]}'),
    ],
)
def test_findings_that_no_server_writes_are_none(stored, found):
    """They stopped the metrics of all bots."""
    inbox = record(stored[0], "one thing")
    change_rows(stored[1], "inboxes SET drift = %s", found)

    assert inbox.drift() is None
    assert inbox.erase("one thing") == 1


def test_long_and_many_rows_that_no_server_writes_are_cut(stored):
    inbox = record(stored[0], "one", "two", "three", messages=3, sample={"share": 1.0, "messages": 3})
    more = {"messages": "first, last, count", "sample": "verdict, probability, priority, chance, time"}
    for table, columns in more.items():
        change_rows(stored[1], f"{table} SET text = repeat('x', 5000)")
        with stored[1].rows() as connection:
            connection.execute(
                f"INSERT INTO intentmatch.{table} (bot, key, {columns}) SELECT bot, key || int4send(n), {columns} "
                f"FROM intentmatch.{table}, generate_series(1, 50) AS n WHERE bot = %s".encode(),
                [stored[1].bot],
            )

    for found in (inbox.messages(), inbox.sampled()):
        assert len(found) == 3
        assert {len(one.text or "") for one in found} <= {0, 1000}
