"""Parts of a date and time: days, times, parts of the day, periods and instants, and what they mean beside each other.

"Friday evening at 8" has three of them, which make one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from intentmatch.slots.day_parts import in_part
from intentmatch.slots.moment_patterns import LONGEST_GAP, Patterns
from intentmatch.slots.relative_days import days_later

_SMALL_HOURS = 5
"""First hour that belongs to the day, not to the evening before."""


class Atom(NamedTuple):
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
    is_exact: bool = False
    """Whether the half of the day is clear: "4 pm", "16:00"."""
    has_half: bool = False
    """Whether the half of the day is said ("4 pm")."""
    of_month: int | None = None
    """The number of a day whose month is not said ("the 5th")."""
    no_year: bool = False
    """Whether the year of a day with its month is not said ("5 May")."""
    delta: timedelta | None = None
    """Whole days from today."""
    ends_day: bool = False
    """Whether the time is the midnight behind its day."""
    opened: bool = False
    """Whether "between" stands inside, before the time."""


def without_overlaps(atoms: Iterable[Atom]) -> list[Atom]:
    """Return the longest of overlapping atoms, of equally long ones the first, in order."""
    taken: list[Atom] = []
    # A mark for each character keeps this linear: comparing all atoms of a message of 800 days with each other is not.
    ends = bytearray()
    for atom in sorted(atoms, key=_preference):
        ends.extend(bytes(max(atom.end - len(ends), 0)))
        if not any(ends[atom.start : atom.end]):
            ends[atom.start : atom.end] = b"\1" * (atom.end - atom.start)
            taken.append(atom)
    return sorted(taken, key=lambda atom: atom.start)


def _preference(atom: Atom) -> tuple[int, bool, bool, bool]:
    return atom.start - atom.end, not (atom.day and atom.part), atom.delta is None, not atom.alone


def joined(atoms: Sequence[Atom], text: str, words: Patterns, now: datetime) -> list[Atom]:
    """Join days with the times and parts of the day beside them; drop times and parts that mean nothing alone."""
    together: list[Atom] = []
    for atom in atoms:
        last = together[-1] if together else None
        both = _both(last, atom, text, words, now) if last else None
        if last and both:
            together[-1] = both
        elif last and _contradict(last, atom, text, words):
            together[-1] = Atom(last.start, atom.end, alone=False)
        else:
            together.append(atom)
    return [atom for atom in together if atom.alone or (atom.day and not atom.delta)]


def _both(first: Atom, second: Atom, text: str, words: Patterns, now: datetime) -> Atom | None:
    """Return two neighbouring atoms as one, None if they do not belong together."""
    gap = second.start - first.end
    if not 0 <= gap <= LONGEST_GAP:
        return None
    if _is_in_period(first, second, text, words):
        return _in_period(first, second)
    is_from = second.delta is not None and words.from_day.fullmatch(text, first.end, second.start) is not None
    if not (is_from or words.at.fullmatch(text, first.end, second.start)):
        return None
    if first.clock and not (first.alone or first.day) and words.to.fullmatch(text, first.end, second.start):
        return None  # "od 3 do 5 grudnia" is a range of days
    counted = _counted_on(first, second, now.date(), is_from)
    if counted:
        return counted
    opened = words.between.search(text, first.end, second.start) is not None
    both = None if is_from else day_and_time(first, second, now)
    return both and both._replace(opened=first.opened or opened)


def _is_in_period(first: Atom, second: Atom, text: str, words: Patterns) -> bool:
    """Return whether a day stands beside the period that it is in: "5 May next year", "next month on the 3rd"."""
    if not (first.day and second.day) or bool(first.last_day) == bool(second.last_day):
        return False
    gap = first.end, second.start
    return (words.of.fullmatch(text, *gap) or (first.last_day and words.at.fullmatch(text, *gap))) is not None


def _in_period(first: Atom, second: Atom) -> Atom | None:
    """Return the day of "the 3rd of next month" or "5 May next year"; None if the period has no such day."""
    said, period = (second, first) if first.last_day else (first, second)
    day, start, end = said.day, period.day, period.last_day
    if not (day and start and end):
        return None
    try:
        if said.of_month and start.month == end.month:
            day = start.replace(day=said.of_month)
        elif said.no_year:
            day = day.replace(year=start.year)
    except ValueError:
        return None
    if not start <= day <= end:
        return None
    return said._replace(start=first.start, end=second.end, day=day, of_month=None, no_year=False)


def _counted_on(first: Atom, second: Atom, today: date, is_from: bool) -> Atom | None:
    """Return the day of "heute in einer Woche" and of "a week from Friday"; if `is_from`, of "cumadan iki gün önce"."""
    day, length = (second, first) if first.delta and not second.delta else (first, second)
    if not (day.day and length.delta) or day.delta or day.last_day or day.clock:
        return None
    if length.day and length.alone and not is_from and length.day.weekday() == day.day.weekday():
        return Atom(first.start, second.end, day=length.day)  # "in three days, on Monday"
    # "Friday in two weeks" is a Friday; "Friday in three days" contradicts itself, and is left to `_contradict`.
    if length.alone and length.delta.days % 7 and day.day != today and not is_from:
        return None
    counted = days_later(day.day, length.delta.days)
    return Atom(first.start, second.end, day=counted) if counted else None


def _contradict(first: Atom, second: Atom, text: str, words: Patterns) -> bool:
    """Return whether two neighbours are no day: "Montag in acht Tagen", "the 30th of February" and a time behind it."""
    if _is_in_period(first, second, text, words):
        return True
    beside = words.at.fullmatch(text, first.end, second.start) is not None
    if first == Atom(first.start, first.end, alone=False):
        return beside and not second.day
    day, length = (second, first) if first.delta and not second.delta else (first, second)
    if not (day.day and length.day and length.delta) or day.delta or day.last_day or not length.alone:
        return False
    return beside and day.day.weekday() != length.day.weekday()


def day_and_time(first: Atom, second: Atom, now: datetime) -> Atom | None:
    """Return two atoms as one; None if both say the same or one is a period or an instant.

    The hours behind midnight are those of the next day: "tonight at 1".
    """
    if any(atom.last_day or atom.moment for atom in (first, second)):
        return None
    if (first.day and second.day) or (first.clock and second.clock) or (first.part and second.part):
        return None
    day = first.day or second.day
    if not day:
        return None
    clock, part = first.clock or second.clock, first.part or second.part
    is_exact = any(atom.clock and atom.is_exact for atom in (first, second))
    late = first.ends_day or second.ends_day
    if clock and part:
        clock = clock if is_exact else in_part(clock, part)
        # "Tomorrow at 2, at night" is tomorrow, and at half past midnight "tonight at 1" is today.
        is_behind = clock == time(0) or part == "evening" or (first.day and first.part) or (second.day and second.part)
        is_still_today = day == now.date() and clock > now.time()
        small = part in ("evening", "night") and clock.hour < _SMALL_HOURS
        late = late or (small and bool(is_behind) and not is_still_today)
    day = day + timedelta(days=1) if late and day < date.max else day
    has_half = first.has_half or second.has_half or part is not None
    is_exact = is_exact or part is not None
    return Atom(first.start, second.end, day, clock, part, is_exact=is_exact, has_half=has_half)
