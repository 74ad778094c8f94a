"""Calibrate on held-out cases: confidences that add up to at most 1, and thresholds that meet the target.

The confidence of an intent is the probability that the message is in scope, times the probability that it means this
intent if it is in scope. The first is a logistic curve of the first intent's evidence, the second a softmax over the
evidence of the ranked intents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.result import Measure
from intentmatch.core.settings import USUAL_SHARE
from intentmatch.learning.cross_validation import RANKED, HeldOut
from intentmatch.learning.labelled_share import LabelledShare
from intentmatch.learning.promise import Answers, Promise, promised_threshold

FEWEST_CASES = 20
"""Fewest held-out cases of either kind, right and wrong, that a curve is fitted to."""
_LEAST_ODDS = 1e-6
_RIDGE = 1e-3
_NEWTON_STEPS, _LONGEST_STEP = 50, 2.0
# Sharpness for artefacts of earlier releases, which do not hold one; 3.4 to 6.7 on development sets.
_USUAL_SHARPNESS = 5.0
# Smaller exponents do not matter.
_LEAST_EXPONENT = -700.0
# Fewest cases, and fewest wrong ones, for which a language or an intent gets a threshold of its own. A threshold from a
# few hundred cases is noisy: it is shrunk towards the common one, which counts as much as `_COMMON_CASES` cases.
_FEWEST_OF_A_PART, _FEWEST_WRONG_OF_A_PART, _COMMON_CASES = 60, 12, 400
# Counts at one threshold are noisy: one more line can move the lowest threshold that meets a target by 0.03 (clinc150
# with ten examples). So a target is compared with the mean over thresholds up to 0.4 standard deviations of the logits
# above and below. Chosen on clinc150 and the shipped registry.
_AROUND = np.linspace(-0.4, 0.4, 20)
# Tolerance for rounding errors in sums.
_SLACK = 1e-9


ASK_BELOW, RIVALS = 0.5, 3
"""The bot asks about a message in scope, with the best `RIVALS` intents, unless the first one has a higher confidence.

A question costs the user half of what a wrong answer costs: so the bot asks exactly if the answer would be more likely
wrong than right.
"""

_PRIOR_THRESHOLD, _PRIOR_CASES = 0.86, 1000
"""A registry's own cases raise doubts only about messages near its subject, and few cases choose no threshold well. So
the threshold starts from the one that suits small registries, as from so many cases.

The best threshold of 320 registries drawn from eleven development sets, with strangers from the other sets, where
accepting one counts as much as losing a right answer: 0.9 with up to 30 utterances, 0.86 to 0.88 with up to 500, 0.78
beyond (`tests/benchmarks/bench_small_registries.py`).
"""

LIKELY_TOGETHER = 0.8
"""Under a threshold on the confidence, the bot asks only if the rivals are as likely as this together: such a threshold
says nothing about the probability that the message is in scope."""


@dataclass(frozen=True, slots=True)
class LearnedCut:
    """A learned threshold with the rates expected from the held-out cases."""

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
    on: Measure = "in_scope"
    """What is compared with it; a promised threshold is on the confidence of the first intent."""


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
        return 1.0 / (1.0 + math.exp(logit if -50.0 <= logit <= 50.0 else math.copysign(50.0, logit)))

    def confidences(self, evidence: Iterable[float]) -> list[float] | None:
        """Return the confidences of all ranked intents of one message, from their evidence in any order.

        They add up to the in-scope probability of the message.
        """
        values = [*evidence]
        if self.curve is None or not values:
            return None if self.curve is None else []
        best, sharpness = max(values), self.sharpness
        weights = [math.exp(max(sharpness * (one - best), _LEAST_EXPONENT)) for one in values]
        share = (self.in_scope(best) or 0.0) / sum(weights)
        return [share * weight for weight in weights]

    def confidences_many(self, ranked: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the confidences of many messages as `confidences` does, shape `(messages, intents)`; -inf gives 0."""
        if self.curve is None:
            return None
        weights = _softmax(ranked, self.sharpness)
        confidences: NDArray[np.float64] = (
            weights * _sigmoid(self.curve[0] + self.curve[1] * ranked.max(axis=1))[:, None]
        )
        return confidences

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
            float(values.get("sharpness", _USUAL_SHARPNESS)),
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
    if min(right.sum(), (~right).sum()) < FEWEST_CASES or known.all():
        return Calibration(cases=cases)
    shares = shares_of(held_out, out_of_scope_share)
    curve = _fit_curve(held_out.evidence, known, shares)
    sharpness = _fit_sharpness(held_out)
    in_scope = _sigmoid(curve[0] + curve[1] * held_out.evidence)
    confidences = _softmax(held_out.ranked, sharpness) * in_scope[:, None]
    asked = asked_about(confidences)
    chances = _Chances(in_scope, right, asked, held_out.place < RIVALS, known, shares)
    common, promise = _chosen(chances, target), None
    if "give_up" in target and out_of_scope_share > 0.0:
        common = _with_prior(chances, common, out_of_scope_share)
    if tested is not None and "confidence" in target:
        in_scope = _sigmoid(curve[0] + curve[1] * tested.evidence)
        messages = _softmax(tested.ranked, sharpness) * in_scope[:, None]
        labelled = answers_of(messages, tested.right, np.ones(len(in_scope)))
        utterances = answers_of(confidences, right, shares)
        common, promise = _promised(chances, utterances, labelled, target, common)
        if promise.kept:
            return Calibration(curve, common, {}, {}, sharpness, cases, promise)
    # Few labelled messages mean one intent or have one language, and each weighs much.
    utterance = held_out.rows >= 0
    spoken = np.full(cases, "")
    if languages:
        spoken = np.where(utterance, [languages[row] or "" for row in held_out.rows], "")
    by_language = _parts(chances, spoken, sorted({*spoken.tolist()} - {""}), target, common)
    named = np.where(utterance, [intents[number] for number in held_out.first], "") if intents else np.full(cases, "")
    by_intent = _parts(chances, named, sorted({*named.tolist()} - {""}), target, common)
    # With a single language there is nothing to tell apart.
    by_language = by_language if len({*spoken.tolist()} - {""}) > 1 else {}
    return Calibration(curve, common, by_language, by_intent, sharpness, cases, promise)


