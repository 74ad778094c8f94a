"""Days with their weekday before them: "Friday, 4 December", "Sunday the 29th", "domingo 29"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from intentmatch.languages.structure import structure_of
from intentmatch.slots.function_words import function_words
from intentmatch.slots.message import Message
from intentmatch.slots.moment_patterns import patterns
from intentmatch.slots.relative_days import days_ahead

_BETWEEN = re.compile(r" ?[,.]? ?(?:(?:the|den|der|dem|le|el|il|o|de|dia|dnia) )?")
"""What stands between a weekday and its date."""
_NUMBER = re.compile(r" (?P<n>[0-9]{1,2})(?![0-9.,:/%-]*[0-9%]|[^\W_])")
_NEXT_WORD = re.compile(r" ?(?P<word>[^\W\d_]+)")


class Weekday(NamedTuple):
    """A weekday at `text[start:end]`, 0 for Monday."""

    start: int
    end: int
    number: int
    is_short: bool = False
    """Whether it is an abbreviation, which a number alone does not make a date."""


class Day(NamedTuple):
    """A date at `text[start:end]`."""

    start: int
    end: int
    day: date | None
    """None if it is in no calendar, or on another weekday than the one beside it."""
    has_month: bool = True
    has_year: bool = True


def with_weekdays(message: Message, weekdays: Iterable[Weekday], days: Sequence[Day]) -> Iterator[Day]:
    """Yield the dates of `days` behind a weekday, and numbers of days behind one, each with the weekday in its span.

    A day of a month that is not said is the first one on that weekday. "Monday, 5 December" is no day in most years.
    """
    at, until = ({getattr(day, side): day for day in days} for side in ("start", "end"))
    for weekday in weekdays:
        place = _BETWEEN.match(message.plain, weekday.end)
        day = at.get(place.end()) if place and place.end() > weekday.end else None
        if day and day.day:
            value: date | None = day.day
            if not day.has_month:
                value = _on_weekday(message.now.date(), day.day.day, weekday.number)
            elif day.day.weekday() != weekday.number and not weekday.is_short:
                value = None
            yield Day(weekday.start, day.end, value)
        elif before := _before(message, weekday, until):
            yield Day(before.start, weekday.end, before.day)
        elif not weekday.is_short and (number := _number_behind(message, weekday)):
            on_weekday = _on_weekday(message.now.date(), int(number["n"]), weekday.number)
            # "Lunes 4 personas" is no 4th, unless that is the next 4th by chance.
            if on_weekday and on_weekday == next(days_ahead(message.now.date(), int(number["n"])), None):
                yield Day(weekday.start, number.end(), on_weekday)


def _before(message: Message, weekday: Weekday, until: Mapping[int, Day]) -> Day | None:
    """Return the date before its own weekday: "4 December, Friday"."""
    place = weekday.start
    # "4 December (Friday)".
    while place and message.plain[place - 1] in " ,(":
        place -= 1
    day = until.get(place)
    return day if day and day.day and day.has_month and day.day.weekday() == weekday.number else None


def _number_behind(message: Message, weekday: Weekday) -> re.Match[str] | None:
    """Return the number behind a weekday that ends the message or stands before a function word or a pause."""
    language = message.base_language
    has_number = "number_behind_weekday" in structure_of(language)
    number = _NUMBER.match(message.plain, weekday.end) if has_number else None
    word = _NEXT_WORD.match(message.plain, number.end()) if number else None
    if number is None or word is None or word["word"] in function_words(language):
        return number
    return number if patterns(message).at_word.match(message.plain, word.start("word")) else None


def _on_weekday(today: date, number: int, weekday: int) -> date | None:
    return next((day for day in days_ahead(today, number) if day.weekday() == weekday), None)
