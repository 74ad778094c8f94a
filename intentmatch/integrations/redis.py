"""A `Store` in Redis, for bots that run in several processes: `Dialogue(matcher, store=RedisStore.at(url))`."""

from __future__ import annotations

from intentmatch import MissingExtraError

try:
    import redis
except ModuleNotFoundError as error:
    raise MissingExtraError("The store in Redis", "redis") from error


class RedisStore:
    """Keeps the pending question of each conversation under `prefix`. Needs Redis 6.2 or newer."""

    def __init__(self, client: redis.Redis, *, prefix: str = "intentmatch:") -> None:
        self._client = client
        self._prefix = prefix

    @classmethod
    def at(cls, url: str, *, prefix: str = "intentmatch:") -> RedisStore:
        """Return the store at a URL such as `redis://localhost:6379/0`; calls fail after a second without answer."""
        return cls(redis.Redis.from_url(url, socket_timeout=1.0, socket_connect_timeout=1.0), prefix=prefix)

    def put(self, conversation: str, text: str, seconds: float) -> None:
        """Store a text for a number of seconds; it replaces the conversation's previous text."""
        self._client.set(self._key(conversation), text, px=max(1, round(seconds * 1000)))

    def pop(self, conversation: str) -> str | None:
        """Return the text of a conversation and delete it; None if there is none."""
        kept = self._client.getdel(self._key(conversation))
        return kept.decode() if isinstance(kept, bytes) else kept

    def _key(self, conversation: str) -> bytes:
        # Names that users choose may contain lone surrogates.
        return (self._prefix + conversation).encode("utf-8", "surrogatepass")
