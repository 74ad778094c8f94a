"""Which utterances are held out together. Near-duplicates never stand on both sides; the same seed, the same folds."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from intentmatch.core.errors import InputError
from intentmatch.core.types import Registry, Utterance, Vectors
from intentmatch.learning.cross_validation import connected_components, representative
from intentmatch.learning.near_duplicates import SAME_MEANING, SAME_SPELLING
from intentmatch.text.normalize import fold

Folds = int | Literal["loo"]
"""How many folds, or "loo" to leave out one group of near-duplicates at a time."""

Labels = Sequence[Hashable]
"""One for each utterance."""


@dataclass(frozen=True, slots=True)
class Fold:
    """What one round leaves out of a registry, as positions in `utterances` and in `negatives`."""

    utterances: frozenset[int]
    negatives: frozenset[int] = frozenset()
    asked: tuple[int, ...] = ()
    """Of the utterances, those that are worth asking, in order: all, but for the sentences of a template."""


@dataclass(frozen=True, slots=True)
class Split:
    """Folds that between them hold out every utterance that can be."""

    folds: tuple[Fold, ...]
    not_asked: tuple[int, ...]
    """Utterances whose intent would be left with none: all of it is one group of near-duplicates."""


def split(
    registry: Registry, vectors: Vectors, negative_vectors: Vectors, folds: Folds, seed: int, *labels: Labels
) -> Split:
    """Stratified folds: each intent's groups of near-duplicates are dealt out as evenly as they go.

    Vectors have the shapes `(utterances, dim)` and `(negatives, dim)`. Sentences of one line stay together, and so do
    utterances of an intent that have one of the `labels` in common. Only lines of one intent are near-duplicates of
    each other: two intents that share a line are a confusion, to be seen and not to be hidden. Raises `InputError` for
    fewer than two folds.
    """
    if folds != "loo" and folds < 2:
        raise InputError(f"there must be 2 folds or more, not {folds}; or loo, to leave out one utterance at a time")
    random = np.random.default_rng(seed)
    by_intent = _groups(registry.utterances, registry.owners, vectors, [registry.lines, *labels])
    askable = [groups for groups in by_intent if len(groups) > 1]
    worth = representative(registry.lines)
    not_asked = sorted(row for groups in by_intent if len(groups) == 1 for row in groups[0] if worth[row])
    against = registry.negatives, registry.negative_owners, negative_vectors
    negative_groups = _groups(*against, [registry.negative_lines])
    if folds == "loo":
        alone = [_fold(group, (), worth) for groups in askable for group in groups]
        alone += [Fold(frozenset(), frozenset(group)) for groups in negative_groups for group in groups]
        return Split(tuple(alone), tuple(not_asked))
    rows = _dealt(askable, registry.utterances, folds, random)
    negatives = _dealt(negative_groups, registry.negatives, folds, random)
    dealt = (_fold(some, others, worth) for some, others in zip(rows, negatives, strict=True))
    return Split(tuple(fold for fold in dealt if fold.utterances or fold.negatives), tuple(not_asked))


def _fold(rows: Iterable[int], negatives: Iterable[int], worth: NDArray[np.bool_]) -> Fold:
    left_out = frozenset(rows)
    return Fold(left_out, frozenset(negatives), tuple(row for row in sorted(left_out) if worth[row]))


def without(registry: Registry, fold: Fold) -> Registry:
    """The registry less what a fold holds out."""
    return keeping(registry, set(range(len(registry.utterances))) - fold.utterances, fold.negatives)


def keeping(registry: Registry, rows: set[int], without_negatives: frozenset[int] = frozenset()) -> Registry:
    """The registry with some of its utterances, by position, and less some of its negatives."""
    utterances: list[list[Utterance]] = [[] for _ in registry.intents]
    negatives: list[list[Utterance]] = [[] for _ in registry.intents]
    for row, (owner, utterance) in enumerate(zip(registry.owners, registry.utterances, strict=True)):
        if row in rows:
            utterances[owner].append(utterance)
    for row, (owner, negative) in enumerate(zip(registry.negative_owners, registry.negatives, strict=True)):
        if row not in without_negatives:
            negatives[owner].append(negative)
    intents = zip(registry.intents, utterances, negatives, strict=True)
    kept = (replace(intent, utterances=tuple(some), negatives=tuple(nots)) for intent, some, nots in intents)
    return replace(registry, intents=tuple(kept))


def left_out(registry: Registry, folds: Folds, seed: int) -> list[frozenset[str]]:
    """Names of intents to be left out whole, each once; at least one always stays. None of a single intent."""
    names = np.array([intent.name for intent in registry], dtype=object)
    if len(names) < 2:
        return []
    rounds = len(names) if folds == "loo" else min(folds, len(names))
    order = np.random.default_rng(seed).permutation(len(names))
    return [frozenset(names[order[start::rounds]].tolist()) for start in range(rounds)]


def without_intents(registry: Registry, names: frozenset[str]) -> Registry:
    """The registry less whole intents, and less its tests, which may expect them."""
    return replace(registry, intents=tuple(intent for intent in registry if intent.name not in names), tests=())


def near_duplicates(texts: Sequence[str], vectors: Vectors, *labels: Labels) -> list[list[int]]:
    """Positions of texts, near-duplicates together: linked by meaning, spelling or a label, directly or not."""
    keys = [fold(text) for text in texts]
    linked: NDArray[np.bool_] = (vectors @ vectors.T > SAME_MEANING) | (
        cdist(keys, keys, scorer=OSA.normalized_similarity, score_cutoff=SAME_SPELLING, dtype=np.float32) > 0.0
    )
    links = [*zip(*(side.tolist() for side in np.nonzero(np.triu(linked, 1))), strict=True)]
    for label in labels:
        firsts: dict[Hashable, int] = {}
        links += [(firsts.setdefault(one, position), position) for position, one in enumerate(label)]
    groups: dict[int, list[int]] = {}
    for position, first in enumerate(connected_components(len(texts), links)):
        groups.setdefault(first, []).append(position)
    return list(groups.values())


def _groups(
    utterances: Sequence[Utterance], owners: Sequence[int], vectors: Vectors, labels: Sequence[Labels]
) -> list[list[list[int]]]:
    """For each intent that has any, its groups of near-duplicates, as positions in `utterances`."""
    rows_of: dict[int, list[int]] = {}
    for row, owner in enumerate(owners):
        rows_of.setdefault(owner, []).append(row)
    found = []
    for rows in rows_of.values():
        own = [[label[row] for row in rows] for label in labels]
        groups = near_duplicates([utterances[row].text for row in rows], vectors[rows], *own)
        found.append([[rows[n] for n in group] for group in groups])
    return found


def _dealt(
    by_intent: Sequence[list[list[int]]], utterances: Sequence[Utterance], folds: int, random: np.random.Generator
) -> list[list[int]]:
    """The rows of each fold. The fold with the least of an intent, then the least of all, is given its next group."""
    hands: list[list[int]] = [[] for _ in range(folds)]
    for groups in by_intent:
        shuffled = [groups[n] for n in random.permutation(len(groups))]
        # Large groups first fill the folds evenly; languages one after the other go round all folds.
        shuffled.sort(key=lambda group: (-len(group), utterances[group[0]].language or ""))
        own = [0] * folds
        for group in shuffled:
            fewest = min(range(folds), key=lambda number: (own[number], len(hands[number]), number))
            own[fewest] += len(group)
            hands[fewest] += group
    return hands
