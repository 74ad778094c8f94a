"""Cross-validate the utterances that two registries share, with the same folds on both sides.

With separate folds, most differences would come from the random split.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from intentmatch.core.types import Registry
from intentmatch.evaluation.curve import case_of
from intentmatch.evaluation.folds import Fold, Folds, split, without
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.runner import CachingEncoder, Runner, StepProgress, vectors_of
from intentmatch.learning.fold_plan import representative
from intentmatch.matching.matcher import Matcher
from intentmatch.text.normalize import clean

Key = tuple[str, str]
"""New name of the intent, and text of the utterance."""


class Paired(NamedTuple):
    """Outcomes of the same utterances on both sides, in the same order."""

    old: tuple[Outcome, ...]
    new: tuple[Outcome, ...]


def paired_held_out(
    old: Matcher,
    new: Matcher,
    renamed: Mapping[str, str],
    *,
    folds: Folds = 5,
    seed: int = 0,
    progress: StepProgress | None = None,
) -> Paired:
    """Evaluate each shared utterance on registries built without its fold, which includes its near-duplicates.

    `renamed` maps old intent names to new ones. If a fold would remove all utterances of an intent from one side, that
    intent is skipped in this fold.

    Raises `InputError` for fewer than two folds.
    """
    both = _both(old.registry, new.registry, renamed)
    encoder = CachingEncoder(new.encoder, vectors_of(new))
    vectors = encoder.encode([clean(utterance.text) for utterance in both.utterances])
    keys = keys_of(both, {})
    # A line of either side stays whole: half of a template would answer for its other half.
    line_labels = [_lines(old.registry, renamed, keys), _lines(new.registry, {}, keys)]
    parts = split(both, vectors, vectors[:0], folds, seed, *line_labels)
    rounds = [{keys[row] for row in fold.utterances} for fold in parts.folds]
    shared = set(keys_of(old.registry, renamed)) & set(_evaluated_keys(new.registry))
    to_build = (len(rounds) - 1) * len(both.utterances)
    old_runner = Runner(old, "held-out utterances, before", len(shared), progress, to_build=to_build)
    new_runner = Runner(new, "held-out utterances, after", len(shared), progress, to_build=to_build)
    before = _outcomes(old_runner, old.registry, renamed, rounds, shared)
    after = _outcomes(new_runner, new.registry, {}, rounds, shared)
    both_sides = [key for key in after if key in before]
    return Paired(tuple(before[key] for key in both_sides), tuple(after[key] for key in both_sides))


def _both(old: Registry, new: Registry, renamed: Mapping[str, str]) -> Registry:
    """Return the shared intents with the utterances of both sides, to split into folds."""
    before = {renamed.get(intent.name, intent.name): intent for intent in old}
    intents = []
    for intent in new:
        if intent.name in before:
            known = {utterance.text for utterance in intent.utterances}
            removed = tuple(u for u in before[intent.name].utterances if u.text not in known)
            intents.append(replace(intent, utterances=intent.utterances + removed, negatives=(), excluded=()))
    return Registry(tuple(intents))


def _outcomes(
    runner: Runner, registry: Registry, names: Mapping[str, str], rounds: Sequence[set[Key]], shared: set[Key]
) -> dict[Key, Outcome]:
    keys = keys_of(registry, names)
    found: dict[Key, Outcome] = {}
    for fold_keys in rounds:
        held_out = _keeping_intents(registry, {row for row, key in enumerate(keys) if key in fold_keys})
        # From the end, so that the first of equal lines stays.
        rows = {keys[row]: row for row in sorted(held_out, reverse=True) if keys[row] in shared}
        evaluated = sorted(rows)
        if evaluated:
            rest = without(registry, Fold(frozenset(held_out)))
            outcomes = runner.run(rest, [case_of(registry, rows[key]) for key in evaluated])
            found.update(zip(evaluated, outcomes, strict=True))
    return found


def _keeping_intents(registry: Registry, rows: set[int]) -> set[int]:
    """Drop the rows of intents that would lose all their utterances."""
    # An intent without a line could not be right.
    remaining = {owner for row, owner in enumerate(registry.owners) if row not in rows}
    return {row for row in rows if registry.owners[row] in remaining}


def _lines(registry: Registry, names: Mapping[str, str], keys: Sequence[Key]) -> list[Hashable]:
    """Return the line of each utterance in a registry; an utterance that it lacks is its own line."""
    lines = dict(zip(keys_of(registry, names), registry.lines, strict=True))
    return [lines.get(key, key) for key in keys]


def _evaluated_keys(registry: Registry) -> list[Key]:
    evaluated = representative(registry.lines)
    return [key for key, flag in zip(keys_of(registry, {}), evaluated, strict=True) if flag]


def keys_of(registry: Registry, names: Mapping[str, str]) -> list[Key]:
    """Return the keys of a registry's utterances by row; `names` maps names of intents to new ones."""
    owners = (registry.intents[owner].name for owner in registry.owners)
    return [(names.get(name, name), u.text) for name, u in zip(owners, registry.utterances, strict=True)]
