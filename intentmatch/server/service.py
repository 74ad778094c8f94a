"""The matcher behind the routes: there or not there yet, fresh or stale."""

from __future__ import annotations

import asyncio
import logging
import os
from concurrent.futures import ThreadPoolExecutor

from intentmatch.errors import IntentMatchError
from intentmatch.matcher import Matcher
from intentmatch.server.problems import ProblemError, of_reload
from intentmatch.server.schemas import ProblemDetails

_log = logging.getLogger(__name__)


class Service:
    """Holds the matcher of one app: the one it was given, or the one `load` reads from a path."""

    def __init__(self, source: Matcher | str | os.PathLike[str]) -> None:
        self._source = source
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
        """Load the matcher, unless it is there. Raises what `Matcher.load` does."""
        if not isinstance(self._source, Matcher):
            self._matcher = await asyncio.to_thread(Matcher.load, self._source)

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
        self.reload_error = None
        _log.info("reloaded: %d intents, fingerprint %s", len(matcher.registry), matcher.registry.fingerprint)
        return matcher
