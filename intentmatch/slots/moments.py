"""Slots of kind "datetime": days, times and ranges of both, counted from now.

Values are a day ("2026-11-23"), a day with a time ("2026-11-23T18:30"), or a range as `{"from": ..., "to": ...}`, both
ends included: "next week" is Monday to Sunday, "Friday from 2 pm to 4 pm" two times of that day, "tomorrow morning"
6:00 to 12:00. A time without a day is the next such time. "In an hour" counts from now, across changes of the clocks.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta, timezone
from functools import lru_cache
from typing import NamedTuple

from intentmatch.slots.clock import TimeFinder
from intentmatch.slots.days import DateFinder
from intentmatch.slots.durations import Length, lengths
from intentmatch.slots.message import Message, SlotHit, plain
from intentmatch.slots.moment_words import MOMENT_WORDS, MomentWords
from intentmatch.slots.quantities import any_of
from intentmatch.text.language_id import base_language

PARTS = {"morning": (6, 12), "afternoon": (12, 18), "evening": (18, 22), "night": (22, 24)}
"""Hours of the parts of a day; the night ends with the day."""
_LONGEST_GAP = 16
"""Characters between a day and its time, and between the ends of a range."""
_CLOCK_UNITS = ("hour", "minute", "second")
_TIMES = TimeFinder()
_ENDING_FROM = {"tr": "(?<=[dt][ae]n )"}
"""What stands before the second end of a range where the first one has an ending for "from" ("cumadan pazara")."""
_ARTICLES = ("the", "dem", "den", "zum", "el", "le", "il", "o", "de", "dia", "del", "al")
"""Words between the two ends of a range, behind "to"."""
_BARE_DAY = re.compile(r"[^0-9]{0,5}[0-9]{1,2}[^0-9 ]{0,3}")
_MOST_DAYS = 366_000
"""Longest way from now, in days, so that no sum leaves the calendar."""


class _Atom(NamedTuple):
    """A day, a time, a part of a day, or several of these together."""

    start: int
    end: int
    day: date | None = None
    clock: time | None = None
    part: str | None = None
    """"morning" and the like."""
    last_day: date | None = None
    """Last day of a period."""
    alone: bool = True
    """Whether it means something without a day or time beside it."""
    moment: datetime | None = None
    """An instant counted from now."""
    has_half: bool = False
    """Whether the half of the day is said ("4 pm")."""


class MomentFinder:
    """Finds days, times and ranges in the message's language."""

    def __init__(self, languages: Iterable[str] = ()) -> None:
        """Load the words of `languages` now. Raises `MissingExtraError` if dateparser is not installed."""
        self._days = DateFinder(languages)

    def find(self, message: Message) -> list[SlotHit]:
        """Return days, times and ranges without overlaps."""
        words = _words(base_language(message.language) if message.language else "en")
        atoms = _without_overlaps([*self._single(message, words), *_offsets(message, words), *_periods(message, words)])
        joined = _together(atoms, message.plain, words)
        found = _ranges(joined, message, words)
        return [SlotHit(*message.aligned.widened(one.start, one.end), one.value) for one in found]

    def _single(self, message: Message, words: _Words) -> Iterator[_Atom]:
        for hit in self._days.find(message):
            yield _Atom(hit.start, hit.end, day=date.fromisoformat(str(hit.value)))
        for hit in _TIMES.find(message):
            said = message.plain[hit.start : hit.end]
            yield _Atom(hit.start, hit.end, clock=time.fromisoformat(str(hit.value)), has_half=not _is_bare(said))
        for found in words.parts.finditer(message.plain):
            yield _Atom(*found.span(), part=words.part_of[found[0]], alone=False)
        today = message.now.date()
        for found in words.this_evening.finditer(message.plain):
            yield _Atom(*found.span(), day=today, part="evening")


def _is_bare(said: str) -> bool:
    """Return whether a time is an hour alone ("4"), without minutes or a half of the day."""
    return said.isdecimal()


def _without_overlaps(atoms: Iterable[_Atom]) -> list[_Atom]:
    """Return the longest of overlapping atoms, of equally long ones the first, in order."""
    taken: list[_Atom] = []
    ends = bytearray()
    for atom in sorted(atoms, key=lambda atom: (atom.start - atom.end, not (atom.day and atom.part), not atom.alone)):
        ends.extend(bytes(max(atom.end - len(ends), 0)))
        if not any(ends[atom.start : atom.end]):
            ends[atom.start : atom.end] = b"\1" * (atom.end - atom.start)
            taken.append(atom)
    return sorted(taken, key=lambda atom: atom.start)


