"""Lengths from now and from other days; today is Saturday, 21 November 2026, 10:00."""

from __future__ import annotations

from datetime import date

import pytest
from slot_helpers import NOW, found

from intentmatch.slots.message import Message
from intentmatch.slots.moments import MomentFinder
from intentmatch.slots.offsets import offsets, plus_months

MOMENTS = MomentFinder()


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "two days from now", {"two days from now": "2026-11-23"}),
        ("en", "a week from Friday", {"a week from Friday": "2026-12-04"}),
        ("en", "three days after Monday", {"three days after Monday": "2026-11-26"}),
        ("en", "two weeks from tomorrow at 5pm", {"two weeks from tomorrow at 5pm": "2026-12-06T17:00"}),
        ("de", "heute in einer Woche", {"heute in einer Woche": "2026-11-28"}),
        ("de", "Freitag in einer Woche", {"Freitag in einer Woche": "2026-12-04"}),
        ("tr", "cumadan iki gün önce", {"cumadan iki gün önce": "2026-11-25"}),
        ("tr", "5 Aralık'tan iki hafta sonra", {"5 Aralık'tan iki hafta sonra": "2026-12-19"}),
        ("tr", "pazartesiden üç gün sonra", {"pazartesiden üç gün sonra": "2026-11-26"}),
        ("en", "a week from nowhere", {}),
        ("en", "two hours from Friday", {"Friday": "2026-11-27"}),
    ],
)
def test_length_counts_from_now_or_from_the_day_beside_it(language, text, expected):
    assert found(MOMENTS, text, language) == expected


def test_days_have_their_distance_and_hours_an_instant():
    days, hours = (next(offsets(Message(text, "en", NOW))) for text in ("in 3 days", "in 3 hours"))

    assert (days.day, days.delta.days, days.moment) == (date(2026, 11, 24), 3, None)
    assert (hours.day, hours.delta, hours.moment.hour) == (None, None, 13)


def test_months_end_with_their_last_day_and_the_calendar_with_an_error():
    assert plus_months(date(2027, 1, 31), 1) == date(2027, 2, 28)
    assert plus_months(date(2027, 1, 31), -2) == date(2026, 11, 30)
    with pytest.raises(ValueError, match="year"):
        plus_months(date(9999, 12, 1), 1)
