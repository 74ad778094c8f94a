"""The confidence curve: from the evidence of a message's ranked intents to their confidences, and how it is fitted.

The confidence of an intent is the probability that the message is in scope, times the probability that it means this
intent if it is in scope. The first is a logistic curve of the first intent's evidence, the second a softmax over the
evidence of the ranked intents.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.learning.cross_validation import RANKED, HeldOut

LEAST_EXPONENT = -700.0
"""Smaller exponents do not matter."""
# Where the evidence tells both kinds of cases apart without an error, the steepest curve would be infinite.
_RIDGE = 1e-3
_NEWTON_STEPS, _LONGEST_STEP = 50, 2.0


class ConfidenceCurve(NamedTuple):
    """Parameters of the curve; evidence has shape `(messages, intents)`, -inf where there are fewer intents."""

    bias: float
    """Intercept of the in-scope logit as a linear function of the first intent's evidence."""
    slope: float
    sharpness: float
    """Factor of the evidence in the softmax over the ranked intents: its inverse temperature."""

    @classmethod
    def fit(cls, held_out: HeldOut, shares: NDArray[np.float64]) -> ConfidenceCurve:
        """Fit the curve to held-out cases of these weights, shape `(cases,)`."""
        some = held_out.place < RANKED
        sharpness = fit_sharpness(held_out.ranked[some], held_out.place[some])
        return cls(*fit_logistic(held_out.evidence, held_out.known, shares), sharpness)

    def in_scope(self, evidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability that each message is in scope, shape `(messages,)`."""
        return _sigmoid(self.bias + self.slope * evidence.max(axis=1))

    def confidences(self, evidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the confidence of each intent, of the shape of the evidence; 0 where it is -inf."""
        return _softmax(evidence, self.sharpness) * self.in_scope(evidence)[:, None]


def fit_logistic(
    evidence: NDArray[np.float64], known: NDArray[np.bool_], shares: NDArray[np.float64]
) -> tuple[float, float]:
    """Return intercept and slope of a logistic regression of `known` on the evidence, shape `(cases,)`."""
    bias, slope = logistic_weights(evidence[:, None], known, shares).tolist()
    if slope > 0.0:
        return bias, slope
    # Misleading evidence is ignored: every case gets the overall share.
    share = weighted_share(known, shares)
    return math.log(share / (1.0 - share)), 0.0


def logistic_weights(
    evidence: NDArray[np.float64], known: NDArray[np.bool_], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Fit a ridge-regularised logistic regression of `known` on kinds of evidence by Newton's method.

    The evidence has shape `(cases, kinds)`; the intercept is the first weight.

    Source: Platt 1999, "Probabilistic Outputs for Support Vector Machines".
    """
    inputs = np.hstack([np.ones((len(evidence), 1)), evidence])
    wanted = known.astype(np.float64)
    weights = np.zeros(inputs.shape[1])
    ridge = np.diag([0.0, *[_RIDGE * shares.sum()] * evidence.shape[1]])
    for _ in range(_NEWTON_STEPS):
        chance = _sigmoid(inputs @ weights)
        gradient = inputs.T @ (shares * (chance - wanted)) + ridge @ weights
        curvature = (inputs * (shares * chance * (1.0 - chance))[:, None]).T @ inputs + ridge
        curvature += 1e-9 * np.eye(len(weights))
        change = np.linalg.solve(curvature, gradient)
        weights -= change
        if float(np.abs(change).max()) < 1e-10:
            break
    return weights


def fit_sharpness(evidence: NDArray[np.float64], place: NDArray[np.int64]) -> float:
    """Fit the inverse temperature of the softmax over evidence by Newton's method; 0.0 without cases.

    The evidence falls in each row, shape `(cases, options)`; `place` is that of the right option, shape `(cases,)`.

    Source: Guo et al. 2017, "On Calibration of Modern Neural Networks".
    """
    gaps = np.where(np.isfinite(evidence), evidence - evidence[:, :1], 0.0)
    own = np.take_along_axis(gaps, place[:, None], axis=1)[:, 0]
    ridge = _RIDGE * len(gaps)
    sharpness = 0.0
    for _ in range(_NEWTON_STEPS):
        weights = _softmax(evidence, sharpness)
        mean = (weights * gaps).sum(axis=1)
        variance = (weights * gaps * gaps).sum(axis=1) - mean * mean
        change = float((own - mean).sum() - ridge * sharpness) / float(variance.sum() + ridge + 1e-9)
        # The objective is concave; a bound on the step keeps the search from leaving flat regions too fast.
        sharpness = max(0.0, sharpness + max(-_LONGEST_STEP, min(change, _LONGEST_STEP)))
        if abs(change) < 1e-10:
            break
    return sharpness


def weighted_share(flags: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    """Return the share of the flagged cases among all, by weight; 0 without any."""
    total = float(weights.sum())
    return float(weights[flags].sum()) / total if total > 0 else 0.0


def _sigmoid(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    chances: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.clip(logits, -50.0, 50.0)))
    return chances


def _softmax(evidence: NDArray[np.float64], sharpness: float) -> NDArray[np.float64]:
    """Return the softmax over the last axis of the evidence times the sharpness; -inf gives 0."""
    gaps = evidence - evidence.max(axis=1, keepdims=True)
    weights = np.where(np.isfinite(gaps), np.exp(np.maximum(sharpness * gaps.clip(min=-1e6), LEAST_EXPONENT)), 0.0)
    softmax: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return softmax
