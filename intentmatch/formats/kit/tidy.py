"""Remove repetitions from an imported registry, so that `lint` reports the bot and not its import."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.types import Intent, Registry, Rule, Utterance
from intentmatch.formats.kit.format import Files
from intentmatch.formats.kit.slot_mentions import without_unmentioned_slots
from intentmatch.formats.kit.unroll import is_template
from intentmatch.registry.templates.syntax import Template, parse
from intentmatch.text.normalize import fold

_SLOTS = "\nslots:\n"
_IGNORED = "  # lint: ignore unused-slot"


def tidy(registry: Registry) -> tuple[Registry, list[Problem]]:
    """Return the registry without repeated utterances and unused rules.

    Of equal utterances of an intent, the one with the most slot marks is kept, at the place of the first. Returns a
    problem for each removed piece, sorted by location.
    """
    problems: list[Problem] = []
    intents = tuple(_without_repetitions(intent, registry.rules, problems) for intent in registry)
    used_rules = _used_rules(intents, registry.rules)
    for rule in registry.rules:
        if rule.name not in used_rules:
            message = f"the rule {rule.name!r} is not imported, because no utterance uses it"
            problems.append(_problem(rule.location, "unused-rule", message))
    kept = replace(
        registry,
        intents=intents,
        rules=tuple(rule for rule in registry.rules if rule.name in used_rules),
    )
    return kept, sorted(problems)


def unused_slots(registry: Registry) -> list[Problem]:
    """Return a problem for each slot that no intent uses."""
    used = {slot.name for intent in registry for slot in intent.slots}
    hint = "list it below `slots:` of the intents that need it, and remove the comment beside it"
    return [
        _problem(slot.location, "unused-slot", f"no intent uses the slot {slot.name!r}", hint)
        for slot in registry.slots
        if slot.name not in used
    ]


def with_unused_slots_ignored(files: Files, registry: Registry) -> Files:
    """Return intentmatch's YAML with a comment for `lint` beside each slot that no intent uses.

    The values of such a slot are the author's work, such as a lookup table of Rasa, and somebody may need them.
    """
    used = {slot.name for intent in registry for slot in intent.slots}
    changed: dict[str, str | bytes] = dict(files)
    for path, text in files.items():
        head, key, slots = text.partition(_SLOTS) if isinstance(text, str) else ("", "", "")
        for name in [slot.name for slot in registry.slots if slot.name not in used]:
            # The slots stand before the intents, which may have the same name.
            slots = re.sub(rf"^  {re.escape(name)}:$", rf"\g<0>{_IGNORED}", slots, count=1, flags=re.MULTILINE)
        if key:
            changed[path] = f"{head}{key}{slots}"
    return changed


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
        problems.append(_problem(line.location or intent.location, "duplicate-utterance", message))
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


def _problem(place: Location | None, rule: str, message: str, hint: str = "") -> Problem:
    return Problem(place or NOWHERE, "info", rule, message, hint)
