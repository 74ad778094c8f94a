"""Several bots in one process: each is loaded when it is first asked, and makes room when it was not asked for long.

Everything here happens in the event loop, but for reading and building, which have threads of their own: nobody who
asks another bot waits for them. A bot that is being asked while it makes room still answers.
"""

from __future__ import annotations

import asyncio
import logging
import time
import weakref
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fastapi import Request

from intentmatch.artefact.store import Artefact
from intentmatch.core.errors import IntentMatchError, RegistryError
from intentmatch.matching.loader import Source
from intentmatch.matching.matcher import Matcher
from intentmatch.registry.reading.snapshot import Content, content
from intentmatch.server.auth.api_keys import allowed
from intentmatch.server.bots.batching import Batches
from intentmatch.server.bots.bot import Service
from intentmatch.server.bots.folder import BotFolder
from intentmatch.server.bots.memory import own_bytes
from intentmatch.server.bots.model_pool import ModelPool
from intentmatch.server.bots.reloads import Reloads
from intentmatch.server.middleware.problems import BROKEN, WARMING, ProblemError
from intentmatch.server.process.metrics import gauge
from intentmatch.server.process.telemetry import Spans
from intentmatch.server.routes.schemas import BotInfo, BotsReady, BotState, ErrorItem, ProblemDetails

_log = logging.getLogger(__name__)

# How often is looked which bots there are, and what a broken one holds now.
_SECONDS_BETWEEN_LOOKS = 2.0
# What is wrong need not lie in the files: a model may be there again.
_SECONDS_BETWEEN_TRIES = 30.0
# A bot that takes long to build does not keep the others waiting.
_LOADERS = 2


@dataclass(frozen=True)
class _Refused:
    """Why a bot could not be loaded, when, and from what."""

    details: ProblemDetails
    held: Content
    at: float
    looked_at: float


