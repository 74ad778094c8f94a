"""Numbers next to a unit, as in "20 euros", "-$5", "20-30 dollars" or "two degrees and a half"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from intentmatch.slots.message import Message, NumberAt, plain
from intentmatch.slots.numbers import added_behind, numbers
from intentmatch.slots.range_words import ends_a_part, joined
from intentmatch.slots.word_patterns import any_of, any_phrase

_COMMAS = frozenset(",、，،")
_MINUS = re.compile(r"(?<![^\s(])-$")


class Quantity(NamedTuple):
    """A number with its unit; the span has both."""

    start: int
    end: int
    value: int | float
    unit: str


class Units:
    """Words and signs of units, which may stand before or after a number."""

    def __init__(self, after: Mapping[str, str], before: Mapping[str, str] | None = None, of: str = "") -> None:
        """`after` and `before` map the words that may stand after and before a number to the unit.

        The words `of`, which bars separate, may stand between a number and the word after it.
        """
        self._after = {plain(word): unit for word, unit in after.items()}
        self._before = {plain(word): unit for word, unit in (before or {}).items()}
        self._behind = re.compile(rf"(?:[.,]-)?[ -]?(?:{any_phrase(of)} ?)?(?P<word>{any_of(self._after)})")
        self._ahead = re.compile(rf"(?P<word>{any_of(self._before)})(?P<gap>\.? ?)") if self._before else None

    def find(self, message: Message) -> Iterator[Quantity]:
        """Yield the numbers with a unit, in order. Several may share a unit: "20 to 30 euros", "20, 25 or 30 euros"."""
        text = message.plain
        ahead = {match.end(): match for match in self._ahead.finditer(text)} if self._ahead else {}
        bare: list[NumberAt] = []
        """The numbers before without a unit, one behind the other."""
        last: Quantity | None = None
        for number in numbers(message):
            found = self._with_unit(number, message, ahead, last.end if last else 0)
            if found and bare and found.start == number.start and joined(message, bare[-1][:2], number.start):
                yield from (Quantity(*one[:3], found.unit) for one in bare)
            if found is None and last and joined(message, last[:2], number.start) and ends_a_part(message, number.end):
                found = Quantity(*number[:3], last.unit)
            if found:
                yield found
                bare, last = [], found
            else:
                follows = bare and (
                    text[bare[-1].end : number.start].strip() in _COMMAS or joined(message, bare[-1][:2], number.start)
                )
                bare, last = [*(bare if follows else ()), number], None

    def _with_unit(
        self, number: NumberAt, message: Message, ahead: Mapping[int, re.Match[str]], used: int
    ) -> Quantity | None:
        text = message.plain
        if behind := self._behind.match(text, number.end):
            more, end = added_behind(message, behind.end())
            return Quantity(number.start, end, number.value + more, self._after[behind["word"]])
        match = ahead.get(number.start)
        # In "5 $ 7", the sign belongs to the five already.
        if match and match.start() >= used:
            minus = _MINUS.search(text, 0, match.start())
            value = -number.value if minus else number.value
            return Quantity(match.start() - bool(minus), number.end, value, self._before[match["word"]])
        return None
