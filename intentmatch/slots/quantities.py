"""Numbers next to a unit, as in "20 euros", "two and a half hours" or "$5"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from intentmatch.slots.message import Message, plain
from intentmatch.slots.number_words import NUMERALS, numeral
from intentmatch.slots.numbers import NumberFinder
from intentmatch.text.scripts import kind

_NUMBERS = NumberFinder()
_COMPACT = re.compile(r"(?<![0-9a-z.,])[0-9]{1,9}(?:[.,][0-9]{1,4})?(?=[a-z])")
_NUMERAL_RUN = re.compile(f"[{NUMERALS}]{{1,9}}")
_MULTIPLIERS = (1000, 1_000_000, 1_000_000_000)
_TOO_LARGE = 10**18  # numbers in digits have as many at most


class NumberAt(NamedTuple):
    """A number in a message."""

    start: int
    end: int
    value: int | float


class Quantity(NamedTuple):
    """A number with its unit; the span has both."""

    start: int
    end: int
    value: int | float
    unit: str


def numbers(message: Message) -> list[NumberAt]:
    """Return the numbers of a message by position, of those at one position the longest: "2", "2.5 million", "1h"."""
    if (known := message.memo.get(numbers)) is not None:
        return known
    found = {hit.start: NumberAt(hit.start, hit.end, hit.value) for hit in _numbers(message)}
    for match in _COMPACT.finditer(message.plain):
        found.setdefault(match.start(), NumberAt(*match.span(), _decimal(match[0])))
    for match in _NUMERAL_RUN.finditer(message.text):
        if match.start() not in found and (value := numeral(match[0])) is not None:
            found[match.start()] = NumberAt(*match.span(), value)
    ordered = [found[start] for start in sorted(found)]
    joined: list[NumberAt] = []
    for number in ordered:
        before = joined[-1] if joined else None
        if before and _multiplies(number, before) and message.text[before.end : number.start].strip() == "":
            joined[-1] = NumberAt(before.start, number.end, before.value * number.value)
        else:
            joined.append(number)
    message.memo[numbers] = joined
    return joined


def _multiplies(number: NumberAt, before: NumberAt) -> bool:
    return number.value in _MULTIPLIERS and abs(before.value * number.value) < _TOO_LARGE


def _numbers(message: Message) -> Iterator[NumberAt]:
    hits = sorted(_NUMBERS.find(message), key=lambda hit: (hit.start, hit.end))
    for hit in hits:
        if isinstance(hit.value, int | float):
            yield NumberAt(hit.start, hit.end, hit.value)


def _decimal(digits: str) -> int | float:
    return int(digits) if digits.isdecimal() else float(digits.replace(",", "."))


class Units:
    """Words and signs of units, which may stand before or after a number."""

    def __init__(self, after: Mapping[str, str], before: Mapping[str, str] | None = None) -> None:
        """`after` and `before` map the words that may stand after and before a number to the unit."""
        self._after = {plain(word): unit for word, unit in after.items()}
        self._before = {plain(word): unit for word, unit in (before or {}).items()}
        self._behind = re.compile(rf"[ -]?(?P<word>{any_of(self._after)})")
        self._ahead = re.compile(rf"(?P<word>{any_of(self._before)})(?P<gap> ?)") if self._before else None

    def find(self, message: Message) -> Iterator[Quantity]:
        """Yield the numbers with a unit, in order."""
        text = message.plain
        ahead = {match.end(): match for match in self._ahead.finditer(text)} if self._ahead else {}
        for number in numbers(message):
            if behind := self._behind.match(text, number.end):
                yield Quantity(number.start, behind.end(), number.value, self._after[behind["word"]])
            elif match := ahead.get(number.start):
                yield Quantity(match.start(), number.end, number.value, self._before[match["word"]])


def any_of(words: Iterable[str]) -> str:
    """Return a pattern for any of the words, in plain form, as whole words in scripts with spaces.

    Words with the same ends share their look-around, and the first letters are tested together: a long message is
    searched several times faster than with one look-around a word.
    """
    groups: dict[tuple[bool, bool], list[str]] = {}
    for word in sorted(set(words) - {""}, key=len, reverse=True):
        ends = kind(word[0]) == "letter", kind(word[-1]) == "letter"
        groups.setdefault(ends, []).append(re.escape(word))
    if not groups:
        return "(?!)"
    firsts = "".join(sorted({re.escape(text.removeprefix("\\")[0]) for texts in groups.values() for text in texts}))
    # "un'" comes before "un".
    patterns = [_whole("|".join(groups[ends]), *ends) for ends in sorted(groups, key=lambda ends: ends[1])]
    return f"(?=[{firsts}])(?:{'|'.join(patterns)})"


def _whole(pattern: str, starts_with_letter: bool, ends_with_letter: bool) -> str:
    before = "(?<![^\\W\\d_])" if starts_with_letter else ""
    after = "(?![^\\W\\d_])" if ends_with_letter else ""
    return f"{before}(?:{pattern}){after}"
