"""Ranges of days and times: "Friday to Sunday", "tomorrow from 9 to 11", "3 to 7 December"."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from intentmatch.languages.structure import structure_of
from intentmatch.slots.date_words import month_pattern
from intentmatch.slots.day_parts import PARTS, in_part
from intentmatch.slots.days import weekdays_of
from intentmatch.slots.message import Message
from intentmatch.slots.moment_atoms import Atom
from intentmatch.slots.moment_patterns import LONGEST_GAP, Patterns

_BARE_DAY = re.compile(r"[^0-9]{0,5}[0-9]{1,2}[^0-9 ]{0,3}")
_LONGEST_HOURS = 40
"""Characters of two hours before a day."""


class Found(NamedTuple):
    """A value, with the day or the time that it is made of."""

    start: int
    end: int
    value: str | dict[str, str | int | float | None]
    atom: Atom | None = None
    """The only atom of the value."""
    is_clock: bool = False
    """Whether the value is a range of times whose day is not said."""


def ranges(atoms: Sequence[Atom], message: Message, words: Patterns) -> list[Found]:
    """Return the values of atoms, two joined ones as a range, and a range of times with the day beside it."""
    values: list[Found] = []
    number = 0
    while number < len(atoms):
        atom = atoms[number]
        after = atoms[number + 1] if number + 1 < len(atoms) else None
        found = _range(atom, after, message) if after and _is_range(atom, after, message.plain, words) else None
        number += 2 if found else 1
        found = found or _from_number(atom, message, words) or _to_number(atom, message, words)
        found = found or _with_hours(atom, after, message, words)
        if found or atom.alone:
            values.append(found or Found(atom.start, atom.end, _value(atom, message.now), atom))
    joined: list[Found] = []
    for one in values:
        last = joined[-1] if joined else None
        both = _with_day(last, one, message.plain, words) if last else None
        if both:
            joined[-1] = both
        else:
            joined.append(one)
    return joined


def _with_day(first: Found, second: Found, text: str, words: Patterns) -> Found | None:
    """Return a day and a range of times beside it as one value, None for others."""
    day, clock = (first, second) if second.is_clock else (second, first)
    atom = day.atom
    if not (clock.is_clock and atom and atom.day) or atom.clock or atom.last_day or isinstance(clock.value, str):
        return None
    gap = second.start - first.end
    if not (0 <= gap <= LONGEST_GAP and words.at.fullmatch(text, first.end, second.start)):
        return None
    moved = atom.day - date.fromisoformat(str(clock.value["from"])[:10])
    value = {end: _minutes(datetime.fromisoformat(str(moment)) + moved) for end, moment in clock.value.items()}
    return Found(first.start, second.end, dict(value))


def _is_range(first: Atom, second: Atom, text: str, words: Patterns) -> bool:
    if first.last_day or second.last_day or first.moment or second.moment:
        return False
    if not 0 <= second.start - first.end <= LONGEST_GAP:
        return False
    if words.to.fullmatch(text, first.end, second.start):
        return True
    if not words.both.fullmatch(text, first.end, second.start):
        return False
    return _is_opened(first, text, words) or words.ended.match(text, second.end) is not None


def _is_opened(first: Atom, text: str, words: Patterns) -> bool:
    """Return whether "between" stands before the first end of a range."""
    return first.opened or words.between.search(text, max(first.start - LONGEST_GAP, 0), first.start) is not None


def _range(first: Atom, second: Atom, message: Message) -> Found | None:
    if first.clock is None and second.clock is None:
        return _of_days(first, second, message)
    if first.clock is None or second.clock is None:
        return None
    clock, last = first.clock, second.clock
    if second.has_half and not first.is_exact and clock.hour + 12 <= last.hour:
        clock = clock.replace(hour=clock.hour + 12)
    if not second.is_exact:
        last = _half_of_end(clock, last, first)
    day = first.day or second.day or _next(clock, message.now)
    start_at = datetime.combine(day, clock)
    end_at = datetime.combine(_not_before(day, second.day) if second.day else day, last)
    if end_at < start_at and second.day is None:
        end_at = _a_day_later(end_at)
    if end_at < start_at:
        return None
    is_clock = first.day is None and second.day is None
    value = {"from": _minutes(start_at), "to": _minutes(end_at)}
    return Found(first.start, second.end, dict(value), is_clock=is_clock)


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


def _a_day_later(moment: datetime) -> datetime:
    try:
        return moment + timedelta(days=1)
    except OverflowError:
        return moment


def _of_days(first: Atom, second: Atom, message: Message) -> Found | None:
    start, end = first.day, second.day
    if start is None or end is None:
        return None
    bare = [_is_bare(message, one) for one in (first, second)]
    if bare[1]:
        end = _same_month(start, end.day) or end
    elif bare[0]:
        start = _same_month(end, start.day) or start
    value = {"from": start.isoformat(), "to": _not_before(start, end).isoformat()}
    return Found(first.start, second.end, dict(value))


def _is_bare(message: Message, day: Atom) -> bool:
    """Return whether a day says its number but not its month: "the 7th", "Mon 7th"."""
    if _BARE_DAY.fullmatch(message.plain, day.start, day.end) is None:
        return False
    return month_pattern(message.language or "en").search(message.plain, day.start, day.end) is None


def _from_number(atom: Atom, message: Message, words: Patterns) -> Found | None:
    """Return the range of "3 to 7 December" or "2 to 4 pm", whose first end is a number."""
    if atom.last_day or atom.moment or atom.part:
        return None
    place = max(atom.start - LONGEST_GAP, 0)
    ahead = message.plain[place : atom.start]
    found = words.number_before.search(ahead) or words.number_both.search(ahead)
    if found is None:
        return None
    number, start = int(found["n"]), place + found.start("n")
    if atom.clock and number < 24 and not _is_of_weekday(message, start):
        first = Atom(start, found.end() + place, clock=time(number), is_exact=number > 12)
        return _range(first, atom, message)
    if atom.clock is None and atom.day and (day := _same_month(atom.day, number)) and day < atom.day:
        return Found(start, atom.end, {"from": day.isoformat(), "to": atom.day.isoformat()})
    return None


def _is_of_weekday(message: Message, place: int) -> bool:
    """Return whether a number is the day of the month of the weekday before it: "lunes 12 a las 5"."""
    behind = "number_behind_weekday" in structure_of(message.base_language)
    return behind and any(weekday.end + 1 == place for weekday in weekdays_of(message))


def _to_number(atom: Atom, message: Message, words: Patterns) -> Found | None:
    """Return the range of "December 3 to 7" or "14:00 to 16", whose second end is a number."""
    if atom.last_day or atom.moment or (atom.part and not atom.clock):
        return None
    found = words.number_behind.match(message.plain, atom.end)
    if found is None and _is_opened(atom, message.plain, words):
        found = words.both_number.match(message.plain, atom.end)
    if found is None:
        return None
    number, end = int(found["n"]), found.end()
    if atom.clock and number < 24:
        return _range(atom, Atom(found.start("n"), end, clock=time(number), is_exact=number > 12), message)
    if atom.clock is None and atom.day and (day := _same_month(atom.day, number)) and day > atom.day:
        return Found(atom.start, end, {"from": atom.day.isoformat(), "to": day.isoformat()})
    return None


def _with_hours(atom: Atom, after: Atom | None, message: Message, words: Patterns) -> Found | None:
    """Return the range of "tomorrow from 9 to 11", or "from 9 to 11 tomorrow": a day with two numbers beside it.

    Numbers behind it are no part of the atom `after` it.
    """
    if atom.day is None or atom.clock or atom.last_day:
        return None
    found = words.hours_behind.match(message.plain, atom.end)
    if found is None or (after and after.start < found.end()):
        found = words.hours_before.search(message.plain, max(atom.start - _LONGEST_HOURS, 0), atom.start)
    if found is None or not max(int(found["n"] or found["n3"]), int(found["n2"])) < 24:
        return None
    first, second = (time(int(number)) for number in (found["n"] or found["n3"], found["n2"]))
    clock = in_part(first, atom.part) if atom.part else first
    start = atom._replace(
        start=min(atom.start, found.start()), clock=clock, is_exact=first.hour > 12, has_half=atom.part is not None
    )
    end = max(atom.end, found.end())
    return _range(start, Atom(end, end, clock=second, is_exact=second.hour > 12), message)


def _same_month(day: date, number: int) -> date | None:
    return day.replace(day=number) if 1 <= number <= calendar.monthrange(day.year, day.month)[1] else None


def _not_before(start: date, end: date) -> date:
    """Return the next such day: a weekday a week later, another day a month or a year later."""
    if end >= start:
        return end
    try:
        return end + timedelta(days=7) if (start - end).days < 7 else end.replace(year=end.year + 1)
    except (OverflowError, ValueError):
        return start


def _next(clock: time, now: datetime) -> date:
    """Return today if the time is still to come, otherwise tomorrow."""
    today = now.date()
    return today if clock > now.time() or today == date.max else today + timedelta(days=1)


def _value(atom: Atom, now: datetime) -> str | dict[str, str | int | float | None]:
    if atom.moment:
        return _minutes(atom.moment)
    if atom.clock:
        return _minutes(_still_to_come(datetime.combine(atom.day or _next(atom.clock, now), atom.clock), atom, now))
    day = atom.day or now.date()
    if atom.last_day:
        return {"from": day.isoformat(), "to": atom.last_day.isoformat()}
    if atom.part:
        first, last = PARTS[atom.part]
        end = datetime.combine(day, time(23, 59)) if last == 24 else datetime.combine(day, time(last))
        return {"from": _minutes(datetime.combine(day, time(first))), "to": _minutes(end)}
    return day.isoformat()


def _still_to_come(moment: datetime, atom: Atom, now: datetime) -> datetime:
    """Return a moment of today that is past twelve hours later: "today at 4", and "today at midnight"."""
    later = moment.time() == time(0) or (not atom.is_exact and moment.hour < 12)
    if atom.day == now.date() < date.max and later and moment < now.replace(tzinfo=None):
        moved = moment + timedelta(hours=12 if moment.hour else 24)
        return moved if moved > now.replace(tzinfo=None) else moment
    return moment


def _minutes(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="minutes")
