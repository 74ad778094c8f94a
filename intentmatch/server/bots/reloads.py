"""Reloads that several processes make together, or that a signal requests."""

from __future__ import annotations

import signal
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import get_context
from typing import Any


class ReloadCounter:
    """Counts requests to reload; a `shared` one counts for all processes that receive it when they start.

    Each process follows the counter and reads its files again when it has grown. A worker that reloads for a caller
    increments it first, even if the files turn out to be invalid: then all workers report that, and all keep the last
    valid registry.
    """

    def __init__(self, *, shared: bool = False) -> None:
        # A shared value takes a system semaphore, which a process killed by a signal leaves behind.
        self._count: Any = get_context("spawn").Value("Q", 0) if shared else _LocalCount()

    def request(self) -> int:
        """Request a reload from every follower. Returns the number of requests so far."""
        with self._count.get_lock():
            self._count.value += 1
            return int(self._count.value)

    @property
    def requested(self) -> int:
        """Number of requests so far."""
        return int(self._count.value)

    def request_on_hangup(self) -> None:
        """Let SIGHUP to this process request a reload, on systems that have it."""
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, lambda *_: self.request())


class _LocalCount:
    """A number of one process, incremented in its main thread only."""

    value = 0

    def get_lock(self) -> AbstractContextManager[None]:
        return nullcontext()
