"""Parts of the day: "morning" and "tonight", and the hours that they stand for.

A part of the day beside an hour says which half of the day is meant: "tonight at 8" is 20:00, in a slot for times as
well as in one for dates and times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, time
from functools import lru_cache
from typing import NamedTuple

from intentmatch.core import plugins
from intentmatch.slots.message import Message, plain
from intentmatch.slots.moment_words import DAY_PARTS, MOMENT_WORDS, WEEKDAY_PARTS, MomentWords
from intentmatch.slots.relative_days import days_later
from intentmatch.slots.word_patterns import any_of, any_phrase, either

PARTS = {"morning": (6, 12), "afternoon": (12, 18), "evening": (18, 22), "night": (22, 24)}
"""Hours of the parts of a day; the night ends with the day."""

_LONGEST_BEFORE = 40
"""Characters before a time that are searched for a part of the day."""
_LONGEST_BEHIND = 30
_NOON = 12
_FIRST_MOVED = {"afternoon": 0, "evening": 4, "night": 6}
"""First hour that a part of the day moves: "tonight at 1" and "at 2 at night" stay 1:00 and 2:00."""


class _DayPartPatterns:
    """Patterns of a language, in plain form."""

    def __init__(self, language: str) -> None:
        own, together = MOMENT_WORDS.get(language, MomentWords()), WEEKDAY_PARTS.get(language, {})
        self.part_of = {plain(word): part for word, part in together.items()}
        self.part_of |= {plain(word): part for part in PARTS for word in getattr(own, part).split("|") if word}
        self.near = {plain(word): meaning for word, meaning in DAY_PARTS.get(language, {}).items()}
        """Days from today and part of the day, by word."""
        inside = either(map(plain, together))
        of_weekday = rf"(?:(?<=tag)|(?<=dag)|(?<=woch))(?:{inside})(?![^\W\d_])"
        said = f"(?P<part>{any_of([*self.part_of, *self.near])}|{of_weekday})"
        at = any_phrase(own.at, own.around)
        self.parts, self.near_today = re.compile(any_of(self.part_of)), re.compile(any_of(self.near))
        self.of_weekday = re.compile(f"(?:{of_weekday})$")
        """A part of the day at the end of a weekday."""
        self.before = re.compile(f"{said} ?,? ?(?:{at})? ?$")
        """A part of the day and the words behind it, at the end of what stands before a time."""
        self.behind = re.compile(f" ?,? ?{said}")
        self.hour = re.compile(rf"{said} ?,? ?(?:{at}) (?P<n>[0-9]{{1,2}})(?![0-9.,:/%-]*[0-9%]|[^\W\d_])")
        """A part of the day and an hour that only a word between them marks as a time: "this evening around 9"."""

    def part(self, found: re.Match[str]) -> str:
        """Return the part of the day in a match."""
        return self.part_of.get(found["part"]) or self.near[found["part"]][1]


_patterns = lru_cache(maxsize=64)(_DayPartPatterns)


class DayPart(NamedTuple):
    """A part of the day at `text[start:end]`, with its day if the words say it ("tonight")."""

    start: int
    end: int
    part: str
    day: date | None = None


def day_parts(message: Message) -> list[DayPart]:
    """Return the parts of the day in a message, including overlapping ones."""
    patterns = _patterns(message.base_language)
    found = [DayPart(*match.span(), patterns.part_of[match[0]]) for match in patterns.parts.finditer(message.plain)]
    for match in patterns.near_today.finditer(message.plain):
        days, part = patterns.near[match[0]]
        day = days_later(message.now.date(), days)
        if day is not None:
            found.append(DayPart(*match.span(), part, day))
    return found


def part_of_weekday(message: Message, end: int) -> str | None:
    """Return the part of the day that a word ending at `end` of the message ends with: "Freitagabend"."""
    patterns = _patterns(message.base_language)
    found = patterns.of_weekday.search(message.plain, max(end - _LONGEST_BEFORE, 0), end)
    return found and patterns.part_of[found[0]]


def part_beside(message: Message, start: int, end: int) -> str | None:
    """Return the part of the day before or behind a time: "tonight at [8]", "[8] tomorrow evening"; None if none."""
    patterns = _patterns(message.base_language)
    before = patterns.before.search(message.plain, max(start - _LONGEST_BEFORE, 0), start)
    if before:
        return patterns.part(before)
    behind = patterns.behind.match(message.plain, end)
    if behind is None:
        behind = patterns.behind.match(message.plain, _end_of_day(message, patterns, end))
    return None if behind is None else patterns.part(behind)


def hours_of_parts(message: Message) -> Iterator[tuple[int, int, time]]:
    """Yield the hours behind a part of the day that need a word between them: "this evening around [9]"."""
    patterns = _patterns(message.base_language)
    for found in patterns.hour.finditer(message.plain):
        part = patterns.part(found)
        if int(found["n"]) <= _NOON:
            yield *found.span("n"), in_part(time(int(found["n"])), part)


def _end_of_day(message: Message, patterns: _DayPartPatterns, end: int) -> int:
    """Return the end of the day that stands between a time and a part of the day, `end` if there is none."""
    if not patterns.parts.search(message.plain, end, end + _LONGEST_BEHIND) or not plugins.installed("dateparser"):
        return end
    # Only where it is needed: dateparser is an extra, and times are read without it.
    from intentmatch.slots.days import find_dates

    behind = (hit for hit in find_dates(message) if 0 < hit.start - end <= len(" on the "))
    return max((hit.end for hit in behind), default=end)


def in_part(clock: time, part: str) -> time:
    """Return a time without a half of the day in a part of the day: 8:00 in the evening is 20:00, 12:00 is midnight."""
    if part in ("evening", "night") and clock.hour == _NOON:
        return clock.replace(hour=0)
    if part in _FIRST_MOVED and clock.hour >= _FIRST_MOVED[part]:
        return clock.replace(hour=clock.hour % 12 + 12)
    return clock
