"""What a format cannot say is taken out of a registry, and each piece of it is a problem with its place."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.types import Intent, Registry, Slot, SlotKind, SlotValue, Utterance
from intentmatch.formats.kit.draft import NOT_EXPRESSED
from intentmatch.formats.kit.format import Feature
from intentmatch.formats.kit.slot_mentions import every_slot, without_unnamed
from intentmatch.formats.kit.unroll import as_sentences, without_rules
from intentmatch.registry.templates.syntax import labelled

_OF_INTENT: Mapping[Feature, tuple[str, Any]] = {
    "negatives": ("negatives", ()),
    "responses": ("responses", {}),
    "titles": ("title", None),
    "descriptions": ("description", None),
    "thresholds": ("threshold", None),
    "metadata": ("metadata", {}),
    "when": ("when", ()),
}
"""Feature to the field of an intent and its value where it says nothing."""
_OF_SLOT: Mapping[Feature, Any] = {"examples": (), "required": False, "questions": {}}
"""The same of a slot, where field and feature have one name."""


def without(registry: Registry, says: Collection[Feature]) -> tuple[Registry, list[Problem]]:
    """The registry with nothing in it but what can be said, and what was lost by that, sorted by place."""
    problems: list[Problem] = []
    if "templates" not in says:
        registry, problems = as_sentences(registry, says)
    elif "rules" not in says:
        registry, problems = without_rules(registry)
    losing = _Losing(registry, says)
    if not set(get_args(Feature)) <= set(says):
        losing.note_namesakes()
    if registry.tests and "tests" not in says:
        losing.lose(registry.tests[0].location, f"tests ({len(registry.tests)})")
        registry = replace(registry, tests=())
    if registry.settings and "settings" not in says:
        place = next(iter(registry.setting_locations.values()), None)
        losing.lose(place, f"settings ({', '.join(registry.settings)})")
        registry = replace(registry, settings={}, setting_locations={})
    intents = tuple(map(losing.intent, registry))
    kept = replace(registry, intents=intents, slots=losing.slots(registry.slots))
    return kept, sorted({*problems, *losing.problems})


def loss(place: Location | None, what: str) -> Problem:
    """The problem that something cannot be written."""
    return Problem(place or NOWHERE, "warning", NOT_EXPRESSED, f"this format cannot express {what}")


def of_unused(registry: Registry, kinds: Container[SlotKind]) -> list[Problem]:
    """What is lost where nothing but an intent can say that a slot is of one of these kinds."""
    used = {slot.name for intent in registry for slot in intent.slots}
    unused = [slot for slot in registry.slots if slot.kind in kinds and slot.name not in used]
    return [loss(slot.location, f"the slot {slot.name!r}, which no intent uses") for slot in unused]


class _Losing:
    """Takes a registry apart; `problems` fills up as it goes."""

    def __init__(self, registry: Registry, says: Collection[Feature]) -> None:
        self._registry = registry
        self._says = says
        self.problems: set[Problem] = set()
        slots = (*registry.slots, *(slot for intent in registry for slot in intent.slots))
        self._gone = {slot.name for slot in slots if _feature_of(slot) not in says}

    def lose(self, place: Location | None, what: str) -> None:
        self.problems.add(loss(place, what))

    def note_namesakes(self) -> None:
        """Elsewhere a slot takes the same values whatever the intent."""
        shared = every_slot(self._registry)
        for intent in self._registry:
            for slot in intent.slots:
                if _taken(slot) != _taken(shared[slot.name]):
                    self.lose(slot.location, f"a definition of the slot {slot.name!r} for {intent.name!r} alone")

    def intent(self, intent: Intent) -> Intent:
        changes: dict[str, Any] = {}
        for feature, (field, nothing) in _OF_INTENT.items():
            if feature not in self._says and getattr(intent, field) != nothing:
                self.lose(intent.location, f"`{field}` of {intent.name!r}")
                changes[field] = nothing
        if "titles" not in self._says:
            changes["titles"] = {}
        kept = replace(intent, **changes)
        if "languages" not in self._says and any(kept.responses):
            self.lose(intent.location, f"the languages of the responses of {intent.name!r}")
            kept = replace(kept, responses={"": kept.response(None) or ""})
        utterances = tuple(self._line(line, intent) for line in kept.utterances)
        negatives = tuple(self._line(line, intent) for line in kept.negatives)
        found = replace(kept, utterances=utterances, negatives=negatives, slots=self.slots(kept.slots))
        return without_unnamed(found, intent, self._registry.rules)

    def slots(self, slots: Iterable[Slot]) -> tuple[Slot, ...]:
        for slot in slots:
            if slot.name in self._gone:
                self.lose(slot.location, f"the slot {slot.name!r} ({slot.kind})")
        return tuple(self._slot(slot) for slot in slots if slot.name not in self._gone)

    def _slot(self, slot: Slot) -> Slot:
        changes: dict[str, Any] = {}
        if "synonyms" not in self._says and any(value.synonyms for value in slot.values):
            self.lose(slot.location, f"the synonyms of the slot {slot.name!r}")
            changes["values"] = tuple(SlotValue(value.value) for value in slot.values)
        for feature, nothing in _OF_SLOT.items():
            if feature not in self._says and getattr(slot, feature):
                self.lose(slot.location, f"`{feature}` of the slot {slot.name!r}")
                changes[feature] = nothing
        kept = replace(slot, **changes)
        return kept if "languages" in self._says else self._in_no_language(kept)

    def _in_no_language(self, slot: Slot) -> Slot:
        values = tuple(replace(value, synonyms=tuple(map(_spoken_by_all, value.synonyms))) for value in slot.values)
        examples = tuple(map(_spoken_by_all, slot.examples))
        questions = {"": slot.question(None) or ""} if slot.questions else {}
        if (values, examples, questions) != (slot.values, slot.examples, slot.questions):
            self.lose(slot.location, f"the languages of the slot {slot.name!r}")
        return replace(slot, values=values, examples=examples, questions=questions)

    def _line(self, line: Utterance, intent: Intent) -> Utterance:
        if line.language and "languages" not in self._says:
            self.lose(intent.location, f"the languages of the utterances of {intent.name!r}")
            line = _spoken_by_all(line)
        kept = tuple(mark for mark in line.marks if "marks" in self._says and mark.slot not in self._gone)
        if kept != line.marks:
            if "marks" not in self._says:
                self.lose(line.location or intent.location, f"the slot marks in “{line.text}”")
            written = labelled(line.text, kept)
            line = replace(line, marks=kept, template=None if written == line.text else written)
        return line


def _feature_of(slot: Slot) -> Feature:
    return "lists" if slot.kind == "list" else "patterns" if slot.kind == "pattern" else "kinds"


def _taken(slot: Slot) -> Any:
    """What a slot takes, wherever that stands."""
    values = [(value.value, [(line.text, line.language) for line in value.synonyms]) for value in slot.values]
    return slot.kind, values, slot.patterns


def _spoken_by_all(line: Utterance) -> Utterance:
    return replace(line, language=None)
