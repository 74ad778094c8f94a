"""The random sample of all answers: which are drawn, what is kept, and the judgements, in both stores."""

from __future__ import annotations

import random
import sqlite3

import pytest
from results import result

from intentmatch.core.errors import InputError, SettingsError
from intentmatch.core.result import Stage, Trace
from intentmatch.core.settings import resolve
from intentmatch.inbox import Inbox
from intentmatch.inbox.sample import LEAST_PRIORITY, draw, priority_of

DAY = 86_400.0


def matched(message, **other):
    return result(message, "matched", **{"confidence": 0.95, **other})


def record(place, *found, **options):
    inbox = Inbox(place, **{"sample": 1.0, **options})
    for one in found:
        inbox.record(one)
    assert inbox.flush()
    return inbox


def test_understood_messages_are_in_the_sample_and_not_among_the_misses(place, clock):
    inbox = record(place, matched("where is it", language="en"), result("nice day", nearest=("a", "b")))

    first, second = inbox.sampled()
    assert (first.text, first.verdict, first.intent, first.language) == ("where is it", "matched", "status", "en")
    assert (first.probability, first.confidence, first.time.timestamp()) == (1.0, 0.95, clock[0])
    assert (second.text, second.intent, second.nearest) == ("nice day", None, ("a",))
    assert [one.text for one in inbox.messages()] == ["nice day"]


def test_every_answer_is_a_row_and_answers_to_a_message_share_its_key(place):
    rows = record(place, matched("where is it"), matched("Where is it?"), matched("cancel it")).sampled()

    assert [one.text for one in rows] == ["where is it", "Where is it?", "cancel it"]
    assert rows[0].key == rows[1].key != rows[2].key
    assert rows[0].chance != rows[1].chance


def test_sample_is_off_by_default(place):
    assert record(place, matched("where is it"), result("nice day"), sample=0.0).sampled() == []


def test_share_of_the_answers_is_drawn_with_its_probability(place, monkeypatch):
    source = random.Random(4)
    monkeypatch.setattr(random, "random", source.random)
    rows = record(place, *(matched(f"message number {chr(97 + i % 26)}{i}") for i in range(200)), sample=0.25).sampled()

    assert 30 <= len(rows) <= 70
    assert {one.probability for one in rows} == {0.25}


def test_mode_of_the_inbox_holds_for_the_sample(place):
    (row,) = record(place, matched("mail ann@example.org the bill")).sampled()

    assert row.text == "mail ‹email› the bill"


def test_hashed_sample_has_no_text(place):
    assert [one.text for one in record(place, matched("a secret thing"), mode="hashed").sampled()] == [None]


def test_messages_without_words_are_not_sampled(place):
    assert record(place, matched("12345"), matched("¿?"), matched("hello")).sampled()[0].text == "hello"


def test_follow_ups_are_neither_sampled_nor_missed(place):
    followed = Trace((Stage("follow_up", "“and” refers to it", 0.0),), "follow_up", 0.38, "learned", "")
    inbox = record(place, matched("and tomorrow?", confidence=0.5, trace=followed), matched("hello", confidence=0.5))

    assert [one.text for one in inbox.sampled()] == ["hello"]
    assert [one.text for one in inbox.messages()] == ["hello"]


def test_number_of_answers_is_bounded_and_the_newest_stay(place, clock):
    inbox = Inbox(place, sample={"share": 1, "messages": 3})
    for text in "abcdef":
        inbox.record(matched(f"message {text}"))
        clock[0] += 1
    inbox.flush()

    assert [one.text for one in inbox.sampled()] == ["message d", "message e", "message f"]


def test_answers_from_ahead_of_the_clock_go_first(place, clock):
    sample = {"share": 1, "messages": 2}
    clock[0] += DAY
    record(place, matched("message a"), matched("message b"), sample=sample)
    clock[0] -= DAY
    inbox = record(place, matched("message c"), sample=sample)

    assert [one.text for one in inbox.sampled()] == ["message c", "message b"]


def test_old_answers_are_hidden_and_deleted_a_few_at_a_time(place, clock):
    record(place, *(matched(f"old message {letter}") for letter in "abcde"), days=2)
    clock[0] += 3 * DAY
    inbox = record(place, matched("a new message"), days=2)

    assert [one.text for one in inbox.sampled()] == ["a new message"]
    clock[0] -= 3 * DAY
    assert len(Inbox(place, days=2).sampled()) == 5  # one was deleted, four are hidden, one is new


