"""The slots of a registry: those that lines name, themselves or by the rules that they use, and all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from intentmatch.core.types import Intent, Registry, Rule, Slot, Utterance
from intentmatch.registry.templates.rules import key_of
from intentmatch.registry.templates.syntax import Template, Use, parse


def every_slot(registry: Registry) -> dict[str, Slot]:
    """Each slot by name, also those that only an intent declares; of namesakes the one for all, or the first."""
    slots = {slot.name: slot for slot in registry.slots}
    for intent in registry:
        for slot in intent.slots:
            slots.setdefault(slot.name, slot)
    return slots


def without_unnamed(intent: Intent, before: Intent, rules: Sequence[Rule]) -> Intent:
    """The intent without slots that its lines named before, and no longer do; what is asked for stays."""
    gone = set(slots_named((*before.utterances, *before.negatives), rules))
    gone -= set(slots_named((*intent.utterances, *intent.negatives), rules))
    kept = (slot for slot in intent.slots if slot.name not in gone or slot.required or slot.questions)
    return replace(intent, slots=tuple(kept))


def slots_named(lines: Iterable[Utterance], rules: Sequence[Rule]) -> list[str]:
    """Each name once, in the order of the lines."""
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
            seen.add(reference.rule)
            code = key_of(rule, line.language)
            if code is not None:
                waiting[:0] = _references(parse(rule.templates[code], fragment=True))


def _references(template: Template) -> list[str | Use]:
    return [*template.uses, *(blank.slot for blank in template.blanks)]
