"""Stop long work at its next step: when its time is up, or when somebody cancels it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from intentmatch.runtime import steps


class StoppedError(Exception):
    """The work was stopped; what it has done so far is lost."""


@contextmanager
def stopping(
    stop: Callable[[], bool], listener: steps.Listener | None = None, *, error: type[Exception] = StoppedError
) -> Iterator[None]:
    """Raise `error` out of the block at the first step that this thread reports while `stop()` is true.

    Every step goes to the listener around the block first, which may stop the work too, and then to `listener`.
    """
    around = steps.current()

    def check(step: steps.Step) -> None:
        if around is not None:
            # The outer listener first, so that an outer limit ends inner work too.
            around(step)
        if stop():
            raise error
        if listener is not None:
            listener(step)

    with steps.listening(check):
        yield


def after(seconds: float) -> Callable[[], bool]:
    """Return a function that is true once so many seconds have passed from now."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end
