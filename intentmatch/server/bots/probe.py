"""A trial of a bot that a readiness probe waits for, though not for long."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

SECONDS_TO_WAIT = 1.0
"""After which a probe is answered by what was known before the trial."""
SECONDS_UNTIL_HUNG = 30.0
"""After which a trial without an end counts as a failure."""


class Probe:
    """Runs one trial at a time in a thread of its own, whoever asks and however often.

    Orchestrators ask every few seconds and give up after a few: a model that is busy must not look dead, and a model
    that hangs must not hold a thread for each question.
    """

    def __init__(self) -> None:
        self._trial: Future[None] | None = None
        self._began = 0.0

    async def try_out(self, trial: Callable[[], None]) -> None:
        """Run a trial, or wait for the one that runs. Returns early if it goes on for longer than a probe waits.

        Raises what the trial raises, and `TimeoutError` if it hangs.
        """
        if self._trial is None or self._trial.done():
            self._trial, self._began = _in_a_thread(trial), time.monotonic()
        running = self._trial
        waiting = asyncio.wrap_future(running)
        # The error of a trial that goes on belongs to whoever asks next: asyncio must not log it as nobody's.
        waiting.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        done, _ = await asyncio.wait([waiting], timeout=SECONDS_TO_WAIT)
        if done:
            running.result()
        elif time.monotonic() > self._began + SECONDS_UNTIL_HUNG:
            raise TimeoutError(f"a message has waited {time.monotonic() - self._began:.0f} s for its answer")


def _in_a_thread(trial: Callable[[], None]) -> Future[None]:
    future: Future[None] = Future()

    def run() -> None:
        try:
            trial()
        except BaseException as error:  # noqa: BLE001 - whoever waits for the future gets it
            future.set_exception(error)
        else:
            future.set_result(None)

    # No executor: Python waits for its threads at exit, and would never end beside a model that hangs.
    threading.Thread(target=run, name="probe", daemon=True).start()
    return future