def _offsets(message: Message, words: _Words) -> Iterator[_Atom]:
    """Yield lengths counted from now: "in an hour", "20 minutes ago"."""
    text = message.plain
    for length in lengths(message):
        place = max(length.start - _LONGEST_GAP, 0)
        for sign, before, behind in ((1, *words.later), (-1, *words.ago)):
            ahead, after = before.search(text[place : length.start]), behind.match(text, length.end)
            if ahead or after:
                start = place + ahead.start() if ahead else length.start
                end = after.end() if after else length.end
                atom = _from_now(message.now, length, sign)
                if atom:
                    yield atom._replace(start=start, end=end)
                break


def _from_now(now: datetime, length: Length, sign: int) -> _Atom | None:
    parts = length.parts
    days = parts.get("day", 0) + 7 * parts.get("week", 0)
    months = round(parts.get("month", 0) + 12 * parts.get("year", 0))
    seconds = sum(parts.get(unit, 0) * many for unit, many in zip(_CLOCK_UNITS, (3600, 60, 1), strict=True))
    if days > _MOST_DAYS or months > _MOST_DAYS // 31 or seconds > _MOST_DAYS * 86_400:
        return None
    try:
        day = _plus_months(now.date(), sign * months) + timedelta(days=sign * int(days))
        rest = timedelta(days=days % 1, seconds=seconds)
        if not rest:
            return _Atom(0, 0, day=day)
        start = datetime.combine(day, now.timetz())
        if start.tzinfo is not None:
            moved = start.astimezone(timezone.utc) + sign * rest
            return _Atom(0, 0, moment=moved.astimezone(start.tzinfo))
        return _Atom(0, 0, moment=start + sign * rest)
    except (OverflowError, ValueError):
        return None


