"""The queue of messages waiting to be matched, and the batches that are matched in one call.

A batch starts as soon as the previous one has ended, and holds the messages that have arrived meanwhile: many callers
make large batches, and a single caller never waits for company. Batches run in a thread, so that the event loop never
blocks, and in one thread per matcher, because several would only take turns. The queue is bounded in length and in
waiting time; a message beyond that is refused with the time to retry.

A message that is matched faster than a thread could take it over, as with the embedded encoder, is matched inline, in
the event loop: after all requests that arrived together have been read, one after the other, because consecutive
matches share the caches of the processor.

A batch that one caller sends counts with all of its messages. It is worked on in parts, and ends when its caller has
gone.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from intentmatch.core.result import MatchResult
from intentmatch.core.types import Registry
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.n_best import Hypotheses
from intentmatch.matching.options import MatchOptions
from intentmatch.server.candidates.shadow_queue import ShadowQueue
from intentmatch.server.config import Batching
from intentmatch.server.middleware.limits import client_receive
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.process.metrics import Metrics
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

_NO_OPTIONS = MatchOptions()
_BUSY = "urn:intentmatch:busy"
# So many bots at once at most, each with one batch; messages to others wait in their queues.
_THREADS = 8
# Inline matches are at most this slow and this long: a few matrix products for a message that is not a document.
_INLINE_SECONDS = 0.002
_INLINE_CHARACTERS = 500
# In a busy server every thread waits for others: the fastest match counts for some dozens of slower ones.
_FASTEST_GROWS_BY = 1.02
# Where batching saves no time, the first message of a batch must not wait long for the last.
_BATCH_SECONDS = 0.02
# Most messages are answered before it pays to watch for their client's disconnect.
_UNWATCHED_SECONDS = 0.05


# A batch of one caller learns of its client's disconnect this often; short parts would lose time.
_PART_SECONDS = 0.25

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class RegistryAnswer(NamedTuple):
    """A result, and the registry that it comes from."""

    result: MatchResult
    registry: Registry


class _Message(NamedTuple):
    """A message that is matched inline, and who waits for its answer."""

    said: str | Hypotheses
    options: MatchOptions
    answer: asyncio.Future[RegistryAnswer]


@dataclass(slots=True, eq=False)
class _Waiting:
    """A message in a queue."""

    message: _Message
    watch: asyncio.TimerHandle | asyncio.Task[None] | None = None
    """Ends the waiting early, or will start the task that does."""
    since: float = field(default_factory=time.perf_counter)


@dataclass(slots=True, eq=False)
class _MatcherQueue:
    """The messages of one matcher, and how fast it answers."""

    waiting: dict[_Waiting, None] = field(default_factory=dict)
    """In order of arrival; a dict, because any of them may leave."""
    worker: asyncio.Task[None] | None = None
    """Matches what waits, batch by batch."""
    inline: list[_Message] = field(default_factory=list)
    """Matched in the event loop once it has read all requests that have arrived."""
    mean_seconds: float = 0.0
    """Seconds per message, as a moving average."""
    fastest_seconds: float = 0.0
    """The same of messages that nothing else delayed."""
    _uniform: tuple[Registry, bool] | None = None

    def matches_inline(self, matcher: Matcher, said: str | Hypotheses) -> bool:
        """Whether a match takes less time than handing it to a thread and back, judged by recent ones."""
        if not 0.0 < self.fastest_seconds < _INLINE_SECONDS:
            return False
        if not isinstance(said, str) or len(said) > _INLINE_CHARACTERS:
            return False
        registry = matcher.registry
        # Looked up once for each registry: this runs for every message.
        if self._uniform is None or self._uniform[0] is not registry:
            # A reranker, or a slot, makes some messages take much longer than others.
            slots = any(intent.slots for intent in registry)
            self._uniform = registry, not (matcher.batches or matcher.reranker is not None or slots)
        return self._uniform[1]

    def most_in(self, seconds: float) -> int:
        """Number of messages that are matched in this time; at least one."""
        return max(1, int(seconds / self.mean_seconds)) if self.mean_seconds else 1

    def took(self, seconds: float) -> None:
        """Note how long one message took."""
        self.mean_seconds = (self.mean_seconds + seconds) / 2 if self.mean_seconds else seconds
        grown = self.fastest_seconds * _FASTEST_GROWS_BY
        self.fastest_seconds = min(seconds, grown) if self.fastest_seconds else seconds


class BatchQueue:
    """The queue of one server, with a line for each matcher. For use in its event loop only."""

    def __init__(self, config: Batching, metrics: Metrics) -> None:
        self._config = config
        self.metrics = metrics
        # Weak: the queue of a bot that was unloaded goes with its matcher.
        self._queues: WeakKeyDictionary[Matcher, _MatcherQueue] = WeakKeyDictionary()
        self._length = 0
        self._seconds_in_parts = 0.0
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="intentmatch-match")
        self.shadows = ShadowQueue()
        """Messages that candidates match beside the answers, all bots together."""

    async def match(
        self, matcher: Matcher, said: str | Hypotheses, options: MatchOptions = _NO_OPTIONS
    ) -> RegistryAnswer:
        """Match one message, as `Matcher.match` does.

        Raises `ProblemError` (503, with the time to retry) if the queue is full or the message waited too long, and
        `ClientDisconnect` if its client has gone.
        """
        loop = asyncio.get_running_loop()
        queue = self._queues.get(matcher)
        if queue is None:
            queue = self._queues[matcher] = _MatcherQueue()
        message = _Message(said, options, loop.create_future())
        # Never past messages that wait for a thread already.
        if queue.worker is None and queue.matches_inline(matcher, said):
            self._match_inline_soon(matcher, queue, [message])
            return await message.answer
        if self._length >= self._config.max_queue:
            raise self._refused(queue, "full", f"{self._length} messages are waiting already")
        waiting = _Waiting(message)
        waiting.watch = loop.call_later(_UNWATCHED_SECONDS, self._start_watch, queue, waiting, client_receive.get())
        queue.waiting[waiting] = None
        self._lengthen(1)
        if queue.worker is None:
            queue.worker = loop.create_task(self._work(matcher, queue))
        try:
            return await message.answer
        finally:
            waiting.watch.cancel()
            self._leave(queue, waiting)

    async def in_parts(
        self, messages: Sequence[_Item], work: Callable[[Sequence[_Item]], Sequence[_Result]]
    ) -> list[_Result]:
        """Return the results of `work` for many messages of one caller, part by part, in a thread.

        Each message counts as waiting until its part is done. A batch larger than the whole queue is accepted while
        nothing else waits.

        Raises `ProblemError` (503, with the time to retry) if too many messages are waiting. Raises `ClientDisconnect`
        if the client has gone; the parts that are left are then not worked on.
        """
        left = len(messages)
        if self._length and self._length + left > self._config.max_queue:
            why = f"{self._length} messages are waiting already, and {left} more are too many"
            raise self._busy("full", why, self._length * self._seconds_in_parts, left)
        self._lengthen(left)
        results: list[_Result] = []
        client: asyncio.Task[None] | None = None
        size = self._config.max_together
        try:
            # Once without a message too: `work` refuses wrong options of an empty batch as well.
            while True:
                started = time.perf_counter()
                part = messages[len(messages) - left :][:size]
                results += await asyncio.to_thread(work, part)
                left -= len(part)
                self._lengthen(-len(part))
                if not left:
                    return results
                # A coarse clock, such as the one of Windows, may see no time pass; the next line divides by this.
                self._seconds_in_parts = max(1e-6, time.perf_counter() - started) / len(part)
                size = max(self._config.max_together, int(_PART_SECONDS / self._seconds_in_parts))
                # Only a batch that takes several parts pays for following its client.
                if client is None and (receive := client_receive.get()) is not None:
                    client = asyncio.create_task(_disconnect(receive))
                    await asyncio.sleep(0)  # the task learns of what has happened already
                if client is not None and client.done():
                    self.metrics.refused("gone", left)
                    raise ClientDisconnect
        finally:
            self._lengthen(-left)
            if client is not None:
                client.cancel()

    def _match_inline_soon(self, matcher: Matcher, queue: _MatcherQueue, messages: Sequence[_Message]) -> None:
        if messages and not queue.inline:
            asyncio.get_running_loop().call_soon(self._match_inline, matcher, queue)
        queue.inline += messages

    def _match_inline(self, matcher: Matcher, queue: _MatcherQueue) -> None:
        """Match as many inline messages as delay nobody else; the rest after the event loop has run."""
        most = queue.most_in(_BATCH_SECONDS)
        batch, queue.inline = queue.inline[:most], queue.inline[most:]
        if queue.inline:
            asyncio.get_running_loop().call_soon(self._match_inline, matcher, queue)
        batch = [message for message in batch if not message.answer.done()]  # done: the client has gone
        if batch:
            started = time.perf_counter()
            answers = _answers(matcher, batch)
            queue.took((time.perf_counter() - started) / len(batch))
            _resolve(batch, answers)

    async def _work(self, matcher: Matcher, queue: _MatcherQueue) -> None:
        """Match what waits, batch by batch, until nothing does."""
        loop = asyncio.get_running_loop()
        try:
            while batch := self._next_batch(matcher, queue):
                started = time.perf_counter()
                answers = await loop.run_in_executor(self._threads, _answers, matcher, batch)
                queue.took((time.perf_counter() - started) / len(batch))
                _resolve(batch, answers)
                # Under constant load the queue is never empty: only here does it learn that it needs no thread.
                quick = [each for each in queue.waiting if queue.matches_inline(matcher, each.message.said)]
                self._take_out(queue, quick)
                self._match_inline_soon(matcher, queue, [each.message for each in quick])
        finally:
            queue.worker = None

    def _next_batch(self, matcher: Matcher, queue: _MatcherQueue) -> list[_Message]:
        most = self._config.max_together
        if not matcher.batches:
            most = min(most, queue.most_in(_BATCH_SECONDS))
        batch = list(islice(queue.waiting, most))
        self._take_out(queue, batch)
        return [each.message for each in batch]

    def _take_out(self, queue: _MatcherQueue, batch: Sequence[_Waiting]) -> None:
        now = time.perf_counter()
        for waiting in batch:
            self._leave(queue, waiting)
        if batch:
            self.metrics.batched([now - waiting.since for waiting in batch])

    def _leave(self, queue: _MatcherQueue, waiting: _Waiting) -> None:
        if waiting in queue.waiting:
            del queue.waiting[waiting]
            self._lengthen(-1)

    def _lengthen(self, by: int) -> None:
        self._length += by
        self.metrics.queued(self._length)

    def _start_watch(self, queue: _MatcherQueue, waiting: _Waiting, receive: Receive | None) -> None:
        waiting.watch = asyncio.get_running_loop().create_task(self._watch(queue, waiting, receive))

    async def _watch(self, queue: _MatcherQueue, waiting: _Waiting, receive: Receive | None) -> None:
        """Refuse a message whose client disconnects, or whose batch does not start in time."""
        # Without the body of a request, nothing tells of a disconnect: only the time limit is left.
        gone = asyncio.Event().wait() if receive is None else _disconnect(receive)
        try:
            await asyncio.wait_for(gone, self._config.max_wait - _UNWATCHED_SECONDS)
        except asyncio.TimeoutError:
            if waiting in queue.waiting:
                why = f"the message has waited for {self._config.max_wait:g} seconds"
                _set(waiting.message.answer, self._refused(queue, "late", why))
        else:
            self.metrics.refused("gone")
            _set(waiting.message.answer, ClientDisconnect())

    def _refused(self, queue: _MatcherQueue, reason: str, why: str) -> ProblemError:
        return self._busy(reason, why, len(queue.waiting) * queue.mean_seconds)

    def _busy(self, reason: str, why: str, seconds_left: float, messages: int = 1) -> ProblemError:
        self.metrics.refused(reason, messages)
        seconds = max(1, math.ceil(seconds_left))
        detail = f"The server is busy: {why}. Try again in {seconds} s."
        return ProblemError(ProblemDetails.for_status(503, detail, kind=_BUSY), {"Retry-After": str(seconds)})


def _answers(matcher: Matcher, batch: Sequence[_Message]) -> list[RegistryAnswer | Exception]:
    """Match a batch against one registry; an error of one message, or of all, takes the place of its answer."""
    try:
        snapshot = matcher.snapshot()
        results = snapshot.match_each([(message.said, message.options) for message in batch])
    except Exception as error:  # noqa: BLE001 - every caller must get an answer
        return [error] * len(batch)
    return [each if isinstance(each, Exception) else RegistryAnswer(each, snapshot.registry) for each in results]


def _resolve(batch: Sequence[_Message], answers: Sequence[RegistryAnswer | Exception]) -> None:
    for message, answer in zip(batch, answers, strict=True):
        _set(message.answer, answer)


def _set(future: asyncio.Future[RegistryAnswer], answer: RegistryAnswer | Exception) -> None:
    if future.done():  # the client has gone
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
