"""The thread of candidates: bounded, and busy for a share of the time only."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event
from typing import Any

import pytest

from intentmatch.server.candidates import shadow_queue
from intentmatch.server.candidates.shadow_queue import ShadowQueue

PATIENCE = 60.0


class Recorder:
    """A worker that notes what it is given."""

    def __init__(self, *, outside: bool = False, does: Callable[[], object] = lambda: None) -> None:
        self.outside, self._does = outside, does
        self.items: list[Any] = []
        self.rests = 0
        self.goes_on = True

    def work(self, items: Sequence[Any]) -> None:
        self._does()
        self.items += items

    def rest(self) -> bool:
        self.rests += 1
        return self.goes_on


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow_queue, "_SECONDS_BETWEEN_LOOKS", 0.001)


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.001)


def test_items_reach_their_workers_in_order() -> None:
    queue, first, second = ShadowQueue(), Recorder(), Recorder()

    for number in range(40):
        assert queue.put(first if number % 3 else second, number)

    until(lambda: len(first.items) + len(second.items) == 40)
    assert second.items == list(range(0, 40, 3))
    assert first.items == [number for number in range(40) if number % 3]
    until(lambda: first.rests > 2 and second.rests > 2)


def test_a_full_queue_takes_no_more() -> None:
    begun, end = Event(), Event()

    def wait() -> None:
        begun.set()
        end.wait(PATIENCE)

    queue, worker = ShadowQueue(most=3), Recorder(does=wait)
    assert queue.put(worker, 0)
    assert begun.wait(PATIENCE)
    taken = [queue.put(worker, number) for number in range(1, 6)]
    rare = [queue.put(worker, number, rare=True) for number in range(6, 10)]
    end.set()

    assert (taken, rare) == ([True, True, True, False, False], [True, True, True, False])
    until(lambda: worker.items == [0, 1, 2, 3, 6, 7, 8])


@pytest.mark.parametrize("outside", [True, False])
def test_the_thread_rests_in_proportion_to_its_work(outside: bool) -> None:
    """Twenty times as long as it has worked, with a share of a twentieth; measured work is at least what is asked."""
    pauses: list[float] = []

    def work() -> None:
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        time.sleep(0.001)

    queue, worker = ShadowQueue(share=0.05, sleep=sleep), Recorder(outside=outside, does=work)
    queue.put(worker, 0)

    until(lambda: pauses)
    assert pauses[0] >= 0.9 * 0.02 * 19


def test_a_worker_that_fails_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise MemoryError

    queue, bad, good = ShadowQueue(), Recorder(does=fail), Recorder()
    queue.put(bad, 1)
    queue.put(good, 2)

    until(lambda: good.items == [2])
    assert "messages cannot be given to a candidate" in caplog.text


def test_the_thread_ends_when_idle_and_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow_queue, "_SECONDS_TO_LINGER", 0.0)
    queue, worker = ShadowQueue(), Recorder()

    for number in range(20):
        queue.put(worker, number)
        until(lambda: queue._thread is None)

    assert worker.items == list(range(20))


def test_a_worker_that_has_stopped_is_forgotten() -> None:
    queue, worker, other = ShadowQueue(), Recorder(), Recorder()
    worker.goes_on = False
    queue.put(worker, 1)
    queue.put(other, 1)
    until(lambda: other.rests > 5)

    assert worker.rests == 1
