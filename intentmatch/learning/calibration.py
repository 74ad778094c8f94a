"""Calibrate on held-out cases: a curve from evidence to confidence, and thresholds that meet the target."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.settings import Settings
from intentmatch.learning.cross_validation import HeldOut

# Fewest held-out cases of either kind, right and wrong, that a curve is fitted to.
_FEWEST_CASES = 20
_LEAST_ODDS = 1e-6
_RIDGE = 1e-3
_NEWTON_STEPS = 50
# Fewest cases, and fewest wrong ones, for which a language or an intent gets a threshold of its own. A threshold from a
# few hundred cases is noisy: it is shrunk towards the common one, which counts as much as `_COMMON_CASES` cases.
_FEWEST_OF_A_PART, _FEWEST_WRONG_OF_A_PART, _COMMON_CASES = 60, 12, 400
# Asking which intent is meant costs a turn: it pays where the first is right less often than this ...
_ASK_BELOW = 0.5
# ... among at least so many held-out cases with a gap as small.
_FEWEST_CLOSE = 10
_WIDEST_MARGIN = 0.03
# Tolerance for rounding errors in sums.
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class LearnedCut:
    """A learned threshold on the confidence, with the rates expected from the held-out cases."""

    value: float
    precision: float
    """Expected share of right answers among those given."""
    coverage: float
    """Expected share of messages in scope that are answered."""
    refused: float
    """Expected share of out-of-scope messages that are refused, measured on left-out intents."""
    cases: int
    """Number of held-out cases it was chosen on."""
    note: str = ""
    """A remark for the author, or empty."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Confidence curve, thresholds and margin. With too few held-out cases `curve` and `cut` are None."""

    curve: tuple[float, float] | None = None
    """Intercept and slope of the confidence's logit as a linear function of the evidence."""
    cut: LearnedCut | None = None
    by_language: Mapping[str, LearnedCut] = field(default_factory=dict)
    by_intent: Mapping[str, LearnedCut] = field(default_factory=dict)
    margin: float = 0.0
    """Two intents whose evidence is closer than this are ambiguous."""
    cases: int = 0

    def confidence(self, evidence: float) -> float | None:
        """Return the probability in [0, 1] that an intent with such evidence is what the user wants."""
        if self.curve is None:
            return None
        bias, slope = self.curve
        logit = -(bias + slope * evidence)
        return 1.0 / (1.0 + math.exp(logit if -50.0 <= logit <= 50.0 else math.copysign(50.0, logit)))

    def confidences(self, evidence: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the confidences of many pieces of evidence, of the same shape."""
        return None if self.curve is None else _sigmoid(self.curve[0] + self.curve[1] * evidence)

    def evidence(self, confidence: float) -> float | None:
        """Return the least evidence that gives such a confidence; None without a rising curve."""
        if self.curve is None or self.curve[1] == 0.0:
            return None
        if not 0.0 < confidence < 1.0:
            return -math.inf if confidence <= 0.0 else math.inf
        return (math.log(confidence / (1.0 - confidence)) - self.curve[0]) / self.curve[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calibration:
        """Make a calibration from the values of `to_dict`."""
        curve, cut = values["curve"], values["cut"]
        return cls(
            None if curve is None else (float(curve[0]), float(curve[1])),
            None if cut is None else LearnedCut(**cut),
            {name: LearnedCut(**of) for name, of in values["by_language"].items()},
            {name: LearnedCut(**of) for name, of in values["by_intent"].items()},
            float(values["margin"]),
            int(values["cases"]),
        )


def calibrate(
    held_out: HeldOut,
    target: Mapping[str, Any],
    intents: Sequence[str] = (),
    languages: Sequence[str | None] = (),
    out_of_scope_share: float = Settings.out_of_scope_share,
) -> Calibration:
    """Fit the confidence curve and choose thresholds that meet a target. Deterministic.

    `intents` are the intents' names by position, `languages` the utterances' languages by row. A target is
    `{"precision": p}`, `{"precision": p, "give_up": g}`, `{"false_accept": share}` or `{"balance": True}`; see
    `settings.Settings.target`. `out_of_scope_share` is the expected share of out-of-scope messages, from 0 to below 1.
    """
    right = held_out.right
    cases = len(right)
    if min(right.sum(), (~right).sum()) < _FEWEST_CASES:
        return Calibration(cases=cases)
    shares = shares_of(held_out, out_of_scope_share)
    curve = _fit_curve(held_out, shares)
    confidences = _sigmoid(curve[0] + curve[1] * held_out.evidence)
    chances = _Chances(confidences, right, held_out.known, shares)
    common = _chosen(chances, target)
    spoken = np.array([languages[row] or "" for row in held_out.rows]) if languages else np.full(cases, "")
    by_language = _parts(chances, spoken, sorted({*spoken.tolist()} - {""}), target, common)
    named = np.array([intents[number] for number in held_out.first]) if intents else np.full(cases, "")
    by_intent = _parts(chances, named, sorted({*named.tolist()} - {""}), target, common)
    # With a single language there is nothing to tell apart.
    by_language = by_language if len({*spoken.tolist()} - {""}) > 1 else {}
    return Calibration(curve, common, by_language, by_intent, _margin(held_out), cases)


def shares_of(held_out: HeldOut, out_of_scope_share: float = Settings.out_of_scope_share) -> NDArray[np.float64]:
    """Return the weight of each case: 1 in scope; out of scope, so that these weigh `out_of_scope_share` of all.

    Without out-of-scope messages their cases weigh next to nothing, so that rates among them stay defined.
    """
    known = held_out.known
    odds = max(out_of_scope_share / (1.0 - out_of_scope_share), _LEAST_ODDS)
    return np.where(known, 1.0, odds * known.sum() / max(1, (~known).sum()))


@dataclass(frozen=True, slots=True)
class _Chances:
    """Held-out cases with their confidence; all arrays have shape `(cases,)`."""

    confidence: NDArray[np.float64]
    right: NDArray[np.bool_]
    known: NDArray[np.bool_]
    shares: NDArray[np.float64]

    def select(self, some: NDArray[np.bool_]) -> _Chances:
        return _Chances(self.confidence[some], self.right[some], self.known[some], self.shares[some])

    def cut(self, value: float, note: str = "") -> LearnedCut:
        """Return a threshold with its expected rates."""
        given = self.confidence >= value
        return LearnedCut(
            value=float(value),
            precision=_share(self.right[given], self.shares[given]),
            coverage=_share(given[self.known], self.shares[self.known]),
            refused=_share(~given[~self.known], self.shares[~self.known]),
            cases=len(self.confidence),
            note=note,
        )


def _chosen(chances: _Chances, target: Mapping[str, Any]) -> LearnedCut:
    """Return the lowest threshold that meets a target; if none does, the best one within `give_up`."""
    order = np.argsort(-chances.confidence, kind="stable")
    confidence, shares = chances.confidence[order], chances.shares[order]
    # A threshold can only lie between two different confidences.
    ends = np.append(confidence[1:] < confidence[:-1], True)
    right = np.cumsum(shares * chances.right[order])
    given = np.cumsum(shares)
    accepted = np.cumsum(shares * ~chances.known[order])
    out_of_scope = max(float(accepted[-1]), 1e-9)
    # Share of right answers and rightly refused messages at each threshold.
    overall = (right + out_of_scope - accepted) / given[-1]
    best = int(np.where(ends, overall, -1.0).argmax())
    if "precision" in target:
        wanted, allowed = float(target["precision"]), float(target.get("give_up", 1.0))
        reached = ends & (right / given >= wanted - _SLACK)
        affordable = ends & (overall >= overall[best] - allowed - _SLACK)
        both = np.flatnonzero(reached & affordable)
        if not len(both):
            note = f"a precision of {wanted:.0%} would cost too much; this threshold costs {allowed:.1%} at most"
            if not reached.any():
                note = f"no threshold reaches a precision of {wanted:.0%}"
            return chances.cut(_between(confidence, int(np.flatnonzero(affordable)[0])), note)
        place = int(both[-1])
    elif "false_accept" in target:
        possible = np.flatnonzero(ends & (accepted / out_of_scope <= float(target["false_accept"]) + _SLACK))
        if not len(possible):
            return chances.cut(1.0, "out-of-scope messages cannot be distinguished from messages in scope")
        place = int(possible[-1])
    else:
        place = best
    return chances.cut(_between(confidence, place))


def _between(confidence: NDArray[np.float64], place: int) -> float:
    """Return the confidence half way between the last case that passes and the next one, or half that of the last."""
    if place + 1 == len(confidence):
        return float(confidence[place]) / 2
    return float(confidence[place] + confidence[place + 1]) / 2


def _parts(
    chances: _Chances, part_of: NDArray[np.str_], names: Sequence[str], target: Mapping[str, Any], common: LearnedCut
) -> dict[str, LearnedCut]:
    """Choose thresholds for the languages or intents that have enough cases."""
    cuts = {}
    for name in names:
        part = chances.select(part_of == name)
        if len(part.right) < _FEWEST_OF_A_PART or (~part.right).sum() < _FEWEST_WRONG_OF_A_PART or not part.right.any():
            continue
        own, weight = _chosen(part, target), len(part.right)
        cuts[name] = part.cut((weight * own.value + _COMMON_CASES * common.value) / (weight + _COMMON_CASES), own.note)
    return cuts


def _margin(held_out: HeldOut) -> float:
    """Return the widest gap within which the first of two is right too seldom to answer without asking."""
    gaps, right = held_out.gap[held_out.known], held_out.right[held_out.known]
    order = np.argsort(gaps, kind="stable")
    gaps, right = gaps[order], right[order]
    counts = np.arange(1, len(gaps) + 1)
    ends = np.append(gaps[1:] > gaps[:-1], True)[: len(gaps)]
    close = ends & (np.cumsum(right) / counts < _ASK_BELOW) & (counts >= _FEWEST_CLOSE) & (gaps <= _WIDEST_MARGIN)
    return float(gaps[np.flatnonzero(close)[-1]]) if close.any() else 0.0


def _fit_curve(held_out: HeldOut, shares: NDArray[np.float64]) -> tuple[float, float]:
    """Fit a ridge-regularised logistic regression on the evidence by Newton's method.

    Source: Platt 1999, "Probabilistic Outputs for Support Vector Machines".
    """
    inputs = np.stack([np.ones_like(held_out.evidence), held_out.evidence], axis=1)
    right = held_out.right.astype(np.float64)
    weights = np.zeros(2)
    ridge = np.diag([0.0, _RIDGE * shares.sum()])
    for _ in range(_NEWTON_STEPS):
        chance = _sigmoid(inputs @ weights)
        gradient = inputs.T @ (shares * (chance - right)) + ridge @ weights
        curvature = (inputs * (shares * chance * (1.0 - chance))[:, None]).T @ inputs + ridge + 1e-9 * np.eye(2)
        change = np.linalg.solve(curvature, gradient)
        weights -= change
        if float(np.abs(change).max()) < 1e-10:
            break
    bias, slope = weights.tolist()
    if slope > 0.0:
        return bias, slope
    # Misleading evidence is ignored: every case gets the overall share of right ones.
    share = _share(held_out.right, shares)
    return math.log(share / (1.0 - share)), 0.0


def _share(flags: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    total = float(weights.sum())
    return float(weights[flags].sum()) / total if total > 0 else 0.0


def _sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-np.clip(x, -50.0, 50.0)))
