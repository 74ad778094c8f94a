"""Precision against coverage, and what changes when the target moves."""

from __future__ import annotations

import numpy as np
import pytest

from intentmatch.evaluation.insight.held_out_cases import REFUSED, HeldOutCases
from intentmatch.evaluation.insight.target_effect import calibration_for, coverage_curve, moved, rates
from intentmatch.learning.calibration import Calibration


def test_same_target_changes_nothing(cases: HeldOutCases):
    found = moved(cases, cases.artefact.settings.target)

    assert found.changes == ()
    assert found.before == found.after
    assert found.threshold == cases.artefact.calibration.cut.value


def test_calibration_for_the_target_in_use_is_that_of_the_build(cases: HeldOutCases):
    assert calibration_for(cases, cases.artefact.settings.target).cut == cases.artefact.calibration.cut


def test_higher_target_answers_less_and_refuses_more(cases: HeldOutCases):
    low, high = moved(cases, {"precision": 0.6}), moved(cases, {"precision": 0.99})

    assert high.threshold > low.threshold
    assert high.after.coverage <= low.after.coverage
    assert high.after.refused >= low.after.refused
    assert low.before == high.before


def test_changes_say_what_gets_better_and_worse(cases: HeldOutCases):
    found = moved(cases, {"precision": 0.99})
    after = cases.right(cases.verdicts(found.calibration))
    before = cases.right(cases.verdicts(cases.artefact.calibration))

    assert found.changes
    assert sum(found.count(effect) for effect in ("better", "worse", "other")) == len(found.changes)
    for change in found.changes:
        assert change.before != change.after
        assert (change.effect == "better") == (after[change.case] and not before[change.case])
        assert (change.effect == "worse") == (before[change.case] and not after[change.case])
    effects = [change.effect for change in found.changes]
    assert effects == sorted(effects, key=("worse", "better", "other").index)


def test_rates_are_those_that_the_calibration_expects(cases: HeldOutCases):
    """Without thresholds of their own for languages and intents, both count the same cases."""
    calibration = cases.artefact.calibration
    plain = Calibration(calibration.curve, calibration.cut, sharpness=calibration.sharpness)
    found = rates(cases, cases.verdicts(plain))

    assert found.precision == pytest.approx(calibration.cut.precision)
    assert found.coverage == pytest.approx(calibration.cut.coverage)
    assert found.refused == pytest.approx(calibration.cut.refused)


def test_curve_falls_from_few_sure_answers_to_all(cases: HeldOutCases):
    curve = coverage_curve(cases, cases.artefact.calibration, points=20)

    coverage = [point.rates.coverage for point in curve]
    assert 2 < len(curve) <= 20
    assert coverage == sorted(coverage)
    assert curve[-1].rates.refused < 0.05


def test_refusing_everything_has_no_precision(cases: HeldOutCases):
    found = rates(cases, np.full(len(cases.held_out.known), REFUSED))

    assert found == (0.0, 0.0, 1.0, 0.0)


def test_without_confidences_there_is_no_curve(cases: HeldOutCases):
    assert coverage_curve(cases, Calibration()) == []
