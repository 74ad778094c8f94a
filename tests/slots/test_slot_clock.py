"""Times of day, in digits and in words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import found

from intentmatch.slots.clock import TimeFinder

TIMES = TimeFinder()


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "18:30 or 6pm", {"18:30": "18:30", "6pm": "18:00"}),
        ("en", "6 p.m. or 12 am", {"6 p.m": "18:00", "12 am": "00:00"}),
        ("en", "at 6", {"6": "06:00"}),
        ("en", "at 6 amsterdam", {"6": "06:00"}),
        ("en", "half past six", {"half past six": "06:30"}),
        ("en", "quarter to nine in the evening", {"quarter to nine in the evening": "20:45"}),
        ("en", "seven o’clock", {"seven o’clock": "07:00"}),
        ("en", "10 at night, noon", {"10 at night": "22:00", "noon": "12:00"}),
        ("de", "um 18 Uhr", {"18 Uhr": "18:00"}),
        ("de", "18.30 Uhr, 18 Uhr 15", {"18.30 Uhr": "18:30", "18 Uhr 15": "18:15"}),
        ("de", "halb sieben, um acht", {"halb sieben": "06:30", "acht": "08:00"}),
        ("de", "viertel nach acht abends", {"viertel nach acht abends": "20:15"}),
        ("fr", "à 18h ou 18h30", {"18h": "18:00", "18h30": "18:30"}),
        ("fr", "six heures et demie du soir", {"six heures et demie du soir": "18:30"}),
        ("es", "a las 6 de la tarde", {"6 de la tarde": "18:00"}),
        ("es", "a las seis y media", {"seis y media": "06:30"}),
        ("it", "alle 18", {"18": "18:00"}),
        ("pt", "às 18h", {"18h": "18:00"}),
        ("nl", "half zeven 's avonds", {"half zeven 's avonds": "18:30"}),
        ("tr", "saat 18:30'da", {"18:30": "18:30"}),
        ("tr", "akşam 6'da", {"akşam 6": "18:00"}),
        ("ru", "в 6 вечера", {"6 вечера": "18:00"}),
        ("pl", "o 18", {"18": "18:00"}),
        ("ar", "الساعة 6 مساءً", {"6 مساءً": "18:00"}),
        ("fa", "ساعت ۶ عصر", {"۶ عصر": "18:00"}),
        ("zh", "下午6点", {"下午6点": "18:00"}),
        ("zh", "晚上八点半", {"晚上八点半": "20:30"}),
        ("ja", "午後6時30分", {"午後6時30分": "18:30"}),
        ("ko", "오후 6시 30분에", {"오후 6시 30분": "18:30"}),
        ("tlh", "18：30, 6 pm", {"18：30": "18:30", "6 pm": "18:00"}),
        (None, "at 6", {"6": "06:00"}),
        ("en", "24:00", {"24:00": "00:00"}),
        ("en", "a quarter to nine", {"a quarter to nine": "08:45"}),
        ("en", "5 past 8, ten to nine", {"5 past 8": "08:05", "ten to nine": "08:50"}),
        ("en", "20 minutes to 6 pm", {"20 minutes to 6 pm": "17:40"}),
        ("en", "at eight thirty", {"eight thirty": "08:30"}),
        ("de", "zehn nach acht, 5 vor 8", {"zehn nach acht": "08:10", "5 vor 8": "07:55"}),
        ("es", "a las ocho y diez", {"ocho y diez": "08:10"}),
        ("de", "um acht Uhr vier Leute, um neun Uhr fünf", {"acht Uhr": "08:00", "neun Uhr fünf": "09:05"}),
        ("fr", "huit heures vingt", {"huit heures vingt": "08:20"}),
        ("fr", "neuf heures moins dix", {"neuf heures moins dix": "08:50"}),
        ("it", "all'una e mezza", {"una e mezza": "01:30"}),
        ("it", "alle nove meno dieci", {"nove meno dieci": "08:50"}),
        (
            "ru",
            "в полчетвёртого, в половине девятого вечера",
            {"полчетвёртого": "03:30", "половине девятого вечера": "20:30"},
        ),
        ("ru", "без десяти девять", {"без десяти девять": "08:50"}),
        (
            "ru",
            "четверть девятого, десять минут восьмого",
            {"четверть девятого": "08:15", "десять минут восьмого": "07:10"},
        ),
        ("ru", "в час дня", {"час дня": "13:00"}),
        ("tr", "saat 8'i 10 geçe", {"8'i 10 geçe": "08:10"}),
        ("tr", "dokuza on kala", {"dokuza on kala": "08:50"}),
        ("tr", "saat 9'a 10 var", {"9'a 10 var": "08:50"}),
        ("tr", "gece yarısı", {"gece yarısı": "00:00"}),
        ("ar", "الساعة الثالثة والنصف", {"الثالثة والنصف": "03:30"}),
        ("zh", "下午两点三刻", {"下午两点三刻": "14:45"}),
    ],
)
def test_time_is_found_with_its_part_of_the_day(language, text, expected):
    """The word before it is not part of the span."""
    assert found(TIMES, text, language) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "25:00, 18:75, 99 pm"),
        ("en", "I am 6 and my cat 6"),
        ("en", "for 2 people, 12.30"),
        ("en", "1,5 h"),
        ("en", "from ten to eleven"),
        ("en", "2 to 4 people"),
        ("en", "2026-11-22 or 1.2.3.4"),
        ("de", "am 12.11. im Saal 7"),
        ("zh", "快一点"),
        ("tlh", "at 6"),
        ("en", ""),
    ],
)
def test_impossible_hours_and_other_numbers_are_not_times(language, text):
    assert found(TIMES, text, language) == {}


@given(st.integers(0, 23), st.integers(0, 59))
def test_every_minute_of_the_day_is_found(hour, minute):
    value = f"{hour:02}:{minute:02}"
    half = f"{(hour - 1) % 12 + 1}:{minute:02} {'pm' if hour >= 12 else 'am'}"

    assert found(TIMES, f"({value})", "sw") == {value: value}
    assert found(TIMES, f"dès {hour}h{minute:02}!", "fr") == {f"{hour}h{minute:02}": value}
    assert found(TIMES, half, "en") == {half: value}


LANGUAGES = st.sampled_from(["en", "de", "zh", "ko", "tr", "ar", "sv", "tlh", None])


@given(st.text() | st.text(st.sampled_from("0123456789: .hpamt６時半点 ")), LANGUAGES)
def test_any_text_gives_valid_hits(text, language):
    for value in found(TIMES, text, language).values():
        assert re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", str(value))


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("de", "zwölf Uhr abends", "00:00"),
        ("zh", "晚上12点", "00:00"),
        ("ja", "夜12時", "00:00"),
        ("zh", "下午12点", "12:00"),
        ("de", "fünf vor halb acht", "07:25"),
        ("de", "5 nach halb 9", "08:35"),
        ("de", "drei viertel sieben", "06:45"),
        ("nl", "tien voor half vijf", "04:20"),
        ("en", "quarter past midnight", "00:15"),
        ("en", "five minutes to midnight", "23:55"),
        ("en", "seven thirty", "07:30"),
        ("fr", "midi et demi", "12:30"),
        ("sv", "halv åtta", "07:30"),
        ("da", "kl 15", "15:00"),
        ("hi", "शाम 7 बजे", "19:00"),
    ],
)
def test_minutes_to_half_hours_and_around_noon_are_read(language, text, expected):
    assert expected in found(TimeFinder(), text, language).values()
