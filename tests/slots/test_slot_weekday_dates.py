"""Dates with their weekday; today is Saturday, 21 November 2026."""

from __future__ import annotations

from datetime import date, datetime

from slot_helpers import NOW

from intentmatch.slots.days import find_dates
from intentmatch.slots.message import Message
from intentmatch.slots.weekday_dates import Day, Weekday, with_weekdays


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
    assert find_dates(Message("Monday the 1st", "en", datetime(2024, 8, 2, 10))) == []