class _Bot:
    """One of the bots, loaded or not."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self.service: Service | None = None
        self.loading: asyncio.Task[Service | ProblemDetails] | None = None
        self.refused: _Refused | None = None
        self.bytes = 0
        self._measured: weakref.ref[Artefact] | None = None

    def measure(self, matcher: Matcher) -> None:
        """See what it takes, unless that is known. For a thread."""
        artefact = matcher.artefact
        if self._measured is None or self._measured() is not artefact:
            self.bytes = own_bytes(matcher)
            self._measured = weakref.ref(artefact)

    @property
    def state(self) -> BotState:
        """In a word."""
        if self.service is not None:
            return self.service.state
        return "idle" if self.refused is None else "broken"


class Bots:
    """The bots of one app."""

    def __init__(
        self,
        folder: BotFolder,
        batches: Batches,
        *,
        watch: bool = False,
        spans: Spans | None = None,
        reloads: Reloads | None = None,
    ) -> None:
        """Raises `RegistryError` or `InputError` where the folder cannot be used."""
        self.metrics = batches.metrics
        self._batches = batches
        self._folder, self._watch, self._spans, self._reloads = folder, watch, spans, reloads
        # Those asked last come last.
        self._bots = {name: _Bot(name, path) for name, path in folder.bots().items()}
        self._preloaded = folder.preloaded(list(self._bots))
        self._warming = bool(self._preloaded)
        self._models = ModelPool()
        self._loaders = ThreadPoolExecutor(_LOADERS, thread_name_prefix="intentmatch-load")
        self._looking: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._told = ""
        self._missing: set[str] = set()

    def tell_missing(self, names: Collection[str]) -> None:
        """Say that keys are for bots that are not there; not for which: what stands before a colon may be secret."""
        if missing := len(set(names) - self._bots.keys()):
            _log.warning("%d names of bots that keys are for are of none in %s", missing, self._folder.path)

    async def load(self) -> None:
        """Load those that are to be there from the start, and begin to look which there are."""
        _log.info(
            "%s is no registry but holds %d bots: %s", self._folder.path, len(self._bots), ", ".join(sorted(self._bots))
        )
        # Whichever of them is broken says so to those who ask it, and in the log.
        await asyncio.gather(*(self._service_or_problem(self._bots[name]) for name in self._preloaded))
        self._warming = False
        self._looking = asyncio.create_task(self._keep_looking())

    async def close(self) -> None:
        """Finish what has begun, and close every bot."""
        if self._looking is not None:
            self._looking.cancel()
        await asyncio.gather(*(bot.loading for bot in self._bots.values() if bot.loading is not None))
        for bot in self._loaded():
            self._let_go(bot)
        await asyncio.gather(*self._closing)

    async def service(self, name: str) -> Service:
        """The bot of that name, loaded by now. Raises `ProblemError`: 404 for none, 503 for one that is broken."""
        bot = self._bots.get(name)
        if bot is None:
            raise ProblemError(ProblemDetails.of(404, f"There is no bot {name!r}. GET /bots lists those there are."))
        found = await self._service_or_problem(bot)
        if isinstance(found, ProblemDetails):
            raise ProblemError(found, {"Retry-After": str(round(_SECONDS_BETWEEN_LOOKS))})
        if self._bots.get(name) is bot:
            self._bots[name] = self._bots.pop(name)
        return found

    async def bot_named(self, request: Request, name: str | None) -> Service:
        """The bot that a protocol asks for, by name or by the path, if the caller may. Raises as `service` does."""
        name = request.path_params["bot"] if name is None else name
        if not allowed(request, name):
            raise ProblemError(ProblemDetails.of(403, "The key is none for this bot."))
        return await self.service(name)

    def infos(self, request: Request) -> list[BotInfo]:
        """The bots that a caller may ask."""
        found = sorted(self._bots.values(), key=lambda bot: bot.name)
        return [BotInfo(name=bot.name, state=bot.state) for bot in found if allowed(request, bot.name)]

    async def ready(self) -> BotsReady:
        """How many bots there are, and how they are.

        Raises `ProblemError` (503) while those are loaded that are to be there from the start, and where bots are
        loaded of which none can answer. One that cannot be loaded is no reason to ask none of the others.
        """
        if self._warming:
            detail = "The bots that are loaded at the start are not yet."
            raise ProblemError(ProblemDetails.of(503, detail, kind=WARMING))
        for bot in self._loaded():
            if bot.service is not None and bot.service.state == "broken":
                await asyncio.gather(bot.service.ready(telling=False), return_exceptions=True)
        states = [bot.state for bot in self._all()]
        loaded = [bot.state for bot in self._loaded()]
        if loaded and all(state == "broken" for state in loaded):
            detail = "No bot that is loaded can answer; the log says why."
            raise ProblemError(ProblemDetails.of(503, detail, kind=BROKEN))
        return BotsReady(
            bots=len(states),
            loaded=len(loaded),
            idle=states.count("idle"),
            stale=states.count("stale"),
            broken=states.count("broken"),
        )

    def exposition(self) -> bytes:
        """What Prometheus is told."""
        loaded = [(bot, bot.service) for bot in self._loaded() if bot.service is not None]
        states = [bot.state for bot in self._all()]
        counts = [(state, states.count(state)) for state in ("idle", "warming", "ready", "stale", "broken")]
        more = [gauge("bots", "Bots, by how they are; idle ones are not loaded.", counts, label="state")]
        if loaded:
            sizes = [(bot.name, bot.bytes) for bot, _ in loaded]
            more.append(gauge("bot_bytes", "Memory of a loaded bot, as estimated, without its models.", sizes))
        return self.metrics.exposition([service.now for _, service in loaded], more)

    async def _service_or_problem(self, bot: _Bot) -> Service | ProblemDetails:
        if bot.service is not None:
            return bot.service
        if bot.refused is not None and time.monotonic() < bot.refused.looked_at + _SECONDS_BETWEEN_LOOKS:
            return bot.refused.details
        if bot.loading is None:
            bot.loading = asyncio.create_task(self._load(bot))
        # Whoever waits may go away; the others go on waiting.
        return await asyncio.shield(bot.loading)

    async def _load(self, bot: _Bot) -> Service | ProblemDetails:
        held: Content = {}
        loop = asyncio.get_running_loop()
        try:
            held = await loop.run_in_executor(self._loaders, content, bot.path)
            now = time.monotonic()
            if (old := bot.refused) and old.held == held and now < old.at + _SECONDS_BETWEEN_TRIES:
                bot.refused = _Refused(old.details, held, old.at, now)
                return old.details
            seen = 0 if self._reloads is None else self._reloads.asked
            matcher = await loop.run_in_executor(self._loaders, self._matcher, bot)
            service = self._service(bot.name, matcher, seen)
            await service.load()
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one bot, the others go on
            now = time.monotonic()
            bot.refused = _Refused(_details(bot.name, error), held, now, now)
            unexpected = None if isinstance(error, IntentMatchError) else error
            _log.warning("the bot %s cannot be loaded: %s", bot.name, error, exc_info=unexpected)
            return bot.refused.details
        finally:
            bot.loading = None
        _log.info("the bot %s is loaded and takes %.1f MB", bot.name, bot.bytes / 1e6)
        bot.refused, bot.service = None, service
        if self._bots.get(bot.name) is bot:
            self._bots[bot.name] = self._bots.pop(bot.name)
            self._make_room(bot)
        else:  # it went while it was loaded
            self._let_go(bot)
        return service

    def _service(self, name: str, matcher: Matcher, reloads_seen: int) -> Service:
        return Service(
            matcher,
            self._batches,
            watch=self._watch,
            spans=self._spans,
            reloads=self._reloads,
            reloads_seen=reloads_seen,
            name=name,
        )

    def _matcher(self, bot: _Bot) -> Matcher:
        settings, models = self._folder.settings, self._models
        source = Source(bot.path, settings, load_encoder=models.encoder, load_reranker=models.reranker)
        matcher = Matcher(source)
        bot.measure(matcher)
        return matcher

    def _all(self) -> list[_Bot]:
        # At once, because metrics are asked for in a thread.
        return list(self._bots.values())

    def _loaded(self) -> list[_Bot]:
        return [bot for bot in self._all() if bot.service is not None]

    def _make_room(self, keep: _Bot | None = None) -> None:
        """Let go of those asked least recently until the others fit; one bot may be as large as it is."""
        most = self._folder.max_megabytes
        if most is None:
            return
        loaded = self._loaded()
        taken = sum(bot.bytes for bot in loaded)
        keep = keep or (loaded[-1] if loaded else None)
        for bot in (bot for bot in loaded if bot is not keep):
            if taken <= most * 1e6:
                return
            taken -= bot.bytes
            self._let_go(bot)
            _log.info("the bot %s makes room; it is loaded again when it is asked", bot.name)

    def _let_go(self, bot: _Bot) -> None:
        """Forget a loaded bot; who is being answered by it still is."""
        service, bot.service = bot.service, None
        if service is not None:
            closing = asyncio.create_task(service.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
            await asyncio.gather(self._look(), return_exceptions=True)

    async def _look(self) -> None:
        """Take up bots that have come, drop those that are gone, and see what those take that were loaded again."""
        try:
            found = await asyncio.to_thread(self._folder.bots)
        except RegistryError as error:
            said = "\n".join(map(str, error.problems))
            if said != self._told:
                _log.warning("the bots stay those they were: \n%s", said)
            self._told = said
        else:
            self._told = ""
            self._take_up(found)
        loaded = [(bot, bot.service.matcher) for bot in self._loaded() if bot.service is not None]
        await asyncio.to_thread(_measure, loaded)
        self._make_room()

    def _take_up(self, found: dict[str, Path]) -> None:
        # What is missing once may be about to be put in place anew.
        missing, self._missing = self._missing, self._bots.keys() - found
        for name in missing & self._missing:
            self._let_go(self._bots.pop(name))
            _log.info("the bot %s is gone", name)
        for name, path in found.items():
            bot = self._bots.get(name)
            if bot is None or bot.path != path:
                self._bots[name] = _Bot(name, path)
                _log.info("the bot %s is there", name)
            if bot is not None and bot.path != path:
                self._let_go(bot)


def _measure(loaded: Sequence[tuple[_Bot, Matcher]]) -> None:
    for bot, matcher in loaded:
        bot.measure(matcher)


def _details(name: str, error: Exception) -> ProblemDetails:
    """Why a bot cannot answer."""
    if isinstance(error, RegistryError):
        items = [ErrorItem.of(problem) for problem in error.problems]
        return ProblemDetails.of(503, f"The files of the bot {name!r} cannot be used.", items, kind=BROKEN)
    said = f": {error}" if isinstance(error, IntentMatchError) else ", see the log."
    return ProblemDetails.of(503, f"The bot {name!r} cannot be loaded{said}", kind=BROKEN)
