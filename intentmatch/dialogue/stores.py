"""Where a question waits for its answer."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol, runtime_checkable

_MOST = 100_000


@runtime_checkable
class Store(Protocol):
    """Keeps one short text a conversation, for a while. Called from any thread; may raise what it likes."""

    def put(self, conversation: str, text: str, seconds: float) -> None:
        """Keep a text for so many seconds, in place of the one before."""

    def pop(self, conversation: str) -> str | None:
        """The text of a conversation, which is then gone, in one step: of two callers one gets it. None without one."""


class MemoryStore:
    """In the memory of this process, for the `most` conversations that were the last to be asked something."""

    def __init__(self, most: int = _MOST, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def put(self, conversation: str, text: str, seconds: float) -> None:
        """Keep a text for so many seconds, in place of the one before."""
        with self._lock:
            self._kept.pop(conversation, None)
            self._kept[conversation] = (self._clock() + seconds, text)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def pop(self, conversation: str) -> str | None:
        """The text of a conversation, which is then gone; None without one that is still kept."""
        with self._lock:
            until, text = self._kept.pop(conversation, (0.0, ""))
        return text if text and self._clock() < until else None
