"""The matcher behind the routes: there or not there yet, fresh or stale."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from intentmatch.errors import IntentMatchError, Problem
from intentmatch.inbox import Inbox
from intentmatch.matcher import Matcher
from intentmatch.result import MatchResult
from intentmatch.server.problems import ProblemError, of_problems, of_reload
from intentmatch.server.schemas import ProblemDetails
from intentmatch.settings import Settings
from intentmatch.types import Registry

if TYPE_CHECKING:
    from intentmatch.watch import Watch

_log = logging.getLogger(__name__)


class Service:
    """Holds the matcher of one app: the one it was given, or the one `load` reads from a path."""

    def __init__(self, source: Matcher | str | os.PathLike[str], *, watch: bool = False) -> None:
        self._source = source
        self._watching = watch
        self._watch: Watch | None = None
        self._inbox: Inbox | None = None
        self._inbox_settings = Settings()
        self._matcher = source if isinstance(source, Matcher) else None
        # One thread: reloads wait for each other there, and not in the threads that messages are matched in.
        self._reloader = ThreadPoolExecutor(1, thread_name_prefix="intentmatch-reload")
        self.reload_error: ProblemDetails | None = None
        """Why the last reload failed; None when it did not."""

    @property
    def matcher(self) -> Matcher:
        """The matcher. Raises `ProblemError` (503) while it is not loaded."""
        if self._matcher is None:
            detail = (
                "The intents are not loaded. They are when the server starts, in the app's lifespan; an app that is "
                "mounted in another gets no lifespan of its own and must be made from a loaded Matcher."
            )
            raise ProblemError(ProblemDetails.of(503, detail))
        return self._matcher

    async def bot_named(self, name: str | None) -> Matcher:
        """The one bot that there is, whatever others call it. Raises as `matcher` does."""
        return self.matcher

    async def load(self) -> None:
        """Load the matcher, unless it is there, and begin to watch its files if asked to.

        Raises what `Matcher.load` and `Matcher.watch` do.
        """
        if not isinstance(self._source, Matcher):
            self._matcher = await asyncio.to_thread(Matcher.load, self._source)
        if self._watching:
            self._watch = await asyncio.to_thread(
                self.matcher.watch, on_reload=self._was_reloaded, on_error=self._was_refused
            )

    async def close(self) -> None:
        """Stop watching, and see that what goes to the inbox is written."""
        if self._watch is not None:
            await asyncio.to_thread(self._watch.stop)
        if self._inbox is not None:
            await asyncio.to_thread(self._inbox.flush)

    @property
    def inbox(self) -> Inbox | None:
        """The inbox that the settings in use now ask for; None where it is off."""
        settings = self.matcher.settings
        if settings is not self._inbox_settings:
            names = ("inbox", "inbox_keep", "inbox_mode")
            if any(getattr(settings, name) != getattr(self._inbox_settings, name) for name in names):
                self._inbox = Inbox.of(settings)
            self._inbox_settings = settings
        return self._inbox

    def record(self, results: Sequence[MatchResult]) -> None:
        """Keep what was not understood, if there is an inbox."""
        inbox = self.inbox
        if inbox is not None:
            for result in results:
                inbox.record(result)

    async def reload(self) -> Matcher:
        """Read the files again. Raises `ProblemError` where they cannot be used; the old registry then stays."""
        return await asyncio.get_running_loop().run_in_executor(self._reloader, self._reload, self.matcher)

    def _reload(self, matcher: Matcher) -> Matcher:
        try:
            matcher.reload()
        except Exception as error:
            self.reload_error = of_reload(error)
            expected = isinstance(error, IntentMatchError)
            _log.warning("reload failed, the old intents go on answering: %s", error, exc_info=not expected)
            raise ProblemError(self.reload_error) from error
        self._was_reloaded(matcher.registry)
        _log.info("reloaded: %d intents, fingerprint %s", len(matcher.registry), matcher.registry.fingerprint)
        return matcher

    def _was_reloaded(self, registry: Registry) -> None:
        self.reload_error = None

    def _was_refused(self, problems: Sequence[Problem]) -> None:
        self.reload_error = of_problems(problems)
