"""Lengths from now and from other days; today is Saturday, 21 November 2026, 10:00."""

from __future__ import annotations

from datetime import date

import pytest
from slot_helpers import NOW

from intentmatch.slots.message import Message
from intentmatch.slots.offsets import offsets
from intentmatch.slots.relative_days import plus_months


def test_days_have_their_distance_and_hours_an_instant():
    days, hours = (next(offsets(Message(text, "en", NOW))) for text in ("in 3 days", "in 3 hours"))

    assert (days.day, days.delta.days, days.moment) == (date(2026, 11, 24), 3, None)
    assert (hours.day, hours.delta, hours.moment.hour) == (None, None, 13)


def test_months_end_with_their_last_day_and_the_calendar_with_an_error():
    assert plus_months(date(2027, 1, 31), 1) == date(2027, 2, 28)
    assert plus_months(date(2027, 1, 31), -2) == date(2026, 11, 30)
    with pytest.raises(ValueError, match="year"):
        plus_months(date(9999, 12, 1), 1)
