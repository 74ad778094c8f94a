"""The price of a target: precision against coverage, and which held-out cases change their verdict when it moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.evaluation.insight.held_out_cases import ASKED, REFUSED, Effect, HeldOutCases, Verdicts
from intentmatch.learning.calibration import Calibration, calibrate

POINTS = 100
"""Points of the curve at most."""


class Rates(NamedTuple):
    """What a set of thresholds does to the held-out cases, weighed as the messages of users; shares from 0 to 1."""

    precision: float
    """Share of right answers among those given."""
    coverage: float
    """Share of messages in scope that are answered."""
    refused: float
    """Share of out-of-scope messages that are refused."""
    asked: float
    """Share of messages in scope that the bot asks about."""


class CurvePoint(NamedTuple):
    """A common threshold on the in-scope probability, and its rates."""

    threshold: float
    rates: Rates


class VerdictChange(NamedTuple):
    """A case whose verdict changes."""

    case: int
    before: int
    after: int
    effect: Effect


@dataclass(frozen=True, slots=True)
class Moved:
    """The target moved to another place."""

    calibration: Calibration
    before: Rates
    after: Rates
    changes: tuple[VerdictChange, ...]
    """Those that get worse come first, then those that get better."""

    @property
    def threshold(self) -> float | None:
        """The learned threshold; None if the registry is too small."""
        return None if self.calibration.cut is None else self.calibration.cut.value

    @property
    def note(self) -> str:
        """A remark about the target, such as that no threshold reaches it; or empty."""
        return "" if self.calibration.cut is None else self.calibration.cut.note

    def count(self, effect: Effect) -> int:
        """Return the number of changes of this kind."""
        return sum(change.effect == effect for change in self.changes)


def rates(cases: HeldOutCases, verdicts: Verdicts) -> Rates:
    """Return the rates of verdicts; 0.0 for a share of nothing."""
    known, weights = cases.held_out.known, cases.weights
    given = (verdicts != REFUSED) & (verdicts != ASKED)
    return Rates(
        precision=_share(given & cases.right(verdicts), given, weights),
        coverage=_share(given & known, known, weights),
        refused=_share((verdicts == REFUSED) & ~known, ~known, weights),
        asked=_share((verdicts == ASKED) & known, known, weights),
    )


def coverage_curve(cases: HeldOutCases, calibration: Calibration, points: int = POINTS) -> list[CurvePoint]:
    """Return the rates of common thresholds, from the highest to none; empty without a confidence curve."""
    if calibration.curve is None:
        return []
    measured, asked = cases.measured(calibration), cases.asked(calibration)
    said = np.where(asked, ASKED, cases.held_out.first)
    # At quantiles, so that the points lie evenly along the coverage.
    thresholds = np.unique(np.quantile(measured, np.linspace(0.0, 1.0, points)))[::-1]
    return [
        CurvePoint(float(threshold), rates(cases, np.where(measured >= threshold, said, REFUSED)))
        for threshold in thresholds
    ]


def calibration_for(cases: HeldOutCases, target: Mapping[str, Any]) -> Calibration:
    """Return the calibration that a build would learn for a target; see `settings.Settings.target`."""
    languages = [line.language for line in cases.registry.utterances]
    share = cases.artefact.out_of_scope_share
    return calibrate(cases.held_out, target, cases.names, languages, share, tested=cases.tested)


def moved(cases: HeldOutCases, target: Mapping[str, Any]) -> Moved:
    """Return what another target would change beside the calibration in use."""
    calibration = calibration_for(cases, target)
    before, after = cases.verdicts(cases.artefact.calibration), cases.verdicts(calibration)
    right_before, right_after = cases.right(before), cases.right(after)
    found = []
    for case in np.flatnonzero((before != after) & cases.of_lines).tolist():
        effect: Effect = "other"
        if right_before[case] != right_after[case]:
            effect = "better" if right_after[case] else "worse"
        found.append(VerdictChange(case, int(before[case]), int(after[case]), effect))
    order = {"worse": 0, "better": 1, "other": 2}
    found.sort(key=lambda change: (order[change.effect], change.case))
    return Moved(calibration, rates(cases, before), rates(cases, after), tuple(found))


def _share(some: NDArray[np.bool_], of: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    total = float(weights[of].sum())
    return float(weights[some].sum()) / total if total > 0.0 else 0.0
