"""Weeks, months and years as periods of days; today is Saturday, 21 November 2026, 10:00."""

from __future__ import annotations

from datetime import datetime

import pytest
from slot_helpers import found

from intentmatch.slots.message import Message
from intentmatch.slots.moments import MomentFinder
from intentmatch.slots.periods import periods

MOMENTS = MomentFinder()
DECEMBER = {"from": "2026-12-01", "to": "2026-12-31"}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "in December", {"December": DECEMBER}),
        ("en", "in May", {"May": {"from": "2027-05-01", "to": "2027-05-31"}}),
        ("en", "in March 2028", {"March 2028": {"from": "2028-03-01", "to": "2028-03-31"}}),
        ("en", "in November", {"November": {"from": "2026-11-01", "to": "2026-11-30"}}),
        ("en", "the week after next", {"week after next": {"from": "2026-11-30", "to": "2026-12-06"}}),
        ("de", "im Dezember", {"Dezember": DECEMBER}),
        ("de", "übernächste Woche", {"übernächste Woche": {"from": "2026-11-30", "to": "2026-12-06"}}),
        ("es", "en diciembre", {"diciembre": DECEMBER}),
        ("fr", "en décembre", {"décembre": DECEMBER}),
        ("it", "a dicembre", {"dicembre": DECEMBER}),
        ("ru", "в декабре", {"декабре": DECEMBER}),
        ("tr", "Aralık ayında", {"Aralık": DECEMBER}),
        ("ar", "في ديسمبر", {"ديسمبر": DECEMBER}),
        ("zh", "十二月份", {"十二月份": DECEMBER}),
        ("ja", "12月に", {"12月": DECEMBER}),
        ("en", "the 5th of next month", {"5th of next month": "2026-12-05"}),
        ("de", "am 3. nächsten Monats um 8", {"3. nächsten Monats um 8": "2026-12-03T08:00"}),
        ("es", "el 15 del mes que viene", {"15 del mes que viene": "2026-12-15"}),
        ("fr", "le 15 du mois prochain", {"15 du mois prochain": "2026-12-15"}),
        ("it", "il 15 del mese prossimo", {"15 del mese prossimo": "2026-12-15"}),
        ("ru", "15 числа следующего месяца", {"15 числа следующего месяца": "2026-12-15"}),
        ("tr", "gelecek ayın 15'i", {"gelecek ayın 15'i": "2026-12-15"}),
        ("zh", "下个月15号", {"下个月15号": "2026-12-15"}),
        ("ja", "来月の3日", {"来月の3日": "2026-12-03"}),
        ("en", "I may come", {}),
        ("en", "in march 5", {"march 5": "2027-03-05"}),
        ("zh", "3个月", {}),
    ],
)
def test_month_with_a_word_for_in_is_a_period_and_may_hold_a_day(language, text, expected):
    assert found(MOMENTS, text, language) == expected


def test_day_that_the_next_month_lacks_is_none_of_it():
    message = Message("the 31st of next month", "en", datetime(2027, 1, 5))

    assert "2027-02-31" not in str(MOMENTS.find(message))
    assert [str(atom.last_day) for atom in periods(message)] == ["2027-02-28"]


def test_end_of_the_calendar_gives_no_period():
    assert list(periods(Message("in December", "en", datetime(9999, 12, 5)))) == []
