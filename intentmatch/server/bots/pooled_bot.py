"""One bot of a pool, loaded or not: what the pool knows about it between its calls."""

from __future__ import annotations

import asyncio
import weakref
from dataclasses import dataclass
from pathlib import Path

from intentmatch.artefact.artefact import Artefact
from intentmatch.matching.matcher import Matcher
from intentmatch.registry.reading.snapshot import Content
from intentmatch.server.bots.bot import Bot
from intentmatch.server.bots.memory import own_bytes
from intentmatch.server.routes.schemas.operations import BotState
from intentmatch.server.routes.schemas.problem_details import ProblemDetails
from intentmatch.storage.postgres.address import Address


@dataclass(frozen=True)
class LoadFailure:
    """Why a bot could not be loaded. Times are those of `time.monotonic`."""

    details: ProblemDetails
    content: Content
    """What its files held: the same content is not tried again at once."""
    tried_at: float
    looked_at: float
    """When the files were last compared with `content`."""


class PooledBot:
    """A bot by name. Its `bot` is None until it is loaded, and again after it was unloaded."""

    def __init__(self, name: str, path: Path | Address) -> None:
        self.name, self.path = name, path
        self.bot: Bot | None = None
        self.loading: asyncio.Task[Bot | ProblemDetails] | None = None
        self.failure: LoadFailure | None = None
        self.bytes = 0
        """Estimated memory of its matcher, without models."""
        # Weak: a measured artefact must not outlive the bot.
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
