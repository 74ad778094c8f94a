"""Reloads that several processes make together, or that a signal asks for."""

from __future__ import annotations

import signal
from multiprocessing import get_context


class Reloads:
    """How often a reload was asked for; a number that can be sent to processes when they are started, and shared.

    Whoever follows it reads the files again when it has grown. A worker that reloads for a caller counts it up first,
    also if the files turn out to be broken: then all of them say so, and go on answering as before.
    """

    def __init__(self) -> None:
        self._asked = get_context("spawn").Value("Q", 0)

    def ask(self) -> int:
        """Have everybody reload who follows; how often that was asked for by now."""
        with self._asked.get_lock():
            self._asked.value += 1
            return int(self._asked.value)

    @property
    def asked(self) -> int:
        """How often it was asked for."""
        return int(self._asked.value)

    def heed_hangups(self) -> None:
        """Have a SIGHUP to this process ask for a reload, where there are such signals."""
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, lambda *_: self.ask())
