"""Weekdays with "next", "this" or "last", and days of the month without their month ("the 5th").

"Next Friday" is the first Friday from tomorrow on, "last Friday" the last one before today. In Chinese and Japanese,
and beside "next week", the weekday is that of the week, which begins on Monday.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from datetime import date, timedelta

from intentmatch.languages.structure import structure_of
from intentmatch.slots.message import Message
from intentmatch.slots.moment_patterns import patterns
from intentmatch.slots.numerals import small_number

_LONGEST_MODIFIER = 24
_MONTHS_AHEAD = 12


def modified_weekday(message: Message, start: int, end: int, weekday: int) -> tuple[int, int, date] | None:
    """Return a weekday with the words that say of which week it is, and its date; None without such words."""
    words = patterns(message)
    place = max(start - _LONGEST_MODIFIER, 0)
    found = words.before_weekday.search(message.plain[place:start])
    if found:
        start = place + found.start()
    else:
        found = words.behind_weekday.match(message.plain, end)
        end = found.end() if found else end
    if found is None:
        return None
    today = message.now.date()
    week = found["week"] or found["week_behind"]
    if week or "next_means_next_week" in structure_of(message.base_language):
        which = words.which_weekday[week or found["which"]]
        day = days_later(today, 7 * which - today.weekday() + weekday)
    else:
        ahead = (weekday - today.weekday() - 1) % 7 + 1
        which = words.which_weekday[found["which"]]
        ahead += words.days_more.get(found["which"], 7 * max(which - 1, 0))
        day = days_later(today, ahead if which >= 0 else ahead - (7 if ahead < 7 else 14))
        if which == 0 and weekday == today.weekday():
            day = today
    return None if day is None else (start, end, day)


def days_of_month(message: Message) -> Iterator[tuple[int, int, date]]:
    """Yield days of the month without their month: the next such day, today included."""
    words = patterns(message)
    for found in words.day_of_month.finditer(message.plain):
        groups = found.groupdict()
        group = "n" if groups["n"] else "n2"
        day = next(days_ahead(message.now.date(), small_number(groups[group])), None)
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


def same_month(day: date, number: int) -> date | None:
    """Return the day with a number in the month of another day, None if the month has no such day."""
    return day.replace(day=number) if 1 <= number <= calendar.monthrange(day.year, day.month)[1] else None


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
