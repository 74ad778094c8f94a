"""Find the slots of a registry: all of them, or those that utterances mention directly or through rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from intentmatch.core.types import Intent, Registry, Rule, Slot, Utterance
from intentmatch.registry.templates.rules import key_of
from intentmatch.registry.templates.syntax import Template, Use, parse


def all_slots(registry: Registry) -> dict[str, Slot]:
    """Return all slots by name, including those of single intents. Shared slots win over those of intents."""
    slots = {slot.name: slot for slot in registry.slots}
    for intent in registry:
        for slot in intent.slots:
            slots.setdefault(slot.name, slot)
    return slots


def without_unmentioned_slots(intent: Intent, before: Intent, rules: Sequence[Rule]) -> Intent:
    """Remove the slots that the utterances of `before` mentioned and those of `intent` no longer do.

    Slots that are required or have questions are kept.
    """
    gone = set(mentioned_slots((*before.utterances, *before.negatives), rules))
    gone -= set(mentioned_slots((*intent.utterances, *intent.negatives), rules))
    kept = (slot for slot in intent.slots if slot.name not in gone or slot.required or slot.questions)
    return replace(intent, slots=tuple(kept))


def mentioned_slots(lines: Iterable[Utterance], rules: Sequence[Rule]) -> list[str]:
    """Return the names of the slots that utterances mention, each once, in order."""
    by_name = {rule.name: rule for rule in rules}
    return list(dict.fromkeys(name for line in lines for name in _named(line, by_name)))


def _named(line: Utterance, rules: dict[str, Rule]) -> Iterator[str]:
    if line.template is None:
        return
    seen: set[str] = set()
    waiting: list[str | Use] = _references(parse(line.template))
    while waiting:
        reference = waiting.pop(0)
        if isinstance(reference, str):
            yield reference
        elif reference.rule not in seen and (rule := rules.get(reference.rule)) is not None:
            # Rules may use each other in a circle.
            seen.add(reference.rule)
            code = key_of(rule, line.language)
            if code is not None:
                # In front, so that slots come in the order of the text.
                waiting[:0] = _references(parse(rule.templates[code], fragment=True))


def _references(template: Template) -> list[str | Use]:
    return [*template.uses, *(blank.slot for blank in template.blanks)]
