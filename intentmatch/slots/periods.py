"""Weeks, weekends, months and years as periods of days: "next week", "this weekend", "in December"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from functools import lru_cache
from itertools import chain

from intentmatch.slots.date_words import month_names
from intentmatch.slots.message import Message, plain
from intentmatch.slots.moment_atoms import Atom
from intentmatch.slots.moment_patterns import LONGEST_GAP, patterns
from intentmatch.slots.numerals import NUMERALS, numeral
from intentmatch.slots.relative_days import plus_months
from intentmatch.slots.word_patterns import any_of

_NUMBERED = re.compile(
    rf"(?<![0-9{NUMERALS}個个])(?P<number>[0-9]{{1,2}}|[{NUMERALS}]{{1,2}})月(?:份|中)?(?![0-9{NUMERALS}日号])"
)
"""A month with its number, as in Chinese and Japanese."""
_Period = tuple[re.Match[str], tuple[date, date] | None]
"""The words of a period, with its first and last day; None beyond the calendar."""


def periods(message: Message) -> Iterator[Atom]:
    """Yield periods with their first and last day. A weekend alone is this one, a month alone the next one."""
    for found, span in chain(_units(message), _months(message)):
        if span:
            yield Atom(*found.span(), day=span[0], last_day=span[1])


def _units(message: Message) -> Iterator[_Period]:
    """Yield weeks, weekends, months and years that are counted from today: "next week"."""
    words = patterns(message)
    for found in words.periods.finditer(message.plain):
        said = found["which"] or found["which_behind"]
        which = words.which[said] if said else 0
        unit = words.units[found["unit"] or found["unit_before"]] if said else "weekend"
        yield found, _period(message.now.date(), unit, which)


def _months(message: Message) -> Iterator[_Period]:
    """Yield months with "in" beside them, which stand for all their days."""
    words, text = patterns(message), message.plain
    names, numbers = _month_pattern(message.language or "en")
    for found in names.finditer(text):
        place = max(found.start() - LONGEST_GAP, 0)
        ahead = words.in_month.search(text, place, found.start())
        if ahead or words.month_in.match(text, found.end("name")):
            yield found, _month(message.now.date(), numbers[found["name"]], int(found["year"] or 0))
    for found in _NUMBERED.finditer(text):
        number = int(found["number"]) if found["number"].isdecimal() else numeral(found["number"]) or 0
        yield found, _month(message.now.date(), number, 0)


@lru_cache(maxsize=64)
def _month_pattern(language: str) -> tuple[re.Pattern[str], Mapping[str, int]]:
    numbers = {plain(name): number for name, number in month_names(language).items()}
    return re.compile(rf"(?P<name>{any_of(numbers)})(?: (?:de |del )?(?P<year>20[0-9]{{2}}))?(?! ?[0-9])"), numbers


def _month(today: date, month: int, year: int) -> tuple[date, date] | None:
    """Return the first and last day of a month; without a year, of the next such month, the running one included."""
    try:
        # The running month counts as the next one until it is over.
        first = date(year or today.year + (month < today.month), month, 1)
        return first, plus_months(first, 1) - timedelta(days=1)
    except (OverflowError, ValueError):
        return None


def _period(today: date, unit: str, which: int) -> tuple[date, date] | None:
    try:
        if unit in ("week", "weekend"):
            monday = today + timedelta(days=7 * which - today.weekday())
            first = monday + timedelta(days=5) if unit == "weekend" else monday
            return first, monday + timedelta(days=6)
        if unit == "month":
            first = plus_months(today.replace(day=1), which)
            return first, plus_months(first, 1) - timedelta(days=1)
        return date(today.year + which, 1, 1), date(today.year + which, 12, 31)
    except (OverflowError, ValueError):
        return None
