"""Dates in digits, by name and relative to today, in many languages; today is a Saturday."""

from __future__ import annotations

import importlib
import sys
from datetime import date, datetime

import pytest
from dateparser.data.languages_info import language_order
from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import NOW, found

from intentmatch.core.errors import MissingExtraError
from intentmatch.slots.days import find_dates, load_dates
from intentmatch.slots.message import Message


def test_every_dateparser_language_knows_tomorrow():
    missed = []
    for language in language_order:
        data = importlib.import_module(f"dateparser.data.date_translation_data.{language}").info
        for word in data.get("relative-type", {}).get("in 1 day", ()):
            if "2026-11-22" not in found(find_dates, f"({word})", language).values():
                missed.append((language, word))

    assert len(language_order) > 190
    assert missed == []


@pytest.mark.parametrize(
    ("language", "text", "day"),
    [
        ("en", "sick since Monday", "2026-11-16"),
        ("en", "since Saturday", "2026-11-14"),
        ("en", "ever since 30 November", "2025-11-30"),
        ("en", "since 29 February", "2024-02-29"),
        ("en", "since 5 December 2026", "2026-12-05"),
        ("en", "since yesterday", "2026-11-20"),
        ("en", "from Monday on", "2026-11-23"),
        ("de", "seit dem 30. November", "2025-11-30"),
        ("de", "ab Montag", "2026-11-23"),
        ("nl", "sinds maandag", "2026-11-16"),
        ("fr", "depuis lundi", "2026-11-16"),
        ("pt", "desde segunda-feira", "2026-11-16"),
        ("sv", "sedan måndag", "2026-11-16"),
        ("tr", "pazartesiden beri", "2026-11-16"),
    ],
)
def test_day_that_has_been_is_the_last_such_day(language, text, day):
    assert [*found(find_dates, text, language).values()] == [day]


def test_dates_are_relative_to_the_given_time():
    """A leap day without a year is the next one."""

    def day(text: str, now: datetime) -> object:
        return [hit.value for hit in find_dates(Message(text, "en", now))]

    assert day("tomorrow", datetime(2027, 12, 31, 23)) == ["2028-01-01"]
    assert day("22 November", datetime(2026, 11, 22)) == ["2026-11-22"]
    assert day("22 November", datetime(2026, 11, 23)) == ["2027-11-22"]
    assert day("29 February", datetime(2026, 11, 22)) == ["2028-02-29"]
    assert day("in 1 month", datetime(2027, 1, 31)) == ["2027-02-28"]
    assert day("tomorrow", datetime(9999, 12, 31)) == []
    assert day("3 months ago", datetime(1, 1, 1)) == []


def test_missing_dateparser_raises_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "dateparser", None)
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: module != "dateparser")

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[dates\]"'):
        load_dates([])


@given(st.dates(date(2026, 11, 21), date(2099, 12, 31)))
def test_any_date_is_found_in_every_notation(day):
    iso = day.isoformat()
    writings = [
        (iso, "en"),
        (f"{day.month}/{day.day}/{day.year}", "en"),
        (f"{day.day} {day:%B} {day.year}", "en"),
        (f"{day:%b} {day.day}, {day.year}", "en"),
        (f"{day.day}.{day.month}.{day.year}", "de"),
        (f"{day.year}年{day.month}月{day.day}日", "ja"),
    ]
    for text, language in writings:
        assert found(find_dates, f"({text})", language) == {text: iso}


LANGUAGES = st.sampled_from(["en", "de", "zh", "ko", "tr", "th", "ar", "en-AU", "zh-Hant-TW", "tlh", None])


@given(st.text() | st.text(st.sampled_from("0123456789./- ３年月日tomrw nfayi")), LANGUAGES, st.datetimes())
def test_any_text_at_any_time_gives_valid_dates(text, language, now):
    for hit in find_dates(Message(text, language, now)):
        assert date.fromisoformat(str(hit.value))
        assert 0 <= hit.start < hit.end <= len(text)


def test_now_is_a_saturday():
    assert NOW.weekday() == 5


def test_every_language_of_dateparser_is_read() -> None:
    for language in language_order:
        assert found(find_dates, "2026-11-23", language) == {"2026-11-23": "2026-11-23"}
