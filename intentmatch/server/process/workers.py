"""Several processes that answer at one address, and read their files again together.

The parent listens, starts the workers, and starts another for one that died; what they share beside is the cache of
vectors on disk, the counts for Prometheus, and a number: who is asked to reload counts it up, and the others follow.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

from prometheus_client.multiprocess import mark_process_dead
from starlette.types import ASGIApp
from uvicorn import Config
from uvicorn.supervisors import Multiprocess

from intentmatch.server.bots.reloads import Reloads
from intentmatch.server.process.metrics import SHARED


def serve_together(make_app: Callable[[], ASGIApp], reloads: Reloads, workers: int, **options: Any) -> None:
    """Answer until told to stop, in as many processes; `make_app` makes the app of one and can be sent there.

    `options` are uvicorn's.
    """
    config = Config(make_app, factory=True, workers=workers, **options)
    with tempfile.TemporaryDirectory(prefix="intentmatch-") as counts:
        # Taken over by the workers, and read there before anything is counted.
        os.environ.setdefault(SHARED, counts)
        _Supervisor(config, [config.bind_socket()], reloads).run()


class _Supervisor(Multiprocess):
    """Uvicorn's, but for a hangup, and for the counts of workers that died."""

    def __init__(self, config: Config, sockets: list[Any], reloads: Reloads) -> None:
        super().__init__(config, sockets)
        self._reloads = reloads

    def handle_hup(self) -> None:
        """Have the files read again; workers that were started anew could not start with broken ones."""
        self._reloads.ask()

    def keep_subprocess_alive(self) -> None:
        """Nothing waits any more for a worker that is not there."""
        before = {process.pid for process in self.processes}
        super().keep_subprocess_alive()
        for pid in before - {process.pid for process in self.processes}:
            mark_process_dead(pid)  # type: ignore[no-untyped-call]