def _plus_months(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _periods(message: Message, words: _Words) -> Iterator[_Atom]:
    """Yield weeks, months, years and weekends: "next week". A weekend alone is this one."""
    today = message.now.date()
    for found in words.periods.finditer(message.plain):
        said = found["which"] or found["which_behind"]
        which = words.which[said] if said else 0
        unit = words.units[found["unit"] or found["unit_before"]] if said else "weekend"
        span = _period(today, unit, which)
        if span:
            yield _Atom(*found.span(), day=span[0], last_day=span[1])


def _period(today: date, unit: str, which: int) -> tuple[date, date] | None:
    try:
        if unit in ("week", "weekend"):
            monday = today + timedelta(days=7 * which - today.weekday())
            first = monday + timedelta(days=5) if unit == "weekend" else monday
            return first, monday + timedelta(days=6)
        if unit == "month":
            first = _plus_months(today.replace(day=1), which)
            return first, _plus_months(first, 1) - timedelta(days=1)
        return date(today.year + which, 1, 1), date(today.year + which, 12, 31)
    except (OverflowError, ValueError):
        return None


def _together(atoms: Sequence[_Atom], text: str, words: _Words) -> list[_Atom]:
    """Join days with the times and parts of the day beside them."""
    joined: list[_Atom] = []
    for atom in atoms:
        last = joined[-1] if joined else None
        both = _both(last, atom) if last and _beside(last, atom, text, words.at) else None
        if both:
            joined[-1] = both
        else:
            joined.append(atom)
    return [atom for atom in joined if atom.alone or atom.day or atom.clock]


def _beside(first: _Atom, second: _Atom, text: str, between: re.Pattern[str]) -> bool:
    gap = second.start - first.end
    return 0 <= gap <= _LONGEST_GAP and between.fullmatch(text, first.end, second.start) is not None


def _both(first: _Atom, second: _Atom) -> _Atom | None:
    """Return two atoms as one; None if both say the same or one is a period or an instant."""
    if any(atom.last_day or atom.moment for atom in (first, second)):
        return None
    if (first.day and second.day) or (first.clock and second.clock) or (first.part and second.part):
        return None
    if not (first.day or second.day):
        return None
    clock, part = first.clock or second.clock, first.part or second.part
    if clock and (part in ("afternoon", "evening") or (part == "night" and clock.hour >= 6)):
        clock = clock.replace(hour=clock.hour % 12 + 12)
    has_half = first.has_half or second.has_half or part is not None
    return _Atom(first.start, second.end, first.day or second.day, clock, part, has_half=has_half)


class _Found(NamedTuple):
    """A value, with the day or the time that it is made of."""

    start: int
    end: int
    value: str | dict[str, str | int | float | None]
    atom: _Atom | None = None
    """The only atom of the value."""
    is_clock: bool = False
    """Whether the value is a range of times whose day is not said."""


def _ranges(atoms: Sequence[_Atom], message: Message, words: _Words) -> list[_Found]:
    """Return the values of atoms, two joined ones as a range, and a range of times with the day beside it."""
    values: list[_Found] = []
    number = 0
    while number < len(atoms):
        atom = atoms[number]
        after = atoms[number + 1] if number + 1 < len(atoms) else None
        found = _range(atom, after, message) if after and _is_range(atom, after, message.plain, words) else None
        number += 2 if found else 1
        found = found or _from_number(atom, message, words) or _to_number(atom, message, words)
        found = found or _with_hours(atom, message, words)
        values.append(found or _Found(atom.start, atom.end, _value(atom, message.now), atom))
    joined: list[_Found] = []
    for one in values:
        last = joined[-1] if joined else None
        both = _with_day(last, one, message.plain, words) if last else None
        if both:
            joined[-1] = both
        else:
            joined.append(one)
    return joined


def _with_day(first: _Found, second: _Found, text: str, words: _Words) -> _Found | None:
    """Return a day and a range of times beside it as one value, None for others."""
    day, clock = (first, second) if second.is_clock else (second, first)
    atom = day.atom
    if not (clock.is_clock and atom and atom.day) or atom.clock or atom.last_day or isinstance(clock.value, str):
        return None
    gap = second.start - first.end
    if not (0 <= gap <= _LONGEST_GAP and words.at.fullmatch(text, first.end, second.start)):
        return None
    moved = atom.day - date.fromisoformat(str(clock.value["from"])[:10])
    value = {end: _minutes(datetime.fromisoformat(str(moment)) + moved) for end, moment in clock.value.items()}
    return _Found(first.start, second.end, dict(value))


def _is_range(first: _Atom, second: _Atom, text: str, words: _Words) -> bool:
    if first.last_day or second.last_day or first.moment or second.moment:
        return False
    if _beside(first, second, text, words.to):
        return True
    place = max(first.start - _LONGEST_GAP, 0)
    return _beside(first, second, text, words.both) and words.between.search(text[place : first.start]) is not None


def _range(first: _Atom, second: _Atom, message: Message) -> _Found | None:
    now = message.now
    if first.clock is None and second.clock is None:
        start, end = first.day, second.day
        if start is None or end is None:
            return None
        bare = [_BARE_DAY.fullmatch(message.plain, one.start, one.end) is not None for one in (first, second)]
        if bare[1]:
            end = _same_month(start, end.day) or end
        elif bare[0]:
            start = _same_month(end, start.day) or start
        value = {"from": start.isoformat(), "to": _not_before(start, end).isoformat()}
        return _Found(first.start, second.end, dict(value))
    if first.clock is None or second.clock is None:
        return None
    clock = first.clock
    if second.has_half and not first.has_half and clock.hour + 12 <= second.clock.hour:
        clock = clock.replace(hour=clock.hour + 12)
    day = first.day or second.day or _next(clock, now)
    start_at = datetime.combine(day, clock)
    end_at = datetime.combine(second.day or day, second.clock)
    if end_at < start_at and second.day is None:
        end_at += timedelta(days=1)
    is_clock = first.day is None and second.day is None
    value = {"from": _minutes(start_at), "to": _minutes(end_at)}
    return _Found(first.start, second.end, dict(value), is_clock=is_clock)


def _from_number(atom: _Atom, message: Message, words: _Words) -> _Found | None:
    """Return the range of "3 to 7 December" or "2 to 4 pm", whose first end is a number."""
    if atom.last_day or atom.moment or atom.part:
        return None
    place = max(atom.start - _LONGEST_GAP, 0)
    ahead = message.plain[place : atom.start]
    found = words.number_before.search(ahead) or words.number_both.search(ahead)
    if found is None:
        return None
    number, start = int(found["n"]), place + found.start("n")
    if atom.clock and number < 24:
        first = _Atom(start, found.end() + place, clock=time(number))
        return _range(first, atom, message)
    if atom.clock is None and atom.day and (day := _same_month(atom.day, number)) and day < atom.day:
        return _Found(start, atom.end, {"from": day.isoformat(), "to": atom.day.isoformat()})
    return None


def _to_number(atom: _Atom, message: Message, words: _Words) -> _Found | None:
    """Return the range of "December 3 to 7" or "14:00 to 16", whose second end is a number."""
    if atom.last_day or atom.moment or atom.part:
        return None
    found = words.number_behind.match(message.plain, atom.end)
    if found is None:
        return None
    number, end = int(found["n"]), found.end()
    if atom.clock and number < 24:
        return _range(atom, _Atom(found.start("n"), end, clock=time(number)), message)
    if atom.clock is None and atom.day and (day := _same_month(atom.day, number)) and day > atom.day:
        return _Found(atom.start, end, {"from": atom.day.isoformat(), "to": day.isoformat()})
    return None


def _with_hours(atom: _Atom, message: Message, words: _Words) -> _Found | None:
    """Return the range of "tomorrow from 9 to 11", a day with two numbers."""
    if atom.day is None or atom.clock or atom.last_day or atom.part:
        return None
    found = words.hours_behind.match(message.plain, atom.end)
    if found is None or not int(found["n"]) < int(found["n2"]) < 24:
        return None
    start, end = (datetime.combine(atom.day, time(int(found[group]))) for group in ("n", "n2"))
    return _Found(atom.start, found.end(), {"from": _minutes(start), "to": _minutes(end)})


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


def _value(atom: _Atom, now: datetime) -> str | dict[str, str | int | float | None]:
    if atom.moment:
        return _minutes(atom.moment)
    if atom.clock:
        return _minutes(datetime.combine(atom.day or _next(atom.clock, now), atom.clock))
    day = atom.day or now.date()
    if atom.last_day:
        return {"from": day.isoformat(), "to": atom.last_day.isoformat()}
    if atom.part:
        first, last = PARTS[atom.part]
        end = datetime.combine(day, time(23, 59)) if last == 24 else datetime.combine(day, time(last))
        return {"from": _minutes(datetime.combine(day, time(first))), "to": _minutes(end)}
    return day.isoformat()


def _minutes(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="minutes")


class _Words(NamedTuple):
    """Patterns of a language, in plain form."""

    parts: re.Pattern[str]
    part_of: Mapping[str, str]
    this_evening: re.Pattern[str]
    periods: re.Pattern[str]
    """A period; one of the groups which and which_behind, and one of unit and unit_before takes part, or none."""
    which: Mapping[str, int]
    units: Mapping[str, str]
    at: re.Pattern[str]
    to: re.Pattern[str]
    both: re.Pattern[str]
    between: re.Pattern[str]
    number_before: re.Pattern[str]
    number_both: re.Pattern[str]
    number_behind: re.Pattern[str]
    hours_behind: re.Pattern[str]
    later: tuple[re.Pattern[str], re.Pattern[str]]
    """Words before and behind a length that counts from now."""
    ago: tuple[re.Pattern[str], re.Pattern[str]]


_NONE = MomentWords(*[""] * len(MomentWords._fields))


@lru_cache(maxsize=64)
def _words(language: str) -> _Words:
    own = MOMENT_WORDS.get(language, _NONE)
    parts = {plain(word): part for part in PARTS for word in _split(getattr(own, part))}
    which = {
        plain(word): number
        for words, number in ((own.next, 1), (own.this, 0), (own.last, -1))
        for word in _split(words)
    }
    units = {plain(word): unit for unit in ("week", "month", "year", "weekend") for word in _split(getattr(own, unit))}
    each = f"(?P<which>{any_of(which)}) ?(?P<unit>{any_of(units)})"
    behind = f"(?P<unit_before>{any_of(units)}) (?P<which_behind>{any_of(which)})"
    to = (
        f" ?(?:-|{_ENDING_FROM.get(language, '(?!)')}|{any_of(map(plain, _split(own.to)))}) ?(?:{any_of(_ARTICLES)})? ?"
    )
    number = r"(?<![0-9.,:/-])(?P<n>[0-9]{1,2})(?:\.|st|nd|rd|th|er|º|°|h)?"
    both = f" ?(?:{any_of(map(plain, _split(own.both)))}) ?"
    between = f"(?:{any_of(map(plain, _split(own.between)))}) ?(?:{any_of(map(plain, _split(own.at)))})? ?"
    return _Words(
        re.compile(any_of(parts)),
        parts,
        re.compile(any_of(map(plain, _split(own.this_evening)))),
        re.compile(f"{each}|{behind}|{any_of(map(plain, _split(own.weekend)))}"),
        which,
        units,
        re.compile(f" ?,? ?(?:{any_of(map(plain, _split(own.at)))})? ?"),
        re.compile(f"{to}(?:{any_of(map(plain, _split(own.at)))})? ?"),
        re.compile(both),
        re.compile(f"{between}$"),
        re.compile(f"{number}{to}$"),
        re.compile(f"{between}{number}{both}$"),
        re.compile(rf"{to}(?P<n>[0-9]{{1,2}})(?:\.(?= |$)|st|nd|rd|th|º|°)?(?![0-9.,:/-]*[0-9]|[^\W\d_])"),
        re.compile(
            rf",? (?:{any_of(map(plain, _split(own.at)))}) {number}{to}(?P<n2>[0-9]{{1,2}})(?![0-9.,:/-]*[0-9])"
        ),
        _sides(own.later),
        _sides(own.ago),
    )


def _split(words: str) -> list[str]:
    return [word for word in words.split("|") if word]


def _sides(words: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns for words before and behind a length."""
    behind = [plain(word[1:]) for word in _split(words) if word.startswith("~")]
    before = [plain(word) for word in _split(words) if not word.startswith("~")]
    return re.compile(f"(?:{any_of(before)}) ?$"), re.compile(f" ?(?:{any_of(behind)})")
