"""Several worker processes at one address that reload their files together.

The parent listens, starts the workers and replaces those that die. The workers share the vector cache on disk, the
metrics files of Prometheus, and a reload counter: the worker that is told to reload increments it, the others follow.
"""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from inspect import signature
from typing import Any

from prometheus_client.multiprocess import mark_process_dead
from starlette.types import ASGIApp
from uvicorn import Server
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

from intentmatch.server.bots.reloads import ReloadCounter
from intentmatch.server.process.certificates import CertificateConfig
from intentmatch.server.process.metrics import SHARED

_log = logging.getLogger(__name__)

SECONDS_OF_SILENCE = 120.0
"""After which a worker that does not answer is killed and replaced."""
# Short, because the supervisor handles signals between two pings.
_SECONDS_OF_A_PING = 1.0
# A file system in memory, which a container has even if its root is mounted read-only.
_MEMORY = "/dev/shm"  # noqa: S108 - the folder in it has a random name


def serve_together(make_app: Callable[[], ASGIApp], reloads: ReloadCounter, workers: int, **options: Any) -> None:
    """Serve until told to stop. `make_app` makes the app of one worker, and must be picklable.

    `options` are those of `CertificateConfig`.
    """
    config = CertificateConfig(make_app, factory=True, workers=workers, **options)
    with _folder_of_counts() as counts:
        if counts is not None:
            # Workers inherit the variable, and prometheus_client reads it before the first metric.
            os.environ.setdefault(SHARED, counts)
        _Supervisor(config, [config.bind_socket()], reloads).run()


def _folder_of_counts() -> AbstractContextManager[str | None]:
    """Make the folder that the workers share for metrics; None where nothing is writable."""
    for place in (None, _MEMORY):
        with suppress(OSError):
            return tempfile.TemporaryDirectory(prefix="intentmatch-", dir=place)
    if SHARED not in os.environ:
        _log.warning("no folder is writable: /metrics counts the requests of one worker alone; set %s", SHARED)
    return nullcontext()


class Patience:
    """Whether a worker is alive, in place of the method of uvicorn's `Process`.

    Uvicorn kills a worker that does not answer within five seconds. On a busy machine a worker takes longer to start,
    and would be replaced for ever. Here it may be silent for `SECONDS_OF_SILENCE`; one that has ended is replaced at
    once.
    """

    def __init__(self, process: Process, clock: Callable[[], float] = time.monotonic) -> None:
        self._process, self._clock = process, clock
        self._heard = clock()

    def __call__(self, timeout: float = 5) -> bool:
        """Ask the worker. `timeout` is uvicorn's, and is not used."""
        if not self._process.process.is_alive():
            return False
        if self._process.ping(_SECONDS_OF_A_PING):
            self._heard = self._clock()
        return self._clock() - self._heard < SECONDS_OF_SILENCE


class _Supervisor(Multiprocess):
    """Uvicorn's supervisor with reloads on SIGHUP, and metrics without dead workers."""

    def __init__(self, config: CertificateConfig, sockets: list[Any], reloads: ReloadCounter) -> None:
        # Before uvicorn 0.51, the supervisor was given what a worker runs.
        target = {"target": Server(config).run} if "target" in signature(Multiprocess).parameters else {}
        super().__init__(config, sockets=sockets, **target)
        self._reloads = reloads

    def handle_hup(self) -> None:
        """Reload the files. Uvicorn would restart the workers, which fails if the files are invalid."""
        self._reloads.request()

    def keep_subprocess_alive(self) -> None:
        """Replace dead workers, and drop their gauges."""
        for process in self.processes:
            if not isinstance(process.is_alive, Patience):
                process.is_alive = Patience(process)  # type: ignore[method-assign]
        before = {process.pid for process in self.processes}
        super().keep_subprocess_alive()
        for pid in before - {process.pid for process in self.processes}:
            # Their gauges, such as waiting messages, would be added up for ever.
            mark_process_dead(pid)  # type: ignore[no-untyped-call]
