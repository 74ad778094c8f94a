"""Recognise events that a platform delivers again, such as Slack's retries of a slow answer."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

# Telegram keeps an update for 24 hours, longer than the other platforms try again.
_DAY = 86_400.0
_MOST = 10_000

_Value = TypeVar("_Value")


class _Recent(Generic[_Value]):
    """Values by the id of an event, of the last `seconds`, at most the latest `most`. For any thread."""

    def __init__(self, seconds: float, most: int, clock: Callable[[], float]) -> None:
        self._seconds, self._most, self._clock = seconds, most, clock
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, tuple[float, _Value]] = OrderedDict()

    def get_or_add(self, event: str, make: Callable[[], _Value]) -> tuple[_Value, bool]:
        """Return the value of an event, and whether it is new, so that `make` was called."""
        now = self._clock()
        with self._lock:
            while self._seen and next(iter(self._seen.values()))[0] <= now:
                self._seen.popitem(last=False)
            if event in self._seen:
                return self._seen[event][1], False
            value = make()
            self._seen[event] = now + self._seconds, value
            if len(self._seen) > self._most:
                self._seen.popitem(last=False)
            return value, True

    def forget(self, event: str) -> None:
        """Take an event for new when it is delivered again."""
        with self._lock:
            self._seen.pop(event, None)


class Deliveries:
    """Ids of the events that were delivered within the last `seconds`, at most the latest `most`.

    It may be used from any thread and event loop. Processes do not share it.
    """

    def __init__(
        self, seconds: float = _DAY, most: int = _MOST, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._recent: _Recent[None] = _Recent(seconds, most, clock)

    @contextmanager
    def once(self, event: str | None) -> Iterator[bool]:
        """Whether to handle an event: False if it was delivered before.

        An event without an id is always handled. If handling it raises an error, its next delivery is handled.
        """
        if event is None:
            yield True
            return
        _, is_new = self._recent.get_or_add(event, lambda: None)
        try:
            yield is_new
        except BaseException:
            if is_new:
                # Not answered: the platform delivers it again for a reason.
                self._recent.forget(event)
            raise


class Answers(Generic[_Value]):
    """Answers of the last `seconds`, at most the latest `most`, for platforms that read the answer from the response.

    Such a platform delivers an event again if it got no answer, so that it must get the same answer and not none.
    Belongs to one event loop. Processes do not share it.
    """

    def __init__(
        self, seconds: float = _DAY, most: int = _MOST, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._recent: _Recent[asyncio.Future[_Value]] = _Recent(seconds, most, clock)

    async def once(self, event: str | None, answer: Callable[[], Awaitable[_Value]]) -> _Value:
        """Return the answer to an event. Only its first delivery calls `answer`; later ones wait for the same answer.

        An event without an id is always answered. The work goes on if the first caller hangs up. If it raises an error,
        the next delivery is answered.
        """
        if event is None:
            return await answer()
        work, is_new = self._recent.get_or_add(event, lambda: asyncio.ensure_future(answer()))
        if is_new:
            work.add_done_callback(lambda done: self._forget_failed(event, done))
        # A platform that hangs up asks again, and the answer should be there by then.
        return await asyncio.shield(work)

    def _forget_failed(self, event: str, done: asyncio.Future[_Value]) -> None:
        if done.cancelled() or done.exception() is not None:
            self._recent.forget(event)
