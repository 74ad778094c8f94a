"""Several worker processes at one address that reload their files together.

The parent listens, starts the workers and replaces those that die. The workers share the vector cache on disk, the
metrics files of Prometheus, and a reload counter: the worker that is told to reload increments it, the others follow.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

from prometheus_client.multiprocess import mark_process_dead
from starlette.types import ASGIApp
from uvicorn.supervisors import Multiprocess

from intentmatch.server.bots.reloads import ReloadCounter
from intentmatch.server.process.certificates import CertificateConfig
from intentmatch.server.process.metrics import SHARED


def serve_together(make_app: Callable[[], ASGIApp], reloads: ReloadCounter, workers: int, **options: Any) -> None:
    """Serve until told to stop. `make_app` makes the app of one worker, and must be picklable.

    `options` are uvicorn's.
    """
    config = CertificateConfig(make_app, factory=True, workers=workers, **options)
    with tempfile.TemporaryDirectory(prefix="intentmatch-") as counts:
        # Workers inherit the variable, and prometheus_client reads it before the first metric.
        os.environ.setdefault(SHARED, counts)
        _Supervisor(config, [config.bind_socket()], reloads).run()


class _Supervisor(Multiprocess):
    """Uvicorn's supervisor with reloads on SIGHUP, and metrics without dead workers."""

    def __init__(self, config: CertificateConfig, sockets: list[Any], reloads: ReloadCounter) -> None:
        super().__init__(config, sockets)
        self._reloads = reloads

    def handle_hup(self) -> None:
        """Reload the files. Uvicorn would restart the workers, which fails if the files are invalid."""
        self._reloads.request()

    def keep_subprocess_alive(self) -> None:
        """Replace dead workers, and drop their gauges."""
        before = {process.pid for process in self.processes}
        super().keep_subprocess_alive()
        for pid in before - {process.pid for process in self.processes}:
            mark_process_dead(pid)  # type: ignore[no-untyped-call]
