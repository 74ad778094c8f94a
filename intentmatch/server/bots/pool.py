"""Several bots in one process: each is loaded on its first call, and unloaded when others need its memory.

All of this runs in the event loop, except reading and building, which have threads of their own: callers of other bots
never wait. A bot that is unloaded still finishes the answers it has begun.
"""

from __future__ import annotations

import asyncio
import logging
import time
import weakref
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import Request

from intentmatch.artefact.artefact import Artefact
from intentmatch.authoring.read_limits import served_settings
from intentmatch.core.bot_names import VALID_NAME
from intentmatch.core.errors import DatabaseError, IntentMatchError, Problem, RegistryError, public_text
from intentmatch.core.types import Registry
from intentmatch.inbox import Inbox
from intentmatch.matching.loader import Source
from intentmatch.matching.matcher import Matcher
from intentmatch.registry.reading.snapshot import Content, content
from intentmatch.runtime.background import in_background
from intentmatch.server.auth.api_keys import NOT_FOR_THIS_BOT, allowed
from intentmatch.server.bots.batching import BatchQueue
from intentmatch.server.bots.bot import Bot
from intentmatch.server.bots.folder import BotFolder
from intentmatch.server.bots.loadable import why_not
from intentmatch.server.bots.memory import own_bytes
from intentmatch.server.bots.model_pool import ModelPool
from intentmatch.server.bots.reloads import ReloadCounter
from intentmatch.server.middleware.problems import BROKEN, WARMING, ProblemError
from intentmatch.server.process.metrics import gauge
from intentmatch.server.process.telemetry import Spans
from intentmatch.server.routes.schemas.operations import BotInfo, BotsReady, BotState
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails
from intentmatch.storage.postgres.address import Address

if TYPE_CHECKING:
    from intentmatch.authoring.bots import Bots
    from intentmatch.authoring.database_bots import DatabaseBots

_log = logging.getLogger(__name__)

# How often the pool looks for new bots, and whether the files of a broken one have changed.
_SECONDS_BETWEEN_LOOKS = 2.0
# How often it looks for a bot that a caller names and that it does not know.
_SECONDS_BETWEEN_QUICK_LOOKS = 0.25
# The cause may lie outside the files, such as a model server that is back.
_SECONDS_BETWEEN_TRIES = 30.0
# Two, so that a bot that takes long to build does not delay the others.
_LOADERS = 2


@dataclass(frozen=True)
class _Failure:
    """Why a bot could not be loaded, when, and from which files."""

    details: ProblemDetails
    held: Content
    at: float
    looked_at: float


