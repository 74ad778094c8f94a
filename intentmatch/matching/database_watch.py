"""Reload a bot from PostgreSQL whenever it has a new revision; while the database is away, the old one answers."""

from __future__ import annotations

import atexit
import threading
from types import TracebackType

from intentmatch.core.errors import DatabaseError
from intentmatch.core.types import Registry
from intentmatch.matching.learner import Learner
from intentmatch.matching.loader import Reloader
from intentmatch.matching.replica import Replica
from intentmatch.matching.watch import OnError, OnReload, report_failure, report_reload, train
from intentmatch.registry.reading.snapshot import Content

# Nothing wakes the thread at exit, so it must look for the end more often than `_SECONDS_AT_EXIT`.
_SECONDS_BETWEEN_STOPS = 0.5
_SECONDS_AT_EXIT = 1.0


class DatabaseWatch:
    """Follows the revisions of a bot until `stop`. Also a context manager. Made by `Matcher.watch`."""

    def __init__(
        self,
        replica: Replica,
        reloader: Reloader,
        *,
        on_reload: OnReload | None = None,
        on_error: OnError | None = None,
    ) -> None:
        self._replica, self._reloader = replica, reloader
        self._on_reload, self._on_error = on_reload, on_error
        self._learner = Learner(self._train)
        self._refused: Content | None = None
        self._stopped = threading.Event()
        self._news = replica.subscribe()
        self._thread = threading.Thread(target=self._run, name="intentmatch-watch", daemon=True)
        self._thread.start()
        atexit.register(self._leave)

    @property
    def away_since(self) -> float | None:
        """When the database was lost, in seconds since the epoch; None while it answers."""
        return self._news.away_since

    def stop(self) -> None:
        """Stop watching. Doing it twice does no harm."""
        self._stopped.set()
        self._news.tell()
        # A callback of the watch may stop it, and a thread cannot wait for itself.
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self._news.close()
        atexit.unregister(self._leave)

    def __enter__(self) -> DatabaseWatch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _leave(self) -> None:
        self._stopped.set()
        self._thread.join(_SECONDS_AT_EXIT)

    def _run(self) -> None:
        again = True  # a revision between loading and subscribing sends no news
        while not self._stopped.is_set():
            if self._news.wait(0 if again else _SECONDS_BETWEEN_STOPS) or again:
                again = not self._look()
                if again:
                    self._stopped.wait(_SECONDS_BETWEEN_STOPS)

    def _look(self) -> bool:
        """Reload if the newest revision is neither in use nor refused; whether the database could tell."""
        now: Content = {}
        try:
            now = self._replica.newest()
            # A refused revision is read and reported once, not at every look.
            if now == (self._reloader.content if self._refused is None else self._refused):
                return True
            registry = self.reload()
        except DatabaseError:  # `Notices` logs it, once
            return False
        except Exception as error:  # noqa: BLE001 - whatever failed, the old registry and this thread go on
            self._refused = now
            report_failure(self._replica.address, error, self._on_error)
            return True
        report_reload(registry, self._on_reload)
        return True

    def reload(self) -> Registry:
        """Reload now, with the thresholds in use until new ones are trained; return the registry. Raises as `load`."""
        registry = self._reloader.reload_provisionally()
        self._refused = None
        # In another thread, so that the next edit does not wait for the training of this one.
        self._learner.request()
        return registry

    def _train(self) -> None:
        train(self._reloader)