def _promised(
    chances: _Chances, held_out: Answers, labelled: Answers, target: Mapping[str, Any], common: LearnedCut
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


@dataclass(frozen=True, slots=True)
class _Chances:
    """Held-out cases with their in-scope probability; all arrays have shape `(cases,)`."""

    in_scope: NDArray[np.float64]
    right: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    """Whether the case is asked about if it passes the threshold."""
    offered: NDArray[np.bool_]
    """Whether the right intent is among the rivals if it is asked about."""
    known: NDArray[np.bool_]
    shares: NDArray[np.float64]

    def select(self, some: NDArray[np.bool_]) -> _Chances:
        return _Chances(*(getattr(self, name)[some] for name in self.__slots__))

    def cut(self, value: float, note: str = "") -> LearnedCut:
        """Return a threshold with its expected rates."""
        passes = self.in_scope >= value
        given = passes & ~self.asked
        return LearnedCut(
            value=float(value),
            precision=_share(self.right[given], self.shares[given]),
            coverage=_share(given[self.known], self.shares[self.known]),
            refused=_share(~passes[~self.known], self.shares[~self.known]),
            cases=len(self.right),
            note=note,
        )


def _chosen(chances: _Chances, target: Mapping[str, Any]) -> LearnedCut:
    """Return the lowest threshold that meets a target; if none does, the best one within `give_up`.

    The target is compared with the mean rates of the thresholds around it.
    """
    order = np.argsort(-chances.in_scope, kind="stable")
    shares, asked = chances.shares[order], chances.asked[order]
    cuts = _between(chances.in_scope[order])
    logits = _logit(chances.in_scope[order])
    around = _logit(cuts)[:, None] + _AROUND * logits.std()
    passing = np.searchsorted(-logits, -around, side="right")

    def mean_sum(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the total weight of the cases that pass, as the mean over the thresholds around each one."""
        sums: NDArray[np.float64] = np.append(0.0, np.cumsum(weights))[passing].mean(axis=1)
        return sums

    right = mean_sum(shares * (chances.right[order] & ~asked))
    given = mean_sum(shares * ~asked)
    helped = mean_sum(shares * np.where(asked, chances.offered[order], chances.right[order]))
    accepted = mean_sum(shares * ~chances.known[order])
    out_of_scope = max(float(shares[~chances.known[order]].sum()), 1e-9)
    # Share of right answers, rightly asked questions and rightly refused messages at each threshold.
    overall = (helped + out_of_scope - accepted) / shares.sum()
    best = int((overall >= overall.max() - _SLACK).argmax())
    if "precision" in target:
        wanted, allowed = float(target["precision"]), float(target.get("give_up", 1.0))
        reached = (given > 0.0) & (right >= (wanted - _SLACK) * given)
        affordable = overall >= overall[best] - allowed - _SLACK
        both = np.flatnonzero(reached & affordable)
        if not len(both):
            note = f"a precision of {wanted:.0%} would cost too much; this threshold costs {allowed:.1%} at most"
            if not reached.any():
                note = f"no threshold reaches a precision of {wanted:.0%}"
            return chances.cut(cuts[np.flatnonzero(affordable)[0]], note)
        place = int(both[-1])
    elif "false_accept" in target:
        possible = np.flatnonzero(accepted / out_of_scope <= float(target["false_accept"]) + _SLACK)
        if not len(possible):
            return chances.cut(1.0, "out-of-scope messages cannot be distinguished from messages in scope")
        place = int(possible[-1])
    else:
        place = best
    return chances.cut(cuts[place])


def _with_prior(chances: _Chances, learned: LearnedCut, out_of_scope_share: float) -> LearnedCut:
    """Return a learned threshold, raised as far as its cases are too few to tell."""
    odds = _PRIOR_THRESHOLD / (1.0 - _PRIOR_THRESHOLD) * (1.0 / out_of_scope_share - 1.0) / (1.0 / USUAL_SHARE - 1.0)
    cases = len(chances.right)
    value = (_PRIOR_CASES * odds / (1.0 + odds) + cases * learned.value) / (_PRIOR_CASES + cases)
    return chances.cut(value, learned.note) if value > learned.value else learned


def _between(in_scope: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the thresholds between different values, which fall, and half the last value; highest first."""
    values = in_scope[np.append(True, in_scope[1:] < in_scope[:-1])]
    between: NDArray[np.float64] = (values + np.append(values[1:], 0.0)) / 2.0
    return between


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


def _fit_curve(
    evidence: NDArray[np.float64], known: NDArray[np.bool_], shares: NDArray[np.float64]
) -> tuple[float, float]:
    """Fit a ridge-regularised logistic regression of `known` on the evidence by Newton's method.

    Source: Platt 1999, "Probabilistic Outputs for Support Vector Machines".
    """
    inputs = np.stack([np.ones_like(evidence), evidence], axis=1)
    wanted = known.astype(np.float64)
    weights = np.zeros(2)
    ridge = np.diag([0.0, _RIDGE * shares.sum()])
    for _ in range(_NEWTON_STEPS):
        chance = _sigmoid(inputs @ weights)
        gradient = inputs.T @ (shares * (chance - wanted)) + ridge @ weights
        curvature = (inputs * (shares * chance * (1.0 - chance))[:, None]).T @ inputs + ridge + 1e-9 * np.eye(2)
        change = np.linalg.solve(curvature, gradient)
        weights -= change
        if float(np.abs(change).max()) < 1e-10:
            break
    bias, slope = weights.tolist()
    if slope > 0.0:
        return bias, slope
    # Misleading evidence is ignored: every case gets the overall share.
    share = _share(known, shares)
    return math.log(share / (1.0 - share)), 0.0


def _fit_sharpness(held_out: HeldOut) -> float:
    """Fit the inverse temperature of the softmax to the in-scope cases by Newton's method; 0.0 without any.

    Source: Guo et al. 2017, "On Calibration of Modern Neural Networks".
    """
    some = held_out.place < RANKED
    evidence, place = held_out.ranked[some], held_out.place[some]
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


def _share(flags: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    total = float(weights.sum())
    return float(weights[flags].sum()) / total if total > 0 else 0.0


def _sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-np.clip(x, -50.0, 50.0)))


def _logit(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    bounded = np.clip(chance, 1e-15, 1.0 - 1e-15)
    logit: NDArray[np.float64] = np.log(bounded) - np.log1p(-bounded)
    return logit


def _softmax(evidence: NDArray[np.float64], sharpness: float) -> NDArray[np.float64]:
    """Return the softmax over the last axis of the evidence times the sharpness; -inf gives 0."""
    gaps = evidence - evidence.max(axis=1, keepdims=True)
    weights = np.where(np.isfinite(gaps), np.exp(np.maximum(sharpness * gaps.clip(min=-1e6), _LEAST_EXPONENT)), 0.0)
    softmax: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return softmax