def test_judgement_is_for_all_answers_to_a_message_and_for_those_to_come(place):
    inbox = record(place, matched("where is it"), matched("cancel it"), matched("Where is it?"))
    number = inbox.sampled()[0].id
    inbox.judge(number, "meant", "refund")
    inbox.record(matched("where is it"))

    assert [(one.judged, one.expected) for one in inbox.sampled()] == [
        ("meant", "refund"),
        (None, None),
        ("meant", "refund"),
        ("meant", "refund"),
    ]
    inbox.judge(number, "meant")
    assert (inbox.sampled()[0].judged, inbox.sampled()[0].expected) == ("meant", None)
    inbox.judge(number, None)
    assert {one.judged for one in inbox.sampled()} == {None}


def test_answers_and_judgements_follow_a_renamed_intent(place):
    inbox = record(place, matched("where is it"), result("nice day", "ambiguous", nearest=("cancel", "status")))
    first, _ = inbox.sampled()
    inbox.judge(first.id, "meant", "status")

    inbox.rename_intent("status", "where")

    first, second = inbox.sampled()
    assert (first.intent, first.nearest, first.expected) == ("where", ("where",), "where")
    assert (second.intent, second.nearest, second.expected) == (None, ("cancel", "where"), None)


def test_unknown_answer_cannot_be_judged(place):
    inbox = record(place, matched("where is it"))

    with pytest.raises(InputError, match="the sample has no answer 99000: it may have been deleted"):
        inbox.judge(99_000, "skipped")  # numbers of a database count on over all bots


def test_file_of_an_earlier_release_has_an_empty_sample_until_it_is_written(tmp_path):
    file = tmp_path / "inbox.sqlite"
    record(file, result("nice day"), sample=0.0)
    database = sqlite3.connect(file)
    database.execute("DROP TABLE sample")
    database.close()

    assert Inbox(file).sampled() == []
    with pytest.raises(InputError, match="has no answer 1"):
        Inbox(file).judge(1, "skipped")
    assert [one.text for one in record(file, matched("where is it")).sampled()] == ["where is it"]


def test_inbox_without_a_file_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="there is no inbox at"):
        Inbox(tmp_path / "none.sqlite").sampled()


def test_setting_opens_the_sample(tmp_path):
    settings = resolve({"inbox": str(tmp_path / "a.sqlite"), "inbox_sample": "share=1,messages=2"}, environ={})
    inbox = Inbox.from_settings(settings)
    for text in ("first thing", "second thing", "third thing"):
        inbox.record(matched(text))
    inbox.flush()

    assert [one.text for one in inbox.sampled()] == ["second thing", "third thing"]


def test_sample_must_be_a_share(tmp_path):
    with pytest.raises(SettingsError, match="must be a number from 0 to 1"):
        Inbox(tmp_path / "a.sqlite", sample=1.5)


def trace(threshold):
    return Trace((), "dense", threshold, "learned", "because.")


@pytest.mark.parametrize(
    ("certain", "doubtful"),
    [
        (matched("x", confidence=0.99, score=1.0), matched("x", confidence=0.6, score=1.0)),
        (result("x", in_scope=0.05, score=0.9), result("x", in_scope=0.4, score=0.9)),
        (matched("x", confidence=0.95, score=0.95), matched("x", confidence=0.95, score=0.4)),
        (
            matched("x", confidence=None, score=0.9, trace=trace(0.4)),
            matched("x", confidence=None, score=0.9, trace=trace(0.85)),
        ),
    ],
    ids=["unsure", "nearly in scope", "of a new kind", "near the threshold"],
)
def test_doubtful_answers_have_priority(certain, doubtful):
    assert LEAST_PRIORITY <= priority_of(certain) < priority_of(doubtful) <= 1.0


def test_priorities_have_bounds():
    assert priority_of(matched("x", confidence=1.0, score=1.0)) == LEAST_PRIORITY
    assert priority_of(result("x", in_scope=0.5, score=-0.3)) == 1.0
    assert priority_of(result("", confidence=None, trace=trace(None))) == 1.0


def test_nothing_is_drawn_with_probability_zero():
    assert draw(matched("x"), 0.0) is None
    assert draw(matched("x"), 1.0).probability == 1.0
