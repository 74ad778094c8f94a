"""Choose the threshold that meets a target, from held-out cases with their in-scope probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.result import Measure
from intentmatch.core.settings import USUAL_SHARE
from intentmatch.learning.confidence_curve import weighted_share

# Fewest cases, and fewest wrong ones, for which a language or an intent gets a threshold of its own. A threshold from a
# few hundred cases is noisy: it is shrunk towards the common one, which counts as much as `_COMMON_CASES` cases.
_FEWEST_OF_A_PART, _FEWEST_WRONG_OF_A_PART, _COMMON_CASES = 60, 12, 400
# Counts at one threshold are noisy: one more line can move the lowest threshold that meets a target by 0.03 (clinc150
# with ten examples). So a target is compared with the mean over thresholds up to 0.4 standard deviations of the logits
# above and below. Chosen on clinc150 and the shipped registry.
_AROUND = np.linspace(-0.4, 0.4, 20)
# Tolerance for rounding errors in sums.
_SLACK = 1e-9
_PRIOR_THRESHOLD, _PRIOR_CASES = 0.86, 1000
"""A registry's own cases raise doubts only about messages near its subject, and few cases choose no threshold well. So
the threshold starts from the one that suits small registries, as from so many cases.

The best threshold of 320 registries drawn from eleven development sets, with strangers from the other sets, where
accepting one counts as much as losing a right answer: 0.9 with up to 30 utterances, 0.86 to 0.88 with up to 500, 0.78
beyond (`tests/benchmarks/bench_small_registries.py`).
"""


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
class Chances:
    """Held-out cases with their in-scope probability; all arrays have shape `(cases,)`."""

    in_scope: NDArray[np.float64]
    right: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    """Whether the case is asked about if it passes the threshold."""
    offered: NDArray[np.bool_]
    """Whether the right intent is among the rivals if it is asked about."""
    known: NDArray[np.bool_]
    shares: NDArray[np.float64]

    def select(self, some: NDArray[np.bool_] | NDArray[np.int64]) -> Chances:
        """Return some of the cases."""
        return Chances(*(getattr(self, name)[some] for name in self.__slots__))

    def cut(self, value: float, note: str = "") -> LearnedCut:
        """Return a threshold with its expected rates."""
        passes = self.in_scope >= value
        given = passes & ~self.asked
        return LearnedCut(
            value=float(value),
            precision=weighted_share(self.right[given], self.shares[given]),
            coverage=weighted_share(given[self.known], self.shares[self.known]),
            refused=weighted_share(~passes[~self.known], self.shares[~self.known]),
            cases=len(self.right),
            note=note,
        )

    def chosen(self, target: Mapping[str, Any]) -> LearnedCut:
        """Return the lowest threshold that meets a target; if none does, the best one within `give_up`.

        The target is compared with the mean rates of the thresholds around it.
        """
        rates = _Rates.of(self)
        if "precision" in target:
            return self._precise(rates, float(target["precision"]), float(target.get("give_up", 1.0)))
        if "false_accept" not in target:
            return self.cut(rates.thresholds[rates.best])
        possible = np.flatnonzero(rates.accepted <= float(target["false_accept"]) + _SLACK)
        if not len(possible):
            return self.cut(1.0, "out-of-scope messages cannot be distinguished from messages in scope")
        return self.cut(rates.thresholds[possible[-1]])

    def _precise(self, rates: _Rates, precision: float, give_up: float) -> LearnedCut:
        """Return the lowest threshold with such a precision that costs at most `give_up` of the overall share."""
        reached = (rates.given > 0.0) & (rates.right >= (precision - _SLACK) * rates.given)
        affordable = rates.overall >= rates.overall[rates.best] - give_up - _SLACK
        if (reached & affordable).any():
            return self.cut(rates.thresholds[np.flatnonzero(reached & affordable)[-1]])
        note = f"a precision of {precision:.0%} would cost too much; this threshold costs {give_up:.1%} at most"
        if not reached.any():
            note = f"no threshold reaches a precision of {precision:.0%}"
        return self.cut(rates.thresholds[np.flatnonzero(affordable)[0]], note)

    def with_prior(self, learned: LearnedCut, out_of_scope_share: float) -> LearnedCut:
        """Return a learned threshold, raised as far as its cases are too few to tell."""
        odds = _PRIOR_THRESHOLD / (1.0 - _PRIOR_THRESHOLD)
        odds = odds * (1.0 / out_of_scope_share - 1.0) / (1.0 / USUAL_SHARE - 1.0)
        cases = len(self.right)
        value = (_PRIOR_CASES * odds / (1.0 + odds) + cases * learned.value) / (_PRIOR_CASES + cases)
        return self.cut(value, learned.note) if value > learned.value else learned

    def own_cuts(self, names: NDArray[np.str_], target: Mapping[str, Any], common: LearnedCut) -> dict[str, LearnedCut]:
        """Choose thresholds for the languages or intents that have enough cases; a case without one is named ""."""
        cuts = {}
        for name in sorted({*names.tolist()} - {""}):
            own = self.select(names == name)
            cases, right = len(own.right), int(own.right.sum())
            if cases >= _FEWEST_OF_A_PART and cases - right >= _FEWEST_WRONG_OF_A_PART and right:
                learned = own.chosen(target)
                value = (cases * learned.value + _COMMON_CASES * common.value) / (cases + _COMMON_CASES)
                cuts[name] = own.cut(value, learned.note)
        return cuts


class _Rates(NamedTuple):
    """What each threshold would do, as the mean over the thresholds around it; highest first, `(thresholds,)` each."""

    thresholds: NDArray[np.float64]
    given: NDArray[np.float64]
    """Weight of the answers given."""
    right: NDArray[np.float64]
    """Weight of the right answers."""
    accepted: NDArray[np.float64]
    """Share of the out-of-scope messages that are accepted."""
    overall: NDArray[np.float64]
    """Share of right answers, rightly asked questions and rightly refused messages."""

    @property
    def best(self) -> int:
        """Place of the highest threshold with the best overall share."""
        return int((self.overall >= self.overall.max() - _SLACK).argmax())

    @classmethod
    def of(cls, chances: Chances) -> _Rates:
        """Compute the rates of all thresholds that differ in what passes."""
        cases = chances.select(np.argsort(-chances.in_scope, kind="stable"))
        shares, asked = cases.shares, cases.asked
        thresholds = _between(cases.in_scope)
        logits = _logit(cases.in_scope)
        around = _logit(thresholds)[:, None] + _AROUND * logits.std()
        passing = np.searchsorted(-logits, -around, side="right")

        def mean_sum(weights: NDArray[np.float64]) -> NDArray[np.float64]:
            """Return the total weight of the cases that pass, as the mean over the thresholds around each one."""
            sums: NDArray[np.float64] = np.append(0.0, np.cumsum(weights))[passing].mean(axis=1)
            return sums

        helped = mean_sum(shares * np.where(asked, cases.offered, cases.right))
        accepted = mean_sum(shares * ~cases.known)
        out_of_scope = max(float(shares[~cases.known].sum()), 1e-9)
        return cls(
            thresholds=thresholds,
            given=mean_sum(shares * ~asked),
            right=mean_sum(shares * (cases.right & ~asked)),
            accepted=accepted / out_of_scope,
            overall=(helped + out_of_scope - accepted) / shares.sum(),
        )


def _between(in_scope: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the thresholds between different values, which fall, and half the last value; highest first."""
    values = in_scope[np.append(True, in_scope[1:] < in_scope[:-1])]
    between: NDArray[np.float64] = (values + np.append(values[1:], 0.0)) / 2.0
    return between


def _logit(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    # A probability that is rounded to 0 or 1 has an infinite logit, which spoils the deviation of all.
    bounded = np.clip(chance, 1e-15, 1.0 - 1e-15)
    logit: NDArray[np.float64] = np.log(bounded) - np.log1p(-bounded)
    return logit
