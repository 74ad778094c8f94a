"""Scores to confidence, and the default threshold, from held-out scores that the registry itself provides.

Every utterance is left out in turn. Against the rest of its own registry it is a message the bot should answer; with
its whole intent left out as well, it is a message the bot should refuse. Both cost nothing but products of vectors that
are there already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.index import ExactIndex
from intentmatch.types import Vectors

FALLBACK_THRESHOLD = 0.4
"""For registries too small to learn from: about what the smallest development registries that can learn one learn."""

# Below this many held-out cases of either kind, a fitted curve says more about chance than about the registry.
_FEWEST_CASES = 20
# The work grows with the square of the utterances; this many cases, spread evenly, pin two parameters down.
_MOST_CASES = 4000
_BLOCK = 512
# Two utterances nearer than this are the same line but for spelling, and would answer for each other.
_SAME = 0.9999
# The default threshold gives up this share of the held-out utterances that were understood.
_GIVEN_UP = 0.05
# How many messages out of scope to expect for each message in scope. Measured on development sets with this weight
# the confidence is nearest to the truth; counted fully, left-out intents (harder than most strangers) drag it down.
_STRANGERS = 0.1
_RIDGE = 1e-3
_NEWTON_STEPS = 50


@dataclass(frozen=True, slots=True)
class HeldOut:
    """One row a held-out case; all arrays have shape `(cases,)`."""

    score: NDArray[np.float32]
    """Of the leading intent."""
    gap: NDArray[np.float32]
    """To the second."""
    right: NDArray[np.bool_]
    """Whether the leading intent is the one the utterance belongs to."""
    known: NDArray[np.bool_]
    """Whether the intent it belongs to was there to be found."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the held-out cases taught. Without enough of them, `weights` is None and so is every confidence."""

    threshold: float = FALLBACK_THRESHOLD
    weights: tuple[float, float, float] | None = None
    """Of 1, the score and the gap, in the logit of the confidence."""
    cases: int = 0
    """Held-out cases behind it."""

    def confidence(self, score: float, gap: float) -> float | None:
        """Probability that the leading candidate is right, given its score and its lead over the second."""
        if self.weights is None:
            return None
        bias, by_score, by_gap = self.weights
        return float(_sigmoid(np.float64(bias + by_score * score + by_gap * gap)))

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"threshold": self.threshold, "weights": self.weights, "cases": self.cases}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calibration:
        """The inverse of `to_dict`."""
        weights = values["weights"]
        return cls(float(values["threshold"]), None if weights is None else tuple(weights), int(values["cases"]))


def calibrate(vectors: Vectors, owners: Sequence[int], aggregation: str) -> Calibration:
    """Fit confidence and threshold on a registry's own vectors, shape `(utterances, dim)`. Deterministic."""
    held_out = hold_out(vectors, owners, aggregation)
    cases = len(held_out.score)
    if min(held_out.right.sum(), (~held_out.right).sum()) < _FEWEST_CASES:
        return Calibration(cases=cases)
    understood = np.sort(held_out.score[held_out.right])
    threshold = float(np.clip(understood[int(_GIVEN_UP * len(understood))], 0.0, 1.0))
    return Calibration(threshold, _fit_logistic(held_out), cases)


def hold_out(vectors: Vectors, owners: Sequence[int], aggregation: str) -> HeldOut:
    """Score utterances against the rest of their registry, with their own intent and without it."""
    index = ExactIndex(vectors, owners, aggregation)
    if len(index.owners) < 2:
        nothing = np.empty(0, dtype=np.float32)
        return HeldOut(nothing, nothing, nothing.astype(bool), nothing.astype(bool))
    owner = np.asarray(owners, dtype=np.int64)
    step = max(1, -(-len(owner) // (_MOST_CASES // 2)))
    chosen = np.arange(0, len(owner), step)
    scores, gaps, rights, knowns = [], [], [], []
    for start in range(0, len(chosen), _BLOCK):
        rows = chosen[start : start + _BLOCK]
        cosines = index.vectors[rows] @ index.vectors.T
        cosines[cosines > _SAME] = -np.inf
        by_intent = index.aggregate(cosines)
        own = np.arange(len(rows)), np.searchsorted(index.owners, owner[rows])
        for known in (True, False):
            # An utterance that is its intent's only one leaves nothing to be found.
            usable = np.isfinite(by_intent[own]) if known else np.ones(len(rows), dtype=bool)
            if not known:
                by_intent[own] = -np.inf
            second, first = np.maximum(np.partition(by_intent, -2, axis=1)[:, -2:], np.float32(-1.0)).T
            scores.append(first[usable])
            gaps.append((first - second)[usable])
            rights.append((by_intent.argmax(axis=1) == own[1])[usable] & known)
            knowns.append(np.full(int(usable.sum()), known))
    return HeldOut(np.concatenate(scores), np.concatenate(gaps), np.concatenate(rights), np.concatenate(knowns))


def _fit_logistic(held_out: HeldOut) -> tuple[float, float, float]:
    """Ridge-regularised logistic regression by Newton's method.

    Platt 1999, "Probabilistic Outputs for Support Vector Machines", with the gap as a second input.
    """
    inputs = np.stack([np.ones_like(held_out.score), held_out.score, held_out.gap], axis=1).astype(np.float64)
    targets = held_out.right.astype(np.float64)
    shares = np.where(held_out.known, 1.0, _STRANGERS)
    weights = np.zeros(3)
    ridge = np.diag([0.0, _RIDGE * shares.sum(), _RIDGE * shares.sum()])
    for _ in range(_NEWTON_STEPS):
        chance = _sigmoid(inputs @ weights)
        gradient = inputs.T @ (shares * (chance - targets)) + ridge @ weights
        curvature = (inputs * (shares * chance * (1.0 - chance))[:, None]).T @ inputs + ridge + 1e-9 * np.eye(3)
        change = np.linalg.solve(curvature, gradient)
        weights -= change
        if float(np.abs(change).max()) < 1e-10:
            break
    bias, by_score, by_gap = weights.tolist()
    return bias, by_score, by_gap


def _sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-np.clip(x, -50.0, 50.0)))
