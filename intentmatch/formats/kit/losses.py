"""Remove from a registry what a format cannot express, and report each removed piece with its location."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.types import Intent, Registry, Slot, SlotKind, SlotValue, Utterance
from intentmatch.formats.kit.draft import NOT_EXPRESSED
from intentmatch.formats.kit.format import Feature
from intentmatch.formats.kit.one_owner import with_one_owner
from intentmatch.formats.kit.slot_mentions import all_slots, without_unmentioned_slots
from intentmatch.formats.kit.unroll import as_sentences, without_rules
from intentmatch.registry.templates.syntax import labelled

_INTENT_FIELDS: Mapping[Feature, tuple[str, Any]] = {
    "negatives": ("negatives", ()),
    "responses": ("responses", {}),
    "titles": ("title", None),
    "descriptions": ("description", None),
    "thresholds": ("threshold", None),
    "metadata": ("metadata", {}),
    "when": ("when", ()),
    "confirm": ("confirm", False),
}
"""Feature to the field of an intent and its empty value."""
_SLOT_FIELDS: Mapping[Feature, Any] = {"examples": (), "required": False, "questions": {}}
"""Feature of a slot to its empty value. The field has the name of the feature."""


def without_unsupported(registry: Registry, says: Collection[Feature]) -> tuple[Registry, list[Problem]]:
    """Remove everything from a registry that a format with these features cannot express.

    Returns the reduced registry and a problem for each removed piece, sorted by location.
    """
    problems: list[Problem] = []
    if "templates" not in says:
        registry, problems = as_sentences(registry, says)
    elif "rules" not in says:
        registry, problems = without_rules(registry)
    if "when" not in says:
        registry, more = _without_shared_lines(registry)
        problems = [*problems, *more]
    reducer = _Reducer(registry, says)
    # Only intentmatch's own YAML expresses everything, slots of a single intent included.
    if not set(get_args(Feature)) <= set(says):
        reducer.report_slot_conflicts()
    if registry.tests and "tests" not in says:
        reducer.report(registry.tests[0].location, f"tests ({len(registry.tests)})")
        registry = replace(registry, tests=())
    if registry.settings and "settings" not in says:
        place = next(iter(registry.setting_locations.values()), None)
        reducer.report(place, f"settings ({', '.join(registry.settings)})")
        registry = replace(registry, settings={}, setting_locations={})
    registry = _without_sections(registry, says, reducer)
    intents = tuple(map(reducer.intent, registry))
    kept = replace(registry, intents=intents, slots=reducer.slots(registry.slots))
    return kept, sorted({*problems, *reducer.problems})


def _without_sections(registry: Registry, says: Collection[Feature], reducer: _Reducer) -> Registry:
    """Leave out words of languages and questions."""
    if "own_sections" not in says:
        for code, sections in registry.own_sections.items():
            reducer.report(None, f"words of the language {code!r} ({', '.join(sections)})")
        registry = replace(registry, own_sections={})
    if "traits" not in says:
        for question in registry.questions:
            reducer.report(question.location, f"the question {question.name!r} and its answers")
        registry = replace(registry, questions=())
    return registry


def loss(place: Location | None, what: str) -> Problem:
    """Return the problem that a format cannot express something. `what` is a noun phrase."""
    return Problem(place or NOWHERE, "warning", NOT_EXPRESSED, f"this format cannot express {what}")


def unused_slot_losses(registry: Registry, kinds: Container[SlotKind]) -> list[Problem]:
    """Report the unused slots of kinds that a format can declare only inside of an intent."""
    used = {slot.name for intent in registry for slot in intent.slots}
    unused = [slot for slot in registry.slots if slot.kind in kinds and slot.name not in used]
    return [loss(slot.location, f"the slot {slot.name!r}, which no intent uses") for slot in unused]


def _without_shared_lines(registry: Registry) -> tuple[Registry, list[Problem]]:
    """Leave out the lines that would be in several intents without `when`, with a problem for each."""
    kept, left_out = with_one_owner(registry)
    intents = {intent.name: intent for intent in registry}
    problems = [
        loss(line.location or intents[name].location, f"“{line.text}” of {name!r}: {owner!r} has the same line")
        for (name, line), owner in left_out.items()
    ]
    lost = [intent for intent in registry if intent.utterances and intent.name not in kept]
    problems += [loss(intent.location, f"{intent.name!r}: other intents have all of its lines") for intent in lost]
    if dropped := len(registry.tests) - len(kept.tests):
        problems.append(loss(registry.tests[0].location, f"tests that expect such an intent ({dropped})"))
    return kept, problems


def empty_intent_losses(registry: Registry) -> list[Problem]:
    """Report the intents without utterances, for formats that name an intent only beside an utterance."""
    empty = (intent for intent in registry if not intent.utterances)
    return [loss(intent.location, f"the intent {intent.name!r}, which has no utterances") for intent in empty]


class _Reducer:
    """Reduces the parts of one registry and collects the losses in `problems`."""

    def __init__(self, registry: Registry, says: Collection[Feature]) -> None:
        self._registry = registry
        self._says = says
        # What all lines of an intent lose is found once for each of them.
        self.problems: set[Problem] = set()
        slots = (*registry.slots, *(slot for intent in registry for slot in intent.slots))
        self._unsupported = {slot.name for slot in slots if _kind_feature(slot) not in says}

    def report(self, place: Location | None, what: str) -> None:
        self.problems.add(loss(place, what))

    def report_slot_conflicts(self) -> None:
        """Report slots that an intent redefines: other programs have one definition for all intents."""
        shared = all_slots(self._registry)
        for intent in self._registry:
            for slot in intent.slots:
                if _definition(slot) != _definition(shared[slot.name]):
                    self.report(slot.location, f"a definition of the slot {slot.name!r} for {intent.name!r} alone")

    def intent(self, intent: Intent) -> Intent:
        changes: dict[str, Any] = {}
        for feature, (field, empty) in _INTENT_FIELDS.items():
            if feature not in self._says and getattr(intent, field) != empty:
                self.report(intent.location, f"`{field}` of {intent.name!r}")
                changes[field] = empty
        # `title`, one of these, is reported for all of them.
        if "titles" not in self._says:
            changes["titles"] = {}
        if not {"responses", "variants"} <= set(self._says) and intent.more_responses:
            if "responses" in self._says:
                self.report(intent.location, f"the variants of the response of {intent.name!r}, except the first")
            changes["more_responses"] = {}
        kept = replace(intent, **changes)
        if "languages" not in self._says and any(kept.responses):
            self.report(intent.location, f"the languages of the responses of {intent.name!r}")
            first, *more = kept.responses_in(None)
            kept = replace(kept, responses={"": first}, more_responses={"": tuple(more)} if more else {})
        utterances = tuple(self._line(line, intent) for line in kept.utterances)
        negatives = tuple(self._line(line, intent) for line in kept.negatives)
        found = replace(kept, utterances=utterances, negatives=negatives, slots=self.slots(kept.slots))
        return without_unmentioned_slots(found, intent, self._registry.rules)

    def slots(self, slots: Iterable[Slot]) -> tuple[Slot, ...]:
        for slot in slots:
            if slot.name in self._unsupported:
                self.report(slot.location, f"the slot {slot.name!r} ({slot.kind})")
        return tuple(self._slot(slot) for slot in slots if slot.name not in self._unsupported)

    def _slot(self, slot: Slot) -> Slot:
        changes: dict[str, Any] = {}
        if "synonyms" not in self._says and any(value.synonyms for value in slot.values):
            self.report(slot.location, f"the synonyms of the slot {slot.name!r}")
            changes["values"] = tuple(SlotValue(value.value) for value in slot.values)
        for feature, empty in _SLOT_FIELDS.items():
            if feature not in self._says and getattr(slot, feature):
                self.report(slot.location, f"`{feature}` of the slot {slot.name!r}")
                changes[feature] = empty
        kept = replace(slot, **changes)
        return kept if "languages" in self._says else self._slot_without_languages(kept)

    def _slot_without_languages(self, slot: Slot) -> Slot:
        values = tuple(replace(value, synonyms=tuple(map(_without_language, value.synonyms))) for value in slot.values)
        examples = tuple(map(_without_language, slot.examples))
        questions = {"": slot.question(None) or ""} if slot.questions else {}
        if (values, examples, questions) != (slot.values, slot.examples, slot.questions):
            self.report(slot.location, f"the languages of the slot {slot.name!r}")
        return replace(slot, values=values, examples=examples, questions=questions)

    def _line(self, line: Utterance, intent: Intent) -> Utterance:
        if line.language and "languages" not in self._says:
            self.report(intent.location, f"the languages of the utterances of {intent.name!r}")
            line = _without_language(line)
        kept = tuple(mark for mark in line.marks if "marks" in self._says and mark.slot not in self._unsupported)
        if kept != line.marks:
            if "marks" not in self._says:
                self.report(line.location or intent.location, f"the slot marks in “{line.text}”")
            written = labelled(line.text, kept)
            line = replace(line, marks=kept, template=None if written == line.text else written)
        return line


def _kind_feature(slot: Slot) -> Feature:
    return "lists" if slot.kind == "list" else "patterns" if slot.kind == "pattern" else "kinds"


def _definition(slot: Slot) -> Any:
    """Return the kind, values and patterns of a slot without locations, for comparison."""
    values = [(value.value, [(line.text, line.language) for line in value.synonyms]) for value in slot.values]
    return slot.kind, values, slot.patterns


def _without_language(line: Utterance) -> Utterance:
    return replace(line, language=None)
