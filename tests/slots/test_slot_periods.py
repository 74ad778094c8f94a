"""Weeks, months and years as periods of days; today is Saturday, 21 November 2026, 10:00."""

from __future__ import annotations

from datetime import datetime

from intentmatch.slots.message import Message
from intentmatch.slots.moments import find_moments
from intentmatch.slots.periods import periods


def test_day_that_the_next_month_lacks_is_none_of_it():
    message = Message("the 31st of next month", "en", datetime(2027, 1, 5))

    assert "2027-02-31" not in str(find_moments(message))
    assert [str(atom.last_day) for atom in periods(message)] == ["2027-02-28"]


def test_end_of_the_calendar_gives_no_period():
    assert list(periods(Message("in December", "en", datetime(9999, 12, 5)))) == []
