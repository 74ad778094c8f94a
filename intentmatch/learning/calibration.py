"""Calibrate on held-out cases: confidences that add up to at most 1, and thresholds that meet the target."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.settings import USUAL_SHARE
from intentmatch.learning.confidence_curve import LEAST_EXPONENT, ConfidenceCurve
from intentmatch.learning.cross_validation import HeldOut
from intentmatch.learning.labelled_share import LabelledShare
from intentmatch.learning.promise import Answers, Promise, promised_threshold
from intentmatch.learning.threshold_choice import Chances, LearnedCut

FEWEST_CASES = 20
"""Fewest held-out cases of either kind, right and wrong, that a curve is fitted to."""
_LEAST_ODDS = 1e-6

ASK_BELOW, RIVALS = 0.5, 3
"""The bot asks about a message in scope, with the best `RIVALS` intents, unless the first one has a higher confidence.

A question costs the user half of what a wrong answer costs: so the bot asks exactly if the answer would be more likely
wrong than right.
"""

LIKELY_TOGETHER = 0.8
"""Under a threshold on the confidence, the bot asks only if the rivals are as likely as this together: such a threshold
says nothing about the probability that the message is in scope."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Confidence curve and thresholds. With too few held-out cases `curve` and `cut` are None."""

    curve: tuple[float, float] | None = None
    """Intercept and slope of the in-scope logit as a linear function of the first intent's evidence."""
    cut: LearnedCut | None = None
    by_language: Mapping[str, LearnedCut] = field(default_factory=dict)
    by_intent: Mapping[str, LearnedCut] = field(default_factory=dict)
    sharpness: float = 0.0
    """Factor of the evidence in the softmax over the ranked intents: its inverse temperature."""
    cases: int = 0
    promise: Promise | None = None
    """The promised precision, if the target is one."""
    labelled: LabelledShare | None = None
    """Share of out-of-scope messages among labelled ones, if these were learned from."""

    def in_scope(self, evidence: float) -> float | None:
        """Return the probability in [0, 1] that a message is in scope whose first intent has such evidence."""
        if self.curve is None:
            return None
        bias, slope = self.curve
        logit = -(bias + slope * evidence)
        # `math.exp` raises OverflowError beyond 709; at 50 the probability is 0 or 1 to all digits.
        return 1.0 / (1.0 + math.exp(logit if -50.0 <= logit <= 50.0 else math.copysign(50.0, logit)))

    def confidences(self, evidence: Iterable[float]) -> list[float] | None:
        """Return the confidences of all ranked intents of one message, from their evidence in any order.

        They add up to the in-scope probability of the message.
        """
        values = [*evidence]
        if self.curve is None or not values:
            return None if self.curve is None else []
        best, sharpness = max(values), self.sharpness
        weights = [math.exp(max(sharpness * (one - best), LEAST_EXPONENT)) for one in values]
        share = (self.in_scope(best) or 0.0) / sum(weights)
        return [share * weight for weight in weights]

    def confidences_many(self, ranked: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the confidences of many messages as `confidences` does, shape `(messages, intents)`; -inf gives 0."""
        return None if self.curve is None else ConfidenceCurve(*self.curve, self.sharpness).confidences(ranked)

    def evidence(self, in_scope: float) -> float | None:
        """Return the least evidence that gives such an in-scope probability; None without a rising curve."""
        if self.curve is None or self.curve[1] == 0.0:
            return None
        if not 0.0 < in_scope < 1.0:
            return -math.inf if in_scope <= 0.0 else math.inf
        return (math.log(in_scope / (1.0 - in_scope)) - self.curve[0]) / self.curve[1]

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
            float(values["sharpness"]),
            int(values["cases"]),
            Promise(*values["promise"]) if values.get("promise") else None,
            LabelledShare(*values["labelled"]) if values.get("labelled") else None,
        )


def calibrate(
    held_out: HeldOut,
    target: Mapping[str, Any],
    intents: Sequence[str] = (),
    languages: Sequence[str | None] = (),
    out_of_scope_share: float = USUAL_SHARE,
    *,
    tested: HeldOut | None = None,
) -> Calibration:
    """Fit the confidence curve and choose thresholds that meet a target. Deterministic.

    `intents` are the intents' names by position, `languages` the utterances' languages by row. A target is
    `{"precision": p}`, `{"precision": p, "give_up": g}`, `{"false_accept": share}` or `{"balance": True}`; see
    `settings.Settings.target`. `out_of_scope_share` is the expected share of out-of-scope messages, from 0 to below 1.
    A precision with a `confidence` is promised if the `tested` cases, which are labelled messages of users, suffice:
    then no intent or language has a threshold of its own. If `tested` is None, nothing is promised.
    """
    right, known = held_out.right, held_out.known
    cases = len(right)
    # Without cases out of scope, nothing tells where the curve falls.
    if min(right.sum(), (~right).sum()) < FEWEST_CASES or known.all():
        return Calibration(cases=cases)
    shares = shares_of(held_out, out_of_scope_share)
    curve = ConfidenceCurve.fit(held_out, shares)
    confidences = curve.confidences(held_out.ranked)
    asked, offered = asked_about(confidences), held_out.place < RIVALS
    chances = Chances(curve.in_scope(held_out.ranked), right, asked, offered, known, shares)
    cut, promise = chances.chosen(target), None
    # Other targets name what they want, and the default must not be moved away from it.
    if "give_up" in target and out_of_scope_share > 0.0:
        cut = chances.with_prior(cut, out_of_scope_share)
    if tested is not None and "confidence" in target:
        utterances = answers_of(confidences, right, shares)
        messages = answers_of(curve.confidences(tested.ranked), tested.right, np.ones(len(tested.right)))
        cut, promise = _promised(chances, utterances, messages, target, cut)
    calibration = Calibration((curve.bias, curve.slope), cut, sharpness=curve.sharpness, cases=cases, promise=promise)
    if promise is not None and promise.kept:
        return calibration
    spoken, first = _names(languages, held_out.rows, held_out), _names(intents, held_out.first, held_out)
    # With a single language there is nothing to tell apart.
    several = len({*spoken.tolist()} - {""}) > 1
    by_language = chances.own_cuts(spoken, target, cut) if several else {}
    return replace(calibration, by_language=by_language, by_intent=chances.own_cuts(first, target, cut))


def _names(names: Sequence[str | None], positions: NDArray[np.int64], held_out: HeldOut) -> NDArray[np.str_]:
    """Return the name at a position for each case; "" if there is none, and for labelled messages.

    Few of these mean one intent or have one language, and each weighs much.
    """
    if not names:
        return np.full(len(positions), "")
    return np.where(held_out.rows >= 0, [names[position] or "" for position in positions], "")


def _promised(
    chances: Chances, held_out: Answers, labelled: Answers, target: Mapping[str, Any], common: LearnedCut
) -> tuple[LearnedCut, Promise]:
    """Return the threshold that keeps a promise, or the `common` one with a note if the messages do not suffice."""
    precision, confidence = float(target["precision"]), float(target["confidence"])
    threshold, promise = promised_threshold(labelled, held_out, precision, confidence)
    if threshold is None:
        return replace(common, note=str(promise)), promise
    of_first = replace(chances, in_scope=held_out.confidence, asked=held_out.asked)
    return replace(of_first.cut(threshold), on="confidence"), promise


def answers_of(
    confidences: NDArray[np.float64],
    right: NDArray[np.bool_],
    weights: NDArray[np.float64],
) -> Answers:
    """Return cases as a promise tests them: answered by the confidence of the first intent.

    Of two messages that are equally likely in scope, the one that two intents share is answered wrongly more often. So
    this order answers more messages at the same precision than that of the in-scope probabilities; see
    `tests/benchmarks/bench_promise.py`.
    """
    asked = asked_about(confidences, LIKELY_TOGETHER)
    return Answers(confidences[:, 0], right, asked, weights)


def asked_about(confidences: NDArray[np.float64], likely: float | None = None) -> NDArray[np.bool_]:
    """Return which messages are asked about that pass; confidences in falling order, shape `(messages, intents)`.

    `likely` is what the rivals need together under a threshold on the confidence; None for one on the in-scope
    probability.
    """
    asked: NDArray[np.bool_] = confidences[:, 0] <= ASK_BELOW
    if likely is not None:
        asked &= confidences[:, :RIVALS].sum(axis=1) >= likely
    return asked


def shares_of(held_out: HeldOut, out_of_scope_share: float = USUAL_SHARE) -> NDArray[np.float64]:
    """Return the weight of each case: its own in scope; out of scope, so that these weigh `out_of_scope_share` of all.

    Without out-of-scope messages their cases weigh next to nothing, so that rates among them stay defined.
    """
    known, weights = held_out.known, held_out.weights
    odds = max(out_of_scope_share / (1.0 - out_of_scope_share), _LEAST_ODDS)
    inside, outside = float(weights[known].sum()), float(weights[~known].sum())
    return weights * np.where(known, 1.0, odds * inside / (outside or 1.0))
