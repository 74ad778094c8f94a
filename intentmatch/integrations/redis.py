"""A `Store` in Redis, for bots that run as several processes: `Dialogue(matcher, store=RedisStore.at(url))`."""

from __future__ import annotations

from intentmatch import MissingExtraError

try:
    import redis
except ModuleNotFoundError as error:
    raise MissingExtraError("The store in Redis", "redis") from error


class RedisStore:
    """Keeps what conversations wait for under `prefix`; needs a Redis of 6.2 or newer."""

    def __init__(self, client: redis.Redis, *, prefix: str = "intentmatch:") -> None:
        self._client = client
        self._prefix = prefix

    @classmethod
    def at(cls, url: str, *, prefix: str = "intentmatch:") -> RedisStore:
        """The store at a URL such as `redis://localhost:6379/0`; one that does not answer in a second has failed."""
        return cls(redis.Redis.from_url(url, socket_timeout=1.0, socket_connect_timeout=1.0), prefix=prefix)

    def put(self, conversation: str, text: str, seconds: float) -> None:
        """Keep a text for so many seconds, in place of the one before."""
        self._client.set(self._key(conversation), text, px=max(1, round(seconds * 1000)))

    def pop(self, conversation: str) -> str | None:
        """The text of a conversation, which is then gone; None without one."""
        kept = self._client.getdel(self._key(conversation))
        return kept.decode() if isinstance(kept, bytes) else kept

    def _key(self, conversation: str) -> bytes:
        # What users choose for a name may hold halves of characters.
        return (self._prefix + conversation).encode("utf-8", "surrogatepass")
