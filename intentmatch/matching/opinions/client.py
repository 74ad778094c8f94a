"""HTTP client for second opinions: one request without retries, within time limit, budget and circuit breaker.

Redirects are not followed, so that the key goes only to the named server.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urlsplit

from intentmatch.core import plugins
from intentmatch.core.errors import BudgetUsedUpError, ModelUnavailableError, SettingsError
from intentmatch.core.settings import Settings
from intentmatch.encoders.endpoint import connection_pool, error_text, plain_url
from intentmatch.encoders.keys import key_for
from intentmatch.matching.opinions.limits import Budget, CircuitBreaker

KEY = "INTENTMATCH_RERANKER_KEY"
"""Environment variable with the API key, see `encoders.keys`."""

_CONNECTIONS = 16
# Requests that wait for the server at once, those that nobody waits for any more included.
_MOST_REQUESTS = 64
_CACHED = 1024
# An answer is a few numbers or a short object; more than this is no answer.
_MOST_BYTES = 1 << 20
_BLOCK = 1 << 16

_Answer = TypeVar("_Answer")


@dataclass(slots=True)
class Usage:
    """What a client has asked of its server so far."""

    requests: int = 0
    tokens: int = 0
    """Tokens that the server counted, of questions and answers."""


class OpinionClient:
    """Asks the server at `url` with JSON. Safe to use from many threads.

    `seconds` limits one request, looking up the host and connecting included; `budget` holds the most requests per
    `minute` and `day`. Answers to the last 1,024 different requests are cached. Raises `SettingsError` if the URL or
    the key is invalid, and `MissingExtraError` without urllib3.
    """

    @classmethod
    def of(cls, url: str, what: str, paths: tuple[str, ...], settings: Settings | None) -> OpinionClient:
        """Return the client for a reranker with such settings; the rest as in the constructor."""
        chosen = settings or Settings()
        return cls(
            url,
            what=what,
            seconds=chosen.reranker_seconds,
            budget=chosen.reranker_budget,
            paths=paths,
            by_operator="reranker" in chosen.by_operator,
        )

    def __init__(
        self,
        url: str,
        *,
        what: str,
        seconds: float,
        budget: Mapping[str, int],
        paths: tuple[str, ...],
        by_operator: bool = False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`what` names the client in errors; the path of the URL must end in one of `paths`.

        `by_operator` says that whoever runs the bot named the URL, in an argument or in the environment.
        """
        self.url, self._what, self._seconds, self._clock = url, what, seconds, clock
        scheme = _checked(url, what, paths)
        self._key = key_for(url, KEY, by_operator=by_operator)
        self._http = plugins.require("urllib3", what=what, extra="remote")
        self._headers = {"Content-Type": "application/json"}
        if self._key:
            self._headers["Authorization"] = f"Bearer {self._key}"
        options = {"maxsize": _CONNECTIONS, "timeout": self._http.Timeout(total=seconds), "retries": False}
        try:
            self._pool = connection_pool(self._http, urlsplit(url), options)
        except self._http.exceptions.HTTPError:
            # The original text would show the proxy's password.
            raise SettingsError(f"the environment names an invalid proxy for {scheme}") from None
        self._lock, self._slots = threading.Lock(), threading.BoundedSemaphore(_MOST_REQUESTS)
        self._budget, self._breaker = Budget(budget, clock), CircuitBreaker(clock)
        self._answers: OrderedDict[bytes, Any] = OrderedDict()
        self.usage = Usage()

    def ask(self, body: Mapping[str, Any], read: Callable[[Any], _Answer]) -> _Answer:
        """Send a request and return what `read` makes of its JSON answer, or of a cached one.

        `read` raises `ValueError`, `TypeError`, `KeyError`, `IndexError` or `AttributeError` for a wrong answer. Raises
        `ModelUnavailableError` without a usable answer and if the circuit is open; if the budget is used up, that is a
        `BudgetUsedUpError`.
        """
        request = json.dumps(body).encode()
        with self._lock:
            if request in self._answers:
                self._answers.move_to_end(request)
                known: _Answer = self._answers[request]
                return known
            # Before the budget: a request that is not sent must not count.
            if rest := self._breaker.rest():
                raise self._unavailable(f"it failed several times and is not asked for {rest:.0f} s")
            if spent := self._budget.take():
                raise BudgetUsedUpError(self._without_answer(spent))
            self.usage.requests += 1
        try:
            answer = self._read(self._post(request), read)
        except ModelUnavailableError:
            with self._lock:
                self._breaker.failed()
            raise
        with self._lock:
            self._breaker.succeeded()
            self._answers[request] = answer
            if len(self._answers) > _CACHED:
                self._answers.popitem(last=False)
        return answer

    def _read(self, content: bytes, read: Callable[[Any], _Answer]) -> _Answer:
        try:
            answer = json.loads(content)
            with self._lock:
                self.usage.tokens += _tokens(answer)
            return read(answer)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError) as error:
            # Only a plain `ValueError` is of `read` and has a sentence for users; subclasses are of the JSON decoder
            # and of Unicode.
            why = str(error) if type(error) is ValueError else "its answer has another form"
            raise self._unavailable(why) from None

    def _post(self, body: bytes) -> bytes:
        """Return the content of the answer, waiting no longer than the time limit.

        The limits of a socket start anew with each byte, and looking up a host has none: a thread waits for the server.
        """
        if not self._slots.acquire(blocking=False):
            raise self._unavailable(f"{_MOST_REQUESTS} requests are still without an answer")
        found: SimpleQueue[bytes | Exception] = SimpleQueue()

        def wait() -> None:
            answer: bytes | Exception
            try:
                answer = self._answer(body)
            except Exception as error:  # noqa: BLE001 - raised again below
                answer = error
            # Before the answer is there: whoever gets it may ask again at once.
            self._slots.release()
            found.put(answer)

        threading.Thread(target=wait, name="intentmatch-opinion", daemon=True).start()
        try:
            answer = found.get(timeout=self._seconds)
        except Empty:
            raise self._unavailable(self._late) from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def _late(self) -> str:
        return f"it took more than {self._seconds:g} s"

    def _answer(self, body: bytes) -> bytes:
        """Send the request and read the answer; if nobody waits for it any more, stop reading."""
        deadline = self._clock() + self._seconds
        try:
            answer = self._pool.request(
                "POST", self.url, body=body, headers=self._headers, redirect=False, preload_content=False
            )
            content = b""
            try:
                while block := answer.read1(_BLOCK):
                    content += block
                    is_large = len(content) > _MOST_BYTES
                    if is_large or self._clock() > deadline:
                        # Otherwise the next request on this connection would read the rest of this answer.
                        answer.close()
                        large = f"its answer has more than {_MOST_BYTES:,} bytes"
                        raise self._unavailable(large if is_large else self._late)
            finally:
                answer.release_conn()
        except self._http.exceptions.HTTPError as error:
            # A refused connection or an unknown host is a timeout to urllib3, too.
            late = isinstance(error, self._http.exceptions.TimeoutError)
            if late and not isinstance(error, self._http.exceptions.NewConnectionError):
                raise self._unavailable(self._late) from None
            raise self._unavailable(f"it cannot be reached ({type(error).__name__})") from None
        if answer.status != 200:
            raise self._unavailable(f"it answered with status {answer.status}{error_text(content, self._key)}")
        return content

    def _unavailable(self, why: str) -> ModelUnavailableError:
        return ModelUnavailableError(self._without_answer(why))

    def _without_answer(self, why: str) -> str:
        return f"{self._what} at {self.url} gives no answer: {why}"


def _tokens(answer: Any) -> int:
    """Return the tokens that a server says it has used; 0 if it does not say."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(usage, dict):
        return 0
    counts = [usage["total_tokens"]] if "total_tokens" in usage else map(usage.get, ("input_tokens", "output_tokens"))
    return sum(count for count in counts if isinstance(count, int) and count > 0)


def _checked(url: str, what: str, paths: tuple[str, ...]) -> str:
    """Return the scheme of a valid URL. The error does not show the URL, which may hold a password."""
    parts = plain_url(url)
    if parts is None:
        raise SettingsError(
            f"the URL of {what} is invalid: begin it with http:// or https://, without a user or a query, "
            f"and put a key into {KEY}"
        )
    if not parts.path.endswith(paths):
        raise SettingsError(f"{url} must end in {' or '.join(paths)}")
    return parts.scheme
