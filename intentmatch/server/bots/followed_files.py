"""The files of a bot that answers: read again on request, with the other workers, and by a watcher."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from intentmatch.core.errors import DatabaseError, IntentMatchError, Problem
from intentmatch.core.types import Registry
from intentmatch.matching.matcher import Matcher
from intentmatch.server.bots.newer_files import NewerFiles
from intentmatch.server.bots.reloads import ReloadCounter, SharedReload
from intentmatch.server.middleware.problems import (
    ProblemError,
    from_failed_reload,
    from_invalid_files,
    from_lost_database,
)
from intentmatch.server.process.metrics import Metrics
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

if TYPE_CHECKING:
    from intentmatch.matching.database_watch import DatabaseWatch
    from intentmatch.matching.watch import Watch

_log = logging.getLogger(__name__)

_SECONDS_BETWEEN_LOOKS = 0.1


class FollowedFiles:
    """Keeps the matcher of a bot at the newest valid files, and says since when it is not."""

    def __init__(
        self,
        matcher: Callable[[], Matcher],
        metrics: Metrics,
        name: str | None,
        reloads: ReloadCounter | None = None,
        reloads_seen: int = 0,
    ) -> None:
        """`matcher` returns the matcher in use, or raises `ProblemError` until it is loaded."""
        self._matcher, self._metrics, self._name = matcher, metrics, name
        self._reloads, self._reloads_seen = reloads, reloads_seen
        # One thread, apart from those that match: reloads wait for each other and for nobody else.
        self._reloader = ThreadPoolExecutor(1, thread_name_prefix="intentmatch-reload")
        self._next_reload: SharedReload | None = None
        self._watch: Watch | DatabaseWatch | None = None
        self._newer_files = NewerFiles()
        self._invalid_since: float | None = None
        self.error: ProblemDetails | None = None
        """Why the last reload failed; None if it succeeded."""
        self.loaded_at = time.time()
        """When the files in use were read, in seconds since the epoch."""

    @property
    def stale_since(self) -> float | None:
        """Since when newer files may exist that are not in use, in seconds since the epoch; None if they are in use."""
        # Only the watch of a database can lose what it watches.
        away = getattr(self._watch, "away_since", None)
        known = (self._invalid_since if self.error else None, away, self._newer_files.since)
        return min((since for since in known if since is not None), default=None)

    def look(self) -> None:
        """Let `stale_since` count files that nobody has loaded. A watcher loads them by itself."""
        if self._watch is None:
            self._newer_files.look(self._matcher())

    async def reload(self) -> Matcher:
        """Read the files again, here and in the other workers.

        Raises `ProblemError` if they are invalid; the last valid registry then stays active.
        """
        if self._reloads is not None:
            # This process reloads at once and must not do so again when it sees the counter grown.
            self._reloads_seen = self._reloads.request()
        return await self._reload_here()

    def watch(self) -> None:
        """Read the files again whenever they change."""
        self._watch = self._matcher().watch(on_reload=self._note_reload, on_error=self._note_invalid_files)

    async def follow(self) -> None:
        """Reload whenever another worker or a signal has requested it."""
        while self._reloads is not None:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
            if (requested := self._reloads.requested) != self._reloads_seen:
                self._reloads_seen = requested
                with suppress(ProblemError):  # reported in the log and by /readyz
                    await self._reload_here()

    def close(self) -> None:
        """Stop watching."""
        if self._watch is not None:
            self._watch.stop()

    async def _reload_here(self) -> Matcher:
        """Reload once those before have ended, together with everyone else who waits for that."""
        if self._next_reload is None or not self._next_reload.may_join():
            self._next_reload = SharedReload(self._reload, self._matcher())
            self._next_reload.start(self._reloader)
        return await self._next_reload.matcher()

    def _reload(self, matcher: Matcher) -> Matcher:
        # Of several bots, the one that a line of the log is about.
        about = "" if self._name is None else f"{self._name}: "
        try:
            if self._watch is None:
                matcher.reload()
            else:  # trains in the background, as after any other change
                self._watch.reload()
        except DatabaseError as error:  # `stale_since` tells it while it lasts
            self._metrics.reloaded(self._name, ok=False)
            # Not noted as an error of the files, which may be valid.
            raise from_lost_database(error) from error
        except Exception as error:
            self._note_error(from_failed_reload(error))
            expected = isinstance(error, IntentMatchError)
            told = "%sreload failed, the last valid registry stays active: %s"
            _log.warning(told, about, error, exc_info=not expected)
            raise ProblemError(from_failed_reload(error)) from error
        self._note_reload(matcher.registry)
        intents, fingerprint = len(matcher.registry), matcher.registry.fingerprint
        _log.info("%sreloaded: %d intents, fingerprint %s", about, intents, fingerprint)
        return matcher

    def _note_reload(self, registry: Registry) -> None:
        self.error = None
        self._newer_files.forget()
        self.loaded_at = time.time()
        self._metrics.reloaded(self._name, ok=True)

    def _note_invalid_files(self, problems: Sequence[Problem]) -> None:
        self._note_error(from_invalid_files(problems))

    def _note_error(self, details: ProblemDetails) -> None:
        # Later failures keep the time of the first: since then the files in use are not the newest.
        if self.error is None:
            self._invalid_since = time.time()
        self.error = details
        self._metrics.reloaded(self._name, ok=False)
