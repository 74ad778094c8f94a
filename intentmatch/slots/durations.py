"""Slots of kind "duration": lengths of time in ISO 8601 ("PT1H30M", "P2W").

A length is made of numbers with units ("2 hours and 15 minutes", "1h30"), articles ("an hour"), and halves ("half an
hour", "an hour and a half", "anderthalb Stunden").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from intentmatch.languages.tables import Table
from intentmatch.slots.clock import times
from intentmatch.slots.message import Message, SlotHit, once, plain
from intentmatch.slots.numbers import added_behind, numbers
from intentmatch.slots.range_words import joined, joined_as_range
from intentmatch.slots.word_patterns import any_of, any_phrase

CALENDAR_UNITS = ("year", "month", "week", "day")
CLOCK_UNITS = ("hour", "minute", "second")
UNITS = (*CALENDAR_UNITS, *CLOCK_UNITS)
_LETTERS = dict(zip(UNITS, "YMWDHMS", strict=True))
_SMALLER = {
    "year": ("month", 12),
    "month": ("day", 30),
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
    "minute": ("second", 60),
}


class _Phrases(NamedTuple):
    """Words of a language; bars separate alternatives."""

    units: Mapping[str, str] = {}
    """Words for each of `UNITS`."""
    articles: str = ""
    """Words for one before a unit."""
    halves: str = ""
    """Words for a half before a unit."""
    more: Mapping[str, float] = {}
    """Other numbers before a unit."""
    joints: str = ""
    """Words for "and" between two parts."""
    whole: Mapping[str, str] = {}
    """Words with their whole meaning."""


_PHRASES = Table[_Phrases]("durations", lambda words: _Phrases(**words))
# Ten to the power of 312 hours, a million said often enough, raises OverflowError further on.
_ABSURD = 1e9
"""More units than anyone means."""
_LONGEST_COMPACT = 9
"""Characters of the hours in "2 heures 15": elsewhere a number behind a length counts something else."""
_NONE = _Phrases(dict(zip(UNITS, ("years", "months", "weeks", "days", "h", "min", "s"), strict=True)))


_METRES = re.compile("[0-9.,]+ ?m")
"""Minutes only beside another unit: "2h 15m", but not "50 m"."""


class Length(NamedTuple):
    """A length of time in a message."""

    start: int
    end: int
    parts: Mapping[str, float]
    """Unit to amount; several units in falling order."""


def find_durations(message: Message) -> list[SlotHit]:
    """Return lengths of time in the message's language, with all their parts."""
    return [
        SlotHit(*message.aligned.widened(one.start, one.end), iso)
        for one in _without_times(message)
        if (iso := to_iso(one.parts))
    ]


def _without_times(message: Message) -> Iterator[Length]:
    """Yield the lengths that are no time of day, nor joined with one: "v 8 hodin", "od 14 do 16 hodin"."""
    clock = sorted((time.start, time.end, time.is_led) for time in times(message))
    at = [(start, end) for start, end, is_led in clock if is_led]
    # "С 8 часов до 10 часов": nobody says the unit of a length twice.
    at += [one[:2] for one, other in pairwise(clock) if joined_as_range(message, one[1], other[0])]
    for one in lengths(message):
        is_time = any(place[0] == one.start or joined(message, place, one.start) for place in at)
        if is_time and "hour" in one.parts:
            at.append((one.start, one.end))
        else:
            yield one


@lru_cache(maxsize=64)
def unit_words(language: str, among: tuple[str, ...]) -> frozenset[str]:
    """Return the words for some of `UNITS` in a language and in English, in plain form, without single letters."""
    units = {**_patterns("en").units, **_patterns(language).units}
    return frozenset(word for word, unit in units.items() if unit in among and (len(word) > 1 or not word.isascii()))


@once
def lengths(message: Message) -> list[Length]:
    """Return the lengths of time of a message, without overlaps, in order."""
    patterns = _patterns(message.base_language)
    text = message.plain
    found: list[Length] = []
    for one in sorted(_parts(message, patterns), key=lambda part: (part.start, -part.end)):
        last = found[-1] if found else None
        # The longest of those that begin together comes first: "two and a half hours", not "two".
        if last and one.start < last.end:
            continue
        if last and patterns.joint.fullmatch(text, last.end, one.start) and _follows(last, one):
            found[-1] = Length(last.start, one.end, {**last.parts, **one.parts})
        else:
            found.append(one)
    found = [one for one in found if len(one.parts) > 1 or not _METRES.fullmatch(text, one.start, one.end)]
    return [_with_last_minutes(one, text, patterns) for one in found if any(one.parts.values())]


