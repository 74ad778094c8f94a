"""Estimates with a fake clock: near the truth for steady, slowing and bursting work, and withheld before that."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from intentmatch.cli.render.estimate import TimeLeft, in_words
from intentmatch.runtime.steps import Step

HALF = 0.5


def estimates(durations: Iterable[float], every: float = 1.0) -> list[tuple[float, float, float | None]]:
    """Play items of these durations; return (share of the time, seconds really left, seconds estimated) each second."""
    ends, now = [], 0.0
    for duration in durations:
        now += duration
        ends.append(now)
    total, whole = len(ends), now
    estimate = TimeLeft(0.0)
    estimate.update(Step("work", 0, total), 0.0)
    found, done, moment = [], 0, every
    while moment < whole:
        while done < total and ends[done] <= moment:
            done += 1
            estimate.update(Step("work", done, total), ends[done - 1])
        found.append((moment / whole, whole - moment, estimate.seconds_left(moment)))
        moment += every
    return found


def worst_factor(found: list[tuple[float, float, float | None]], after: float = 0.0, before: float = 0.97) -> float:
    """The largest factor between estimate and truth in a part of the time; the last seconds are rounded away."""
    pairs = [(truth, said) for share, truth, said in found if after <= share <= before and said is not None]
    assert pairs
    return max(max(truth / said, said / truth) for truth, said in pairs)


@pytest.mark.parametrize("seconds", [0.01, 0.3, 5.0])
def test_steady_work_is_estimated_within_a_tenth(seconds):
    found = estimates([seconds] * int(600 / seconds))

    assert worst_factor(found) < 1.1


def test_slowing_work_is_estimated_within_a_factor_of_two_from_a_third_of_the_time_on():
    """Each item takes a little longer than the one before: the last one ten times as long as the first."""
    found = estimates([0.1 + 0.9 * number / 1000 for number in range(1000)])

    assert worst_factor(found, after=1 / 3) < 2.0


def test_work_that_suddenly_becomes_slower_is_right_again_after_twice_that_time():
    """Cached items first: 5,000 in 5 s, then 1,000 of 0.1 s."""
    found = estimates([0.001] * 5000 + [0.1] * 1000)

    assert worst_factor(found, after=0.15) < 1.5


def test_much_work_left_is_never_a_few_seconds():
    """One build of 8 s before each burst of 1,000 items, ten times; the worst of the old estimates said 5 s."""
    found = estimates(([8.0] + [0.001] * 999) * 10)

    assert min(said for share, _, said in found if said is not None and share < HALF) > 20
    assert worst_factor(found, after=0.25, before=0.85) < 2.0


def test_no_estimate_before_it_means_something():
    found = estimates([0.5] * 100, every=0.1)

    assert all(said is None for share, _, said in found if share * 50 < 2.0)
    assert all(said is not None for share, _, said in found if share * 50 > 2.1)


def test_one_item_is_no_rate():
    estimate = TimeLeft(0.0)
    estimate.update(Step("work", 1, 10), 30.0)

    assert estimate.seconds_left(31.0) is None


def test_unknown_total_has_no_estimate():
    estimate = TimeLeft(0.0)
    for second in range(1, 9):
        estimate.update(Step("work", second, None), second)

    assert estimate.seconds_left(9.0) is None


def test_silence_longer_than_any_before_makes_the_estimate_grow():
    estimate = TimeLeft(0.0)
    for second in range(1, 11):
        estimate.update(Step("work", second, 20), second)

    said = [estimate.seconds_left(moment) for moment in (10, 10.5, 11, 15, 20, 40)]

    assert said[:3] == pytest.approx([10, 9.5, 9])
    assert said[2:] == sorted(said[2:])
    assert said[-1] > 100


def test_estimate_of_the_work_itself_counts_down():
    estimate = TimeLeft(0.0)
    estimate.update(Step("work", 0, 100, None), 0.0)
    estimate.update(Step("work", 10, 100, 60.0), 10.0)

    assert estimate.seconds_left(14.0) == 56.0
    estimate.update(Step("work", 20, 100, 50.0), 19.0)
    assert estimate.seconds_left(19.0) == 50.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "a few seconds"),
        (5, "a few seconds"),
        (5.2, "about 10 s"),
        (41, "about 45 s"),
        (60, "about 60 s"),
        (61, "about 2 min"),
        (119 * 60, "about 119 min"),
        (121 * 60, "about 3 h"),
    ],
)
def test_words_round_up(seconds, words):
    assert in_words(seconds) == words
