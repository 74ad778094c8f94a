"""Pass/fail checks at and around their limits."""

from __future__ import annotations

import pytest
from answers import outcome

from intentmatch.core.errors import InputError
from intentmatch.evaluation import Report, ReportPart
from intentmatch.evaluation.gate import MEASURES, at_least, falls, no_drop
from intentmatch.evaluation.robustness import RobustnessPart, TriedVariation


def report(right: int, wrong: int, name: str = "tests") -> Report:
    """Cases of the intents a (right) and b (wrong)."""
    return Report((ReportPart(name, (*[outcome("a", "a")] * right, *[outcome("b", None)] * wrong)),))


@pytest.mark.parametrize(("percent", "passed"), [(75, True), (74.9, True), (75.1, False), (0, True), (100, False)])
def test_at_least_passes_at_the_limit(percent, passed):
    assert at_least(report(3, 1), percent).passed is passed


def test_failed_check_reports_the_distance():
    message = at_least(report(3, 1), 90).says

    assert message == "overall accuracy of the test cases is 75.0 %, 15.0 points below the required 90 %"


@pytest.mark.parametrize(("points", "passed"), [(25, True), (24.9, False), (0, False), (100, True)])
def test_no_drop_passes_at_the_limit(points, passed):
    assert no_drop(report(2, 2), report(3, 1), points).passed is passed


def test_no_drop_passes_a_rise():
    assert no_drop(report(4, 0), report(3, 1), 0).passed
    assert no_drop(report(3, 1), report(3, 1), 0).passed


def test_failed_drop_names_the_intents_with_the_largest_drop():
    before = ReportPart("tests", (outcome("a", "a"), outcome("b", "b"), outcome("b", "b"), outcome("c", None)))
    now = ReportPart(
        "tests", (outcome("a", None), outcome("b", "b"), outcome("b", "c"), outcome("c", "c"), outcome("d", "a"))
    )

    check = no_drop(Report((now,)), Report((before,)), 0.5)

    assert [fall.intent for fall in falls(before, now)] == ["a", "b"]
    assert check.says == (
        "overall accuracy of the test cases changed from 75.0 to 40.0 %, a drop of 35.0 points; allowed: 0.5. "
        "Largest drops: a (100% to 0%), b (100% to 50%)"
    )


@pytest.mark.parametrize("before", [report(1, 0, "held_out"), report(0, 0)])
def test_baseline_without_the_same_part_is_refused(before):
    with pytest.raises(InputError, match="the baseline has no test cases to compare with"):
        no_drop(report(1, 0), before, 1)


def test_report_without_cases_passes_no_check():
    assert not at_least(report(0, 0), 1).passed
    with pytest.raises(InputError, match="compare"):
        no_drop(report(0, 0), report(1, 0), 1)


def robust(**shares: tuple[int, int]) -> Report:
    """Right and wrong messages of each part."""
    parts = (
        RobustnessPart(
            name, (*[TriedVariation(outcome("a", "a"))] * right, *[TriedVariation(outcome("a", "b"))] * wrong)
        )
        for name, (right, wrong) in shares.items()
    )
    return Report(report(1, 0).parts, robustness=tuple(parts))


@pytest.mark.parametrize(
    ("measure", "percent", "passed"),
    [
        ("robustness", 75, True),
        ("robustness", 75.1, False),
        ("robustness.typos1", 50, True),
        ("robustness.typos1", 51, False),
        ("robustness.noise", 100, True),
    ],
)
def test_robustness_has_a_minimum_in_all_and_by_part(measure, percent, passed):
    """The mean of 1 of 2 and 9 of 9."""
    check = at_least(robust(typos1=(1, 1), noise=(9, 0)), percent, measure)

    assert (check.name, check.passed) == (f"fail-under {measure}", passed)


def test_failed_minimum_of_a_part_names_it():
    check = at_least(robust(typos1=(1, 1)), 90, "robustness.typos1")

    assert check.says == "robustness (one typing mistake) is 50.0 %, 40.0 points below the required 90 %"


def test_part_without_messages_fails_and_says_so():
    check = at_least(robust(typos1=(1, 1), accents=(0, 0)), 90, "robustness.accents")

    assert check.says.startswith("robustness (without accents: no messages) is 0.0 %")
    assert not check.passed


def test_robustness_that_was_not_measured_is_refused():
    with pytest.raises(InputError, match="the report has no robustness"):
        at_least(report(1, 0), 90, "robustness")


def test_measures_are_those_that_the_option_takes():
    assert MEASURES[:3] == ("overall", "robustness", "robustness.typos1")
