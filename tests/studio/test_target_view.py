"""Where the slider of the target begins."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="the extra studio is not installed")

from intentmatch.evaluation.insight.target_effect import Moved, Rates
from intentmatch.learning.calibration import Calibration
from intentmatch.learning.threshold_choice import LearnedCut
from intentmatch.studio.target_view import slider_start


@pytest.mark.parametrize(
    ("target", "reached", "note", "percent"),
    [
        ({"precision": 0.9}, 0.93, "", 90.0),
        ({"precision": 0.95}, 0.8312, "a precision of 95% would cost too much", 83.0),
        ({}, 0.871, "", 87.0),
        ({"precision": 0.2}, 0.9, "", 50.0),
    ],
)
def test_slider_begins_at_the_point_of_the_curve(target, reached, note, percent):
    """A slider at a precision that is not reached would contradict the point."""
    rates = Rates(reached, 0.7, 0.8, 0.0)
    cut = LearnedCut(0.6, reached, 0.7, 0.8, 100, note)

    assert slider_start(target, Moved(Calibration(cut=cut), rates, rates, ())) == percent
