"""Read the slots of an intent from a message: entities found, and required slots that are missing.

Of overlapping values, the longest one wins, then the one closest to its declared form, then the one of the slot
declared first. If several slots claim the same words, the slot with most of its neighbouring words in the message wins,
then a slot without a value, then the first. Free text is read last, between the other entities.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from intentmatch.core.errors import NOWHERE, Problem, RegistryError, UnknownNameError
from intentmatch.core.result import Entity, Missing
from intentmatch.core.types import Intent, Registry, Slot
from intentmatch.slots.clock import TimeFinder
from intentmatch.slots.days import DateFinder
from intentmatch.slots.free import Frame, frames, free_text
from intentmatch.slots.lists import ListFinder, names_of
from intentmatch.slots.message import Finder, Message, SlotHit
from intentmatch.slots.neighbours import Neighbours, bare_words
from intentmatch.slots.numbers import NumberFinder
from intentmatch.slots.patterns import PatternFinder
from intentmatch.text.regexes import ExpressionError

_EVERYTHING = Frame()


class Reading(NamedTuple):
    """Slot values of a message."""

    entities: tuple[Entity, ...]
    """Entities in message order, without overlaps."""
    missing: tuple[Missing, ...]
    """Required slots without an entity, in the order of the intent."""
    remarks: tuple[str, ...]
    """Remarks for the trace, such as a pattern that timed out."""

    @property
    def says(self) -> str:
        """Summary for the trace."""
        found = ", ".join(f"{entity.slot}={entity.value}" for entity in self.entities)
        missing = ", ".join(missing.slot for missing in self.missing)
        parts = [f"found {found}" if found else "found nothing", f"missing {missing}" if missing else "", *self.remarks]
        return "; ".join(filter(None, parts))


class SlotReader:
    """Reads the slots of one intent. Thread-safe."""

    def __init__(self, intent: Intent, finders: Mapping[str, Finder]) -> None:
        """`finders` maps the name of every slot that is not of kind "any" to its finder."""
        self._slots = intent.slots
        self._finders = finders
        self._neighbours = Neighbours(intent.utterances)
        self._frames = {slot.name: frames(slot.name, intent.utterances) for slot in intent.slots if slot.kind == "any"}

    def read(self, text: str, language: str | None = None, now: datetime | None = None) -> Reading:
        """Return the entities and missing slots of a message that matched the intent."""
        message = Message(text, language, now)
        entities = self._entities(message, self._slots)
        there = {entity.slot for entity in entities}
        missing = (slot for slot in self._slots if slot.required and slot.name not in there)
        questions = tuple(Missing(slot.name, slot.question(language)) for slot in missing)
        return Reading(tuple(entities), questions, tuple(message.remarks))

    def fill(
        self, text: str, names: Collection[str] | None, language: str | None = None, now: datetime | None = None
    ) -> tuple[Entity, ...]:
        """Return the entities in an answer to a question for the slots `names` (None for all slots).

        The whole answer may be free text. Raises `UnknownNameError` for a slot that the intent does not have.
        """
        known = [slot.name for slot in self._slots]
        for name in names or ():
            if name not in known:
                raise UnknownNameError("slot", name, known)
        asked = [slot for slot in self._slots if names is None or slot.name in names]
        return tuple(self._entities(Message(text, language, now), asked, _EVERYTHING))

    def _entities(self, message: Message, slots: Sequence[Slot], *more: Frame) -> list[Entity]:
        entities = self._resolve_overlaps(message, [slot.name for slot in slots if slot.kind != "any"])
        for slot in slots:
            if slot.kind == "any":
                free = free_text(slot.name, [*self._frames[slot.name], *more], message, entities)
                entities = self._with_free_text(free, entities)
        return entities

    def _resolve_overlaps(self, message: Message, slots: list[str]) -> list[Entity]:
        """Return the entities of slots without overlaps, sorted by position."""
        hits = [(hit, number) for number, slot in enumerate(slots) for hit in self._finders[slot].find(message)]
        hits.sort(key=lambda found: (found[0].start - found[0].end, found[0].distance, found[1], found[0].start))
        taken = bytearray(len(message.text))
        claims: dict[tuple[int, int], dict[int, SlotHit]] = {}
        for hit, number in hits:
            place = hit.start, hit.end
            if place in claims:
                first = next(iter(claims[place].values()))
                if hit.distance == first.distance:
                    claims[place].setdefault(number, hit)
            elif taken.find(1, *place) < 0:
                taken[hit.start : hit.end] = b"\1" * (hit.end - hit.start)
                claims[place] = {number: hit}
        entities: list[Entity] = []
        for place in sorted(claims):
            number = self._owner(slots, claims[place], message, {entity.slot for entity in entities})
            value = claims[place][number].value
            entities.append(Entity(slots[number], value, message.text[slice(*place)], *place))
        return entities

    def _owner(self, slots: list[str], claims: Mapping[int, SlotHit], message: Message, filled: Collection[str]) -> int:
        def rank(number: int) -> tuple[int, bool, int]:
            hit, slot = claims[number], slots[number]
            return -self._neighbours.count_matching(slot, message, hit.start, hit.end), slot in filled, number

        return min(claims, key=rank) if len(claims) > 1 else next(iter(claims))

    def _with_free_text(self, free: Entity | None, entities: list[Entity]) -> list[Entity]:
        """Add free text to the entities, in place of entities that it contains."""
        if free is None:
            return entities
        inside = [entity for entity in entities if entity.start < free.end and free.start < entity.end]
        if any(entity.slot in self._frames for entity in inside):
            return entities
        return sorted([free, *(entity for entity in entities if entity not in inside)], key=lambda entity: entity.start)


def slot_readers(registry: Registry, *, tolerant: bool = True) -> dict[str, SlotReader]:
    """Return a reader for each intent with slots, by name. Without `tolerant`, mistyped names are not found.

    Raises `RegistryError` for invalid patterns, and `MissingExtraError` if a slot kind needs a package that is not
    installed.
    """
    known = _known_words(registry) if tolerant else None
    finders: dict[object, Finder] = {}
    problems: list[Problem] = []
    readers = {}
    for intent in registry:
        own: dict[str, Finder] = {}
        for slot in intent.slots:
            # Intents share the finders of equal slots; their questions may differ.
            key = slot.kind, slot.values, slot.patterns
            try:
                if slot.kind != "any":
                    own[slot.name] = finders[key] = finders.get(key) or _finder(slot, registry, known)
            except ExpressionError as error:
                problems.append(_bad_pattern(slot, error))
        if intent.slots:
            readers[intent.name] = SlotReader(intent, own)
    if problems:
        raise RegistryError(problems)
    return readers


def _finder(slot: Slot, registry: Registry, known: Collection[str] | None) -> Finder:
    if slot.kind == "list":
        return ListFinder(names_of(slot), known)
    if slot.kind == "pattern":
        return PatternFinder(slot)
    if slot.kind == "date":
        return DateFinder(registry.languages)
    return NumberFinder() if slot.kind == "number" else TimeFinder()


def _known_words(registry: Registry) -> frozenset[str]:
    """Return the words of all utterances, without slot values."""
    words: set[str] = set()
    for utterance in registry.utterances:
        start = 0
        for mark in utterance.marks:
            words.update(bare_words(utterance.text[start : mark.start]))
            start = mark.end
        words.update(bare_words(utterance.text[start:]))
    return frozenset(words)


def _bad_pattern(slot: Slot, error: ExpressionError) -> Problem:
    message = f"invalid regular expression in slot {slot.name!r}: {error}"
    return Problem(slot.location or NOWHERE, "error", "bad-pattern", message)
