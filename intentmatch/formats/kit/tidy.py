"""Remove from an imported registry what is repeated or not used, so that `lint` reports the bot and not its import."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from intentmatch.core.errors import NOWHERE, Location, Problem, Severity
from intentmatch.core.types import Intent, Registry, Rule, Utterance
from intentmatch.formats.kit.slot_mentions import without_unmentioned_slots
from intentmatch.formats.kit.unroll import is_template
from intentmatch.registry.templates.syntax import Template, parse
from intentmatch.text.normalize import fold


def tidy(registry: Registry) -> tuple[Registry, list[Problem]]:
    """Return the registry without repeated utterances, unused slots and unused rules.

    Of equal utterances of an intent, the one with the most slot marks is kept, at the place of the first. Returns a
    problem for each removed piece, sorted by location.
    """
    problems: list[Problem] = []
    intents = tuple(_without_repetitions(intent, registry.rules, problems) for intent in registry)
    used_rules = _used_rules(intents, registry.rules)
    used_slots = {slot.name for intent in intents for slot in intent.slots}
    for rule in registry.rules:
        if rule.name not in used_rules:
            message = f"the rule {rule.name!r} is not imported, because no utterance uses it"
            problems.append(_problem(rule.location, "info", "unused-rule", message))
    for slot in registry.slots:
        if slot.name not in used_slots:
            values = f" and its {len(slot.values):,} values are" if slot.values else " is"
            message = f"the slot {slot.name!r}{values} not imported, because no intent uses the slot"
            problems.append(_problem(slot.location, "warning", "unused-slot", message))
    kept = replace(
        registry,
        intents=intents,
        slots=tuple(slot for slot in registry.slots if slot.name in used_slots),
        rules=tuple(rule for rule in registry.rules if rule.name in used_rules),
    )
    return kept, sorted(problems)


def _without_repetitions(intent: Intent, rules: Sequence[Rule], problems: list[Problem]) -> Intent:
    kept: dict[tuple[str, str | None], Utterance] = {}
    repeated: list[tuple[Utterance, Utterance]] = []
    for line in intent.utterances:
        # A text without words is reported elsewhere.
        key = (line.text if is_template(line) else fold(line.text) or line.text), line.language
        first = kept.setdefault(key, line)
        if first is not line:
            repeated.append((first, line))
            kept[key] = max(first, line, key=lambda each: len(each.marks))
    for first, line in repeated:
        where = (first.location or NOWHERE).short
        message = f"“{line.text}” is already at {where}; it is imported once"
        problems.append(_problem(line.location or intent.location, "info", "duplicate-utterance", message))
    return without_unmentioned_slots(replace(intent, utterances=tuple(kept.values())), intent, rules)


def _used_rules(intents: Sequence[Intent], rules: Sequence[Rule]) -> set[str]:
    """Return the names of the rules that utterances use, directly or through other rules."""
    by_name = {rule.name: rule for rule in rules}
    waiting = [use for intent in intents for use in _uses(_templates(intent))]
    used: set[str] = set()
    for name in waiting:
        if name in by_name and name not in used:
            used.add(name)
            waiting += _uses(parse(text, fragment=True) for text in by_name[name].templates.values())
    return used


def _templates(intent: Intent) -> Iterator[Template]:
    lines = (*intent.utterances, *intent.negatives)
    return (parse(line.template) for line in lines if line.template is not None)


def _uses(templates: Iterator[Template]) -> Iterator[str]:
    return (use.rule for template in templates for use in template.uses)


def _problem(place: Location | None, severity: Severity, rule: str, message: str) -> Problem:
    return Problem(place or NOWHERE, severity, rule, message)
