"""Days with times, ranges and lengths from now; today is Saturday, 21 November 2026, 10:00."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slot_helpers import found

from intentmatch.slots.message import Message
from intentmatch.slots.moments import find_days, find_moments


def at(text: str, now: datetime) -> list[object]:
    return [hit.value for hit in find_moments(Message(text, "en", now))]


def test_leap_days_and_ends_of_months():
    assert at("next month", datetime(2028, 1, 31)) == [{"from": "2028-02-01", "to": "2028-02-29"}]
    assert at("in a month", datetime(2027, 1, 31)) == ["2027-02-28"]
    assert at("in a year", datetime(2028, 2, 29)) == ["2029-02-28"]
    assert at("the 31st", datetime(2027, 2, 1)) == ["2027-03-31"]
    assert at("the 29th at 8 am", datetime(2028, 2, 20)) == ["2028-02-29T08:00"]
    assert at("tomorrow at 8", datetime(2028, 2, 28)) == ["2028-02-29T08:00"]


def test_hours_from_now_cross_changes_of_the_clocks_and_days_keep_the_time():
    berlin = ZoneInfo("Europe/Berlin")
    spring, autumn = datetime(2026, 3, 29, 1, 30, tzinfo=berlin), datetime(2026, 10, 25, 1, 30, tzinfo=berlin)

    assert at("in 1 hour", spring) == ["2026-03-29T03:30"]
    assert at("in 2 hours", autumn) == ["2026-10-25T02:30"]
    assert at("tomorrow at 1:30", spring) == ["2026-03-30T01:30"]
    assert at("at 8 am", datetime(2026, 3, 29, 9, tzinfo=berlin)) == ["2026-03-30T08:00"]


def test_time_with_its_distance_from_utc_is_one_value():
    """It is the user's time if `now` has a zone, otherwise the time as it is written."""
    berlin = datetime(2026, 1, 10, 10, tzinfo=ZoneInfo("Europe/Berlin"))

    for text in ("2026-05-05T17:00-05:00", "2026-05-05 17:00-05:00"):
        assert at(text, datetime(2026, 1, 10, 10)) == ["2026-05-05T17:00"]
        assert at(text, berlin) == ["2026-05-06T00:00"]
    assert at("2026-05-05T17:00+02:00", berlin) == ["2026-05-05T17:00"]
    assert at("2026-05-05T17:00-18:00", berlin) == [{"from": "2026-05-05T17:00", "to": "2026-05-05T18:00"}]
    assert at("9999-12-31T23:00-12:00", berlin) == []


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "on 5 May at 24:00", "2027-05-06T00:00"),
        ("en", "Friday at 24:00", "2026-11-28T00:00"),
        ("en", "tomorrow at 24:00", "2026-11-23T00:00"),
        ("en", "today at 24:00", "2026-11-22T00:00"),
        ("en", "tomorrow at 0:00", "2026-11-22T00:00"),
        ("en", "tomorrow at half past midnight", "2026-11-22T00:30"),
        ("de", "Termin 5. Mai um 24 Uhr", "2027-05-06T00:00"),
        ("zh", "明天24点", "2026-11-23T00:00"),
    ],
)
def test_24_o_clock_ends_its_day(language, text, expected):
    assert list(found(find_moments, text, language).values()) == [expected]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "tonight at 1", "2026-11-22T01:00"),
        ("en", "at 1 tonight", "2026-11-22T01:00"),
        ("en", "last night at 2", "2026-11-21T02:00"),
        ("en", "Friday night at 2", "2026-11-28T02:00"),
        ("en", "tomorrow at 2 at night", "2026-11-22T02:00"),
        ("de", "heute Nacht um 2 Uhr", "2026-11-22T02:00"),
        ("es", "esta noche a las 2", "2026-11-22T02:00"),
        ("en", "tonight from 1 to 3", {"from": "2026-11-22T01:00", "to": "2026-11-22T03:00"}),
    ],
)
def test_hours_behind_midnight_are_of_the_night_that_is_said(language, text, expected):
    assert list(found(find_moments, text, language).values()) == [expected]


