"""Evidence to confidence, and the cuts that do what the author wants, from cases that the registry itself holds out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.learning.cross_validation import HeldOut

# Below this many held-out cases of either kind, a fitted curve says more about chance than about the registry.
_FEWEST_CASES = 20
# How many messages out of scope to expect for each message in scope. Measured on development sets with this weight
# the confidence is nearest to the truth; counted fully, left-out intents (harder than most strangers) drag it down.
_STRANGERS = 0.1
_RIDGE = 1e-3
_NEWTON_STEPS = 50
# A language or an intent gets a cut of its own from so many cases, so many of them wrong. As the best cut of a few
# hundred is chance within wide limits, it is drawn towards the common one as if that rested on `_COMMON` cases.
_FEWEST_OF_A_PART, _FEWEST_WRONG_OF_A_PART, _COMMON = 60, 12, 400
# Asking which of two is meant costs a turn: it is worth it where the first is right no more often than this ...
_ASK_BELOW = 0.5
# ... among at least so many held-out cases as close as that.
_FEWEST_CLOSE = 10
_WIDEST_MARGIN = 0.03
# A target that is reached but for the last digits of a sum is reached.
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class LearnedCut:
    """A confidence from which on an answer is given, and what the held-out cases say of it."""

    value: float
    precision: float
    """Expected share of right answers among those given."""
    coverage: float
    """Expected share of messages in scope that are answered."""
    refused: float
    """Expected share of messages out of scope that are refused; of left-out intents, which are harder than most."""
    cases: int
    """Held-out cases behind it."""
    note: str = ""
    """What the author should know of it, in words."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the held-out cases taught. Without enough of them `curve` is None, and so are cut and confidence."""

    curve: tuple[float, float] | None = None
    """Logit of the confidence at no evidence, and how it rises with the evidence."""
    cut: LearnedCut | None = None
    by_language: Mapping[str, LearnedCut] = field(default_factory=dict)
    by_intent: Mapping[str, LearnedCut] = field(default_factory=dict)
    margin: float = 0.0
    """Two intents whose evidence is closer than this are ambiguous."""
    cases: int = 0

    def confidence(self, evidence: float) -> float | None:
        """Probability that an intent is what the user wants, given the evidence for it."""
        if self.curve is None:
            return None
        bias, rise = self.curve
        against = -(bias + rise * evidence)
        return 1.0 / (1.0 + math.exp(against if -50.0 <= against <= 50.0 else math.copysign(50.0, against)))

    def confidences(self, evidence: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """As `confidence`, for many."""
        return None if self.curve is None else _sigmoid(self.curve[0] + self.curve[1] * evidence)

    def evidence(self, confidence: float) -> float | None:
        """The least evidence that comes with such a confidence; None where no evidence tells."""
        if self.curve is None or self.curve[1] == 0.0:
            return None
        if not 0.0 < confidence < 1.0:
            return -math.inf if confidence <= 0.0 else math.inf
        return (math.log(confidence / (1.0 - confidence)) - self.curve[0]) / self.curve[1]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calibration:
        """The inverse of `to_dict`."""
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
) -> Calibration:
    """Fit the confidence, and choose cuts for a target. Deterministic.

    `intents` are the names by position, `languages` those of the utterances. A target is `{"precision": p}`,
    `{"precision": p, "give_up": g}`, `{"false_accept": share}` or `{"balance": True}`; see `settings.Settings.target`.
    """
    right = held_out.right
    cases = len(right)
    if min(right.sum(), (~right).sum()) < _FEWEST_CASES:
        return Calibration(cases=cases)
    shares = shares_of(held_out)
    curve = _fit_curve(held_out, shares)
    confidences = _sigmoid(curve[0] + curve[1] * held_out.evidence)
    chances = _Chances(confidences, right, held_out.known, shares)
    common = _chosen(chances, target)
    spoken = np.array([languages[row] or "" for row in held_out.rows]) if languages else np.full(cases, "")
    by_language = _parts(chances, spoken, sorted({*spoken.tolist()} - {""}), target, common)
    named = np.array([intents[number] for number in held_out.leading]) if intents else np.full(cases, "")
    by_intent = _parts(chances, named, sorted({*named.tolist()} - {""}), target, common)
    # One language is no reason to tell it from itself.
    by_language = by_language if len({*spoken.tolist()} - {""}) > 1 else {}
    return Calibration(curve, common, by_language, by_intent, _margin(held_out), cases)


def shares_of(held_out: HeldOut) -> NDArray[np.float64]:
    """How much each case counts: one in scope fully, all strangers together as many as are to be expected."""
    known = held_out.known
    return np.where(known, 1.0, _STRANGERS * known.sum() / max(1, (~known).sum()))


