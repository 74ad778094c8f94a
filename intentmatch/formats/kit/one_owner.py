"""Give each line to one intent, for formats without tags that tell intents with the same line apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from intentmatch.core.shared_lines import SharedLines, may_share
from intentmatch.core.types import Case, Intent, Registry, Utterance
from intentmatch.formats.kit.slot_mentions import without_unmentioned_slots
from intentmatch.registry.templates.expansion import expand
from intentmatch.text.normalize import fold


def folded_sentences(registry: Registry) -> Mapping[tuple[str, str | None, str], list[str]]:
    """Return the folded sentences of each line of an unexpanded registry, by intent, language and line."""
    found: dict[tuple[str, str | None, str], list[str]] = {}
    for intent in expand(registry)[0]:
        for line in (*intent.utterances, *intent.negatives):
            found.setdefault((intent.name, line.language, line.template or line.text), []).append(fold(line.text))
    return found


def with_one_owner(registry: Registry) -> tuple[Registry, dict[tuple[str, Utterance], str]]:
    """Return an unexpanded registry without shared lines, and the lines left out with the intent that keeps each.

    An intent without `when` keeps its lines before those with `when`; of these, the first does. A template is left out
    if one of its sentences is. So is an intent without a line of its own, with the tests that expect it.
    """
    sentences = folded_sentences(registry)
    if not SharedLines(expand(registry)[0]):
        return registry, {}
    owners: dict[str, Intent] = {}
    left_out: dict[tuple[str, Utterance], str] = {}
    kept: dict[str, Intent] = {}
    for intent in sorted(registry, key=lambda intent: bool(intent.when)):
        lines = []
        for line in intent.utterances:
            folded = sentences.get((intent.name, line.language, line.template or line.text), [])
            owner = next((owners[text] for text in folded if text in owners and may_share(owners[text], intent)), None)
            if owner is None:
                owners.update((text, intent) for text in folded if text not in owners)
                lines.append(line)
            else:
                left_out[intent.name, line] = owner.name
        reduced = replace(intent, utterances=tuple(lines))
        # An intent that had no line has lost none.
        if lines or not intent.utterances:
            kept[intent.name] = without_unmentioned_slots(reduced, intent, registry.rules)
    tests = tuple(case for case in registry.tests if _names(case) <= {*kept})
    return replace(
        registry, intents=tuple(kept[one.name] for one in registry if one.name in kept), tests=tests
    ), left_out


def _names(case: Case) -> set[str]:
    return {case.expected} if isinstance(case.expected, str) else {*(case.expected or ())}
