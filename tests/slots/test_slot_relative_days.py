"""Weekdays with "next" or "last", and days of the month; today is Saturday, 21 November 2026."""

from __future__ import annotations

import pytest
from slot_helpers import found

from intentmatch.slots.days import DateFinder

DATES = DateFinder()


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "next friday", {"next friday": "2026-11-27"}),
        ("en", "this coming friday", {"coming friday": "2026-11-27"}),
        ("en", "friday next week", {"friday next week": "2026-11-27"}),
        ("en", "monday of next week", {"monday of next week": "2026-11-23"}),
        ("en", "monday this week", {"monday this week": "2026-11-16"}),
        ("en", "on the 5th", {"5th": "2026-12-05"}),
        ("en", "the 21st", {"21st": "2026-11-21"}),
        ("de", "nächsten Freitag", {"nächsten Freitag": "2026-11-27"}),
        ("de", "letzten Montag", {"letzten Montag": "2026-11-16"}),
        ("de", "am 5.", {"5.": "2026-12-05"}),
        ("fr", "vendredi prochain", {"vendredi prochain": "2026-11-27"}),
        ("fr", "lundi dernier", {"lundi dernier": "2026-11-16"}),
        ("fr", "le 5", {"5": "2026-12-05"}),
        ("es", "el próximo viernes", {"próximo viernes": "2026-11-27"}),
        ("es", "el viernes que viene", {"viernes que viene": "2026-11-27"}),
        ("es", "el 5", {"5": "2026-12-05"}),
        ("it", "lunedì scorso", {"lunedì scorso": "2026-11-16"}),
        ("pt", "dia 5", {"5": "2026-12-05"}),
        ("nl", "volgende vrijdag", {"volgende vrijdag": "2026-11-27"}),
        ("pl", "następny piątek", {"następny piątek": "2026-11-27"}),
        ("ru", "в следующую пятницу", {"следующую пятницу": "2026-11-27"}),
        ("ru", "5 числа", {"5 числа": "2026-12-05"}),
        ("tr", "gelecek cuma", {"gelecek cuma": "2026-11-27"}),
        ("zh", "下周五", {"下周五": "2026-11-27"}),
        ("zh", "这周五", {"这周五": "2026-11-20"}),
        ("zh", "5号", {"5号": "2026-12-05"}),
        ("ja", "来週の月曜日", {"来週の月曜日": "2026-11-23"}),
        ("ja", "5日に", {"5日": "2026-12-05"}),
    ],
)
def test_day_is_found(language, text, expected):
    assert found(DATES, text, language) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", "the 35th"), ("en", "5 days"), ("de", "5.5"), ("es", "el coche"), ("zh", "5号楼"), ("en", "0th")],
)
def test_other_numbers_are_no_days(language, text):
    assert found(DATES, text, language) == {}
