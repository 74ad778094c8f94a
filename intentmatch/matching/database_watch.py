"""Reload a bot from PostgreSQL whenever it has a new revision; while the database is away, the old one answers."""

from __future__ import annotations

from intentmatch.core.errors import DatabaseError
from intentmatch.matching.loader import Reloader
from intentmatch.matching.replica import Replica
from intentmatch.matching.watch import BaseWatch, OnError, OnReload
from intentmatch.registry.reading.snapshot import Content

# Nothing wakes the thread at exit, so it must look for the end more often than `watch._SECONDS_AT_EXIT`.
_SECONDS_BETWEEN_STOPS = 0.5


class DatabaseWatch(BaseWatch):
    """Follows the revisions of a bot. Made by `Matcher.watch`."""

    def __init__(
        self,
        replica: Replica,
        reloader: Reloader,
        *,
        on_reload: OnReload | None = None,
        on_error: OnError | None = None,
    ) -> None:
        super().__init__(replica.address, reloader, on_reload, on_error)
        self._replica = replica
        self._news = replica.subscribe()
        self._start()

    @property
    def away_since(self) -> float | None:
        """When the database was lost, in seconds since the epoch; None while it answers."""
        return self._news.away_since

    def stop(self) -> None:
        """Stop watching. Doing it twice does no harm."""
        self._stopped.set()
        self._news.tell()
        super().stop()
        self._news.close()

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
            if now == self._last:
                return True
            registry = self.reload()
        except DatabaseError:  # `Notices` logs it, once
            return False
        except Exception as error:  # noqa: BLE001 - whatever failed, the old registry and this thread go on
            self._refuse(now, error)
            return True
        self._report_reload(registry)
        return True
