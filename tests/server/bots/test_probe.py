"""The trial behind a readiness probe: it is waited for a moment, runs once at a time, and may not hang."""

from __future__ import annotations

import asyncio
import gc
import threading
from contextlib import suppress

import pytest

from intentmatch.server.bots import probe
from intentmatch.server.bots.probe import Probe


def test_error_of_the_trial_is_raised() -> None:
    def fail() -> None:
        raise MemoryError("secret")

    with pytest.raises(MemoryError, match="secret"):
        asyncio.run(Probe().try_out(fail))


@pytest.mark.parametrize("seconds", [60.0, 0.01])
def test_no_error_of_a_trial_is_logged_as_nobodys(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, seconds: float
) -> None:
    """Whether it ends while the probe waits, or later."""
    monkeypatch.setattr(probe, "SECONDS_TO_WAIT", seconds)
    asked = threading.Event()

    def fail() -> None:
        if seconds < 1:
            assert asked.wait(60)
        raise MemoryError("secret")

    async def ask() -> None:
        with suppress(MemoryError):
            await Probe().try_out(fail)
        asked.set()
        await asyncio.sleep(0.2)  # the error reaches the loop

    asyncio.run(ask())
    gc.collect()

    assert caplog.messages == []


def test_busy_trial_is_not_waited_for_and_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "SECONDS_TO_WAIT", 0.01)
    go_on, asked, one = threading.Event(), [], Probe()

    def trial() -> None:
        asked.append(1)
        assert go_on.wait(60)

    for _ in range(3):
        asyncio.run(one.try_out(trial))
    go_on.set()

    assert asked == [1]


def test_trial_without_an_end_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "SECONDS_TO_WAIT", 0.01)
    monkeypatch.setattr(probe, "SECONDS_UNTIL_HUNG", 0.0)
    go_on = threading.Event()

    with pytest.raises(TimeoutError, match="has waited"):
        asyncio.run(Probe().try_out(lambda: go_on.wait(60) and None))
    go_on.set()