class _Entry:
    """One bot of the pool, loaded or not."""

    def __init__(self, name: str, path: Path | Address) -> None:
        self.name, self.path = name, path
        self.bot: Bot | None = None
        self.loading: asyncio.Task[Bot | ProblemDetails] | None = None
        self.failure: _Failure | None = None
        self.bytes = 0
        self._measured: weakref.ref[Artefact] | None = None

    def measure(self, matcher: Matcher) -> None:
        """Measure the memory of the matcher, unless that is known. For a thread."""
        artefact = matcher.artefact
        if self._measured is None or self._measured() is not artefact:
            self.bytes = own_bytes(matcher)
            self._measured = weakref.ref(artefact)

    @property
    def taken(self) -> int:
        """Memory of the bot and its candidate, in bytes."""
        candidate = None if self.bot is None else self.bot.candidate
        return self.bytes + (0 if candidate is None else candidate.bytes)

    @property
    def state(self) -> BotState:
        """The state as `/bots` reports it."""
        if self.bot is not None:
            return self.bot.state
        return "idle" if self.failure is None else "broken"


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
        self._queue = queue
        self._folder, self._watch, self._spans, self._reloads = folder, watch, spans, reloads
        self._candidates = candidates
        # Least recently used first.
        folder.check_settings()
        self._entries = {name: _Entry(name, path) for name, path in folder.bots().items()}
        self._named_on_disk = folder.named_on_disk()
        self._preloaded = folder.preloaded(list(self._entries))
        self._warming = bool(self._preloaded)
        self._models = ModelPool(folder.load_encoder)
        self._models_of_all = folder.models_of_all(self._models)  # the pool keeps only what somebody uses
        self._loaders = ThreadPoolExecutor(_LOADERS, thread_name_prefix="intentmatch-load")
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
        if name not in self._entries and VALID_NAME.fullmatch(name):
            await self._look_for_new()
        entry = self._entries.get(name)
        if entry is None:
            detail = f"There is no bot {name!r}. GET /bots lists all bots."
            raise ProblemError(ProblemDetails.for_status(404, detail))
        found = await self._bot_or_problem(entry)
        if isinstance(found, ProblemDetails):
            raise ProblemError(found, {"Retry-After": str(round(_SECONDS_BETWEEN_LOOKS))})
        if self._entries.get(name) is entry:
            self._entries[name] = self._entries.pop(name)
        return found

    @property
    def folder(self) -> Bots | DatabaseBots:
        """What creates and removes the bots of this folder or database, for admins."""
        from intentmatch.authoring.bots import Bots  # needed by few servers

        path = self._folder.path
        if isinstance(path, Address):
            from intentmatch.authoring.database_bots import DatabaseBots  # needs psycopg

            return DatabaseBots(path, self._folder.limits_of_new, self._unloadable)
        found = partial(self._folder.bots_in_folder, Path(path))
        return Bots(path, found, self._folder.limits_of_new, self._unloadable)

    def _unloadable(self, name: str, registry: Registry) -> Problem | None:
        """Return why a new bot could not be loaded; None if it could."""
        if not registry.settings:
            return None
        path, settings = self._folder.path, served_settings(self._folder.settings_of(name), ())
        address = path.of(name) if isinstance(path, Address) else None

        def load(small: Registry) -> None:
            models = self._models
            check = partial(Inbox.from_settings, address=address)
            Source(small, settings, load_encoder=models.encoder, load_reranker=models.reranker, check=check).engine(
                None
            )

        return why_not(load, registry, list(registry.settings), in_database=address is not None)

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

    async def _bot_or_problem(self, entry: _Entry) -> Bot | ProblemDetails:
        if entry.bot is not None:
            return entry.bot
        if entry.failure is not None and time.monotonic() < entry.failure.looked_at + _SECONDS_BETWEEN_LOOKS:
            return entry.failure.details
        if entry.loading is None:
            entry.loading = asyncio.create_task(self._load(entry))
        # Shielded: a caller that disconnects must not cancel the load for the others.
        return await asyncio.shield(entry.loading)

    async def _load(self, entry: _Entry) -> Bot | ProblemDetails:
        held: Content = {}
        loop = asyncio.get_running_loop()
        try:
            held = await loop.run_in_executor(self._loaders, _content, entry.path)
            now = time.monotonic()
            if (old := entry.failure) and old.held == held and now < old.at + _SECONDS_BETWEEN_TRIES:
                entry.failure = _Failure(old.details, held, old.at, now)
                return old.details
            seen = 0 if self._reloads is None else self._reloads.requested
            matcher = await loop.run_in_executor(self._loaders, self._matcher, entry)
            bot = self._make_bot(entry.name, matcher, seen)
            await bot.load()
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one bot must not affect the others
            now = time.monotonic()
            entry.failure = _Failure(_details(entry.name, error), held, now, now)
            unexpected = None if isinstance(error, IntentMatchError) else error
            _log.warning("the bot %s cannot be loaded: %s", entry.name, error, exc_info=unexpected)
            return entry.failure.details
        finally:
            entry.loading = None
        _log.info("the bot %s is loaded and takes %.1f MB", entry.name, entry.bytes / 1e6)
        entry.failure, entry.bot = None, bot
        if self._entries.get(entry.name) is entry:
            self._entries[entry.name] = self._entries.pop(entry.name)
            self._make_room(entry)
        else:  # removed while it was loading
            self._unload(entry)
        return bot

    def _make_bot(self, name: str, matcher: Matcher, reloads_seen: int) -> Bot:
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

    def _matcher(self, entry: _Entry) -> Matcher:
        settings, models = self._folder.settings_of(entry.name), self._models
        settings = served_settings(settings, self._named_on_disk.get(entry.name, []))
        source = Source(entry.path, settings, load_encoder=models.encoder, load_reranker=models.reranker)
        matcher = Matcher(source)
        entry.measure(matcher)
        return matcher

    def _all(self) -> list[_Entry]:
        # A copy, because the thread that writes the metrics reads it too.
        return list(self._entries.values())

    def _loaded(self) -> list[_Entry]:
        return [entry for entry in self._all() if entry.bot is not None]

    def _make_room(self, keep: _Entry | None = None) -> None:
        """Unload the least recently used bots until the others fit; a single bot may exceed the limit."""
        most = self._folder.max_megabytes
        if most is None:
            return
        loaded = self._loaded()
        taken = sum(entry.taken for entry in loaded)
        keep = keep or (loaded[-1] if loaded else None)
        for entry in (entry for entry in loaded if entry is not keep):
            if taken <= most * 1e6:
                return
            taken -= entry.taken
            self._unload(entry)
            _log.info("the bot %s is unloaded to free memory, until its next call", entry.name)

    def _unload(self, entry: _Entry) -> None:
        """Forget a loaded bot; answers it has begun are still finished."""
        bot, entry.bot = entry.bot, None
        if bot is not None:
            closing = asyncio.create_task(bot.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
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
            entry = self._entries.get(name)
            if entry is None or entry.path != path:
                self._entries[name] = _Entry(name, path)
                _log.info("the bot %s is added", name)
            if entry is not None and entry.path != path:
                self._unload(entry)


def _content(path: Path | Address) -> Content:
    """Return what the files of a bot hold; nothing while their database is away."""
    if not isinstance(path, Address):
        return content(path)
    from intentmatch.matching.replica import Replica  # needs psycopg

    try:
        return Replica(path).newest()
    except DatabaseError:
        return {}


def _measure(loaded: Sequence[tuple[_Entry, Matcher]]) -> None:
    for entry, matcher in loaded:
        entry.measure(matcher)


def _details(name: str, error: Exception) -> ProblemDetails:
    """Why a bot cannot answer."""
    if isinstance(error, RegistryError):
        items = [ErrorItem.from_problem(problem) for problem in error.problems]
        return ProblemDetails.for_status(503, f"The files of the bot {name!r} are invalid.", items, kind=BROKEN)
    reason = f": {public_text(error)}" if isinstance(error, IntentMatchError) else ", see the log."
    return ProblemDetails.for_status(503, f"The bot {name!r} cannot be loaded{reason}", kind=BROKEN)
