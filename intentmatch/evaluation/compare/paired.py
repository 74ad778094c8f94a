"""The utterances that two registries share, held out of both in the same folds.

Folds drawn for each side alone would part differently, and most of what changed would be the luck of the draw.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from intentmatch.core.types import Registry
from intentmatch.evaluation.curve import case_of
from intentmatch.evaluation.folds import Fold, Folds, split, without
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.runner import Asker, RememberingEncoder, Tell, vectors_of
from intentmatch.learning.cross_validation import representative
from intentmatch.matching.matcher import Matcher
from intentmatch.text.normalize import clean

Key = tuple[str, str]
"""The intent of an utterance, by its new name, and its text."""


class Paired(NamedTuple):
    """The outcomes of the same utterances on both sides, in the same order."""

    old: tuple[Outcome, ...]
    new: tuple[Outcome, ...]


def paired_held_out(
    old: Matcher, new: Matcher, renamed: Mapping[str, str], *, folds: Folds = 5, seed: int = 0, tell: Tell | None = None
) -> Paired:
    """Each shared utterance asked of registries built without it, its near-duplicates and the others of its fold.

    `renamed` are old names to new ones. Where a fold would leave an intent of one side with nothing, that intent is
    not asked in it. Raises `InputError` for fewer than two folds.
    """
    both = _both(old.registry, new.registry, renamed)
    encoder = RememberingEncoder(new.encoder, vectors_of(new))
    vectors = encoder.encode([clean(utterance.text) for utterance in both.utterances])
    keys = _keys(both, {})
    labels = [_lines(old.registry, renamed, keys), _lines(new.registry, {}, keys)]
    parts = split(both, vectors, vectors[:0], folds, seed, *labels)
    rounds = [{keys[row] for row in fold.utterances} for fold in parts.folds]
    shared = set(_keys(old.registry, renamed)) & set(_worth_asking(new.registry))
    ask_old = Asker(old, "held-out utterances, before", len(shared), tell)
    ask_new = Asker(new, "held-out utterances, after", len(shared), tell)
    was = _asked(ask_old, old.registry, renamed, rounds, shared)
    now = _asked(ask_new, new.registry, {}, rounds, shared)
    asked = [key for key in now if key in was]
    return Paired(tuple(was[key] for key in asked), tuple(now[key] for key in asked))


def _both(old: Registry, new: Registry, renamed: Mapping[str, str]) -> Registry:
    """The intents that both sides have, each with the utterances of either side: what is parted into folds."""
    before = {renamed.get(intent.name, intent.name): intent for intent in old}
    intents = []
    for intent in new:
        if intent.name in before:
            known = {utterance.text for utterance in intent.utterances}
            gone = tuple(u for u in before[intent.name].utterances if u.text not in known)
            intents.append(replace(intent, utterances=intent.utterances + gone, negatives=()))
    return Registry(tuple(intents))


def _asked(
    asker: Asker, registry: Registry, names: Mapping[str, str], rounds: Sequence[set[Key]], shared: set[Key]
) -> dict[Key, Outcome]:
    keys = _keys(registry, names)
    found: dict[Key, Outcome] = {}
    for out in rounds:
        left_out = _leaving_some(registry, {row for row, key in enumerate(keys) if key in out})
        rows = {keys[row]: row for row in sorted(left_out, reverse=True) if keys[row] in shared}
        some = sorted(rows)
        if some:
            fold = without(registry, Fold(frozenset(left_out)))
            outcomes = asker.ask(fold, [case_of(registry, rows[key]) for key in some])
            found.update(zip(some, outcomes, strict=True))
    return found


def _leaving_some(registry: Registry, rows: set[int]) -> set[int]:
    """The rows, less those of intents of which they are all."""
    staying = {owner for row, owner in enumerate(registry.owners) if row not in rows}
    return {row for row in rows if registry.owners[row] in staying}


def _lines(registry: Registry, names: Mapping[str, str], keys: Sequence[Key]) -> list[Hashable]:
    """The line that each utterance is of in a registry; of one that is not there, itself."""
    lines = dict(zip(_keys(registry, names), registry.lines, strict=True))
    return [lines.get(key, key) for key in keys]


def _worth_asking(registry: Registry) -> list[Key]:
    return [key for key, worth in zip(_keys(registry, {}), representative(registry.lines), strict=True) if worth]


def _keys(registry: Registry, names: Mapping[str, str]) -> list[Key]:
    owners = (registry.intents[owner].name for owner in registry.owners)
    return [(names.get(name, name), u.text) for name, u in zip(owners, registry.utterances, strict=True)]
