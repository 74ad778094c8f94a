"""Dates with their weekday; today is Saturday, 21 November 2026."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from slot_helpers import NOW, found

from intentmatch.slots.days import DateFinder
from intentmatch.slots.message import Message
from intentmatch.slots.weekday_dates import Day, Weekday, with_weekdays

DATES = DateFinder()


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "on Friday, December 4th", {"Friday, December 4th": "2026-12-04"}),
        ("en", "Sunday the 29th", {"Sunday the 29th": "2026-11-29"}),
        ("de", "Montag, den 7. Dezember", {"Montag, den 7. Dezember": "2026-12-07"}),
        ("de", "am Samstag, 28.11.", {"Samstag, 28.11.": "2026-11-28"}),
        ("es", "el domingo 29 a las 2", {"domingo 29": "2026-11-29"}),
        ("fr", "jeudi 26 novembre", {"jeudi 26 novembre": "2026-11-26"}),
        ("fr", "lundi 23", {"lundi 23": "2026-11-23"}),
        ("it", "domenica 29 alle 13", {"domenica 29": "2026-11-29"}),
        ("en", "Monday, 5 December", {}),
        ("en", "Sat 6 December", {"Sat 6 December": "2026-12-06"}),
        ("en", "Monday or 5 December", {"Monday": "2026-11-23", "5 December": "2026-12-05"}),
        ("en", "Friday 13", {"Friday": "2026-11-27"}),
        ("es", "lunes 4 personas", {"lunes": "2026-11-23"}),
        ("es", "lunes 12", {"lunes": "2026-11-23"}),
        ("es", "viernes 5 pm", {"viernes": "2026-11-27"}),
        ("tr", "cumadan pazara", {"cumadan": "2026-11-27", "pazar": "2026-11-22"}),
    ],
)
def test_weekday_and_its_date_are_one_date(language, text, expected):
    assert found(DATES, text, language) == expected


def test_day_without_a_month_is_the_first_on_that_weekday():
    friday = Weekday(0, 6, 4)
    message = Message("friday the 13th", "en", NOW)

    assert list(with_weekdays(message, [friday], [Day(11, 15, date(2026, 12, 13), has_month=False)])) == [
        Day(0, 15, date(2027, 8, 13))
    ]
    assert list(with_weekdays(message, [friday], [])) == []


def test_end_of_the_calendar_gives_no_day():
    message = Message("lunes 1", "es", datetime(9999, 12, 30))

    assert list(with_weekdays(message, [Weekday(0, 5, 0)], [])) == []


def test_day_that_is_on_another_weekday_for_a_year_is_no_day():
    """From 2 August 2024 on, no Monday is the first of a month before September 2025."""
    assert DATES.find(Message("Monday the 1st", "en", datetime(2024, 8, 2, 10))) == []
