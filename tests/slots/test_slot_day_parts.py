"""Parts of the day, and the half of the day that they give to an hour; today is Saturday, 21 November 2026, 10:00."""

from __future__ import annotations

from datetime import datetime, time

import pytest
from slot_helpers import NOW, found

from intentmatch.slots.clock import find_times
from intentmatch.slots.day_parts import PARTS, DayPart, day_parts, in_part, part_beside
from intentmatch.slots.days import find_dates
from intentmatch.slots.message import Message
from intentmatch.slots.moment_words import DAY_PARTS, MOMENT_WORDS
from intentmatch.slots.moments import find_moments


@pytest.mark.parametrize(
    ("language", "text", "said", "expected"),
    [
        ("en", "tonight at 8", "8", "20:00"),
        ("en", "at 8 tonight", "8", "20:00"),
        ("en", "this evening around 9", "9", "21:00"),
        ("en", "tomorrow evening at half past seven", "half past seven", "19:30"),
        ("en", "at 8 on Friday evening", "8", "20:00"),
        ("en", "this afternoon at 4", "4", "16:00"),
        ("en", "tonight at 12", "12", "00:00"),
        ("en", "tonight at 1", "1", "01:00"),
        ("en", "tonight at 5", "5", "17:00"),
        ("en", "tonight at 2 am", "2 am", "02:00"),
        ("en", "tonight at 19:30", "19:30", "19:30"),
        ("en", "tomorrow morning at 8", "8", "08:00"),
        ("en", "at night at 2", "2", "02:00"),
        ("en", "at 8, good morning", "8", "08:00"),
        ("de", "heute Abend um acht", "acht", "20:00"),
        ("de", "am Freitagabend um halb neun", "halb neun", "20:30"),
        ("es", "esta noche a las 9", "9", "21:00"),
        ("fr", "demain soir à huit heures et demie", "huit heures et demie", "20:30"),
        ("it", "stasera alle 8", "8", "20:00"),
        ("ru", "сегодня вечером в 9", "9", "21:00"),
        ("tr", "bu akşam saat 8", "8", "20:00"),
        ("zh", "今晚八点", "八点", "20:00"),
        ("ar", "الليلة الساعة 8", "8", "20:00"),
        ("nl", "vanavond om 8 uur", "8 uur", "20:00"),
        ("pl", "jutro wieczorem o 8", "8", "20:00"),
    ],
)
def test_part_of_the_day_near_an_hour_says_its_half_but_is_not_in_the_span(language, text, said, expected):
    assert found(find_times, text, language)[said] == expected


@pytest.mark.parametrize("text", ["good evening, a table for 8", "tomorrow evening, 4 people", "this evening about 9%"])
def test_number_that_no_word_marks_stays_a_number(text):
    assert found(find_times, text) == {}


@pytest.mark.parametrize(
    ("language", "text", "day"),
    [
        ("en", "this evening", "2026-11-21"),
        ("es", "esta noche", "2026-11-21"),
        ("fr", "ce soir", "2026-11-21"),
        ("it", "stasera", "2026-11-21"),
        ("it", "domattina", "2026-11-22"),
        ("tr", "bu akşam", "2026-11-21"),
        ("zh", "明晚", "2026-11-22"),
        ("nl", "morgenavond", "2026-11-22"),
        ("de", "Freitagabend", "2026-11-27"),
    ],
)
def test_part_of_a_day_near_today_is_a_date_too(language, text, day):
    assert found(find_dates, text, language) == {text: day}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "this morning", "2026-11-21T06:00/2026-11-21T12:00"),
        ("fr", "cet après-midi", "2026-11-21T12:00/2026-11-21T18:00"),
        ("de", "Dienstagmorgen", "2026-11-24T06:00/2026-11-24T12:00"),
        ("de", "nächsten Mittwochnachmittag", "2026-11-25T12:00/2026-11-25T18:00"),
        ("zh", "明早", "2026-11-22T06:00/2026-11-22T12:00"),
        ("nl", "vrijdagavond", "2026-11-27T18:00/2026-11-27T22:00"),
    ],
)
def test_part_of_a_day_is_a_range_of_its_hours(language, text, expected):
    start, _, end = expected.partition("/")

    assert found(find_moments, text, language) == {text: {"from": start, "to": end}}


def test_tomorrow_in_german_is_no_morning():
    assert found(find_moments, "übermorgen um 8", "de") == {"übermorgen um 8": "2026-11-23T08:00"}


def test_part_near_today_has_its_day():
    tonight = DayPart(0, 7, "evening", NOW.date())

    assert day_parts(Message("tonight", "en", NOW)) == [DayPart(2, 7, "night"), tonight] or (
        day_parts(Message("tonight", "en", NOW)) == [tonight]
    )
    assert day_parts(Message("明晚", "zh", datetime(9999, 12, 31))) == []


def test_part_beside_is_none_without_a_part():
    assert part_beside(Message("at 8 please", "en", NOW), 3, 4) is None
    assert part_beside(Message("tonight at 8", "en", NOW), 11, 12) == "evening"
    assert part_beside(Message("at 8", "tlh", NOW), 3, 4) is None


def test_hours_in_parts():
    assert [in_part(time(hour), "evening").hour for hour in (6, 8, 12)] == [18, 20, 0]
    assert [in_part(time(hour), "night").hour for hour in (2, 10)] == [2, 22]
    assert [in_part(time(hour), "evening").hour for hour in (1, 3, 4)] == [1, 3, 16]
    assert in_part(time(8), "morning") == time(8)
    assert in_part(time(3, 30), "afternoon") == time(15, 30)


def test_table_names_known_languages_and_parts():
    assert set(DAY_PARTS) <= set(MOMENT_WORDS)
    assert {part for words in DAY_PARTS.values() for _, part in words.values()} <= set(PARTS)


def test_time_needs_no_dateparser(monkeypatch):
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: module != "dateparser")

    assert found(find_times, "at 8 on Friday evening") == {"8": "08:00"}
    assert found(find_times, "tonight at 8") == {"8": "20:00"}
