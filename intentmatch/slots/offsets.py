"""Days and instants at a length from now: "in an hour", "20 minutes ago", "two days from now"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from intentmatch.slots.durations import CLOCK_UNITS, Length, lengths
from intentmatch.slots.message import Message
from intentmatch.slots.moment_atoms import Atom
from intentmatch.slots.moment_patterns import LONGEST_GAP, patterns
from intentmatch.slots.range_words import relation_words
from intentmatch.slots.relative_days import plus_months

_DAY_BESIDE = re.compile(r"(?<![^\W_])(?:the day|(?:der|am|den) tag)(?![^\W_])")
_MOST_DAYS = 366_000
"""Longest way from now, in days, so that no sum leaves the calendar."""


def offsets(message: Message) -> Iterator[Atom]:
    """Yield lengths counted from now: days if the length is of days, months or years, otherwise instants.

    "A week from" needs a day behind it.
    """
    text, words = message.plain, patterns(message)
    for length in lengths(message):
        place = max(length.start - LONGEST_GAP, 0)
        for sign, before, behind in ((1, *words.later), (-1, *words.ago)):
            ahead, after = before.search(text[place : length.start]), behind.match(text, length.end)
            if ahead or after:
                start = place + ahead.start() if ahead else length.start
                end = after.end() if after else length.end
                atom = _from_now(message.now, length, sign)
                if atom:
                    yield atom._replace(start=start, end=end)
                break
        else:
            yield from _anchored(message, length)
    for found in _DAY_BESIDE.finditer(text):
        yield from _anchored(message, Length(*found.span(), {"day": 1}))


def _anchored(message: Message, length: Length) -> Iterator[Atom]:
    """Yield a length that counts from the day behind it: "two days before"."""
    words = relation_words(message.base_language)
    for sign, pattern in ((1, words.after), (-1, words.ago)):
        counted = pattern.match(message.plain, length.end)
        atom = _from_now(message.now, length, sign) if counted else None
        if counted and atom and atom.delta:
            yield atom._replace(start=length.start, end=counted.end(), alone=False)
            return


def _from_now(now: datetime, length: Length, sign: int) -> Atom | None:
    parts = length.parts
    days = parts.get("day", 0) + 7 * parts.get("week", 0)
    months = round(parts.get("month", 0) + 12 * parts.get("year", 0))
    seconds = sum(parts.get(unit, 0) * many for unit, many in zip(CLOCK_UNITS, (3600, 60, 1), strict=True))
    if days > _MOST_DAYS or months > _MOST_DAYS // 31 or seconds > _MOST_DAYS * 86_400:
        return None
    try:
        day = plus_months(now.date(), sign * months) + timedelta(days=sign * int(days))
        rest = timedelta(days=days % 1, seconds=seconds)
        if not rest:
            return Atom(0, 0, day=day, delta=day - now.date())
        # In an hour is an hour of real time: in UTC, where a change of the clocks adds or takes none.
        start = datetime.combine(day, now.timetz())
        if start.tzinfo is not None:
            moved = start.astimezone(timezone.utc) + sign * rest
            return Atom(0, 0, moment=moved.astimezone(start.tzinfo))
        return Atom(0, 0, moment=start + sign * rest)
    except (OverflowError, ValueError):
        return None
