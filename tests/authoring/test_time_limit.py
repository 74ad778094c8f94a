"""Work stops at its next step."""

from __future__ import annotations

import pytest

from intentmatch.authoring.time_limit import StoppedError, after, stopping
from intentmatch.runtime import steps


def test_work_stops_at_the_first_step_after_it_was_told_to() -> None:
    seen: list[int] = []

    def work() -> None:
        with stopping(lambda: len(seen) == 2, lambda step: seen.append(step.done)):
            for number in range(5):
                steps.report("work", number)

    with pytest.raises(StoppedError):
        work()

    assert seen == [0, 1]


def test_time_is_up_after_its_seconds() -> None:
    assert after(-1)()
    assert not after(60)()


def test_whoever_listens_around_the_block_may_stop_it_in_their_own_way() -> None:
    class ClosedError(Exception):
        """The reason of the outer block."""

    def work() -> None:
        with stopping(lambda: True, error=ClosedError), stopping(lambda: False):
            steps.report("work")

    with pytest.raises(ClosedError):
        work()
