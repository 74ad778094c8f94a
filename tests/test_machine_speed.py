"""Limits of processor time: the same on a slow machine, and still exceeded by slow code."""

from __future__ import annotations

import machine_speed
import pytest


class Machine:
    """A clock that a piece of work moves on: by a time, multiplied by the slowness of the machine."""

    def __init__(self, slowness: float) -> None:
        self.slowness = slowness
        self.now = 0.0

    def thread_time(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += self.slowness * seconds


@pytest.mark.parametrize(
    ("slowness", "work", "measured"),
    [(1, 0.05, 0.05), (5, 0.05, 0.05), (0.5, 0.05, 0.025), (1, 0.3, 0.3), (5, 0.3, 0.3), (40, 0.3, 0.3)],
)
def test_seconds_do_not_depend_on_a_slow_machine(
    monkeypatch: pytest.MonkeyPatch, slowness: float, work: float, measured: float
) -> None:
    machine = Machine(slowness)
    monkeypatch.setattr(machine_speed, "time", machine)
    monkeypatch.setattr(machine_speed, "_reference", lambda: machine.work(machine_speed.REFERENCE_SECONDS))

    found = machine_speed.standard_seconds(lambda: machine.work(work), 0.1)

    assert found == pytest.approx(measured)


def test_one_slow_attempt_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(1.0)
    monkeypatch.setattr(machine_speed, "time", machine)
    monkeypatch.setattr(machine_speed, "_reference", lambda: machine.work(machine_speed.REFERENCE_SECONDS))
    attempts = iter([0.5, 0.4, 0.05])

    assert machine_speed.standard_seconds(lambda: machine.work(next(attempts)), 0.1) == pytest.approx(0.05)
    assert next(attempts, None) is None


def test_reference_does_the_same_work_every_time() -> None:
    assert machine_speed._reference() == machine_speed._reference() > 1000