@dataclass(frozen=True, slots=True)
class _Chances:
    """Held-out cases with their confidence; arrays of shape `(cases,)`."""

    confidence: NDArray[np.float64]
    right: NDArray[np.bool_]
    known: NDArray[np.bool_]
    shares: NDArray[np.float64]

    def select(self, some: NDArray[np.bool_]) -> _Chances:
        return _Chances(self.confidence[some], self.right[some], self.known[some], self.shares[some])

    def cut(self, value: float, note: str = "") -> LearnedCut:
        """A cut with what is to be expected of it."""
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
    """The lowest cut that reaches a target; where none does, the highest that still answers something."""
    order = np.argsort(-chances.confidence, kind="stable")
    confidence, shares = chances.confidence[order], chances.shares[order]
    # Only where the next confidence is lower can one cut between the two.
    ends = np.append(confidence[1:] < confidence[:-1], True)
    right = np.cumsum(shares * chances.right[order])
    given = np.cumsum(shares)
    stranger = np.cumsum(shares * ~chances.known[order])
    strangers = max(float(stranger[-1]), 1e-9)
    # Right answers and rightly refused strangers; what is refused last is the first one counted.
    overall = (right + strangers - stranger) / given[-1]
    best = int(np.where(ends, overall, -1.0).argmax())
    if "precision" in target:
        wanted, allowed = float(target["precision"]), float(target.get("give_up", 1.0))
        reached = ends & (right / given >= wanted - _SLACK)
        bearable = ends & (overall >= overall[best] - allowed - _SLACK)
        both = np.flatnonzero(reached & bearable)
        if not len(both):
            note = f"a precision of {wanted:.0%} would cost too much; this cut costs {allowed:.1%} at most"
            if not reached.any():
                note = f"no cut reaches a precision of {wanted:.0%}"
            return chances.cut(_between(confidence, int(np.flatnonzero(bearable)[0])), note)
        place = int(both[-1])
    elif "false_accept" in target:
        accepted = np.flatnonzero(ends & (stranger / strangers <= float(target["false_accept"]) + _SLACK))
        if not len(accepted):
            return chances.cut(1.0, "strangers look just like messages in scope")
        place = int(accepted[-1])
    else:
        place = best
    return chances.cut(_between(confidence, place))


def _between(confidence: NDArray[np.float64], place: int) -> float:
    """Half way from the last case that is to pass to the next one; after the very last, a little below it."""
    if place + 1 == len(confidence):
        return float(confidence[place]) / 2
    return float(confidence[place] + confidence[place + 1]) / 2


def _parts(
    chances: _Chances, part_of: NDArray[np.str_], names: Sequence[str], target: Mapping[str, Any], common: LearnedCut
) -> dict[str, LearnedCut]:
    """Cuts for those parts of the cases that are large enough to have one."""
    cuts = {}
    for name in names:
        part = chances.select(part_of == name)
        if len(part.right) < _FEWEST_OF_A_PART or (~part.right).sum() < _FEWEST_WRONG_OF_A_PART or not part.right.any():
            continue
        own, weight = _chosen(part, target), len(part.right)
        cuts[name] = part.cut((weight * own.value + _COMMON * common.value) / (weight + _COMMON), own.note)
    return cuts


def _margin(held_out: HeldOut) -> float:
    """The widest gap within which the first of two is right too seldom to be given without asking."""
    gaps, right = held_out.gap[held_out.known], held_out.right[held_out.known]
    order = np.argsort(gaps, kind="stable")
    gaps, right = gaps[order], right[order]
    counts = np.arange(1, len(gaps) + 1)
    ends = np.append(gaps[1:] > gaps[:-1], True)[: len(gaps)]
    close = ends & (np.cumsum(right) / counts < _ASK_BELOW) & (counts >= _FEWEST_CLOSE) & (gaps <= _WIDEST_MARGIN)
    return float(gaps[np.flatnonzero(close)[-1]]) if close.any() else 0.0


def _fit_curve(held_out: HeldOut, shares: NDArray[np.float64]) -> tuple[float, float]:
    """Ridge-regularised logistic regression on the evidence by Newton's method.

    Platt 1999, "Probabilistic Outputs for Support Vector Machines".
    """
    inputs = np.stack([np.ones_like(held_out.evidence), held_out.evidence], axis=1)
    right = held_out.right.astype(np.float64)
    weights = np.zeros(2)
    ridge = np.diag([0.0, _RIDGE * shares.sum()])
    for _ in range(_NEWTON_STEPS):
        chance = _sigmoid(inputs @ weights)
        slope = inputs.T @ (shares * (chance - right)) + ridge @ weights
        curvature = (inputs * (shares * chance * (1.0 - chance))[:, None]).T @ inputs + ridge + 1e-9 * np.eye(2)
        change = np.linalg.solve(curvature, slope)
        weights -= change
        if float(np.abs(change).max()) < 1e-10:
            break
    bias, rise = weights.tolist()
    if rise > 0.0:
        return bias, rise
    # Evidence that misleads is none; then each case has the chance that all have.
    share = _share(held_out.right, shares)
    return math.log(share / (1.0 - share)), 0.0


def _share(flags: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    total = float(weights.sum())
    return float(weights[flags].sum()) / total if total > 0 else 0.0


def _sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-np.clip(x, -50.0, 50.0)))
