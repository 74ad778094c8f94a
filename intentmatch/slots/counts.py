"""Numbers that a slot of kind "number" does not take: hours ("at 8"), the numbers of houses ("12 Baker Street"), "one".

Nor does it take a measure ("500 mg"), an amount of money, a length of time or a code with a leading zero, unless the
bot asks for the number. All of these count after all if the words beside them are those of the slot in an utterance:
with "set the heating at {degrees} degrees", "at 8 degrees" is no hour. "One" is a pronoun in "the large one".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from intentmatch.core.result import Entity
from intentmatch.languages.own import shipped_code
from intentmatch.slots.addresses import house_numbers
from intentmatch.slots.alternatives import LONGEST_LINK
from intentmatch.slots.clock import times
from intentmatch.slots.durations import find_durations
from intentmatch.slots.message import Message, SlotHit
from intentmatch.slots.money import find_money
from intentmatch.slots.neighbours import Neighbours
from intentmatch.slots.ordinals import find_ordinals
from intentmatch.slots.range_words import joined_as_choice

_MEASURED = re.compile(
    r" ?(?:[mkcdh]?(?:g|l|m|w|v|wh|hz|pa|cal|j)|km/h|mph|lbs?|oz|ft|px|dpi|[kmgt]i?b|%|°)(?![^\W_])", re.IGNORECASE
)
"""Units of measure behind a number, written short, which are the same in most languages."""
_CODE = re.compile(r"0[0-9]+(?:-[0-9]+)*")
"""A number with a leading zero, and what is written together with it: "01310-100"."""
_BEFORE_PRONOUN = frozenset(["the", "this", "that", "which", "another", "other"])


def is_pronoun(number: Entity, before: Entity | None, message: Message, *, is_asked: bool = False) -> bool:
    """Return whether "one" stands for a thing and is no number: in "the large one", `before` is "large".

    In the answer to the question for the number, it does so only behind an ordinal: "the second one".
    """
    if number.text.casefold() != "one" or shipped_code(message.base_language) != "en":
        return False
    if any(hit.end < number.start <= hit.end + 1 for hit in find_ordinals(message)):
        return True
    if is_asked:
        return False
    if before is not None and not message.text[before.end : number.start].strip():
        return True
    return any(token.bare in _BEFORE_PRONOUN for token in message.tokens_before(number.start, 1))


class _Taken(NamedTuple):
    """A span of the message that is a time, a measure or part of an address."""

    start: int
    end: int
    is_address: bool = False


def without_hours_and_houses(
    slot: str, hits: Iterable[SlotHit], message: Message, neighbours: Neighbours, *, is_asked: bool = False
) -> list[SlotHit]:
    """Return the numbers of a message that may be a value of a slot; `is_asked` is whether the bot asks for it."""
    hits = list(hits)
    if not hits:
        return []
    hits = [hit for hit in hits if not _is_fixed(hit, message, neighbours)]
    taken = [_Taken(hit.start, hit.end) for hit in times(message)]
    hours = {one[:2] for one in taken}
    taken += [_Taken(*hit[:2]) for hit in hits if hit[:2] not in hours and _is_hour_too(hit, taken, message)]
    taken += [_Taken(start, end, is_address=True) for start, end in house_numbers(message)]
    if not is_asked:
        taken += [_Taken(start, end) for start, end in _measures(hits, message)]
    around = _by_position(taken, len(message.text))
    return [hit for hit in hits if _counts(slot, hit, around[hit.start], message, neighbours)]


def _measures(hits: Iterable[SlotHit], message: Message) -> Iterator[tuple[int, int]]:
    """Yield the spans of numbers with a unit, which count something else, and of codes."""
    text = message.plain
    for hit in hits:
        if measured := _MEASURED.match(text, hit.end):
            yield hit.start, measured.end()
    yield from (code.span() for code in _CODE.finditer(text))
    yield from (found[:2] for found in (*find_money(message), *find_durations(message)))


def _is_hour_too(number: SlotHit, times: Iterable[_Taken], message: Message) -> bool:
    """Return whether a number is offered beside an hour: 8 in "at 7 or 8"."""
    return any(
        joined_as_choice(message, one[:2], number.start) or joined_as_choice(message, number[:2], one.start)
        for one in times
        if one.start <= number.end + LONGEST_LINK and number.start <= one.end + LONGEST_LINK
    )


def _is_fixed(hit: SlotHit, message: Message, neighbours: Neighbours) -> bool:
    """Return whether a number in words stands before the same word as in an utterance ("a table", "一张")."""
    if message.plain[hit.start : hit.end].isascii() and any(map(str.isdigit, message.text[hit.start : hit.end])):
        return False
    words = [token.bare for token in message.tokens_after(hit.start, 2)]
    return len(words) > 1 and tuple(words) in neighbours.fixed_pairs


def _by_position(taken: Iterable[_Taken], length: int) -> Sequence[_Taken | None]:
    """Return the longest span over each position of a message."""
    over: list[_Taken | None] = [None] * length
    # The longest comes last, and overwrites what lies in it.
    for one in sorted(taken, key=lambda one: one.end - one.start):
        over[one.start : one.end] = [one] * (one.end - one.start)
    return over


def _counts(slot: str, hit: SlotHit, taken: _Taken | None, message: Message, neighbours: Neighbours) -> bool:
    if taken is None or hit.end > taken.end:
        return True
    same = (hit.start, hit.end) == taken[:2]
    is_all = same or _MEASURED.match(message.plain, hit.end) is not None
    before = not taken.is_address and is_all and neighbours.count_before(slot, message, hit.start) > 0
    # "18 Uhr" is a time whatever follows; "18" alone, and the number of a house, may count what follows.
    return before or ((same or hit.end < taken.end) and neighbours.count_after(slot, message, hit.end) > 0)
