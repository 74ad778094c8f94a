"""Numbers in digits of any script, with the separators of any country, and in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import found

from intentmatch.slots.message import Message
from intentmatch.slots.number_words import spoken_numbers
from intentmatch.slots.numbers import find_numbers
from intentmatch.slots.numerals import numbers_in_numerals, numeral


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "two, three and four", [2, 3, 4]),
        ("en", "twenty, five", [20, 5]),
        ("en", "ten five", [10, 5]),
        ("en", "nineteen ninety", [19, 90]),
        ("en", "hundred and more", [100]),
        ("de", "ein Ticket und eine Karte", []),
        ("de", "Zweifel und Achtung", []),
        ("fr", "un billet", []),
        ("tr", "bir bilet, on kişi", [10]),
        ("zh", "三明治和一个问题", []),
        ("zh", "一起吃饭", []),
        ("zh", "二三十", []),
        ("tl", "dalawampu", []),
        ("sw", "elfu kumi na tano", [10_000, 5]),
        ("sw", "elfu moja mia tisa na tisini na tisa", [1000, 999]),
        ("sw", "elfu mbili mia tano", [2500]),
        ("ms", "seribu sembilan ratus sembilan puluh sembilan", [1999]),
        ("ms", "puluh belas", []),
        (None, "seven", [7]),
        ("en", "und zwanzig", []),
    ],
)
def test_adjacent_numbers_stay_apart_and_articles_are_not_numbers(language, text, expected):
    message = Message(text, language)
    numbers = sorted([*spoken_numbers(message), *numbers_in_numerals(message)])

    assert [one.value for one in numbers if not one.is_loose] == expected


@pytest.mark.parametrize(
    ("language", "text"), [("en", "an hour and a half"), ("en", "5/3"), ("zh", "8点 二十"), ("en", "24/7")]
)
def test_parts_of_something_else_are_no_fractions(language, text):
    assert [one for one in found(find_numbers, text, language).values() if isinstance(one, float)] == []


@given(st.integers(0, 10**17))
def test_whole_number_round_trips_with_any_separator(number):
    for mark, language in (("", "en"), (",", "en"), (".", "de"), ("'", "it"), (" ", "fr"), ("\u00a0", "en")):
        text = f"{number:,}".replace(",", mark)
        assert found(find_numbers, f"take {text}, please", language) == {text: number}


@given(st.floats(0, 1e9).map(lambda number: round(number, 2)))
def test_decimal_number_round_trips_in_english_and_german(number):
    text = f"{number:,.2f}"
    german = text.translate(str.maketrans(",.", ".,"))

    assert found(find_numbers, f"pay {text}", "en") == {text: number}
    assert found(find_numbers, f"zahle {german}", "de") == {german: number}


@given(st.integers(1, 99_999_999))
def test_chinese_numerals_round_trip(number):
    assert numeral(chinese(number)) == number


def chinese(number: int) -> str:
    """Write a number in Chinese numerals."""
    if number >= 10_000:
        rest = number % 10_000
        zero = "零" if 0 < rest < 1000 else ""
        return chinese(number // 10_000) + "万" + (zero + chinese(rest) if rest else "")
    text = ""
    for unit, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // unit % 10
        if digit:
            text += "零" * (text.endswith("零") is False and bool(text) and number // (unit * 10) % 10 == 0)
            text += "零一二三四五六七八九"[digit] + sign
    return text


@given(
    st.text() | st.text(st.sampled_from("0123456789.,'’ +-/:aé人٣\u00a0一百万零")),
    st.sampled_from(["en", "de", "zh", None]),
)
def test_any_text_gives_valid_hits(text, language):
    found(find_numbers, text, language)
