"""Slots of kind "datetime": days, times and ranges of both, counted from now.

Values are a day ("2026-11-23"), a day with a time ("2026-11-23T18:30"), or a range as `{"from": ..., "to": ...}`, both
ends included: "next week" is Monday to Sunday, "Friday from 2 pm to 4 pm" two times of that day, "tomorrow morning"
6:00 to 12:00. A time without a day is the next such time. "In an hour" counts from now, across changes of the clocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, time

from intentmatch.slots.clock import times
from intentmatch.slots.day_parts import day_parts, part_of_weekday
from intentmatch.slots.days import days, impossible_days, short_weekdays
from intentmatch.slots.message import Message, SlotHit
from intentmatch.slots.moment_atoms import Atom, joined, without_overlaps
from intentmatch.slots.moment_patterns import Patterns, patterns
from intentmatch.slots.moment_ranges import Found, ranges
from intentmatch.slots.offsets import offsets
from intentmatch.slots.periods import periods

_ISO = re.compile(
    r"(?<![0-9a-z.,:/-])[0-9]{4}-[0-9]{2}-[0-9]{2}[t ][0-9]{2}:[0-9]{2}(?:[+-](?:0[0-9]|1[0-4]):[0-9]{2})?(?![0-9a-z])"
)
"""A day and a time as in ISO 8601, which are one word, with the distance from UTC; none is above 14 hours."""


def find_days(message: Message) -> list[SlotHit]:
    """Return days without overlaps, with lengths that count from them: "Monday in two weeks"."""
    counted = (atom for atom in offsets(message) if atom.day)
    atoms = without_overlaps([*_days(message), *counted, *periods(message)])
    both = joined(atoms, message.plain, patterns(message), message.now)
    found = [(one.start, one.end, one.day) for one in both if one.day and not one.last_day]
    return [SlotHit(*message.aligned.widened(start, end), day.isoformat()) for start, end, day in found]


def find_moments(message: Message) -> list[SlotHit]:
    """Return days, times and ranges of the message's language without overlaps."""
    words = patterns(message)
    atoms = without_overlaps([*_single(message, words), *offsets(message), *periods(message)])
    found = ranges(joined(atoms, message.plain, words, message.now), message)
    found = [one for one in found if not _of_no_day(one, message, words)]
    return [SlotHit(*message.aligned.widened(one.start, one.end), one.value) for one in found]


def _single(message: Message, words: Patterns) -> Iterator[Atom]:
    yield from _days(message)
    for start, end, day in short_weekdays(message):
        # "So" and "sun" are other words too: they count beside a time only.
        yield Atom(start, end, day=day, alone=False)
    for at in times(message):
        yield Atom(at.start, at.end, clock=at.clock, is_exact=at.is_exact, has_half=at.has_half, ends_day=at.ends_day)
    for found in words.around.finditer(message.plain):
        if int(found["n"]) < 24:
            clock = time(int(found["n"]))
            yield Atom(*found.span("n"), clock=clock, alone=False, is_exact=clock.hour > 12)
    for written in _ISO.finditer(message.plain):
        try:
            moment = datetime.fromisoformat(written[0].upper())
            # Without a zone of the user, the time is taken as it is written.
            if moment.tzinfo and message.now.tzinfo:
                moment = moment.astimezone(message.now.tzinfo)
            yield Atom(*written.span(), day=moment.date(), clock=moment.time(), is_exact=True)
        except (ValueError, OverflowError):
            yield Atom(*written.span(), alone=False)
    for said in day_parts(message):
        yield Atom(said.start, said.end, day=said.day, part=said.part, alone=said.day is not None)


def _days(message: Message) -> Iterator[Atom]:
    for start, end, day, has_month, has_year in days(message):
        if day:
            part = part_of_weekday(message, end) if has_month else None
            of_month = None if has_month else day.day
            yield Atom(start, end, day=day, part=part, of_month=of_month, no_year=not has_year)


def _of_no_day(found: Found, message: Message, words: Patterns) -> bool:
    """Return whether a value belongs to a day that is in no calendar: "April 31 at 5 pm", "Monday to April 31"."""
    gaps = [gap for start, end in impossible_days(message) for gap in ((end, found.start), (found.end, start))]
    return any(joint.fullmatch(message.plain, *gap) for joint in (words.at, words.to) for gap in gaps)
