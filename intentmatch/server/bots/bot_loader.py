"""Load the bots of a folder in threads, with the models and the queue that all of them share."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from intentmatch.authoring.read_limits import served_settings
from intentmatch.core.errors import DatabaseError, IntentMatchError, Problem, RegistryError, public_text
from intentmatch.core.types import Registry
from intentmatch.inbox import Inbox
from intentmatch.matching.loader import RegistrySource
from intentmatch.matching.matcher import Matcher
from intentmatch.registry.reading.snapshot import Content, content
from intentmatch.server.bots.batching import BatchQueue
from intentmatch.server.bots.bot import Bot
from intentmatch.server.bots.folder import BotFolder
from intentmatch.server.bots.loadable import why_not
from intentmatch.server.bots.model_pool import ModelPool
from intentmatch.server.bots.pooled_bot import LoadFailure, PooledBot
from intentmatch.server.bots.reloads import ReloadCounter
from intentmatch.server.middleware.problems import BROKEN
from intentmatch.server.process.telemetry import Spans
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails
from intentmatch.storage.postgres.address import Address

_log = logging.getLogger(__name__)

# Files that could not be loaded are tried again although they are the same: the cause may lie outside of them, such as
# a model server that is back.
_SECONDS_BETWEEN_TRIES = 30.0
# Two, so that a bot that takes long to build does not delay the others.
_THREADS = 2

_Result = TypeVar("_Result")


class BotLoader:
    """Loads bots for one pool."""

    def __init__(
        self,
        folder: BotFolder,
        queue: BatchQueue,
        *,
        watch: bool = False,
        spans: Spans | None = None,
        reloads: ReloadCounter | None = None,
        candidates: bool = False,
    ) -> None:
        """Raises what `BotFolder.named_on_disk` and `BotFolder.models_of_all` raise."""
        self._folder, self._queue = folder, queue
        self._watch, self._spans, self._reloads, self._candidates = watch, spans, reloads, candidates
        self._named_on_disk = folder.named_on_disk()
        self._models = ModelPool(folder.load_encoder)
        # The model pool keeps only what somebody uses.
        self._models_of_all = folder.models_of_all(self._models)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="intentmatch-load")

    async def load(self, pooled: PooledBot) -> Bot | ProblemDetails:
        """Return a bot, loaded, or why it cannot be, which `pooled.failure` then remembers."""
        found: Content = {}
        try:
            found = await self._in_thread(partial(_content, pooled.path))
            now = time.monotonic()
            if (old := pooled.failure) and old.content == found and now < old.tried_at + _SECONDS_BETWEEN_TRIES:
                pooled.failure = LoadFailure(old.details, found, old.tried_at, now)
                return old.details
            # Read before the files: a reload that is requested while they load must be followed afterwards.
            reloads_seen = 0 if self._reloads is None else self._reloads.requested
            bot = self._bot(pooled.name, await self._in_thread(partial(self._matcher, pooled)), reloads_seen)
            await bot.load()
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one bot must not affect the others
            now = time.monotonic()
            pooled.failure = LoadFailure(_details(pooled.name, error), found, now, now)
            # The author's mistakes need no traceback.
            unexpected = None if isinstance(error, IntentMatchError) else error
            _log.warning("the bot %s cannot be loaded: %s", pooled.name, error, exc_info=unexpected)
            return pooled.failure.details
        pooled.failure = None
        _log.info("the bot %s is loaded and takes %.1f MB", pooled.name, pooled.bytes / 1e6)
        return bot

    def unloadable(self, name: str, registry: Registry) -> Problem | None:
        """Return why a new bot with this registry could not be loaded; None if it could. For a thread."""
        # Then it takes the settings of all bots, which the start has tried.
        if not registry.settings:
            return None
        path = self._folder.path
        address = path.of(name) if isinstance(path, Address) else None
        models, settings = self._models, served_settings(self._folder.settings_of(name), ())
        check = partial(Inbox.from_settings, address=address)

        def load(small: Registry) -> None:
            # From the pool: a trial must not load a second copy of a model of several gigabytes.
            RegistrySource(
                small, settings, load_encoder=models.encoder, load_reranker=models.reranker, check=check
            ).engine(None)

        return why_not(load, registry, list(registry.settings), in_database=address is not None)

    async def _in_thread(self, work: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _matcher(self, pooled: PooledBot) -> Matcher:
        settings = self._folder.settings_of(pooled.name)
        settings = served_settings(settings, self._named_on_disk.get(pooled.name, []))
        models = self._models
        matcher = Matcher(
            RegistrySource(pooled.path, settings, load_encoder=models.encoder, load_reranker=models.reranker)
        )
        pooled.measure(matcher)
        return matcher

    def _bot(self, name: str, matcher: Matcher, reloads_seen: int) -> Bot:
        return Bot(
            matcher,
            self._queue,
            watch=self._watch,
            spans=self._spans,
            reloads=self._reloads,
            reloads_seen=reloads_seen,
            name=name,
            candidates=self._candidates,
        )


def _content(path: Path | Address) -> Content:
    """Return what the files of a bot hold; nothing while their database is away."""
    if not isinstance(path, Address):
        return content(path)
    from intentmatch.matching.replica import Replica  # needs psycopg

    try:
        return Replica(path).newest()
    except DatabaseError:
        return {}


def _details(name: str, error: Exception) -> ProblemDetails:
    """Return why a bot cannot answer."""
    if isinstance(error, RegistryError):
        items = [ErrorItem.from_problem(problem) for problem in error.problems]
        return ProblemDetails.for_status(503, f"The files of the bot {name!r} are invalid.", items, kind=BROKEN)
    reason = f": {public_text(error)}" if isinstance(error, IntentMatchError) else ", see the log."
    return ProblemDetails.for_status(503, f"The bot {name!r} cannot be loaded{reason}", kind=BROKEN)
