"""Several bots in one process: each is loaded on its first call, and unloaded when others need its memory.

All of this runs in the event loop, except reading and building, which have threads of their own: callers of other bots
never wait. A bot that is unloaded still finishes the answers it has begun.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import Request

from intentmatch.core.bot_names import VALID_NAME
from intentmatch.core.errors import DatabaseError, RegistryError
from intentmatch.matching.matcher import Matcher
from intentmatch.runtime.background import in_background
from intentmatch.server.auth.authorisation import NOT_FOR_THIS_BOT, allowed
from intentmatch.server.bots.batching import BatchQueue
from intentmatch.server.bots.bot import Bot
from intentmatch.server.bots.bot_loader import BotLoader
from intentmatch.server.bots.folder import BotFolder
from intentmatch.server.bots.pooled_bot import PooledBot
from intentmatch.server.bots.reloads import ReloadCounter
from intentmatch.server.middleware.problems import BROKEN, WARMING, ProblemError
from intentmatch.server.process.metrics import gauge
from intentmatch.server.process.telemetry import Spans
from intentmatch.server.routes.schemas.operations import BotInfo, BotsReady
from intentmatch.server.routes.schemas.problem_details import ProblemDetails
from intentmatch.storage.postgres.address import Address

if TYPE_CHECKING:
    from intentmatch.authoring.bots import Bots
    from intentmatch.authoring.database_bots import DatabaseBots

_log = logging.getLogger(__name__)

# How often the pool looks for new bots, and whether the files of a broken one have changed.
_SECONDS_BETWEEN_LOOKS = 2.0
# How often it looks for a bot that a caller names and that it does not know.
_SECONDS_BETWEEN_QUICK_LOOKS = 0.25


class BotPool:
    """The bots of one app."""

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
        """With `candidates`, each bot may have a second registry beside its first.

        Raises `RegistryError` or `InputError` if the folder cannot be used.
        """
        self.metrics = queue.metrics
        self._folder = folder
        # Bots are loaded on their first call: without this, a server that can load none would start and say ready.
        folder.check_settings()
        # Least recently used first.
        self._entries = {name: PooledBot(name, path) for name, path in folder.bots().items()}
        self._preloaded = folder.preloaded(list(self._entries))
        self._warming = bool(self._preloaded)
        self._loader = BotLoader(folder, queue, watch=watch, spans=spans, reloads=reloads, candidates=candidates)
        self._looking: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._last_warning = ""
        self._missing: set[str] = set()
        self._looked_at = 0.0

    @property
    def names(self) -> list[str]:
        """Names of all bots, loaded or not."""
        return sorted(self._entries)

    def warn_of_unknown(self, names: Collection[str]) -> None:
        """Log how many of these names of keys are no bots, but not which: one may be a misplaced secret."""
        if unknown := len(set(names) - self._entries.keys()):
            _log.warning("keys name %d bots that do not exist in %s", unknown, self._folder.path)

    async def load(self) -> None:
        """Load the bots that are to be loaded at the start, and begin to look for new ones."""
        names = ", ".join(sorted(self._entries))
        _log.info("%s is a folder of %d bots: %s", self._folder.path, len(self._entries), names)
        # A broken bot reports its problems to its callers and in the log.
        await asyncio.gather(*(self._bot_or_problem(self._entries[name]) for name in self._preloaded))
        self._warming = False
        self._looking = asyncio.create_task(self._keep_looking())

    async def close(self) -> None:
        """Finish what is being loaded, and close every bot."""
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*(entry.loading for entry in self._entries.values() if entry.loading is not None))
        for entry in self._loaded():
            self._unload(entry)
        await asyncio.gather(*self._closing)

    async def bot(self, name: str) -> Bot:
        """Return the bot of this name, loaded. Raises `ProblemError`: 404 for an unknown one, 503 for a broken one."""
        # No look at the disk for paths that crawlers guess.
        if name not in self._entries and VALID_NAME.fullmatch(name):
            await self._look_for_new()
        entry = self._entries.get(name)
        if entry is None:
            detail = f"There is no bot {name!r}. GET /bots lists all bots."
            raise ProblemError(ProblemDetails.for_status(404, detail))
        found = await self._bot_or_problem(entry)
        if isinstance(found, ProblemDetails):
            # So often the files of a broken bot are compared with those that failed.
            raise ProblemError(found, {"Retry-After": str(round(_SECONDS_BETWEEN_LOOKS))})
        # While this waited, the bot may have been removed: marking it as used would bring it back.
        if self._entries.get(name) is entry:
            self._mark_used(entry)
        return found

    @property
    def folder(self) -> Bots | DatabaseBots:
        """What creates and removes the bots of this folder or database, for admins."""
        from intentmatch.authoring.bots import Bots  # needed by few servers

        path = self._folder.path
        if isinstance(path, Address):
            from intentmatch.authoring.database_bots import DatabaseBots  # needs psycopg

            return DatabaseBots(path, self._folder.limits_of_new, self._loader.unloadable)
        found = partial(self._folder.bots_in_folder, Path(path))
        return Bots(path, found, self._folder.limits_of_new, self._loader.unloadable)

    async def forget(self, name: str) -> None:
        """Answer no more as a bot whose files are gone; answers that it has begun are still finished."""
        if (entry := self._entries.pop(name, None)) is not None:
            self._unload(entry)
            _log.info("the bot %s is removed", name)

    def is_loaded(self, name: str) -> bool:
        """Whether a bot is in memory."""
        entry = self._entries.get(name)
        return entry is not None and entry.bot is not None

    def unload(self, name: str) -> None:
        """Free the memory of a bot until its next call; answers that it has begun are still finished."""
        if self.is_loaded(name):
            self._unload(self._entries[name])

    async def bot_named(self, request: Request, name: str | None) -> Bot:
        """Return the bot that a protocol names, or else the path, if the caller's key is valid for it.

        Raises `ProblemError` (403), and what `bot` raises.
        """
        name = request.path_params["bot"] if name is None else name
        # Before the bot is looked up, so that a key learns nothing about the names of other bots.
        if not allowed(request, name):
            raise ProblemError(ProblemDetails.for_status(403, NOT_FOR_THIS_BOT))
        return await self.bot(name)

    def infos(self, request: Request) -> list[BotInfo]:
        """Return the bots that a caller may call."""
        found = sorted(self._entries.values(), key=lambda entry: entry.name)
        return [BotInfo(name=entry.name, state=entry.state) for entry in found if allowed(request, entry.name)]

    def allowed_names(self, request: Request) -> list[str]:
        """Return the names of the bots that a caller may call."""
        return [info.name for info in self.infos(request)]

    async def ready(self) -> BotsReady:
        """Count the bots by state.

        Raises `ProblemError` (503) until the bots of the start are loaded, and if no loaded bot can answer. A bot that
        cannot be loaded does not matter: the others can be called.
        """
        if self._warming:
            detail = "The bots to load at the start are not all loaded yet."
            raise ProblemError(ProblemDetails.for_status(503, detail, kind=WARMING))
        for entry in self._loaded():
            if entry.bot is not None:
                # Probes need no key, but reasons may hold names of a bot's files. The
                # state of the bot keeps the failure.
                await asyncio.gather(entry.bot.ready(with_reasons=False), return_exceptions=True)
        await asyncio.to_thread(self.look_for_newer_files)
        states = [entry.state for entry in self._all()]
        loaded = [entry.state for entry in self._loaded()]
        if loaded and all(state == "broken" for state in loaded):
            detail = "None of the loaded bots can answer; the log says why."
            raise ProblemError(ProblemDetails.for_status(503, detail, kind=BROKEN))
        return BotsReady(
            bots=len(states),
            loaded=len(loaded),
            idle=states.count("idle"),
            stale=states.count("stale"),
            broken=states.count("broken"),
        )

    def look_for_newer_files(self) -> None:
        """Let the states of loaded bots count files that nobody has loaded."""
        for entry in self._loaded():
            if entry.bot is not None:
                entry.bot.files.look()

    def exposition(self) -> bytes:
        """Return the metrics in Prometheus's text format."""
        self.look_for_newer_files()
        loaded = [(entry, entry.bot) for entry in self._loaded() if entry.bot is not None]
        states = [entry.state for entry in self._all()]
        counts = [(state, states.count(state)) for state in ("idle", "warming", "ready", "stale", "broken")]
        more = [gauge("bots", "Bots by state; idle ones are not loaded.", counts, label="state")]
        if loaded:
            sizes = [(entry.name, entry.bytes) for entry, _ in loaded]
            more.append(gauge("bot_bytes", "Estimated memory of a loaded bot, without its models.", sizes))
        return self.metrics.exposition([bot.status for _, bot in loaded], more)

    async def _bot_or_problem(self, entry: PooledBot) -> Bot | ProblemDetails:
        if entry.bot is not None:
            return entry.bot
        if entry.failure is not None and time.monotonic() < entry.failure.looked_at + _SECONDS_BETWEEN_LOOKS:
            return entry.failure.details
        if entry.loading is None:
            entry.loading = asyncio.create_task(self._load(entry))
        # Shielded: a caller that disconnects must not cancel the load for the others.
        return await asyncio.shield(entry.loading)

    async def _load(self, entry: PooledBot) -> Bot | ProblemDetails:
        try:
            found = await self._loader.load(entry)
        finally:
            entry.loading = None
        if isinstance(found, Bot):
            entry.bot = found
            if self._entries.get(entry.name) is entry:
                self._mark_used(entry)
                self._make_room(entry)
            else:  # removed while it was loading
                self._unload(entry)
        return found

    def _mark_used(self, entry: PooledBot) -> None:
        self._entries[entry.name] = self._entries.pop(entry.name)

    def _all(self) -> list[PooledBot]:
        # A copy, because the thread that writes the metrics reads it too.
        return list(self._entries.values())

    def _loaded(self) -> list[PooledBot]:
        return [entry for entry in self._all() if entry.bot is not None]

    def _make_room(self, keep: PooledBot | None = None) -> None:
        """Unload the least recently used bots until the others fit; a single bot may exceed the limit."""
        most = self._folder.max_megabytes
        if most is None:
            return
        loaded = self._loaded()
        taken = sum(entry.taken for entry in loaded)
        # The most recently used one: unloading the bot that answers would load it again at once.
        keep = keep or (loaded[-1] if loaded else None)
        for entry in loaded:
            if taken <= most * 1e6:
                return
            if entry is keep:
                continue
            taken -= entry.taken
            self._unload(entry)
            _log.info("the bot %s is unloaded to free memory, until its next call", entry.name)

    def _unload(self, entry: PooledBot) -> None:
        """Forget a loaded bot; answers it has begun are still finished."""
        bot, entry.bot = entry.bot, None
        if bot is not None:
            # Kept until it ends: asyncio holds tasks weakly, and one without a reference may vanish midway.
            closing = asyncio.create_task(bot.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
            # Whatever goes wrong in one look, the next one must come.
            await asyncio.gather(self.look(), return_exceptions=True)

    async def _look_for_new(self) -> None:
        """Look whether another process has created a bot, at most some times a second for all callers."""
        now = time.monotonic()
        if now > self._looked_at + _SECONDS_BETWEEN_QUICK_LOOKS:
            self._looked_at = now
            with suppress(RegistryError, DatabaseError):
                self._add(await in_background(self._folder.bots))

    async def look(self) -> None:
        """Add new bots, remove those whose files are gone, and measure those that were reloaded."""
        try:
            found = await in_background(self._folder.bots)
        except (RegistryError, DatabaseError) as error:
            warning = str(error)
            if warning != self._last_warning:
                _log.warning("the folder of bots has problems, and the bots stay as they are:\n%s", error)
            self._last_warning = warning
        else:
            self._last_warning = ""
            self._update(found)
        loaded = [(entry, entry.bot.matcher) for entry in self._loaded() if entry.bot is not None]
        # Walking through all objects of a matcher takes too long for the event loop.
        await asyncio.to_thread(_measure, loaded)
        self._make_room()

    def _update(self, found: Mapping[str, Path | Address]) -> None:
        # A bot must be missing twice: once may mean that it is just being replaced.
        missing, self._missing = self._missing, self._entries.keys() - found
        for name in missing & self._missing:
            self._unload(self._entries.pop(name))
            _log.info("the bot %s is removed", name)
        self._add(found)

    def _add(self, found: Mapping[str, Path | Address]) -> None:
        for name, path in found.items():
            old = self._entries.get(name)
            # A bot may change between a folder and an artefact of the same name.
            if old is not None and old.path == path:
                continue
            self._entries[name] = PooledBot(name, path)
            _log.info("the bot %s is added", name)
            if old is not None:
                self._unload(old)


def _measure(loaded: Sequence[tuple[PooledBot, Matcher]]) -> None:
    for entry, matcher in loaded:
        entry.measure(matcher)
