"""Stores that keep the open question of each conversation."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from intentmatch.core.arguments import check_argument
from intentmatch.core.erasure import Erasure

# Bounds the memory of a bot whose conversations never end; `protocols.dialogflow_session` counts on this number.
_MOST = 100_000


@runtime_checkable
class Store(Protocol):
    """Keeps one short text per conversation for a limited time.

    Its methods are called from any thread, and may raise any exception.
    """

    def put(self, conversation: str, text: str, seconds: float) -> None:
        """Keep a text for this many seconds; it replaces the previous text of the conversation."""

    def pop(self, conversation: str) -> str | None:
        """Remove and return the text of a conversation atomically; None if there is none."""


class MemoryStore:
    """Keeps texts in the memory of this process, for the `most` latest conversations."""

    def __init__(self, most: int = _MOST, *, clock: Callable[[], float] = time.monotonic) -> None:
        check_argument("most", most, int)
        check_argument("clock", clock, Callable)
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def put(self, conversation: str, text: str, seconds: float) -> None:
        """Keep a text for this many seconds; it replaces the previous text of the conversation."""
        with self._lock:
            # A dict keeps the place of a key that it has; taken out first, the latest conversation comes last.
            self._kept.pop(conversation, None)
            self._kept[conversation] = (self._clock() + seconds, text)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def pop(self, conversation: str) -> str | None:
        """Remove and return the text of a conversation atomically; None if there is none or it has expired."""
        with self._lock:
            expires, text = self._kept.pop(conversation, (0.0, ""))
        return text if text and self._clock() < expires else None

    def erase(self, erasure: Erasure, of: tuple[str, ...] = ("",)) -> int:
        """Remove the texts that quote messages; return how many there were. Added in 0.3.0.

        `of` are the beginnings of the names of the conversations that are meant, by default all.
        """
        with self._lock:
            kept = [(key, text) for key, (_, text) in self._kept.items() if key.startswith(of)]
            gone = [key for key, text in kept if erasure.quoted_in_json(text)]
            for conversation in gone:
                del self._kept[conversation]
        return len(gone)
