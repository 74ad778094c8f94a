"""Reloads that several processes make together, or that a signal requests."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import get_context
from typing import Any

from intentmatch.core.errors import InputError
from intentmatch.matching.matcher import Matcher


class SharedReload:
    """A reload that several callers may wait for, as long as it has not begun to read the files."""

    def __init__(self, reload: Callable[[Matcher], Matcher], matcher: Matcher) -> None:
        self._reload, self._matcher = reload, matcher
        self._begun = threading.Event()

    def start(self, executor: Executor) -> None:
        """Hand the reload to a thread."""
        self._ended = asyncio.get_running_loop().run_in_executor(executor, self._run)

    def may_join(self) -> bool:
        """Whether the files will be read after this moment."""
        return not self._begun.is_set()

    async def matcher(self) -> Matcher:
        """Return the reloaded matcher, or raise why the reload failed. A caller that is cancelled stops nobody else."""
        return await asyncio.shield(self._ended)

    def _run(self) -> Matcher:
        self._begun.set()
        return self._reload(self._matcher)


class ReloadCounter:
    """Counts requests to reload; a `shared` one counts for all processes that receive it when they start.

    Each process follows the counter and reads its files again when it has grown. A worker that reloads for a caller
    increments it first, even if the files turn out to be invalid: then all workers report that, and all keep the last
    valid registry.
    """

    def __init__(self, *, shared: bool = False) -> None:
        """Raises `InputError` if the operating system has no memory that processes share."""
        try:
            # A shared value takes a system semaphore, which a process killed by a signal leaves behind.
            self._count: Any = get_context("spawn").Value("Q", 0) if shared else _LocalCount()
        except OSError as error:
            raise InputError(
                f"several workers need shared memory, which the system refuses ({error.strerror or error}): "
                "mount /dev/shm as a writable tmpfs, or leave out --workers"
            ) from error

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
            # The handler may interrupt `request` in the main thread: the lock of a shared
            # value lets its owner in again.
            signal.signal(signal.SIGHUP, lambda *_: self.request())


class _LocalCount:
    """A number of one process, incremented in its main thread only."""

    value = 0

    def get_lock(self) -> AbstractContextManager[None]:
        return nullcontext()
