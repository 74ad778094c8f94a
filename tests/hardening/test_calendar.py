"""Slots at awkward moments of the calendar: leap days, changes of the clocks, far zones, ends of years and of time."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from intentmatch import Matcher
from intentmatch.slots.days import find_dates
from intentmatch.slots.message import Message
from intentmatch.slots.moments import find_moments

SEED = 21
ZONES = (
    None, timezone.utc, timezone(timedelta(hours=-12)), timezone(timedelta(hours=14)), timezone(timedelta(minutes=345)),
    ZoneInfo("Europe/Berlin"), ZoneInfo("Australia/Lord_Howe"), ZoneInfo("Pacific/Apia"), ZoneInfo("America/St_Johns"),
)  # fmt: skip
MOMENTS = (
    "2028-02-28T23:59", "2028-02-29T00:00", "2028-02-29T23:59", "2028-03-01T00:00", "2027-02-28T12:00",
    "2100-02-28T23:00", "2026-12-31T23:59", "2027-01-01T00:00", "2026-12-28T10:00", "2021-01-03T10:00",
    "2020-12-31T23:30", "2024-12-30T08:00", "2026-03-29T02:30", "2026-03-29T01:59", "2026-10-25T02:30",
    "2026-10-25T01:30", "2026-10-04T02:15", "2011-12-30T12:00", "2026-01-31T12:00", "2026-08-31T12:00",
    "0001-01-01T00:00", "0001-12-31T00:00", "9999-12-31T23:59", "9999-01-01T00:00", "1970-01-01T00:00",
)  # fmt: skip
"""Ends of February and of years, weeks 53 and 1, gaps and folds of clocks, a day that Samoa skipped, ends of time."""
PHRASES = {
    "en": (
        "today", "tomorrow", "yesterday", "the day after tomorrow", "in 3 days", "in 100000 days", "2 weeks ago",
        "in 999999999 years", "in 5 years", "in a month", "last month", "next week", "this weekend", "next friday",
        "on monday at 2:30", "29 February", "feb 29 2027", "29.02.2028", "31/12", "the 31st", "the 29th at 8 am",
        "tonight at 12", "in 1 hour", "in 24 hours", "in 100000000 hours", "90 minutes ago", "half an hour ago",
        "at the end of the month", "week 53", "next year", "from 10 to 12 tomorrow", "0000-00-00", "2026-13-45",
        "99.99.9999", "at 24:00", "at 23:60", "1 January 0001", "31 December 9999", "2028-02-29T25:00", "next month",
    ),
    "de": ("heute", "morgen um 2:30", "übermorgen", "am 29. Februar", "in 3 Wochen", "vor einem Jahr", "nächstes Jahr"),
    "tr": ("yarın", "29 Şubat", "3 gün sonra", "gelecek hafta"),
    "zh": ("明天", "2月29日", "下周五", "三天后"),
    "ar": ("غدا", "29 فبراير", "بعد 3 أيام"),
    "fr": ("demain à 2 h 30", "le 29 février", "dans un an", "la semaine prochaine"),
    "th": ("พรุ่งนี้",),
}  # fmt: skip


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.load(Path(__file__).with_name("every_slot.yaml"), cache="off")


def moments() -> list[datetime]:
    return [datetime.fromisoformat(moment).replace(tzinfo=zone) for moment in MOMENTS for zone in ZONES]


def check(value: object) -> None:
    """Fail unless a value is a date, a time that exists on the clock, or a span of these in order."""
    if isinstance(value, dict) and "from" in value:
        ends = [datetime.fromisoformat(str(value[end])) for end in ("from", "to") if value.get(end)]
        assert ends == sorted(ends), value
    elif isinstance(value, str) and len(value) >= 10:
        datetime.fromisoformat(value)


@pytest.mark.rounds(300, 100_000)
def test_no_moment_breaks_a_slot(matcher: Matcher, rounds: int) -> None:
    chosen = random.Random(SEED)
    pairs = [(language, phrase) for language, phrases in PHRASES.items() for phrase in phrases]
    nows = moments()
    slots = ["a_date", "a_datetime", "a_time", "a_duration"]
    for _ in range(rounds):
        language, phrase = chosen.choice(pairs)
        now = chosen.choice(nows)
        for entity in matcher.fill(phrase, "everything", slots, language=language, now=now):
            assert phrase[entity.start : entity.end] == entity.text
            if entity.slot in ("a_date", "a_datetime"):
                check(entity.value)


@pytest.mark.parametrize("days", [0, 1, -1, 3, 14, 365])
def test_days_are_counted_on_the_calendar_of_the_caller(days: int) -> None:
    """Whatever the zone: the value is the date there, also where that day has 23 or 25 hours, or was skipped."""
    words = {0: "today", 1: "tomorrow", -1: "yesterday", 3: "in 3 days", 14: "in 2 weeks", 365: "in 365 days"}
    for now in moments():
        try:
            expected = [(now.date() + timedelta(days=days)).isoformat()]
        except OverflowError:
            expected = []
        found = [hit.value for hit in find_dates(Message(words[days], "en", now)) if isinstance(hit.value, str)]
        assert found == expected, now


@pytest.mark.parametrize("hours", [1, 2, 24, 48])
def test_hours_are_counted_on_the_clock_of_the_world(hours: int) -> None:
    """An hour from now is an hour later, also across a gap or a fold; the value is the local time then."""
    for now in moments():
        if now.tzinfo is None or now.year in (1, 9999):
            continue
        later = (now.astimezone(timezone.utc) + timedelta(hours=hours)).astimezone(now.tzinfo)
        found = [hit.value for hit in find_moments(Message(f"in {hours} hours", "en", now))]
        assert later.replace(tzinfo=None).isoformat(timespec="minutes") in found, now


def test_leap_day_without_a_year_is_the_next_one() -> None:
    for now in moments():
        years = range(now.year, min(now.year + 9, 10_000))
        leap = [date(year, 2, 29) for year in years if year % 4 == 0 and (year % 100 or year % 400 == 0)]
        expected = [day.isoformat() for day in leap if day >= now.date()][:1]
        assert [hit.value for hit in find_dates(Message("29 February", "en", now))] == expected, now
