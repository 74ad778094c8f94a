"""Learning curve: evaluate the same held-out cases with a growing share of the other utterances."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from intentmatch.core.types import Case, Registry
from intentmatch.evaluation.folds import Folds, Split, split
from intentmatch.evaluation.metrics import intent_rows, share
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.runner import Runner, StepProgress
from intentmatch.matching.snapshot import BaseMatcher

SHARES = (0.25, 0.5, 0.75, 1.0)
"""Shares of the utterances of each intent that are not held out."""

# Minimum gain from the last doubling, as a share and in cases, to recommend more utterances.
_MIN_GAIN = 0.05
_MIN_CASES = 2
_GOOD_ENOUGH = 0.95
_FLAT = 0.02
_POOR = 0.8


@dataclass(frozen=True)
class Point:
    """Accuracy with a share of the utterances."""

    share: float
    utterances: int
    """Utterances in the registry; the mean over the folds."""
    accuracy: float
    cases: Mapping[str, int]
    """Intent to number of evaluated cases."""
    right: Mapping[str, int]
    """Intent to number of correct cases."""


class Hint(NamedTuple):
    """Advice for one intent, derived from the curve."""

    intent: str
    accuracy: float
    gain: float
    """Gain in accuracy from half the utterances to all of them."""
    says: str


def learning_curve(
    matcher: BaseMatcher, *, folds: Folds = 5, seed: int = 0, progress: StepProgress | None = None
) -> tuple[Point, ...]:
    """Compute a point for each of `SHARES`; empty if no utterance can be held out.

    The utterances of a smaller share are a subset of those of a larger share.
    """
    registry, artefact = matcher.registry, matcher.artefact
    parts = split(registry, artefact.wide_vectors, artefact.negative_vectors, folds, seed)
    cases = sum(len(fold.asked) for fold in parts.folds)
    if not cases:
        return ()
    order = np.random.default_rng(seed).permutation(len(registry.utterances)).tolist()
    kept = sum(len(registry.utterances) - len(fold.utterances) for fold in parts.folds if fold.utterances)
    runner = Runner(matcher, "learning curve", cases * len(SHARES), progress, to_build=round(kept * sum(SHARES)))
    return tuple(_point(runner, registry, parts, order, part) for part in SHARES)


def hints(points: Sequence[Point]) -> list[Hint]:
    """Advise, for each inaccurate intent, whether more utterances would help; largest gain first."""
    # A registry of which nothing can be held out has no points.
    if len(points) < len(SHARES):
        return []
    half, full = points[SHARES.index(0.5)], points[-1]
    found = []
    for intent, cases in full.cases.items():
        gained = full.right[intent] - half.right[intent]
        accuracy, gain = full.right[intent] / cases, gained / cases
        # A share of few cases jumps: one case more is no gain.
        if accuracy < _GOOD_ENOUGH and gain >= _MIN_GAIN and gained >= _MIN_CASES:
            found.append(Hint(intent, accuracy, gain, "more utterances should help"))
        elif accuracy < _POOR and gain < _FLAT:
            says = "similar utterances will not help; check the intents it is confused with"
            found.append(Hint(intent, accuracy, gain, says))
    return sorted(found, key=lambda hint: (-hint.gain, hint.accuracy, hint.intent))


def _point(runner: Runner, registry: Registry, parts: Split, order: Sequence[int], part: float) -> Point:
    outcomes: list[Outcome] = []
    sizes = []
    for fold in parts.folds:
        if not fold.utterances:
            continue
        rows = _thinned(registry, fold.utterances, order, part)
        sizes.append(len(rows))
        held_out = [case_of(registry, row) for row in fold.asked]
        outcomes += runner.run(registry.keeping(rows, fold.negatives), held_out)
    rows_of_intents = [row for row in intent_rows(outcomes) if row.cases]
    return Point(
        share=part,
        utterances=round(sum(sizes) / len(sizes)),
        accuracy=share([o.right for o in outcomes]) or 0.0,
        cases={row.intent: row.cases for row in rows_of_intents},
        right={row.intent: row.right for row in rows_of_intents},
    )


def case_of(registry: Registry, row: int) -> Case:
    """Return an utterance as a test case that expects its own intent."""
    utterance = registry.utterances[row]
    intent = registry.intents[registry.owners[row]].name
    return Case(utterance.text, intent, utterance.language, utterance.location)


def _thinned(registry: Registry, held_out: frozenset[int], order: Sequence[int], part: float) -> set[int]:
    """Keep a share of the lines of each intent that are not held out, in this order; at least one line."""
    by_intent: dict[int, dict[int, list[int]]] = {}
    for row in order:
        if row not in held_out:
            by_intent.setdefault(registry.owners[row], {}).setdefault(registry.lines[row], []).append(row)
    # By lines: sentences of one template are one line of the author, and come or go together.
    kept = (list(lines.values())[: math.ceil(part * len(lines))] for lines in by_intent.values())
    return {row for lines in kept for rows in lines for row in rows}
