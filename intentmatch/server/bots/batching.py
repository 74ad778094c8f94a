"""Messages that wait to be matched, and how those that arrive together are matched together.

A batch begins as soon as the one before it has ended, and holds what has arrived meanwhile: many callers make large
batches, and whoever is alone is answered at once. All of it happens in a thread, so that the event loop never waits,
and in one thread for a matcher, because more of them would only take turns. What waits is bounded, in number and in
time; whoever is beyond that is told when to come again.

Only what is known to be over sooner than it would be handed to a thread and back, as with the embedded encoder, is
matched in the event loop: one after the other once all requests that arrived with it are read, because a match that
follows another finds in the caches of the processor what it works on.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from weakref import WeakKeyDictionary

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from intentmatch.core.result import MatchResult
from intentmatch.core.types import Registry
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.options import MatchOptions
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.process.metrics import Metrics
from intentmatch.server.routes.schemas import ProblemDetails

client: ContextVar[Receive | None] = ContextVar("intentmatch_client", default=None)
"""Where the client of the request that is being answered here is heard of, once its body is complete."""

_NO_OPTIONS = MatchOptions()
_BUSY = "urn:intentmatch:busy"
_THREADS = 8
# What takes no longer is answered where it is asked: a few products of matrices, of a message that is no document.
_SECONDS_DIRECTLY = 0.002
_CHARACTERS_DIRECTLY = 500
# What once went quickly is believed for some dozens of slower times: in a busy server every thread waits for others.
_FORGETTING = 1.02
# Where nothing is gained by a batch, its first message must not wait long for the last.
_SECONDS_OF_A_BATCH = 0.02
# Most messages are answered before it is worth asking whether anybody still waits.
_SECONDS_UNWATCHED = 0.05


@dataclass(frozen=True, slots=True)
class Bounds:
    """What may wait, and how much is done at once."""

    together: int = 32
    """Messages that are encoded together."""
    queue: int = 1024
    """Messages that wait, all bots together."""
    seconds: float = 10.0
    """That a message waits for its batch to begin."""


@dataclass(slots=True, eq=False)
class _Waiting:
    text: str
    options: MatchOptions
    answer: asyncio.Future[MatchResult]
    watch: asyncio.TimerHandle | asyncio.Task[None] | None = None
    """What ends the waiting early, or will begin to look for a reason to."""
    since: float = field(default_factory=time.perf_counter)


_AtHand = tuple[str, MatchOptions, "asyncio.Future[MatchResult]"]
"""A message, what was said of it, and who waits for the answer."""


@dataclass(slots=True, eq=False)
class _Line:
    """Those who wait for one matcher."""

    waiting: dict[_Waiting, None] = field(default_factory=dict)
    """In the order of their arrival; whoever leaves is found at once."""
    moving: asyncio.Task[None] | None = None
    at_hand: list[_AtHand] = field(default_factory=list)
    """What is matched in the event loop as soon as that has read all that has arrived."""
    pace: float = 0.0
    """Seconds for a message, going by those of late."""
    least: float = 0.0
    """The same of those that nothing else kept waiting."""
    plain: tuple[Registry, bool] | None = None
    """A registry, and whether no message takes longer with it than others."""

    def answers_directly(self, matcher: Matcher, text: str) -> bool:
        """Whether a match is over sooner than it would be handed to a thread and back, going by those of late."""
        if not 0.0 < self.least < _SECONDS_DIRECTLY or len(text) > _CHARACTERS_DIRECTLY:
            return False
        registry = matcher.registry
        if self.plain is None or self.plain[0] is not registry:
            slots = any(intent.slots for intent in registry)
            self.plain = registry, not (matcher.batches or matcher.reranker is not None or slots)
        return self.plain[1]

    def most_in(self, seconds: float) -> int:
        """How many messages are matched in so long, going by those of late; at least one."""
        return max(1, int(seconds / self.pace)) if self.pace else 1

    def took(self, seconds: float) -> None:
        """Remember how long a message took."""
        self.pace = (self.pace + seconds) / 2 if self.pace else seconds
        self.least = min(seconds, self.least * _FORGETTING) if self.least else seconds


class Batches:
    """The messages of one server, to be used in its event loop only."""

    def __init__(self, bounds: Bounds, metrics: Metrics) -> None:
        self._bounds = bounds
        self.metrics = metrics
        self._lines: WeakKeyDictionary[Matcher, _Line] = WeakKeyDictionary()
        self._length = 0
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="intentmatch-match")

    async def match(self, matcher: Matcher, text: str, options: MatchOptions = _NO_OPTIONS) -> MatchResult:
        """As `Matcher.match`.

        Raises `ProblemError` (503) with the time to come again where too many wait or it took too long, and
        `ClientDisconnect` where nobody waits for the answer any more.
        """
        loop = asyncio.get_running_loop()
        line = self._lines.get(matcher)
        if line is None:
            line = self._lines[matcher] = _Line()
        if line.moving is None and line.answers_directly(matcher, text):
            answer: asyncio.Future[MatchResult] = loop.create_future()
            self._take_up(matcher, line, [(text, options, answer)])
            return await answer
        if self._length >= self._bounds.queue:
            raise self._refused(line, "full", f"{self._length} messages are waiting already")
        waiting = _Waiting(text, options, loop.create_future())
        waiting.watch = loop.call_later(_SECONDS_UNWATCHED, self._begin_to_watch, line, waiting, client.get())
        line.waiting[waiting] = None
        self._lengthen(1)
        if line.moving is None:
            line.moving = loop.create_task(self._move(matcher, line))
        try:
            return await waiting.answer
        finally:
            waiting.watch.cancel()
            self._leave(line, waiting)

    def _take_up(self, matcher: Matcher, line: _Line, some: Sequence[_AtHand]) -> None:
        """Have messages matched directly."""
        if some and not line.at_hand:
            asyncio.get_running_loop().call_soon(self._directly, matcher, line)
        line.at_hand += some

    def _directly(self, matcher: Matcher, line: _Line) -> None:
        """Match what is at hand, as much as does not keep others waiting; the rest when they had their turn."""
        most = line.most_in(_SECONDS_OF_A_BATCH)
        asked, line.at_hand = line.at_hand[:most], line.at_hand[most:]
        if line.at_hand:
            asyncio.get_running_loop().call_soon(self._directly, matcher, line)
        asked = [each for each in asked if not each[2].done()]  # whose client has not left
        if not asked:
            return
        began = time.perf_counter()
        answers = _answers(matcher, [(text, options) for text, options, _ in asked])
        line.took((time.perf_counter() - began) / len(asked))
        for (_, _, waiting), answer in zip(asked, answers, strict=True):
            _tell(waiting, answer)

    async def _move(self, matcher: Matcher, line: _Line) -> None:
        """Match what waits in a line, batch by batch, until nothing does."""
        loop = asyncio.get_running_loop()
        try:
            while batch := self._next(matcher, line):
                asked = [(waiting.text, waiting.options) for waiting in batch]
                began = time.perf_counter()
                answers = await loop.run_in_executor(self._threads, _answers, matcher, asked)
                line.took((time.perf_counter() - began) / len(batch))
                for waiting, answer in zip(batch, answers, strict=True):
                    _tell(waiting.answer, answer)
                # While there is always somebody who waits, nobody else would find out that threads are not needed.
                quick = [waiting for waiting in line.waiting if line.answers_directly(matcher, waiting.text)]
                self._take_out(line, quick)
                self._take_up(matcher, line, [(waiting.text, waiting.options, waiting.answer) for waiting in quick])
        finally:
            line.moving = None

    def _next(self, matcher: Matcher, line: _Line) -> list[_Waiting]:
        """Take those out of a line who are matched next."""
        most = self._bounds.together
        if not matcher.batches:
            most = min(most, line.most_in(_SECONDS_OF_A_BATCH))
        batch = list(islice(line.waiting, most))
        self._take_out(line, batch)
        return batch

    def _take_out(self, line: _Line, batch: Sequence[_Waiting]) -> None:
        now = time.perf_counter()
        for waiting in batch:
            self._leave(line, waiting)
        if batch:
            self.metrics.batched([now - waiting.since for waiting in batch])

    def _leave(self, line: _Line, waiting: _Waiting) -> None:
        if waiting in line.waiting:
            del line.waiting[waiting]
            self._lengthen(-1)

    def _lengthen(self, by: int) -> None:
        self._length += by
        self.metrics.queued(self._length)

    def _begin_to_watch(self, line: _Line, waiting: _Waiting, receive: Receive | None) -> None:
        waiting.watch = asyncio.get_running_loop().create_task(self._watch(line, waiting, receive))

    async def _watch(self, line: _Line, waiting: _Waiting, receive: Receive | None) -> None:
        """End the waiting of one whose client leaves, or whose batch does not begin."""
        gone = asyncio.Event().wait() if receive is None else _gone(receive)
        try:
            await asyncio.wait_for(gone, self._bounds.seconds - _SECONDS_UNWATCHED)
        except asyncio.TimeoutError:
            if waiting in line.waiting:
                why = f"the message has waited for {self._bounds.seconds:g} seconds"
                _tell(waiting.answer, self._refused(line, "late", why))
        else:
            self.metrics.refused("gone")
            _tell(waiting.answer, ClientDisconnect())

    def _refused(self, line: _Line, reason: str, why: str) -> ProblemError:
        self.metrics.refused(reason)
        seconds = max(1, math.ceil(len(line.waiting) * line.pace))
        detail = f"Too much to do here: {why}. Try again in {seconds} s."
        return ProblemError(ProblemDetails.of(503, detail, kind=_BUSY), {"Retry-After": str(seconds)})


def _answers(matcher: Matcher, asked: Sequence[tuple[str, MatchOptions]]) -> Sequence[MatchResult | Exception]:
    """What `match_each` answers, or the one error for all."""
    try:
        return matcher.match_each(asked)
    except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear of it
        return [error] * len(asked)


def _tell(waiting: asyncio.Future[MatchResult], answer: MatchResult | Exception) -> None:
    if waiting.done():  # whoever asked has left
        return
    if isinstance(answer, Exception):
        waiting.set_exception(answer)
    else:
        waiting.set_result(answer)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
