"""Reloads that several processes make together, or that a signal asks for."""

from __future__ import annotations

import signal
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import get_context
from typing import Any


class Reloads:
    """How often a reload was asked for; where it is `shared`, in all processes that it is sent to when they start.

    Whoever follows it reads the files again when it has grown. A worker that reloads for a caller counts it up first,
    also if the files turn out to be broken: then all of them say so, and go on answering as before.
    """

    def __init__(self, *, shared: bool = False) -> None:
        # What is shared takes a semaphore of the system, which a process that is ended by a signal leaves behind.
        self._count: Any = get_context("spawn").Value("Q", 0) if shared else _Own()

    def ask(self) -> int:
        """Have everybody reload who follows; how often that was asked for by now."""
        with self._count.get_lock():
            self._count.value += 1
            return int(self._count.value)

    @property
    def asked(self) -> int:
        """How often it was asked for."""
        return int(self._count.value)

    def heed_hangups(self) -> None:
        """Have a SIGHUP to this process ask for a reload, where there are such signals."""
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, lambda *_: self.ask())


class _Own:
    """A number of one process, counted up in its main thread only."""

    value = 0

    def get_lock(self) -> AbstractContextManager[None]:
        return nullcontext()
