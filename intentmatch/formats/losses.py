"""What a format cannot say is taken out of a registry, and each piece of it is a problem with its place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from intentmatch.errors import Location, Problem
from intentmatch.formats.draft import NOT_EXPRESSED
from intentmatch.formats.format import Feature
from intentmatch.formats.unfold import sentence, unfolded
from intentmatch.registry.rules import NOWHERE
from intentmatch.types import Intent, Registry, Slot, SlotValue, Utterance

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
    reduced = _Reduced(says)
    registry, problems = unfolded(registry, says)
    reduced.problems.update(problems)
    slots = reduced.slots(registry.slots)
    intents = tuple(reduced.intent(intent) for intent in registry)
    tests, settings = registry.tests, registry.settings
    if tests and "tests" not in says:
        reduced.lose(tests[0].location, f"the {len(tests)} tests")
        tests = ()
    if settings and "settings" not in says:
        reduced.lose(next(iter(registry.setting_locations.values()), None), f"the settings {', '.join(settings)}")
        settings = {}
    kept = replace(
        registry,
        intents=intents,
        slots=slots,
        tests=tests,
        settings=settings,
        setting_locations=registry.setting_locations if settings else {},
    )
    return kept, sorted(reduced.problems)


class _Reduced:
    """Takes a registry apart; `problems` fills up as it goes."""

    def __init__(self, says: Collection[Feature]) -> None:
        self._says = says
        self.problems: set[Problem] = set()
        self._without_kind: set[str] = set()

    def lose(self, place: Location | None, what: str) -> None:
        message = f"{what} cannot be written in this format"
        self.problems.add(Problem(place or NOWHERE, "warning", NOT_EXPRESSED, message))

    def intent(self, intent: Intent) -> Intent:
        changes: dict[str, Any] = {}
        for feature, (field, nothing) in _OF_INTENT.items():
            if feature not in self._says and getattr(intent, field) not in (nothing, None):
                self.lose(intent.location, f"`{field}` of {intent.name!r}")
                changes[field] = nothing
        kept = replace(intent, **changes, slots=self.slots(intent.slots))
        responses = kept.responses
        if "languages" not in self._says and set(responses) - {""}:
            first = next(iter(responses))
            if len(responses) > 1:
                self.lose(intent.location, f"the responses of {intent.name!r} in more than one language")
            responses = {"": responses[first]}
        return replace(
            kept,
            utterances=self._lines(kept.utterances, intent),
            negatives=self._lines(kept.negatives, intent),
            responses=responses,
        )

    def slots(self, slots: Iterable[Slot]) -> tuple[Slot, ...]:
        return tuple(self._slot(slot) for slot in slots if self._has_kind(slot))

    def _has_kind(self, slot: Slot) -> bool:
        feature: Feature = "lists" if slot.kind == "list" else "patterns" if slot.kind == "pattern" else "kinds"
        if feature in self._says:
            return True
        self.lose(slot.location, f"the slot {slot.name!r} ({slot.kind})")
        self._without_kind.add(slot.name)
        return False

    def _slot(self, slot: Slot) -> Slot:
        if any(value.synonyms for value in slot.values) and "synonyms" not in self._says:
            self.lose(slot.location, f"synonyms of the slot {slot.name!r}")
            slot = replace(slot, values=tuple(SlotValue(value.value) for value in slot.values))
        changes: dict[str, Any] = {}
        for feature, nothing in _OF_SLOT.items():
            if feature not in self._says and getattr(slot, feature):
                self.lose(slot.location, f"`{feature}` of the slot {slot.name!r}")
                changes[feature] = nothing
        slot = replace(slot, **changes)
        return slot if "languages" in self._says else self._in_no_language(slot)

    def _in_no_language(self, slot: Slot) -> Slot:
        values = tuple(SlotValue(v.value, tuple(map(_in_no_language, v.synonyms))) for v in slot.values)
        if (values, set(slot.questions) - {""}) != (slot.values, set()):
            self.lose(slot.location, f"the languages of the slot {slot.name!r}")
        questions = {"": slot.question(None) or ""} if slot.questions else {}
        return replace(slot, values=values, examples=tuple(map(_in_no_language, slot.examples)), questions=questions)

    def _lines(self, lines: Iterable[Utterance], intent: Intent) -> tuple[Utterance, ...]:
        return tuple(self._line(line, intent) for line in lines)

    def _line(self, line: Utterance, intent: Intent) -> Utterance:
        if line.language and "languages" not in self._says:
            self.lose(intent.location, f"the language of the lines of {intent.name!r}")
            line = replace(line, language=None)
        if line.marks and "marks" not in self._says:
            self.lose(line.location or intent.location, f"the slots marked in “{line.text}”")
            return replace(line, template=None, marks=())
        # A slot that was lost is nothing to mark either.
        marks = tuple(mark for mark in line.marks if mark.slot not in self._without_kind)
        return line if marks == line.marks else sentence(line, marks)


def _in_no_language(line: Utterance) -> Utterance:
    return replace(line, language=None)
