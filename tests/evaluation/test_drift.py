"""Drift: bounded false alarms on shuffled logs, and a new kind of message is found."""

from __future__ import annotations

import itertools
import random
from datetime import datetime, timedelta, timezone
from math import comb

import pytest

from intentmatch import Matcher
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.evaluation.drift import (
    FALSE_ALARMS_PER_DAY,
    Answered,
    Drift,
    _share_of_level,
    _tail,
    answered,
    find_drift,
    split_last_day,
)

START = datetime(2026, 11, 1, tzinfo=timezone.utc)


def message(text: str, intent: str | None = "status", language: str = "en", confidence: float = 0.9) -> Answered:
    return Answered(text, START, "matched" if intent else "out_of_scope", intent, language, confidence)


def log(draw: random.Random, size: int) -> list[Answered]:
    """Messages of eight intents and two languages, with words of very different frequency."""
    words, intents = [f"w{number}" for number in range(60)], [f"i{number}" for number in range(8)]
    rare = [1 / (number + 2) for number in range(60)]
    return [
        message(
            " ".join(draw.choices(words, rare, k=4)),
            draw.choices([*intents, None], [5, 4, 3, 2, 1, 1, 0.5, 0.2, 2])[0],
            draw.choices(["en", "de"], [9, 1])[0],
            round(draw.random(), 2),
        )
        for _ in range(size)
    ]


def alarms(level: float, shuffles: int) -> int:
    draw = random.Random(0)
    messages, found = log(draw, 330), 0
    for _ in range(shuffles):
        draw.shuffle(messages)
        found += bool(find_drift(messages[:30], messages[30:], false_alarms=level).findings)
    return found


def test_shuffled_logs_raise_no_more_alarms_than_the_level_says() -> None:
    """At most one a day in 31; at a level of a half more do, so that the test could see a level that is exceeded."""
    # With the level exact, more than 8 of 60 would come about once in 5,000 times.
    assert alarms(FALSE_ALARMS_PER_DAY, 60) <= 8
    assert 0 < alarms(0.5, 20) <= 16


@pytest.mark.parametrize("kind", ["one word", "own words", "an intent", "a language"])
def test_new_kind_is_found_within_500_messages(kind: str) -> None:
    """5% of 500 messages: 25 messages of a kind that was not there before."""
    draw = random.Random(1)
    messages = log(draw, 2475)
    changed = [
        {
            "one word": lambda n: message(f"voucher w{n % 9} w3", None, confidence=0.5),
            "own words": lambda n: message(f"n{n} m{n} o{n}", None, confidence=0.2),
            "an intent": lambda n: message(f"w{n} w1", "i7"),
            "a language": lambda n: message(f"w{n} w1", "i0", "fr"),
        }[kind](n)
        for n in range(25)
    ]

    assert find_drift([*messages[:475], *changed], messages[475:]).findings


def test_lower_confidences_are_found() -> None:
    before = [message("where is it", confidence=number / 400) for number in range(400)]
    last = [message("where is it", confidence=number / 200) for number in range(100)]

    assert {finding.kind for finding in find_drift(last, before).findings} == {"confidence"}
    assert find_drift(last, before).findings[0].text.startswith("a confidence below ")


def test_finding_says_what_changed_with_messages() -> None:
    before = [message("where is it", "status")] * 280 + [message("cancel it", "order_cancel")] * 20
    last = [message("where is it", "status")] * 80 + [message("cancel it", "order_cancel")] * 12
    last += [message("please cancel it", "order_cancel")] * 8

    found = {finding.kind: finding for finding in find_drift(last, before).findings if finding.name == "order_cancel"}

    assert found["intent"].text == (
        "order_cancel is asked 3.0 times as often (20.0% of the messages, 6.7% before), by messages such as "
        "“cancel it”, “please cancel it”"
    )
    assert (found["intent"].now, found["intent"].before) == (20, 20)


def test_what_is_gone_or_rarer_is_told_without_messages() -> None:
    before = [message("a", "status")] * 200 + [message("b", "cancel", "de")] * 200
    last = [message("a", "status")] * 95 + [message("b", "cancel", "en")] * 5

    texts = {finding.kind: finding.text for finding in find_drift(last, before).findings if finding.name != "status"}

    assert texts["language"].startswith("messages come in ")
    gone = next(f for f in find_drift(last, before).findings if f.name == "de")
    assert gone.text == "messages come in de no longer (0.0% of the messages, 50.0% before)"
    rarer = next(f for f in find_drift(last, before).findings if f.name == "cancel")
    assert rarer.text == "cancel is asked only 10% as often (5.0% of the messages, 50.0% before)"


@pytest.mark.parametrize(("last", "before"), [([], []), ([message("a")], []), ([], [message("a")])])
def test_nothing_to_compare_finds_nothing(last: list[Answered], before: list[Answered]) -> None:
    assert find_drift(last, before) == Drift(len(last), len(before), ())


def test_tail_is_that_of_the_hypergeometric_distribution() -> None:
    for with_it, others, size, other_size in itertools.product((0, 1, 3), (0, 2, 4), (3, 5), (4, 8)):
        total, every = with_it + others, size + other_size
        exact = sum(
            comb(total, k) * comb(every - total, size - k) for k in range(with_it, min(total, size) + 1)
        ) / comb(every, size)
        assert _tail(with_it, others, size, other_size) == pytest.approx(exact)


def test_properties_that_cannot_be_significant_take_no_share() -> None:
    """Fifty words that a single message has leave the level to the one word that is frequent."""
    alone = _share_of_level({40: 1}, (50, 500), 0.05)

    assert alone == _share_of_level({40: 1, 1: 50}, (50, 500), 0.05)
    assert _share_of_level({40: 10}, (50, 500), 0.05) < alone


def test_last_day_ends_with_the_newest_message() -> None:
    hours = [Answered("a", START + timedelta(hours=n), "matched", "i", "en", 0.9) for n in range(100)]

    last, before = split_last_day(hours, days=2)

    assert (len(last), len(before)) == (24, 48)
    assert min(one.time for one in last) > max(one.time for one in before)
    assert split_last_day([]) == ([], [])


def test_messages_are_answered_by_the_intents_in_use() -> None:
    registry = Registry(
        (Intent("greet", (Utterance("hello there", "en"),)), Intent("bye", (Utterance("see you", "en"),)))
    )

    found = answered(Matcher.load(registry, cache="off"), [("hello there", START), ("hello there", START)])

    assert [(one.verdict, one.intent, one.language, one.time) for one in found] == [
        ("matched", "greet", "en", START)
    ] * 2
