"""Numbers beside units."""

from __future__ import annotations

import re
import time

import pytest

from intentmatch.slots.days import find_dates
from intentmatch.slots.message import Find, Message, plain
from intentmatch.slots.moments import find_moments
from intentmatch.slots.numbers import numbers
from intentmatch.slots.quantities import Units
from intentmatch.slots.reader import FINDERS as KINDS
from intentmatch.slots.word_patterns import any_of


def test_numbers_are_those_in_digits_in_words_and_before_letters():
    message = Message("2 and 2.5 million, twenty one, 1h, 三", "en")

    assert [(message.text[one.start : one.end], one.value) for one in numbers(message)] == [
        ("2", 2),
        ("2.5 million", 2_500_000.0),
        ("twenty one", 21),
        ("1", 1),
        ("三", 3),
    ]
    assert numbers(message) is numbers(message)


@pytest.mark.parametrize("many", [60, 900])
def test_a_repeated_million_is_no_number_of_any_size(many):
    """One of 318 digits could not be made a number of hours."""
    message = Message(f"{'million ' * many}hours", "en")

    assert max(one.value for one in numbers(message)) < 10**18
    assert all(hit.end <= len(message.text) for find in KINDS.values() for hit in find(message))


def test_units_stand_behind_or_before_a_number():
    units = Units({"km": "kilometre", "kilómetros": "kilometre"}, {"€": "euro"})

    def read(text: str) -> list[tuple[str, float, str]]:
        return [(text[one.start : one.end], one.value, one.unit) for one in units.find(Message(text, "es"))]

    assert read("5 km y 3 kilometros, €7 kmh") == [
        ("5 km", 5, "kilometre"),
        ("3 kilometros", 3, "kilometre"),
        ("€7", 7, "euro"),
    ]
    assert read("5 kmh 5 €") == []
    assert read("-€7") == [("-€7", -7, "euro")]
    assert read("5 a 7 km, €7-9") == [
        ("5", 5, "kilometre"),
        ("7 km", 7, "kilometre"),
        ("€7", 7, "euro"),
        ("9", 9, "euro"),
    ]
    assert read("5 km y medio") == [("5 km y medio", 5.5, "kilometre")]


def test_any_of_prefers_long_words_and_keeps_to_whole_words():
    pattern = re.compile(any_of(["un", "un'", "one", "one two", "$", "周", "周末"]))

    assert pattern.findall("un un'ora one two ones $5 周末周") == ["un", "un'", "one two", "$", "周末", "周"]
    assert re.search(any_of([]), "a") is None


def test_plain_text_keeps_its_length():
    text = "ÀÉ ½ ﬁ Ⅻ İıŞ ß １２ ٣ ’ \u00a0 한글 が"

    assert len(plain(text)) == len(text)
    assert plain("Ñandú １２ ٣’") == "nandu 12 3'"
    assert plain("ABC") == "abc"


FINDERS: dict[str, Find] = {**KINDS, "date": find_dates, "datetime": find_moments}


@pytest.mark.full_length  # the short form is tests/hardening/test_long_messages.py
@pytest.mark.parametrize("kind", FINDERS)
def test_time_grows_with_the_length_of_the_message(kind):
    """Ten times the text may take at most thirty times as long: quadratic work would take a hundred times."""
    texts = [
        "1 ",
        "1",
        "a@",
        "a.",
        "€5 ",
        "5 minutes ",
        "monday to friday at 8 ",
        "下周一早上8点",
        "(1)-",
        "www.",
        "ab1",
    ]

    def is_quick(piece: str) -> bool:
        seconds = []
        for length in (1_000, 10_000):
            runs = []
            for _ in range(2):
                message = Message((piece * length)[:length], "en")
                assert message.tokens is not None
                start = time.thread_time()
                FINDERS[kind](message)
                runs.append(time.thread_time() - start)
            seconds.append(min(runs))
        return seconds[1] < max(30 * seconds[0], 0.1)

    for piece in texts:
        assert any(is_quick(piece) for _ in range(3)), piece
