"""Cross-validation folds: near-duplicates stay in one fold, and a seed always gives the same folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from intentmatch.core.errors import InputError
from intentmatch.core.shared_lines import SharedLines
from intentmatch.core.types import Registry, Utterance, Vectors
from intentmatch.learning.fold_plan import connected_components, representative
from intentmatch.learning.near_duplicates import SAME_MEANING, SAME_SPELLING
from intentmatch.text.normalize import fold

Folds = int | Literal["loo"]
"""Number of folds, or "loo" (leave-one-out) to hold out one group of near-duplicates at a time."""

Labels = Sequence[Hashable]
"""One label per utterance."""


@dataclass(frozen=True, slots=True)
class Fold:
    """What one round holds out of a registry, as positions in `utterances` and in `negatives`."""

    utterances: frozenset[int]
    negatives: frozenset[int] = frozenset()
    asked: tuple[int, ...] = ()
    """Held-out utterances to evaluate, in order: all, but only a sample of the sentences of a template."""


@dataclass(frozen=True, slots=True)
class Split:
    """Folds that together hold out each utterance once, if its intent keeps another one."""

    folds: tuple[Fold, ...]
    not_asked: tuple[int, ...]
    """Utterances that no fold holds out, because all utterances of their intent are near-duplicates."""


def split(
    registry: Registry, vectors: Vectors, negative_vectors: Vectors, folds: Folds, seed: int, *labels: Labels
) -> Split:
    """Split a registry into stratified folds that distribute the near-duplicate groups of each intent evenly.

    Vectors have the shapes `(utterances, dim)` and `(negatives, dim)`. The sentences of a template stay together, and
    so do utterances of an intent that share one of the `labels`. Near-duplicates are grouped within an intent only: two
    intents with nearly the same utterance are a confusion, which the evaluation should show. The same line of two
    intents that `when` tells apart is held out of both at once.

    Raises `InputError` for fewer than two folds.
    """
    if folds != "loo" and folds < 2:
        raise InputError(f"folds must be 2 or more, not {folds}; or `loo`, to hold out one utterance at a time")
    random = np.random.default_rng(seed)
    by_intent = _groups(registry.utterances, registry.owners, vectors, [registry.lines, *labels])
    described = np.array(registry.is_described, dtype=bool)
    # An intent with a single group of near-duplicates would have nothing left to answer with.
    splittable = [[group for group in groups if not described[group].all()] for groups in by_intent if len(groups) > 1]
    leaders = _leaders(splittable, registry)
    # No message reads like a description.
    evaluated = representative(registry.lines) & ~described
    not_asked = sorted(row for groups in by_intent if len(groups) == 1 for row in groups[0] if evaluated[row])
    negative_groups = _groups(registry.negatives, registry.negative_owners, negative_vectors, [registry.negative_lines])
    # What a description excludes goes with the description, which is never held out.
    negative_groups = [
        [group for group in groups if not any(registry.is_excluded[row] for row in group)] for groups in negative_groups
    ]
    # Groups that share a line across intents are held out as one.
    if folds == "loo":
        joined: dict[int, list[int]] = {}
        for group in (group for groups in splittable for group in groups):
            joined.setdefault(leaders.get(group[0], group[0]), []).extend(group)
        held_out, kept = _without_whole_intents(list(joined.values()), registry, splittable, leaders)
        singles = [_fold(group, (), evaluated) for group in held_out if group]
        not_asked = sorted({*not_asked, *(row for row in kept if evaluated[row])})
        singles += [Fold(frozenset(), frozenset(group)) for groups in negative_groups for group in groups]
        return Split(tuple(singles), tuple(not_asked))
    distributed = _distributed(splittable, registry.utterances, folds, random, leaders)
    rows, kept = _without_whole_intents(distributed, registry, splittable, leaders)
    not_asked = sorted({*not_asked, *(row for row in kept if evaluated[row])})
    negatives = _distributed(negative_groups, registry.negatives, folds, random, {})
    found = (_fold(*pair, evaluated) for pair in zip(rows, negatives, strict=True))
    return Split(tuple(fold for fold in found if fold.utterances or fold.negatives), tuple(not_asked))


def _fold(rows: Iterable[int], negatives: Iterable[int], evaluated: NDArray[np.bool_]) -> Fold:
    held_out = frozenset(rows)
    return Fold(held_out, frozenset(negatives), tuple(row for row in sorted(held_out) if evaluated[row]))


def without(registry: Registry, fold: Fold) -> Registry:
    """Return the registry without what a fold holds out."""
    return registry.keeping(set(range(len(registry.utterances))) - fold.utterances, fold.negatives)


def intent_folds(registry: Registry, folds: Folds, seed: int) -> list[frozenset[str]]:
    """Split the intent names into folds to hold out whole; empty for a registry of one intent."""
    names = np.array([intent.name for intent in registry], dtype=object)
    if len(names) < 2:
        return []
    rounds = len(names) if folds == "loo" else min(folds, len(names))
    order = np.random.default_rng(seed).permutation(len(names))
    # Dealt out in turn, so that the folds differ by one intent at most.
    return [frozenset(names[order[start::rounds]].tolist()) for start in range(rounds)]


def without_intents(registry: Registry, names: frozenset[str]) -> Registry:
    """Return the registry without these intents, and without its tests, which may expect them."""
    return replace(registry, intents=tuple(intent for intent in registry if intent.name not in names), tests=())


def near_duplicates(texts: Sequence[str], vectors: Vectors, *labels: Labels) -> list[list[int]]:
    """Group the positions of texts that are linked by meaning, spelling or a label, directly or in a chain.

    `vectors` has the shape `(len(texts), dim)`, with rows of unit length.
    """
    keys = [fold(text) for text in texts]
    # By spelling as well, since an encoder may not know a misspelt word.
    linked: NDArray[np.bool_] = (vectors @ vectors.T > SAME_MEANING) | (
        cdist(keys, keys, scorer=OSA.normalized_similarity, score_cutoff=SAME_SPELLING, dtype=np.float32) > 0.0
    )
    links = [*zip(*(side.tolist() for side in np.nonzero(np.triu(linked, 1))), strict=True)]
    for label in labels:
        first_rows: dict[Hashable, int] = {}
        # Linked to the first one with the label: all pairs would be many.
        links += [(first_rows.setdefault(value, position), position) for position, value in enumerate(label)]
    groups: dict[int, list[int]] = {}
    for position, first in enumerate(connected_components(len(texts), links)):
        groups.setdefault(first, []).append(position)
    return list(groups.values())


def _groups(
    utterances: Sequence[Utterance], owners: Sequence[int], vectors: Vectors, labels: Sequence[Labels]
) -> list[list[list[int]]]:
    """Group the near-duplicates of each intent that has utterances, as positions in `utterances`."""
    rows_by_owner: dict[int, list[int]] = {}
    for row, owner in enumerate(owners):
        rows_by_owner.setdefault(owner, []).append(row)
    found = []
    for rows in rows_by_owner.values():
        own = [[label[row] for row in rows] for label in labels]
        groups = near_duplicates([utterances[row].text for row in rows], vectors[rows], *own)
        found.append([[rows[n] for n in group] for group in groups])
    return found


def _leaders(by_intent: Sequence[list[list[int]]], registry: Registry) -> dict[int, int]:
    """Map the first row of each group that shares a line with another intent to a row that stands for all of them."""
    group_of = {row: group[0] for groups in by_intent for group in groups for row in group}
    lines = [[group_of[row] for row in rows if row in group_of] for rows in SharedLines(registry).groups]
    links = [(line[0], other) for line in lines for other in line]
    leader = connected_components(len(registry.owners), links)
    return {group: leader[group] for line in lines for group in line}


def _without_whole_intents(
    folds: list[list[int]], registry: Registry, by_intent: Sequence[list[list[int]]], leaders: Mapping[int, int]
) -> tuple[list[list[int]], list[int]]:
    """Return the folds without some shared lines, and the rows of these lines.

    Left out are lines that would take all utterances of an intent at once, and lines that another intent keeps; with
    each line its near-duplicates, which would answer for it.
    """
    if not leaders:
        return folds, []
    sizes = Counter(registry.owners)
    # What no fold holds out is kept from the start.
    kept = set(range(len(registry.owners))).difference(*folds)
    for rows in folds:
        whole = {
            owner for owner, count in Counter(registry.owners[row] for row in rows).items() if count == sizes[owner]
        }
        kept |= {row for row in rows if registry.owners[row] in whole}
    linked = {row: leaders.get(group[0], group[0]) for groups in by_intent for group in groups for row in group}
    kept |= {other for rows in SharedLines(registry).groups if not kept.isdisjoint(rows) for other in rows}
    whole_groups = {linked[row] for row in kept if row in linked}
    kept |= {row for row, group in linked.items() if group in whole_groups}
    left = [[row for row in rows if row not in kept] for rows in folds]
    return left, sorted(row for rows in folds for row in rows if row in kept)


def _distributed(
    by_intent: Sequence[list[list[int]]],
    utterances: Sequence[Utterance],
    folds: int,
    random: np.random.Generator,
    leaders: Mapping[int, int],
) -> list[list[int]]:
    """Return the rows of each fold; a group goes to the fold with the fewest rows of its intent, then of all.

    Groups of different intents with the same leader go to the same fold.
    """
    rows: list[list[int]] = [[] for _ in range(folds)]
    taken: dict[int, int] = {}
    for groups in by_intent:
        shuffled = [groups[n] for n in random.permutation(len(groups))]
        # Large groups come first, to fill the folds evenly; sorting by language spreads each language over the folds.
        shuffled.sort(key=lambda group: (-len(group), utterances[group[0]].language or ""))
        own = [0] * folds
        for group in shuffled:
            fewest = min(range(folds), key=lambda number: (own[number], len(rows[number]), number))
            if (leader := leaders.get(group[0])) is not None:
                fewest = taken.setdefault(leader, fewest)
            own[fewest] += len(group)
            rows[fewest] += group
    return rows
