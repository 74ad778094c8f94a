"""A `Store` in Redis, for bots that run in several processes: `Dialogue(matcher, store=RedisStore.at(url))`."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from intentmatch import MissingExtraError
from intentmatch.core.erasure import Erasure
from intentmatch.core.errors import InputError
from intentmatch.dialogue.stores import MemoryStore

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
except ModuleNotFoundError as error:
    raise MissingExtraError("The store in Redis", "redis") from error

_log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")

_SECONDS_AWAY = 2.0
"""After a failure, Redis is left alone for so long: a message makes several calls, and each could take a second."""
_SECONDS_BETWEEN_WARNINGS = 60.0
# As many as `MemoryStore` keeps in the meantime.
_MOST_OUTDATED = 100_000


class RedisStore:
    """Keeps the pending question of each conversation under `prefix`. Needs Redis 6.2 or newer.

    While Redis is away, questions are kept in the memory of this process, and no call takes longer than Redis takes
    once to fail. A question that could not be read in time is discarded when Redis is back: the message that it was
    for has been answered without it, and a later message must not be read as its answer. Safe to use from many threads.
    """

    def __init__(
        self, client: redis.Redis, *, prefix: str = "intentmatch:", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._prefix = prefix
        self._clock = clock
        self._meanwhile = MemoryStore(clock=clock)
        self._outdated: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()
        self._away_until = self._next_warning = -float("inf")

    @classmethod
    def at(cls, url: str, *, prefix: str = "intentmatch:") -> RedisStore:
        """Return the store at a URL such as `redis://localhost:6379/0`; calls fail after a second without answer."""
        # A connection that Redis closed is opened again once. A call without answer may have been executed.
        once_more = Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,))
        return cls(
            redis.Redis.from_url(url, socket_timeout=1.0, socket_connect_timeout=1.0, retry=once_more), prefix=prefix
        )

    def put(self, conversation: str, text: str, seconds: float) -> None:
        """Store a text for a number of seconds; it replaces the conversation's previous text."""
        key, milliseconds = self._key(conversation), max(1, round(seconds * 1000))
        try:
            self._call(lambda: self._client.set(key, text, px=milliseconds))
        except redis.RedisError as error:
            # Redis may still have the text before this one, which would be read as the open question once it is back.
            self._note_outdated(conversation)
            self._meanwhile.put(conversation, text, seconds)
            self._warn(error)
        else:
            self._forget_outdated(conversation)
            # What was kept while Redis was away is older than this text.
            self._meanwhile.pop(conversation)

    def pop(self, conversation: str) -> str | None:
        """Return the text of a conversation and delete it; None if there is none, or if Redis is away."""
        key = self._key(conversation)
        try:
            kept = self._call(lambda: self._client.getdel(key))
        except redis.RedisError as error:
            self._note_outdated(conversation)
            self._warn(error)
            return self._meanwhile.pop(conversation)
        outdated = self._forget_outdated(conversation)
        meanwhile = self._meanwhile.pop(conversation)
        if outdated:
            return meanwhile
        return kept.decode() if isinstance(kept, bytes) else kept

    def erase(self, erasure: Erasure, of: tuple[str, ...] = ("",)) -> int:
        """Delete the texts that quote messages; return how many there were. Raises `InputError` while Redis is away.

        `of` are the beginnings of the names of the conversations that are meant, by default all.
        """
        begins = tuple(map(self._key, of))
        # The prefix is no pattern: `*` in it stands for itself.
        pattern = re.sub(rb"([*?\[\]\\])", rb"\\\1", self._key("")) + b"*"

        def delete() -> int:
            keys = list(self._client.scan_iter(match=pattern))
            found = ((key, self._client.get(key)) for key in keys if _bytes(key).startswith(begins))
            texts = ((key, text.decode() if isinstance(text, bytes) else text) for key, text in found if text)
            return sum(bool(self._client.delete(key)) for key, text in texts if erasure.quoted_in_json(text))

        try:
            return self._call(delete) + self._meanwhile.erase(erasure, of)
        except redis.RedisError as error:
            raise InputError(f"conversations in Redis are not erased: {error}") from error

    def _call(self, call: Callable[[], _Answer]) -> _Answer:
        """Return what Redis answers. Raises `redis.RedisError`, at once if Redis failed a moment ago."""
        if self._clock() < self._away_until:
            raise redis.ConnectionError("it did not answer a moment ago")
        try:
            return call()
        except (redis.ConnectionError, redis.TimeoutError):
            self._away_until = self._clock() + _SECONDS_AWAY
            raise

    def _note_outdated(self, conversation: str) -> None:
        """Note that what Redis may hold for a conversation is older than its last message."""
        with self._lock:
            self._outdated[conversation] = None
            while len(self._outdated) > _MOST_OUTDATED:
                self._outdated.popitem(last=False)

    def _forget_outdated(self, conversation: str) -> bool:
        with self._lock:
            # With a default that is no None, which stands for a name that is there.
            return self._outdated.pop(conversation, self) is None

    def _warn(self, error: redis.RedisError) -> None:
        with self._lock:
            now = self._clock()
            due = now >= self._next_warning
            if due:
                self._next_warning = now + _SECONDS_BETWEEN_WARNINGS
        if due:
            _log.warning("Redis fails, open questions are kept in this process only: %s", error)

    def _key(self, conversation: str) -> bytes:
        # Names that users choose may contain lone surrogates.
        return (self._prefix + conversation).encode("utf-8", "surrogatepass")


def _bytes(key: bytes | str) -> bytes:
    """Return a key as bytes: a client may be set to decode them."""
    return key if isinstance(key, bytes) else key.encode("utf-8", "surrogatepass")