def test_hour_of_the_running_night_is_still_today():
    assert at("tonight at 1", datetime(2026, 11, 21, 0, 30)) == ["2026-11-21T01:00"]
    assert at("tonight at 1", datetime(2026, 11, 21, 1, 30)) == ["2026-11-22T01:00"]


def test_ends_of_the_calendar_give_no_moment():
    assert at("in 1000000 years", datetime(2026, 1, 1)) == []
    assert at("next week", datetime(9999, 12, 31)) in ([], [{"from": "9999-12-27", "to": "9999-12-31"}])
    assert at("next year", datetime(9999, 12, 31)) == []
    assert at("at 8 am", datetime(9999, 12, 31, 9)) == ["9999-12-31T08:00"]


PIECES = (
    *("tomorrow", "at", "8", "pm", "to", "Friday", "next week", "in an hour", "from", "the 5th", "-", "2", "and"),
    *("between", "下周", "到", "8点", "morgen um", "bis"),
)


@given(
    st.lists(st.sampled_from(PIECES)).map(" ".join) | st.text(),
    st.sampled_from(["en", "de", "zh", "ru", "ja", "tlh", None]),
    st.datetimes(),
)
def test_any_text_at_any_time_gives_valid_moments(text, language, now):
    for hit in find_moments(Message(text, language, now)):
        assert 0 <= hit.start < hit.end <= len(text)
        parts = list(hit.value.values()) if isinstance(hit.value, dict) else [hit.value]
        moments = [datetime.fromisoformat(str(part)) for part in parts]
        assert moments == sorted(moments)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "monday in two weeks", "2026-12-07"),
        ("en", "saturday in two weeks", "2026-12-05"),
        ("en", "a week from tomorrow", "2026-11-29"),
        ("en", "two days before friday", "2026-11-25"),
        ("en", "the day after next friday", "2026-11-28"),
        ("en", "in two weeks on monday", "2026-12-07"),
        ("de", "zwei Tage nach dem 1. Dezember", "2026-12-03"),
        ("de", "morgen in einer Woche", "2026-11-29"),
        ("fr", "deux jours avant vendredi", "2026-11-25"),
        ("en", "the first of December", "2026-12-01"),
        ("en", "December the twenty-second", "2026-12-22"),
        ("es", "el quince de marzo de 2028", "2028-03-15"),
        ("it", "il primo gennaio", "2027-01-01"),
        ("ru", "двадцать третье февраля", "2027-02-23"),
    ],
)
def test_a_day_is_read_in_words_and_counted_from_another_day(language, text, expected):
    assert list(found(find_days, text, language).values()) == [expected]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "the 25th of next month", "2026-12-25"),
        ("en", "next month on the 25th", "2026-12-25"),
        ("en", "5th of this month", "2026-11-05"),
        ("en", "December 5 next year", "2027-12-05"),
        ("en", "5 January this year", "2026-01-05"),
        ("en", "this weekend on Sunday", "2026-11-22"),
        ("de", "am 25. nächsten Monats", "2026-12-25"),
        ("de", "am 25. des nächsten Monats", "2026-12-25"),
        ("de", "5. Dezember nächstes Jahr", "2027-12-05"),
        ("es", "el 25 del próximo mes", "2026-12-25"),
        ("fr", "le 5 décembre de l'année prochaine", "2027-12-05"),
        ("ja", "来年12月5日", "2027-12-05"),
    ],
)
def test_a_day_is_in_the_period_beside_it(language, text, expected):
    for finder in (find_days, find_moments):
        assert list(found(finder, text, language).values()) == [expected]


def test_the_first_day_of_a_range_is_in_the_year_of_its_last_day():
    assert at("5 May to 8 May next year", datetime(2026, 1, 10)) == [{"from": "2027-05-05", "to": "2027-05-08"}]
    assert at("28 Dec to 3 Jan next year", datetime(2026, 1, 10)) == [{"from": "2026-12-28", "to": "2027-01-03"}]
