"""Ranges of days and times: "Friday to Sunday", "tomorrow from 9 to 11", "3 to 7 December"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from intentmatch.languages.structure import structure_of
from intentmatch.slots.date_words import month_pattern
from intentmatch.slots.day_parts import PARTS, in_part
from intentmatch.slots.days import weekdays_of
from intentmatch.slots.message import Message
from intentmatch.slots.moment_atoms import Atom, day_and_time
from intentmatch.slots.moment_patterns import LONGEST_GAP, patterns
from intentmatch.slots.relative_days import days_later, same_month

_BARE_DAY = re.compile(r"[^0-9]{0,5}[0-9]{1,2}[^0-9 ]{0,3}")
_LONGEST_HOURS = 40
"""Characters of two hours before a day."""


class Found(NamedTuple):
    """A day, a moment, or a range of either; a day is a `date` that is no `datetime`."""

    start: int
    end: int
    first: date
    last: date | None = None
    """The end of a range, included."""
    day: date | None = None
    """The day, if only a day or a part of one is said."""
    assumed_day: date | None = None
    """The next such day, if a range of times is said without one."""

    @property
    def value(self) -> str | dict[str, str | int | float | None]:
        """The value of the slot."""
        return _iso(self.first) if self.last is None else {"from": _iso(self.first), "to": _iso(self.last)}


def ranges(atoms: Sequence[Atom], message: Message) -> list[Found]:
    """Return the values of atoms, two joined ones as a range, and a range of times with the day beside it."""
    reader = _RangeReader(message)
    values: list[Found] = []
    number = 0
    while number < len(atoms):
        atom, after = atoms[number], atoms[number + 1] if number + 1 < len(atoms) else None
        found = reader.two_atoms(atom, after) if after else None
        number += 2 if found else 1
        found = found or reader.from_number(atom) or reader.to_number(atom) or reader.with_hours(atom, after)
        if found is None and atom.alone:
            found = _single(atom, message.now)
        if found is None:
            continue
        both = reader.with_day(values[-1], found) if values else None
        if both:
            values[-1] = both
        else:
            values.append(found)
    return values


class _RangeReader:
    """Reads the ranges of one message."""

    def __init__(self, message: Message) -> None:
        self._message, self._text, self._words = message, message.plain, patterns(message)

    def two_atoms(self, first: Atom, second: Atom) -> Found | None:
        """Return the range of "Friday to Sunday", "9:00 to 11:00" or "between Monday and Wednesday"."""
        if first.last_day or second.last_day or first.moment or second.moment:
            return None
        if not (0 <= second.start - first.end <= LONGEST_GAP and self._is_joined(first, second)):
            return None
        return self._of_days(first, second) or self._of_times(first, second)

    def from_number(self, atom: Atom) -> Found | None:
        """Return the range of "3 to 7 December" or "2 to 4 pm", whose first end is a number."""
        if atom.last_day or atom.moment or atom.part:
            return None
        place = max(atom.start - LONGEST_GAP, 0)
        ahead = self._text[place : atom.start]
        found = self._words.number_before.search(ahead) or self._words.number_both.search(ahead)
        if found is None and self._words.ended.match(self._text, atom.end):
            found = self._words.number_ended.search(ahead)
        if found is None:
            return None
        number, start = int(found["n"]), place + found.start("n")
        if atom.clock and number < 24 and not self._is_of_weekday(start):
            return self._of_times(_hour(start, place + found.end(), number), atom)
        if atom.clock is None and atom.day and (day := same_month(atom.day, number)) and day < atom.day:
            return Found(start, atom.end, day, atom.day)
        return None

    def to_number(self, atom: Atom) -> Found | None:
        """Return the range of "December 3 to 7" or "14:00 to 16", whose second end is a number."""
        if atom.last_day or atom.moment or (atom.part and not atom.clock):
            return None
        found = self._words.number_behind.match(self._text, atom.end)
        if found is None and self._is_opened(atom):
            found = self._words.both_number.match(self._text, atom.end)
        if found is None:
            return None
        number, end = int(found["n"]), found.end()
        if atom.clock and number < 24:
            return self._of_times(atom, _hour(found.start("n"), end, number))
        if atom.clock is None and atom.day and (day := same_month(atom.day, number)) and day > atom.day:
            return Found(atom.start, end, atom.day, day)
        return None

    def with_hours(self, atom: Atom, after: Atom | None) -> Found | None:
        """Return the range of "tomorrow from 9 to 11" or "from 9 to 11 tomorrow": a day with two hours beside it.

        Hours behind the day are no part of the atom `after` it.
        """
        if atom.day is None or atom.clock or atom.last_day:
            return None
        found = self._words.hours_behind.match(self._text, atom.end)
        if found is None or (after and after.start < found.end()):
            found = self._words.hours_before.search(self._text, max(atom.start - _LONGEST_HOURS, 0), atom.start)
        if found is None:
            return None
        first, second = int(found["n"] or found["n3"]), int(found["n2"])
        if max(first, second) >= 24:
            return None
        start, end = min(atom.start, found.start()), max(atom.end, found.end())
        opening = day_and_time(atom, _hour(start, end, first), self._message.now)
        return self._of_times(opening._replace(start=start), _hour(end, end, second)) if opening else None

    def with_day(self, first: Found, second: Found) -> Found | None:
        """Return a day and a range of times beside it as one value, None for others."""
        day, times = (first, second) if second.assumed_day else (second, first)
        if not (day.day and times.assumed_day and times.last):
            return None
        gap = second.start - first.end
        if not (0 <= gap <= LONGEST_GAP and self._words.at.fullmatch(self._text, first.end, second.start)):
            return None
        moved = day.day - times.assumed_day
        return Found(first.start, second.end, times.first + moved, times.last + moved)

    def _is_joined(self, first: Atom, second: Atom) -> bool:
        """Return whether "to" stands between two atoms, or "and" in a range that is opened or ended by a word."""
        if self._words.to.fullmatch(self._text, first.end, second.start):
            return True
        if not self._words.both.fullmatch(self._text, first.end, second.start):
            return False
        return self._is_opened(first) or self._words.ended.match(self._text, second.end) is not None

    def _is_opened(self, first: Atom) -> bool:
        """Return whether "between" stands before the first end of a range."""
        place = max(first.start - LONGEST_GAP, 0)
        return first.opened or self._words.between.search(self._text, place, first.start) is not None

    def _is_of_weekday(self, place: int) -> bool:
        """Return whether a number is the day of the month of the weekday before it: "lunes 12 a las 5"."""
        behind = "number_behind_weekday" in structure_of(self._message.base_language)
        return behind and any(weekday.end + 1 == place for weekday in weekdays_of(self._message))

    def _of_days(self, first: Atom, second: Atom) -> Found | None:
        start, end = first.day, second.day
        if first.clock or second.clock or start is None or end is None:
            return None
        # A number without its month is read as the next such day, which may be of another month: "3 December to the
        # 7th".
        if self._is_bare(second):
            end = same_month(start, end.day) or end
        elif self._is_bare(first):
            start = same_month(end, start.day) or start
        elif first.no_year:
            start = _last_before(start, end)
        return Found(first.start, second.end, start, _not_before(start, end))

    def _is_bare(self, day: Atom) -> bool:
        """Return whether a day says its number but not its month: "the 7th", "Mon 7th"."""
        if _BARE_DAY.fullmatch(self._text, day.start, day.end) is None:
            return False
        return month_pattern(self._message.language or "en").search(self._text, day.start, day.end) is None

    def _of_times(self, first: Atom, second: Atom) -> Found | None:
        """Return a range of times, on the next such day if no day is said; None if the end is before the start."""
        if first.clock is None or second.clock is None:
            return None
        clock, last = first.clock, second.clock
        # "2 to 4 pm": both are in the afternoon.
        if second.has_half and not first.is_exact and clock.hour + 12 <= last.hour:
            clock = clock.replace(hour=clock.hour + 12)
        if not second.is_exact:
            last = _half_of_end(clock, last, first)
        day = first.day or second.day or _next(clock, self._message.now)
        start_at = datetime.combine(day, clock)
        end_at = datetime.combine(_not_before(day, second.day) if second.day else day, last)
        # "From 10 pm to 6 am" ends on the next day.
        if end_at < start_at and second.day is None:
            end_at = datetime.combine(days_later(day, 1) or day, last)
        if end_at < start_at:
            return None
        assumed_day = None if first.day or second.day else day
        return Found(first.start, second.end, start_at, end_at, assumed_day=assumed_day)


def _hour(start: int, end: int, number: int) -> Atom:
    """Return a number below 24 as a time; only after noon it says the half of the day."""
    return Atom(start, end, clock=time(number), is_exact=number > 12)


def _single(atom: Atom, now: datetime) -> Found:
    """Return the value of one atom."""
    if atom.moment:
        return Found(atom.start, atom.end, atom.moment)
    if atom.clock:
        moment = datetime.combine(atom.day or _next(atom.clock, now), atom.clock)
        return Found(atom.start, atom.end, _still_to_come(moment, atom, now))
    day = atom.day or now.date()
    if atom.last_day:
        return Found(atom.start, atom.end, day, atom.last_day)
    if atom.part:
        first, last = PARTS[atom.part]
        until = datetime.combine(day, time(23, 59) if last == 24 else time(last))
        return Found(atom.start, atom.end, datetime.combine(day, time(first)), until, atom.day)
    return Found(atom.start, atom.end, day, day=atom.day)


def _half_of_end(clock: time, last: time, first: Atom) -> time:
    """Return the end of a range of times that does not say its half of the day.

    It is in the part of the day of the start, or the first such time behind a start before noon or with its half said.
    """
    if first.part:
        moved = in_part(last, first.part)
        return moved if moved > clock else last
    if last.hour >= 12 or (clock.hour > 12 and not first.has_half):
        return last
    moved = last.replace(hour=last.hour + 12)
    return moved if moved > clock and (last <= clock or clock.hour >= 12) else last


def _not_before(start: date, end: date) -> date:
    """Return the next such day: a weekday a week later, another day a month or a year later."""
    if end >= start:
        return end
    try:
        return end + timedelta(days=7) if (start - end).days < 7 else end.replace(year=end.year + 1)
    except (OverflowError, ValueError):
        return start


def _last_before(start: date, end: date) -> date:
    """Return the last such day before the end of a range: "5 May to 8 May 2030"."""
    with suppress(ValueError):
        while start.replace(year=start.year + 1) <= end:
            start = start.replace(year=start.year + 1)
    return start


def _next(clock: time, now: datetime) -> date:
    """Return today if the time is still to come, otherwise tomorrow."""
    today = now.date()
    return today if clock > now.time() or today == date.max else today + timedelta(days=1)


def _still_to_come(moment: datetime, atom: Atom, now: datetime) -> datetime:
    """Return a moment of today that is past twelve hours later: "today at 4", and "today at midnight"."""
    later = moment.time() == time(0) or (not atom.is_exact and moment.hour < 12)
    if atom.day == now.date() < date.max and later and moment < now.replace(tzinfo=None):
        moved = moment + timedelta(hours=12 if moment.hour else 24)
        return moved if moved > now.replace(tzinfo=None) else moment
    return moment


def _iso(at: date) -> str:
    """Return a day, or the minute of a moment without its time zone."""
    return at.replace(tzinfo=None).isoformat(timespec="minutes") if isinstance(at, datetime) else at.isoformat()
