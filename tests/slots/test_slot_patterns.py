"""Regular expressions: matches and time limits."""

from __future__ import annotations

import contextlib
import logging
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import found

from intentmatch.core.types import Slot
from intentmatch.slots.message import Find, Message
from intentmatch.slots.patterns import SECONDS_IN_ALL, PatternFinder


def finder(*patterns: str) -> Find:
    return PatternFinder(Slot("code", "pattern", patterns=patterns)).find


@pytest.mark.parametrize(
    ("patterns", "text", "expected"),
    [
        ((r"[A-Z]{2}-\d{4}",), "order ab-1234 or XY-9999.", {"ab-1234": "ab-1234", "XY-9999": "XY-9999"}),
        ((r"(?-i:[A-Z]{2})-\d{4}",), "order ab-1234 or XY-9999.", {"XY-9999": "XY-9999"}),
        ((r"order\s+(?P<value>\d+)",), "order 12, order  34", {"12": "12", "34": "34"}),
        ((r"(?P<value>\d+)|none",), "none or 5", {"none": "none", "5": "5"}),
        ((r"\d{3}", r"[a-z]\d"), "b7 and 123", {"b7": "b7", "123": "123"}),
        ((r"\d+",), "٣٤٥ １２", {"٣٤٥": "٣٤٥", "１２": "１２"}),
        ((r"x*",), "abc", {}),
        ((r"\bcaf\w",), "un cafe\u0301!", {"cafe\u0301": "cafe\u0301"}),
        (("👩",), "a 👩\u200d🚀", {"👩\u200d🚀": "👩\u200d🚀"}),
        ((r"(?<=№ )\d+",), "№ 7", {"7": "7"}),
        ((r"K-?\d{5}",), "K-402134, xK40213, 7K-40213", {"K40213": "K40213", "K-40213": "K-40213"}),
        ((r"\d{3}",), "1234 567", {"567": "567"}),
        ((), "12", {}),
    ],
)
def test_pattern_finds_matches_or_their_group_value(patterns, text, expected):
    """A match never splits a character; case does not matter."""
    assert found(finder(*patterns), text) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(a|aa)+$",
        r"(a|a?)+$",
        r"^(([a-z])+.)+[A-Z]([a-z])+$",
        r"([a-z]+)*\1!",
        r"(?:a?){500}a{500}b",
        r"(?R)",
        r"(?:(a+)+){e<=3}b$",
        r"(.*){1,9}x.*y",
        r"(?=(a+)+$)b|(a*)*c",
    ],
)
def test_backtracking_pattern_times_out(pattern, caplog):
    """The trace and the log note it."""
    message = Message("a" * 10_000 + "!", "en")
    catastrophic = finder(pattern)
    start = time.thread_time()

    hits = catastrophic(message)

    assert time.thread_time() - start < 10.0
    assert bool(message.remarks) == bool(caplog.records)
    assert not (hits and message.remarks)
    for record in caplog.records:
        assert record.levelno == logging.WARNING
        assert pattern in record.getMessage()


def test_timed_out_pattern_finds_nothing_and_leaves_a_remark():
    message = Message("a" * 10_000 + "!", "en")

    assert finder(r"(a+)+$")(message) == []
    assert message.remarks == ["a pattern of slot code timed out: (a+)+$"]


def test_slow_patterns_share_the_time_limit_of_a_message():
    message = Message("a" * 10_000 + "!", "en")
    slow = finder(*[rf"(a+)+{chr(98 + number)}?$" for number in range(20)])
    start = time.thread_time()

    slow(message)

    assert time.thread_time() - start < 100 * SECONDS_IN_ALL
    assert message.seconds_on_patterns < 20 * SECONDS_IN_ALL
    assert len(message.remarks) == 20


@given(st.text(st.sampled_from("ab()[]{}?*+|.\\^$1,<>P:=!e")), st.text("ab1 ", max_size=30))
def test_any_pattern_compiles_or_raises_value_error(pattern, text):
    with contextlib.suppress(ValueError):
        for hit in finder(pattern)(Message(text, "en")):
            assert text[hit.start : hit.end] == hit.value
