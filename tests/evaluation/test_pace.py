"""The time that an evaluation still takes, from builds and answers that differ in pace."""

from __future__ import annotations

import pytest

from intentmatch.evaluation.pace import Pace


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_nothing_is_known_before_each_kind_was_measured():
    clock = Clock()
    pace = Pace(100, 1000, clock)

    assert pace.seconds_left() is None
    with pace.building(500):
        clock.now += 10
    assert pace.seconds_left() is None
    with pace.answering(50):
        clock.now += 1

    assert pace.seconds_left() == 11


def test_burst_of_messages_does_not_hide_the_builds_left():
    """Five rounds, each a build of 10 s and 1,000 messages in 0.1 s: 4 s after the first, 40 s are left, not 0.4."""
    clock = Clock()
    pace = Pace(5000, 5 * 800, clock)
    for left in (40.4, 30.3, 20.2, 10.1, 0.0):
        with pace.building(800):
            clock.now += 10
        with pace.answering(1000):
            clock.now += 0.1

        assert pace.seconds_left() == pytest.approx(left)


def test_newer_half_decides_where_builds_become_slower():
    clock = Clock()
    pace = Pace(0, 100, clock)
    for seconds in (1, 1, 2, 2):
        with pace.building(10):
            clock.now += seconds

    assert pace.seconds_left() == 6 * 2


@pytest.mark.parametrize(("messages", "utterances"), [(0, 0), (3, 0)])
def test_work_beyond_the_plan_leaves_nothing(messages, utterances):
    pace = Pace(messages, utterances, Clock())
    with pace.answering(5):
        pass

    assert pace.seconds_left() == 0.0
