"""Weekdays with "next", "this" or "last", and days of the month without their month ("the 5th").

"Next Friday" is the first Friday from tomorrow on, "last Friday" the last one before today. In Chinese and Japanese,
and beside "next week", the weekday is that of the week, which begins on Monday.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from intentmatch.languages.own import shipped_code
from intentmatch.languages.structure import structure_of
from intentmatch.slots.message import Message, plain
from intentmatch.slots.moment_words import LATER_WEEKDAYS, MOMENT_WORDS
from intentmatch.slots.word_patterns import any_of

_LONGEST_MODIFIER = 24
_MONTHS_AHEAD = 12
_NEVER = "(?!)(?P<n>)"


class _WeekdayPatterns(NamedTuple):
    """Patterns of a language, in plain form."""

    before: re.Pattern[str]
    """One of the groups `which`, `week` and `week_behind` takes part in a match."""
    behind: re.Pattern[str]
    which: Mapping[str, int]
    days_more: Mapping[str, int]
    """Words behind a weekday that move it by days."""
    day_of_month: re.Pattern[str]


def modified_weekday(message: Message, start: int, end: int, weekday: int) -> tuple[int, int, date] | None:
    """Return a weekday with the words that say of which week it is, and its date; None without such words."""
    language = message.base_language
    patterns = _patterns(language)
    place = max(start - _LONGEST_MODIFIER, 0)
    found = patterns.before.search(message.plain[place:start])
    if found:
        start = place + found.start()
    else:
        found = patterns.behind.match(message.plain, end)
        end = found.end() if found else end
    if found is None:
        return None
    today = message.now.date()
    week = found["week"] or found["week_behind"]
    if week or "next_means_next_week" in structure_of(language):
        which = patterns.which[week or found["which"]]
        day = days_later(today, 7 * which - today.weekday() + weekday)
    else:
        ahead = (weekday - today.weekday() - 1) % 7 + 1
        which = patterns.which[found["which"]]
        ahead += patterns.days_more.get(found["which"], 7 * max(which - 1, 0))
        day = days_later(today, ahead if which >= 0 else ahead - (7 if ahead < 7 else 14))
        if which == 0 and weekday == today.weekday():
            day = today
    return None if day is None else (start, end, day)


def days_of_month(message: Message) -> Iterator[tuple[int, int, date]]:
    """Yield days of the month without their month: the next such day, today included."""
    patterns = _patterns(message.base_language)
    for found in patterns.day_of_month.finditer(message.plain):
        groups = found.groupdict()
        group = "n" if groups["n"] else "n2"
        day = next(days_ahead(message.now.date(), int(groups[group])), None)
        if day is not None:
            yield found.start(group), found.end(), day


def days_ahead(today: date, number: int) -> Iterator[date]:
    """Yield the days with a number in their month, from today on."""
    for months in range(_MONTHS_AHEAD):
        year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
        if year <= date.max.year and 1 <= number <= calendar.monthrange(year, month + 1)[1]:
            day = date(year, month + 1, number)
            if day >= today:
                yield day


def days_later(day: date, days: int) -> date | None:
    """Return the day so many days later; None beyond the calendar."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def plus_months(day: date, months: int) -> date:
    """Return the day some months later, or the last day of that month. Raises `ValueError` outside of the calendar."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


@lru_cache(maxsize=64)
def _patterns(language: str) -> _WeekdayPatterns:
    own = MOMENT_WORDS.get(language)
    if own is None:
        never = re.compile("(?!)(?P<which>)(?P<week>)(?P<week_behind>)(?P<n>)")
        return _WeekdayPatterns(never, never, {}, {}, never)
    which = {
        plain(word): number
        for words, number in ((own.next, 1), (own.this, 0), (own.last, -1), (own.after_next, 2))
        for word in words.split("|")
        if word
    }
    later = {plain(word): days for word, days in LATER_WEEKDAYS.get(language, {}).items()}
    which.update(dict.fromkeys(later, 1))
    weeks = any_of(plain(word) for word in own.week.split("|"))
    adjective = any_of(which)
    ahead = any_of(word for word in which if not word.startswith("after "))  # "the day after next Friday"
    of_week = f"(?:(?P<week>{adjective}) ?(?:{weeks})|(?:{weeks}) (?P<week_behind>{adjective}))"
    day_of_month = rf"(?:{own.day_of_month or _NEVER})(?![.,:/-][0-9])"
    gap = "の?" if shipped_code(language) == "ja" else " ?,? ?(?:(?:el|le|am|il|on) )?"
    return _WeekdayPatterns(
        re.compile(f"(?:{of_week}{gap}|(?P<which>{ahead}) ?)$"),
        re.compile(f" (?:(?:of |of the |de la |della |da |der |в )?{of_week}|(?P<which>{adjective}))"),
        which,
        later,
        re.compile(
            day_of_month if "unspaced" in structure_of(language) else rf"(?<![\w.,:/-])(?:{day_of_month})(?![^\W_])"
        ),
    )
