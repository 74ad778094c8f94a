"""Recognise events that a platform delivers again, such as Slack's retries of a slow answer."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_DAY = 86_400.0
_MOST = 10_000


class Deliveries:
    """Ids of the events that were delivered within the last `seconds`, at most the latest `most`.

    It may be used from any thread and event loop. Processes do not share it.
    """

    def __init__(
        self, seconds: float = _DAY, most: int = _MOST, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, float] = OrderedDict()

    @contextmanager
    def once(self, event: str | None) -> Iterator[bool]:
        """Whether to handle an event: False if it was delivered before.

        An event without an id is always handled. If handling it raises an error, its next delivery is handled.
        """
        if event is None:
            yield True
            return
        is_new = self._add(event)
        try:
            yield is_new
        except BaseException:
            if is_new:
                self._forget(event)
            raise

    def _add(self, event: str) -> bool:
        now = self._clock()
        with self._lock:
            while self._seen and next(iter(self._seen.values())) <= now:
                self._seen.popitem(last=False)
            if event in self._seen:
                return False
            self._seen[event] = now + self._seconds
            if len(self._seen) > self._most:
                self._seen.popitem(last=False)
            return True

    def _forget(self, event: str) -> None:
        with self._lock:
            self._seen.pop(event, None)
