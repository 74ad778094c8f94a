"""Answers that are a number alone: "8" is a time, a place, degrees, an amount or a count, as the bot asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from intentmatch.core.result import Entity
from intentmatch.core.types import Slot, Value
from intentmatch.slots.function_words import function_words
from intentmatch.slots.message import Message, NumberAt
from intentmatch.slots.numbers import numbers
from intentmatch.slots.ordinals import find_ordinals
from intentmatch.slots.range_words import means_others
from intentmatch.text.scripts import kind


def with_bare_answer(
    message: Message, slots: Sequence[Slot], asked: Collection[str], found: list[Entity]
) -> list[Entity]:
    """Return the value of the one slot asked for if the answer is a number alone: "8" is a time or an amount."""
    slot = next((slot for slot in slots if slot.name in asked), None) if len(asked) == 1 else None
    if slot is None or slot.kind not in _BARE or any(entity.slot == slot.name for entity in found):
        return found
    said = [one for one in numbers(message) if not _is_another_word(message, one)]
    if slot.kind != "ordinal":
        said = [one for one in said if not _is_place(message, one)]
    if slot.kind != "number" and any(one.counts for one in said):
        return found
    value = _BARE[slot.kind](said[0].value) if len(said) == 1 else None
    if value is None:
        return found
    place = message.aligned.widened(said[0].start, said[0].end)
    if means_others(message, *place):
        return found  # "not 30"
    # Beside other words, what is no count to the finder of numbers stays none: "iki buçuk" is an hour then.
    if slot.kind == "number" and message.text.strip() != message.text[slice(*place)]:
        return found
    entity = Entity(slot.name, value, message.text[slice(*place)], *place)
    return [entity] if says_nothing_else(message, [place]) else found


def _is_place(message: Message, number: NumberAt) -> bool:
    """Return whether letters behind a number in digits make it a place or a day: "the 14th"."""
    behind = message.plain[number.end : number.end + 1]
    is_lettered = message.plain[number.end - 1].isdecimal() and behind.isalpha()
    return is_lettered and any(hit.start == number.start < number.end < hit.end for hit in find_ordinals(message))


def _is_another_word(message: Message, number: NumberAt) -> bool:
    """Return whether a word for a number means something else on its own: Persian "نه" is nine, and no."""
    return number.is_loose and number.value != 1 and kind(message.text[number.start]) == "letter"


def _hour(number: float) -> str | None:
    return f"{number:02}:00" if isinstance(number, int) and 0 <= number < 24 else None


def _place(number: float) -> int | None:
    return number if isinstance(number, int) and number > 0 else None


_BARE: Mapping[str, Callable[[float], Value | None]] = {
    "number": lambda number: number,
    "time": _hour,
    "ordinal": _place,
    "temperature": lambda number: {"amount": number, "unit": None},
    "money": lambda number: {"amount": number, "currency": None},
}
"""Kinds whose question may be answered by a number alone: "iki buçuk" is half past two beside other words."""


def says_nothing_else(message: Message, spans: Iterable[tuple[int, int]]) -> bool:
    """Return whether all words of a message are function words or overlap a span."""
    functional = function_words(message.language)
    covered = message.marked(spans)
    return all(token.bare in functional or any(covered[token.start : token.end]) for token in message.tokens)
