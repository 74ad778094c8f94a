"""The gate: passed or failed at the very point, and by how much."""

from __future__ import annotations

import pytest
from answers import outcome

from intentmatch.core.errors import InputError
from intentmatch.evaluation import Part, Report
from intentmatch.evaluation.gate import at_least, falls, no_drop


def report(right: int, wrong: int, name: str = "tests") -> Report:
    """Cases of the intents a (right) and b (wrong)."""
    return Report((Part(name, (*[outcome("a", "a")] * right, *[outcome("b", None)] * wrong)),))


@pytest.mark.parametrize(("percent", "passed"), [(75, True), (74.9, True), (75.1, False), (0, True), (100, False)])
def test_at_least(percent, passed):
    """The share of all cases that are right, in percent; the limit itself passes."""
    assert at_least(report(3, 1), percent).passed is passed


def test_a_failure_says_by_how_much():
    """The number, what it is of, and the distance."""
    said = at_least(report(3, 1), 90).says

    assert said == "overall accuracy of the test cases is 75.0 %, 15.0 points below the 90 % asked for"


@pytest.mark.parametrize(("points", "passed"), [(25, True), (24.9, False), (0, False), (100, True)])
def test_no_drop(points, passed):
    """Points of the same number; the allowed drop itself passes."""
    assert no_drop(report(2, 2), report(3, 1), points).passed is passed


def test_a_rise_passes_any_gate():
    """And so does the same again."""
    assert no_drop(report(4, 0), report(3, 1), 0).passed
    assert no_drop(report(3, 1), report(3, 1), 0).passed


def test_a_drop_names_the_intents_that_fell_most():
    """Deepest first; those that rose or are new are not named."""
    before = Part("tests", (outcome("a", "a"), outcome("b", "b"), outcome("b", "b"), outcome("c", None)))
    now = Part(
        "tests", (outcome("a", None), outcome("b", "b"), outcome("b", "c"), outcome("c", "c"), outcome("d", "a"))
    )

    check = no_drop(Report((now,)), Report((before,)), 0.5)

    assert [fall.intent for fall in falls(before, now)] == ["a", "b"]
    assert check.says == (
        "overall accuracy of the test cases went from 75.0 to 40.0 %, 35.0 points down, and 0.5 are allowed. "
        "Fell most: a (100% to 0%), b (100% to 50%)"
    )


@pytest.mark.parametrize("before", [report(1, 0, "held_out"), report(0, 0)])
def test_a_baseline_of_something_else_is_refused(before):
    """There is nothing to compare with."""
    with pytest.raises(InputError, match="the baseline has no test cases to compare with"):
        no_drop(report(1, 0), before, 1)


def test_nothing_measured_passes_no_gate():
    """A report without cases is no proof of anything."""
    assert not at_least(report(0, 0), 1).passed
    with pytest.raises(InputError, match="compare"):
        no_drop(report(0, 0), report(1, 0), 1)
