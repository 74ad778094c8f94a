"""Would more utterances help, and in which intent? The same held-out cases, asked of thinner and thinner registries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from intentmatch.core.types import Case, Registry
from intentmatch.evaluation.folds import Folds, Split, keeping, split
from intentmatch.evaluation.metrics import intent_rows, share
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.runner import Asker, Tell
from intentmatch.matching.matcher import Matcher

SHARES = (0.25, 0.5, 0.75, 1.0)
"""Of each intent's utterances, of those that are not held out."""

# What the last doubling must bring, in share and in cases, to be more than chance and worth an author's time.
_WORTH_IT = 0.05
_FEWEST_CASES = 2
_GOOD_ENOUGH = 0.95
_FLAT = 0.02
_POOR = 0.8


@dataclass(frozen=True)
class Point:
    """What a share of the utterances gives."""

    share: float
    utterances: int
    """In a registry that was asked: the mean over the folds."""
    accuracy: float
    cases: Mapping[str, int]
    """Of each intent that was asked."""
    right: Mapping[str, int]
    """Of those."""


class Hint(NamedTuple):
    """What the curve says of one intent."""

    intent: str
    accuracy: float
    gain: float
    """In accuracy, from half the utterances to all of them."""
    says: str


def learning_curve(matcher: Matcher, *, folds: Folds = 5, seed: int = 0, tell: Tell | None = None) -> tuple[Point, ...]:
    """A point for each of `SHARES`; none where no intent can be held out. Smaller shares are parts of larger ones."""
    registry, artefact = matcher.registry, matcher.artefact
    parts = split(registry, artefact.wide_vectors, artefact.negative_vectors, folds, seed)
    cases = sum(len(fold.asked) for fold in parts.folds)
    if not cases:
        return ()
    asker = Asker(matcher, "learning curve", cases * len(SHARES), tell)
    order = np.random.default_rng(seed).permutation(len(registry.utterances)).tolist()
    return tuple(_point(asker, registry, parts, order, part) for part in SHARES)


def hints(points: Sequence[Point]) -> list[Hint]:
    """For each intent that is not good enough yet, whether more utterances would help; the most to gain first."""
    if len(points) < len(SHARES):
        return []
    half, full = points[SHARES.index(0.5)], points[-1]
    found = []
    for intent, cases in full.cases.items():
        gained = full.right[intent] - half.right[intent]
        accuracy, gain = full.right[intent] / cases, gained / cases
        if accuracy < _GOOD_ENOUGH and gain >= _WORTH_IT and gained >= _FEWEST_CASES:
            found.append(Hint(intent, accuracy, gain, "more utterances should help"))
        elif accuracy < _POOR and gain < _FLAT:
            says = "more of the same will not help; look at what it is confused with"
            found.append(Hint(intent, accuracy, gain, says))
    return sorted(found, key=lambda hint: (-hint.gain, hint.accuracy, hint.intent))


def _point(asker: Asker, registry: Registry, parts: Split, order: Sequence[int], part: float) -> Point:
    outcomes: list[Outcome] = []
    sizes = []
    for fold in parts.folds:
        if not fold.utterances:
            continue
        rows = _thinned(registry, fold.utterances, order, part)
        sizes.append(len(rows))
        held_out = [case_of(registry, row) for row in fold.asked]
        outcomes += asker.ask(keeping(registry, rows, fold.negatives), held_out)
    rows_of_intents = [row for row in intent_rows(outcomes) if row.cases]
    return Point(
        share=part,
        utterances=round(sum(sizes) / len(sizes)),
        accuracy=share([o.right for o in outcomes]) or 0.0,
        cases={row.intent: row.cases for row in rows_of_intents},
        right={row.intent: row.right for row in rows_of_intents},
    )


def case_of(registry: Registry, row: int) -> Case:
    """An utterance as a message that its own intent should answer."""
    utterance = registry.utterances[row]
    intent = registry.intents[registry.owners[row]].name
    return Case(utterance.text, intent, utterance.language, utterance.location)


def _thinned(registry: Registry, held_out: frozenset[int], order: Sequence[int], part: float) -> set[int]:
    """So much of each intent's lines that are not held out, first come first kept; at least one."""
    by_intent: dict[int, dict[int, list[int]]] = {}
    for row in order:
        if row not in held_out:
            by_intent.setdefault(registry.owners[row], {}).setdefault(registry.lines[row], []).append(row)
    kept = (list(lines.values())[: math.ceil(part * len(lines))] for lines in by_intent.values())
    return {row for lines in kept for rows in lines for row in rows}
