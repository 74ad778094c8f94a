"""Read the slots of an intent from a message: entities found, and required slots that are missing.

Of overlapping values, the longest one wins, then the one closest to its declared form, then the one of the slot
declared first. If several slots claim the same words, the slot with most of its neighbouring words in the message wins,
then a slot without a value, then the first. Free text is read last, between the other entities. Values of one slot that
"or" joins are all returned, and the slot is among the missing ones with a question for the choice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import NamedTuple

from intentmatch.core.errors import NOWHERE, Problem, RegistryError, UnknownNameError
from intentmatch.core.result import Entity, Missing
from intentmatch.core.types import DAY_KINDS, Intent, Registry, Slot
from intentmatch.languages.own import OwnLanguages, shipped_code
from intentmatch.slots.alternatives import alternatives, joined_by_or, takes_one_value
from intentmatch.slots.bare_answers import says_nothing_else, with_bare_answer
from intentmatch.slots.clock import find_times
from intentmatch.slots.counts import is_pronoun, without_hours_and_houses
from intentmatch.slots.days import load_dates
from intentmatch.slots.durations import find_durations
from intentmatch.slots.free import EVERYTHING, EVERYTHING_BUT_MANNERS, frames_by_language, free_text, trimmed
from intentmatch.slots.internet import find_emails, find_urls
from intentmatch.slots.lists import IsWord, ListFinder, names_of
from intentmatch.slots.message import Find, Message, SlotHit, readable
from intentmatch.slots.moments import find_days, find_moments
from intentmatch.slots.money import find_money
from intentmatch.slots.neighbour_law import NeighbourLaw
from intentmatch.slots.neighbours import Neighbours, fixed_words
from intentmatch.slots.numbers import find_numbers
from intentmatch.slots.ordinals import find_ordinals
from intentmatch.slots.patterns import PatternFinder
from intentmatch.slots.phones import find_phones
from intentmatch.slots.temperatures import find_temperatures
from intentmatch.text.normalize import base_language
from intentmatch.text.regexes import ExpressionError

_BY_DECLARATION = frozenset(["list", "pattern", "number"])
"""Kinds of which the first one takes a number; the other kinds come before numbers."""
# A message may hold hundreds of values, and this is looked at for each of them.
_MOST_FILLED = 100
"""Entities before a value that are looked through for slots that have a value."""
_PAUSES = frozenset(",;.!?\n،؛、。，；！？")

FINDERS: Mapping[str, Find] = {
    "number": find_numbers,
    "ordinal": find_ordinals,
    "time": find_times,
    "duration": find_durations,
    "money": find_money,
    "temperature": find_temperatures,
    "email": find_emails,
    "phone": find_phones,
    "url": find_urls,
}
"""What finds the values of the kinds that need nothing but a message."""


class SlotValues(NamedTuple):
    """Slot values of a message."""

    entities: tuple[Entity, ...]
    """Entities in message order, without overlaps."""
    missing: tuple[Missing, ...]
    """Required slots without an entity, and slots with alternatives, in the order of the intent."""
    remarks: tuple[str, ...]
    """Remarks for the trace, such as a pattern that timed out."""

    @property
    def says(self) -> str:
        """Summary for the trace."""
        found = ", ".join(f"{entity.slot}={entity.shown}" for entity in self.entities)
        missing = ", ".join(missing.slot for missing in self.missing)
        parts = [f"found {found}" if found else "found nothing", f"missing {missing}" if missing else "", *self.remarks]
        return "; ".join(filter(None, parts))


class _AskedFor(NamedTuple):
    """What the question was for that a message answers."""

    asked: frozenset[str]
    is_whole: bool
    """Whether free text may end with "please" and the like."""


class SlotReader:
    """Reads the slots of one intent. Thread-safe."""

    def __init__(self, intent: Intent, finders: Mapping[str, Find], languages: OwnLanguages) -> None:
        """`finders` maps the name of every slot that is not of kind "any" to what finds its values."""
        self._languages = languages
        self._slots = intent.slots
        self._kinds = {slot.name: slot.kind for slot in intent.slots}
        self._finders = finders
        self._neighbours = Neighbours(intent.utterances)
        free = [slot.name for slot in intent.slots if slot.kind == "any"]
        self._frames = {name: frames_by_language(name, intent.utterances) for name in free}

    def read(self, text: str, language: str | None = None, now: datetime | None = None) -> SlotValues:
        """Return the entities and missing slots of a message that matched the intent."""
        message = Message(readable(text), self._languages.code(language), now)
        entities = self._to_the_end(text, message, self._entities(message, self._slots))
        there = {entity.slot for entity in entities}
        single = [slot.name for slot in self._slots if takes_one_value(slot.kind)]
        unsure = alternatives(text, entities, message.language, single)
        questions = tuple(
            Missing(slot.name, unsure.get(slot.name) or slot.question(language))
            for slot in self._slots
            if slot.name in unsure or (slot.required and slot.name not in there)
        )
        return SlotValues(tuple(entities), questions, tuple(message.remarks))

    def fill(
        self,
        text: str,
        names: Collection[str] | None,
        language: str | None = None,
        now: datetime | None = None,
        others: Collection[str] | None = None,
    ) -> tuple[Entity, ...]:
        """Return the entities in an answer to a question for the slots `names` (None for all slots).

        The whole answer may be free text. If `others` are given, free text ends before "please". These other slots are
        filled only where their own words say so: a number only beside the words that stand beside it in an utterance,
        or if the answer has no other words. What two slots may take is for the one asked for. Raises
        `UnknownNameError` for a slot that the intent does not have.
        """
        known = [slot.name for slot in self._slots]
        for name in (*(names or ()), *(others or ())):
            if name not in known:
                raise UnknownNameError("slot", name, known)
        asked = frozenset(known if names is None else names)
        slots = [slot for slot in self._slots if slot.name in asked or slot.name in (others or ())]
        message = Message(readable(text), self._languages.code(language), now)
        return tuple(self._to_the_end(text, message, self._entities(message, slots, _AskedFor(asked, others is None))))

    def _to_the_end(self, text: str, message: Message, entities: list[Entity]) -> list[Entity]:
        """Extend free text that reaches the end of what was read of a longer text to the end of the text."""
        last = entities[-1] if entities else None
        if len(text) == len(message.text) or last is None or self._kinds[last.slot] != "any":
            return entities
        if last.end < trimmed(message.text, last.start, len(message.text))[1]:
            return entities
        start, end = trimmed(text, last.start, len(text))
        return [*entities[:-1], Entity(last.slot, text[start:end], text[start:end], start, end)]

    def _entities(self, message: Message, slots: Sequence[Slot], answer: _AskedFor | None = None) -> list[Entity]:
        asked = answer.asked if answer else frozenset()
        entities = self._resolve_overlaps(message, [slot for slot in slots if slot.kind != "any"], asked)
        entities = with_bare_answer(message, slots, asked, entities)
        entities = [
            entity
            for before, entity in zip((None, *entities), entities, strict=False)
            if self._kinds[entity.slot] != "number"
            or not is_pronoun(entity, before, message, is_asked=entity.slot in asked)
        ]
        # In an answer with words of its own, a number counts for another slot only if words mark it.
        weak = self._weak_numbers(message, entities)
        if answer and weak and not says_nothing_else(message, [(one.start, one.end) for one in entities]):
            entities = [entity for entity in entities if entity.slot in asked or entity.start not in weak]
        for slot in slots:
            # Last, because free text ends where the values of other slots begin.
            if slot.kind == "any":
                by_language = self._frames[slot.name]
                among = by_language.get(base_language(shipped_code(message.language or "")), by_language[None])
                firm = [entity for entity in entities if entity.start not in weak]
                if slot.name in asked:
                    among = [*among, EVERYTHING if answer and answer.is_whole else EVERYTHING_BUT_MANNERS]
                    firm = [entity for entity in firm if entity.slot in asked or self._stands_apart(entity, message)]
                free = free_text(slot.name, among, message, firm, self._neighbours.carriers)
                entities = self._with_free_text(free, entities)
        return entities

    def _weak_numbers(self, message: Message, entities: Sequence[Entity]) -> set[int]:
        """Return the starts of numbers that no word or slot beside them marks as values of their slots."""
        weak = set()
        for entity, after in zip_longest(entities, entities[1:]):
            if self._kinds[entity.slot] != "number" or self._neighbours.count_matching(
                entity.slot, message, entity.start, entity.end
            ):
                continue
            beside = after is not None and not message.text[entity.end : after.start].strip()
            if not (beside and self._neighbours.follows(entity.slot, after.slot)):
                weak.add(entity.start)
        return weak

    def _stands_apart(self, entity: Entity, message: Message) -> bool:
        """Return whether an entity is not part of the free text that it touches: by its words, or a comma."""
        if self._kinds[entity.slot] not in ("list", "pattern", "number"):
            return True
        if self._neighbours.count_matching(entity.slot, message, entity.start, entity.end):
            return True
        before, after = message.text[: entity.start].rstrip(), message.text[entity.end :].lstrip()
        return before[-1:] in _PAUSES or after[:1] in _PAUSES

    def _resolve_overlaps(self, message: Message, slots: Sequence[Slot], asked: Collection[str]) -> list[Entity]:
        """Return the entities of slots without overlaps, sorted by position."""
        by_slot = {slot.name: self._hits(slot, message, asked) for slot in slots}
        law = NeighbourLaw(message, by_slot)
        hits = [
            (hit, number)
            for number, slot in enumerate(slots)
            for hit in by_slot[slot.name]
            if law.allows(slot.name, slot.kind, hit)
        ]
        # Longest first, so that each character is taken by the first hit that needs it, without comparing hits with
        # each other.
        hits.sort(key=lambda found: (found[0].start - found[0].end, found[0].distance, found[1], found[0].start))
        taken = bytearray(len(message.text))
        claims: dict[tuple[int, int], dict[str, SlotHit]] = {}
        for hit, number in hits:
            place = hit.start, hit.end
            if place in claims:
                first = next(iter(claims[place].values()))
                # A name as declared is not shared with a slot that only has something like it.
                if hit.distance == first.distance:
                    claims[place].setdefault(slots[number].name, hit)
            elif taken.find(1, *place) < 0:
                taken[hit.start : hit.end] = b"\1" * (hit.end - hit.start)
                claims[place] = {slots[number].name: hit}
        entities: list[Entity] = []
        for place in sorted(claims):
            slot = self._owner(claims[place], message, entities, asked)
            entities.append(Entity(slot, claims[place][slot].value, message.text[slice(*place)], *place))
        return entities

    def _hits(self, slot: Slot, message: Message, asked: Collection[str]) -> list[SlotHit]:
        hits = self._finders[slot.name](message)
        if slot.kind != "number":
            return hits
        return without_hours_and_houses(
            slot.name, hits, message, self._neighbours, is_asked=asked == frozenset([slot.name])
        )

    def _owner(
        self, claims: Mapping[str, SlotHit], message: Message, entities: Sequence[Entity], asked: Collection[str]
    ) -> str:
        """Return which of several slots gets a value; `entities` are those before it."""
        if len(claims) == 1:
            return next(iter(claims))
        start, end = next((hit.start, hit.end) for hit in claims.values())
        last = entities[-1] if entities else None
        choice_of = last.slot if last and joined_by_or(message.text, last.end, start, message.language) else None
        filled = {entity.slot for entity in entities[-_MOST_FILLED:]}

        structured = any(self._kinds[slot] not in _BY_DECLARATION for slot in claims)

        def rank(slot: str) -> tuple[bool, int, bool, bool, bool]:
            matching = self._neighbours.count_matching(slot, message, start, end)
            is_plain = structured and self._kinds[slot] == "number"
            return slot != choice_of, -matching, slot not in asked, is_plain, slot in filled

        return min(claims, key=rank)

    def _with_free_text(self, free: Entity | None, entities: list[Entity]) -> list[Entity]:
        """Add free text to the entities, in place of entities that it contains."""
        if free is None:
            return entities
        outside = [entity for entity in entities if entity.end <= free.start or free.end <= entity.start]
        kept = {entity.start for entity in outside}
        if any(entity.slot in self._frames and entity.start not in kept for entity in entities):
            return entities
        return sorted([free, *outside], key=lambda entity: entity.start)


def slot_readers(
    registry: Registry, *, tolerant: bool = True, is_word: IsWord = lambda _: False
) -> dict[str, SlotReader]:
    """Return a reader for each intent with slots, by name. Without `tolerant`, mistyped names are not found.

    `is_word` tells whether a word is a common one, which is never read as a mistyped name.

    Raises `RegistryError` for invalid patterns, and `MissingExtraError` if a slot kind needs a package that is not
    installed.
    """
    known = _known_words(registry) if tolerant else None
    finders: dict[object, Find] = {}
    problems: list[Problem] = []
    readers = {}
    for intent in registry:
        own: dict[str, Find] = {}
        for slot in intent.slots:
            # Intents share the finders of equal slots; their questions may differ.
            key = slot.kind, slot.values, slot.patterns
            try:
                if slot.kind != "any":
                    own[slot.name] = finders[key] = finders.get(key) or _finder(slot, registry, known, is_word)
            except ExpressionError as error:
                problems.append(_bad_pattern(slot, error))
        if intent.slots:
            readers[intent.name] = SlotReader(intent, own, registry.own_languages)
    if problems:
        raise RegistryError(problems)
    return readers


def _finder(slot: Slot, registry: Registry, known: Collection[str] | None, is_word: IsWord) -> Find:
    if slot.kind == "list":
        return ListFinder(names_of(slot), known, is_word).find
    if slot.kind == "pattern":
        return PatternFinder(slot).find
    if slot.kind in DAY_KINDS:
        load_dates(registry.languages)
        return find_days if slot.kind == "date" else find_moments
    return FINDERS[slot.kind]


def _known_words(registry: Registry) -> frozenset[str]:
    """Return the words of all utterances, without slot values."""
    return frozenset(word for utterance in registry.utterances for words in fixed_words(utterance) for word in words)


def _bad_pattern(slot: Slot, error: ExpressionError) -> Problem:
    message = f"invalid regular expression in slot {slot.name!r}: {error}"
    return Problem(slot.location or NOWHERE, "error", "bad-pattern", message)