def to_iso(parts: Mapping[str, float]) -> str | None:
    """Return a length in ISO 8601; fractions become the next smaller unit. None for nothing and absurd lengths."""
    amounts = dict.fromkeys(UNITS, 0.0)
    for unit, amount in parts.items():
        amounts[unit] += amount
    for unit, (smaller, many) in _SMALLER.items():
        # The rest of 1.1 is 0.10000000000000009, which would be six minutes and a bit.
        rest = round(amounts[unit] % 1, 6)
        amounts[unit] -= rest
        amounts[smaller] += rest * many
    # ISO 8601 has no weeks beside other units.
    if amounts["week"] and any(amount for unit, amount in amounts.items() if unit != "week"):
        amounts["day"] += 7 * amounts["week"]
        amounts["week"] = 0
    texts = {unit: f"{round(amount, 3):.15g}{_LETTERS[unit]}" for unit, amount in amounts.items() if round(amount, 3)}
    if not texts or max(amounts.values()) >= _ABSURD:
        return None
    days = "".join(texts[unit] for unit in UNITS[:4] if unit in texts)
    clock = "".join(texts[unit] for unit in UNITS[4:] if unit in texts)
    return f"P{days}" + (f"T{clock}" if clock else "")


class _LengthPatterns:
    """Patterns of a language, in plain form."""

    def __init__(self, language: str) -> None:
        phrases = _PHRASES.get(language, _NONE)
        self.units = {plain(word): unit for unit in UNITS for word in phrases.units.get(unit, "").split("|") if word}
        self.counts = {
            **dict.fromkeys(map(plain, filter(None, phrases.articles.split("|"))), 1.0),
            **dict.fromkeys(map(plain, filter(None, phrases.halves.split("|"))), 0.5),
            **{plain(word): number for word, number in phrases.more.items()},
        }
        self.meanings = {plain(word): iso for word, iso in phrases.whole.items()}
        # A letter that goes on behind a hyphen is no unit: "5 t-shirts" in Danish.
        unit = rf"[ -]?(?P<unit>{any_of(self.units)})(?!(?<![^\W\d_]{{2}})-[^\W\d_])"
        self.unit = re.compile(unit)
        """A unit behind a number; the group `unit` is in `units`."""
        self.phrase = re.compile(rf"(?P<count>{any_of(self.counts)}){unit}")
        """A part without a number: the group `count` is in `counts`."""
        self.whole = re.compile(any_of(self.meanings))
        self.joint = re.compile(rf"(?:\.?,? ?(?:{any_phrase(phrases.joints)})?) ?")
        """What may stand between two parts."""
        self.minutes = re.compile(r" ?(?P<n>[0-5][0-9])(?![0-9.,:/-])")
        """Two digits behind hours ("1h30"), or behind minutes."""


_patterns = lru_cache(maxsize=64)(_LengthPatterns)


def _parts(message: Message, patterns: _LengthPatterns) -> Iterator[Length]:
    text = message.plain
    for number in numbers(message):
        if (match := patterns.unit.match(text, number.end)) and number.value >= 0:
            more, end = added_behind(message, match.end())
            yield Length(number.start, end, {patterns.units[match["unit"]]: number.value + more})
    for match in patterns.phrase.finditer(text):
        more, end = added_behind(message, match.end())
        yield Length(match.start(), end, {patterns.units[match["unit"]]: patterns.counts[match["count"]] + more})
    for match in patterns.whole.finditer(text):
        parts = _from_iso(patterns.meanings[match[0]])
        more, end = added_behind(message, match.end()) if len(parts) == 1 else (0, match.end())
        yield Length(match.start(), end, {unit: amount + more for unit, amount in parts.items()})


def _from_iso(iso: str) -> dict[str, float]:
    days, _, clock = iso.removeprefix("P").partition("T")
    letters = {**dict(zip("YMWD", UNITS[:4], strict=True))}, dict(zip("HMS", UNITS[4:], strict=True))
    return {
        names[letter]: float(digits)
        for part, names in zip((days, clock), letters, strict=True)
        for digits, letter in re.findall(r"([0-9]+)([A-Z])", part)
    }


def _follows(before: Length, after: Length) -> bool:
    """Return whether the units of two parts fall ("2 hours" and "15 minutes")."""
    return UNITS.index(list(before.parts)[-1]) < UNITS.index(next(iter(after.parts)))


def _with_last_minutes(one: Length, text: str, patterns: _LengthPatterns) -> Length:
    """Add "15" in "2 h 15" to the length."""
    last = list(one.parts)[-1]
    # Behind digits, a number is no part of the length: "1:30 15".
    if last not in ("hour", "minute") or not text[one.end - 1].isalpha():
        return one
    match = patterns.minutes.match(text, one.end)
    if match is None or (last == "hour" and len(text[one.start : one.end]) > _LONGEST_COMPACT):
        return one
    return Length(one.start, match.end(), {**one.parts, _SMALLER[last][0]: float(match["n"])})
