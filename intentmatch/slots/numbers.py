"""Slots of kind "number": numbers in digits and in words with their signs, decimals, fractions and scales.

"Minus twenty one point five", "two and a half million", "3 dozen", "1.5万" and "2 1/2" are one number each.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from intentmatch.languages.structure import structure_of
from intentmatch.slots.digits import numbers_in_digits
from intentmatch.slots.message import Message, NumberAt, SlotHit, once, plain
from intentmatch.slots.number_forms import NO_PEOPLE, NOT_MINUS, NUMBER_FORMS, SCALES, NumberForms
from intentmatch.slots.number_words import spoken_numbers
from intentmatch.slots.numerals import numbers_in_numerals
from intentmatch.slots.word_patterns import any_of, any_phrase, beside

_COMPACT = re.compile(r"(?<![0-9a-z.,])[0-9]{1,9}(?:[.,][0-9]{1,4})?(?=[a-z])")
_MEGA = re.compile(r"(?:(?<=[0-9])M|(?<=[$£€₹])[0-9]{1,4}(?:[.,][0-9]{1,2})?m)(?![A-Za-z])")
"""A letter that is a scale as a capital, or behind the sign of a currency: "1.5M", "£1m"."""
_BESIDE = re.compile("[ \u00a0-]?")
_LEAST_SCALE = 1000
_SCALES_ALONE = frozenset([100, 1000, 10**5, 10**6, 10**7, 10**9])
_TOO_LARGE = 10**18  # numbers in digits have as many at most
_LONGEST_BEFORE = 28
"""Characters before a number that are searched for a sign, or for a part of its scale."""
_MOST_DECIMALS = 12


@once
def find_numbers(message: Message) -> list[SlotHit]:
    """Return numbers in digits and in words; whole numbers are `int`, others `float`."""
    found = (one for one in numbers(message) if not one.is_loose)
    return [SlotHit(*message.aligned.widened(*one[:2]), one.value) for one in found]


@once
def numbers(message: Message) -> list[NumberAt]:
    """Return the numbers of a message without overlaps, by position."""
    patterns = _patterns(message.base_language)
    letters = list(message.plain)
    for mega in _MEGA.finditer(message.text):
        # The plain form is in lower case, where "m" is metres or minutes.
        letters[mega.end() - 1] = "M"
    reading = _NumberJoiner("".join(letters), patterns)
    for number in _without_overlaps(_single(message, patterns)):
        reading.add(number)
    return reading.numbers()


def number_at(message: Message, place: int) -> NumberAt | None:
    """Return the number that begins at a place of the message, None for none."""
    found = numbers(message)
    number = bisect_left(found, place, key=lambda one: one.start)
    return found[number] if number < len(found) and found[number].start == place else None


def added_behind(message: Message, place: int) -> tuple[float, int]:
    """Return what "and a half" at a place of the message adds to the unit before it, and its end; 0 for other words."""
    patterns = _patterns(message.base_language)
    more = patterns.more.match(message.plain, place)
    return (patterns.added[more["more"]], more.end()) if more else (0, place)


def below_zero(message: Message, place: int) -> int:
    """Return the end of "below zero" at a place of the message; the place itself for other words."""
    below = _patterns(message.base_language).below.match(message.plain, place)
    return below.end() if below else place


def ends_below_zero(message: Message, number: NumberAt) -> bool:
    """Return whether the span of a number ends with "below zero"."""
    below = _patterns(message.base_language).below
    return any(found.end() == number.end for found in below.finditer(message.plain, number.start, number.end))


def _single(message: Message, patterns: _NumberPatterns) -> Iterator[NumberAt]:
    yield from numbers_in_digits(message)
    text = message.plain
    yield from (one for one in spoken_numbers(message) if not _is_ending(text, one))
    yield from numbers_in_numerals(message)
    for match in _COMPACT.finditer(text):
        yield NumberAt(*match.span(), tidy(float(match[0].replace(",", "."))), is_loose=True)
    added = {match.end() for match in patterns.more.finditer(text)}
    for match in (one for one in patterns.fixed.finditer(text) if one.end() not in added):
        yield NumberAt(*match.span(), patterns.values[match[0]], counts=True)


def _is_ending(text: str, number: NumberAt) -> bool:
    """Return whether a word is the ending of what is before its hyphen: Hungarian "5-ot" and "Ft-ot" have no five."""
    before = text[max(number.start - 2, 0) : number.start]
    return before.endswith("-") and (before[:1].isdecimal() or (before[:1].isalpha() and number.end - number.start < 3))


def _without_overlaps(found: Iterable[NumberAt]) -> list[NumberAt]:
    """Return, by position, the longest numbers that begin before others end; of equal ones a firm one."""
    kept: list[NumberAt] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end, one.is_loose)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


class _NumberJoiner:
    """Joins the numbers of a text, from the left, with the words beside them."""

    def __init__(self, text: str, patterns: _NumberPatterns) -> None:
        self._text = text
        self._patterns = patterns
        self._done: list[NumberAt] = []
        self._decimals = ""
        """Decimals that were said so far of the last number, if it has a decimal mark."""
        self._whole: int | float = 0
        """The last number without these."""

    def add(self, number: NumberAt) -> None:
        """Join a number with the last one, or begin another one with it."""
        last = self._done[-1] if self._done else None
        if last and number.start < last.end:
            return
        if joined := last and self._joined(last, number):
            self._done[-1] = self._scaled(joined)
        else:
            self._decimals = ""
            self._done.append(self._scaled(self._in_parts(number)))

    def numbers(self) -> list[NumberAt]:
        """Return the numbers, with their signs; not "several thousand"."""
        return [self._signed(one) for one in self._done if not self._is_vague(one)]

    def _is_vague(self, number: NumberAt) -> bool:
        """Return whether a scale alone stands behind a word such as "several"."""
        place = max(number.start - _LONGEST_BEFORE, 0)
        is_scale = number.value in _SCALES_ALONE
        return is_scale and self._patterns.vague.search(self._text, place, number.start) is not None

    def _joined(self, before: NumberAt, number: NumberAt) -> NumberAt | None:
        """Return "3" and "million", or "two point" and "five", as one number; None for two numbers."""
        if number.start - before.end > _LONGEST_BEFORE:
            return None
        if _BESIDE.fullmatch(self._text, before.end, number.start):
            if self._decimals and self._is_decimals(number) and number.value < 10:
                return self._with_decimals(before, number)
            return self._multiplied(before, number)
        is_whole = isinstance(before.value, int) and not self._decimals and self._is_decimals(number)
        point = self._patterns.point.match(self._text, before.end) if is_whole else None
        if point is None or point.end() != number.start:
            return None
        self._whole = before.value
        return self._with_decimals(before, number)

    def _multiplied(self, before: NumberAt, number: NumberAt) -> NumberAt | None:
        if number.scale < _LEAST_SCALE or not 0 < before.value * number.scale < _TOO_LARGE:
            return None
        self._decimals = ""
        value = before.value * number.scale + number.value - number.scale
        return NumberAt(before.start, number.end, tidy(value), before.scale)

    def _is_decimals(self, number: NumberAt) -> bool:
        # "Two point five" goes on digit by digit; a number with a unit of ten begins another one.
        said = self._text[number.start : number.end]
        is_small = isinstance(number.value, int) and 0 <= number.value < 10**_MOST_DECIMALS and number.scale == 1
        return is_small and not any(unit in said for unit in "十百千万萬億亿")

    def _with_decimals(self, before: NumberAt, number: NumberAt) -> NumberAt:
        self._decimals += str(number.value)
        return NumberAt(before.start, number.end, float(f"{self._whole}.{self._decimals[:_MOST_DECIMALS]}"))

    def _in_parts(self, number: NumberAt) -> NumberAt:
        """Return "half a" and "million" as one number."""
        if number.scale < _LEAST_SCALE:
            return number
        place = max(number.start - _LONGEST_BEFORE, 0)
        if part := self._patterns.parts.search(self._text, place, number.start):
            value = number.value * self._patterns.factors[part["part"]]
            return NumberAt(part.start(), number.end, tidy(value))
        return number

    def _scaled(self, number: NumberAt) -> NumberAt:
        """Return a number with "and a half" and with the scales behind it."""
        # "A million and a half thousand" at most: what is said more often than that means no number, and has no end.
        for _ in range(3):
            if more := self._patterns.more.match(self._text, number.end):
                value = number.value + self._patterns.added[more["more"]] * self._last_scale(number)
            elif more := self._patterns.scale.match(self._text, number.end):
                value = number.value * self._patterns.scales[more["scale"]]
            else:
                return number
            # Each repeated "million" multiplies again, until a float overflows.
            if value >= _TOO_LARGE:
                return number
            self._decimals = ""
            number = NumberAt(number.start, more.end(), tidy(value), number.scale)
        return number

    def _last_scale(self, number: NumberAt) -> int | float:
        """Return what "and a half" is half of: the million of "a million and a half", a dozen of "two dozen"."""
        if said := self._patterns.scale_at_end.search(self._text, number.start, number.end):
            return self._patterns.scales[said["scale"]]
        if self._text[number.end - 1].isdecimal():
            return 1
        scales = (10**9, 10**6, 10**3)
        return next((scale for scale in scales if number.value >= scale and number.value % scale == 0), 1)

    def _signed(self, number: NumberAt) -> NumberAt:
        place = max(number.start - _LONGEST_BEFORE, 0)
        if minus := self._patterns.minus.search(self._text, place, number.start):
            # "Minus -5" is written for -5, not for 5.
            return number._replace(start=minus.start(), value=-abs(number.value), is_loose=False)
        if below := self._patterns.below.match(self._text, number.end):
            return number._replace(end=below.end(), value=-abs(number.value), is_loose=False)
        return number


def tidy(value: int | float, digits: int = 6) -> int | float:
    """Return a number rounded to some decimals, and as `int` if it is a whole number."""
    rounded = round(value, digits)
    return int(rounded) if rounded == int(rounded) else rounded


def _plain_keys(words: Mapping[str, float]) -> dict[str, float]:
    return {plain(word): number for word, number in words.items()}


class _NumberPatterns:
    """Patterns of a language, in plain form."""

    def __init__(self, language: str) -> None:
        own = NUMBER_FORMS.get(language, NumberForms())
        minus, below = beside(own.minus)
        self.added, self.factors, self.values = map(_plain_keys, (own.more, own.parts, own.fixed))
        self.scales = {**_plain_keys(SCALES), **_plain_keys(own.scales), "M": 1e6}
        gap = "[ \u00a0-]?"
        before, behind = ("", NO_PEOPLE) if "unspaced" in structure_of(language) else (gap, gap)
        self.minus = re.compile(f"{NOT_MINUS}(?:{minus}){gap}$")
        self.below = re.compile(f"{gap}(?:{below})")
        """Words behind a negative number."""
        self.point = re.compile(f"{before}(?:{any_phrase(own.point)}){behind}")
        self.more = re.compile(f"{gap}(?P<more>{any_of(self.added)})")
        self.parts = re.compile(f"(?P<part>{any_of(self.factors)}){gap}$")
        self.fixed = re.compile(any_of(self.values))
        self.scale = re.compile(rf"{gap}(?P<scale>{any_of(self.scales)})\.?")
        self.scale_at_end = re.compile(rf"(?P<scale>{any_of(self.scales)})\.?$")
        self.vague = re.compile(f"(?:{any_phrase(own.vague)}){gap}$")
        """Words before a scale that make no number of it."""


_patterns = lru_cache(maxsize=64)(_NumberPatterns)
