"""The slots of an intent, made ready: what a message holds of them, and what it lacks.

Of values that overlap the longest counts, then the one that differs least from what was declared, then that of the slot
declared first. Where several slots claim the same words, it is the one whose neighbours in the utterances are there,
then one that has nothing yet, then the first. Free text comes last: it is what stands between.
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
from intentmatch.slots.neighbours import Neighbours, spoken_words
from intentmatch.slots.numbers import NumberFinder
from intentmatch.slots.patterns import PatternFinder
from intentmatch.text.regexes import ExpressionError

_EVERYTHING = Frame()


class Reading(NamedTuple):
    """What a message says for the slots of an intent."""

    entities: tuple[Entity, ...]
    """In the order of the message; none overlaps another."""
    missing: tuple[Missing, ...]
    """Required slots without an entity, in the order of the intent."""
    remarks: tuple[str, ...]
    """What the author should hear of."""

    @property
    def says(self) -> str:
        """For the trace."""
        found = ", ".join(f"{entity.slot}={entity.value}" for entity in self.entities)
        missing = ", ".join(missing.slot for missing in self.missing)
        parts = [f"found {found}" if found else "found nothing", f"missing {missing}" if missing else "", *self.remarks]
        return "; ".join(filter(None, parts))


class SlotReader:
    """Reads the slots of one intent. Safe to use from many threads."""

    def __init__(self, intent: Intent, finders: Mapping[str, Finder]) -> None:
        """`finders` are those of all slots but the ones of kind "any", by name."""
        self._slots = intent.slots
        self._finders = finders
        self._neighbours = Neighbours(intent.utterances)
        self._frames = {slot.name: frames(slot.name, intent.utterances) for slot in intent.slots if slot.kind == "any"}

    def read(self, text: str, language: str | None = None, now: datetime | None = None) -> Reading:
        """What a message that matched the intent says for all its slots."""
        message = Message(text, language, now)
        entities = self._entities(message, self._slots)
        there = {entity.slot for entity in entities}
        missing = (slot for slot in self._slots if slot.required and slot.name not in there)
        questions = tuple(Missing(slot.name, slot.question(language)) for slot in missing)
        return Reading(tuple(entities), questions, tuple(message.remarks))

    def fill(
        self, text: str, names: Collection[str] | None, language: str | None = None, now: datetime | None = None
    ) -> tuple[Entity, ...]:
        """What the answer to a question for slots says: free text that was asked for may be all of it.

        Raises `UnknownNameError`.
        """
        known = [slot.name for slot in self._slots]
        for name in names or ():
            if name not in known:
                raise UnknownNameError("slot", name, known)
        asked = [slot for slot in self._slots if names is None or slot.name in names]
        return tuple(self._entities(Message(text, language, now), asked, _EVERYTHING))

    def _entities(self, message: Message, slots: Sequence[Slot], *more: Frame) -> list[Entity]:
        entities = self._settled(message, [slot.name for slot in slots if slot.kind != "any"])
        for slot in slots:
            if slot.kind == "any":
                free = free_text(slot.name, [*self._frames[slot.name], *more], message, entities)
                entities = self._with_free_text(free, entities)
        return entities

    def _settled(self, message: Message, slots: list[str]) -> list[Entity]:
        """The entities of slots, each at a place of its own."""
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
            return -self._neighbours.agree(slot, message, hit.start, hit.end), slot in filled, number

        return min(claims, key=rank) if len(claims) > 1 else next(iter(claims))

    def _with_free_text(self, free: Entity | None, entities: list[Entity]) -> list[Entity]:
        """The entities with free text among them, in place of those that are part of it."""
        if free is None:
            return entities
        inside = [entity for entity in entities if entity.start < free.end and free.start < entity.end]
        if any(entity.slot in self._frames for entity in inside):
            return entities
        return sorted([free, *(entity for entity in entities if entity not in inside)], key=lambda entity: entity.start)


def slot_readers(registry: Registry, *, tolerant: bool = True) -> dict[str, SlotReader]:
    """A reader for each intent that has slots, by name. Without `tolerant`, no name is taken to be mistyped.

    Raises `RegistryError` for patterns that are none, and `MissingExtraError` where a kind of slot needs a package that
    is not installed.
    """
    known = _known_words(registry) if tolerant else None
    finders: dict[object, Finder] = {}
    problems: list[Problem] = []
    readers = {}
    for intent in registry:
        own: dict[str, Finder] = {}
        for slot in intent.slots:
            # Intents share the slots of their folder, apart from what each asks for.
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
    """The words of all utterances, without those that are values of slots."""
    words: set[str] = set()
    for utterance in registry.utterances:
        start = 0
        for mark in utterance.marks:
            words.update(spoken_words(utterance.text[start : mark.start]))
            start = mark.end
        words.update(spoken_words(utterance.text[start:]))
    return frozenset(words)


def _bad_pattern(slot: Slot, error: ExpressionError) -> Problem:
    message = f"the regular expression of slot {slot.name!r} cannot be read: {error}"
    return Problem(slot.location or NOWHERE, "error", "bad-pattern", message)
