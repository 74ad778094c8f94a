"""A server of embeddings over HTTP: one that speaks as OpenAI's does, or text-embeddings-inference.

Connections are kept, at most so many at a time. What failed for a passing reason is asked again, as late as the server
says. Redirects are not followed: the key is for the server that was named.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.errors import ModelUnavailableError, SettingsError

WHAT = "The encoder remote"
FORM = "remote:https://HOST/v1/embeddings#MODEL, or remote:http://HOST/embed for text-embeddings-inference"

_OPENAI, _TEI = "/embeddings", "/embed"
_CONNECTIONS = 16
_CONNECT_SECONDS = 5.0
# A server that is overloaded is asked up to three times more; one that hangs or hangs up, once.
_RETRIES, _RETRIES_OF_READING = 3, 1
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_BACKOFF_SECONDS = 0.5
_SHOWN = 200


class Endpoint:
    """The server at `url`. Safe to use from many threads.

    `seconds` is how long it may be silent, and have us wait when it is busy. Raises `SettingsError` for a URL or a key
    that cannot be, and `MissingExtraError`.
    """

    def __init__(self, url: str, model: str, *, key: str | None, seconds: float) -> None:
        parts = _checked(url)
        self.url, self._model, self._key = url, model, key
        if self._is_openai and not model:
            raise SettingsError(f"name the model of {url} behind a #: {FORM}")
        if key is not None and not (key and key.isascii() and key.isprintable()):
            raise SettingsError("the key of the remote encoder must be printable ASCII, and not empty")
        self._http = plugins.require("urllib3", what=WHAT, extra="remote")
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        options = {
            "maxsize": _CONNECTIONS,
            "block": True,
            "timeout": self._http.Timeout(connect=min(_CONNECT_SECONDS, seconds), read=seconds),
            "retries": self._http.Retry(
                _RETRIES,
                read=_RETRIES_OF_READING,
                allowed_methods=None,  # a text may be read twice
                status_forcelist=_PASSING,
                backoff_factor=_BACKOFF_SECONDS,
                backoff_max=seconds,
                backoff_jitter=_BACKOFF_SECONDS,
                retry_after_max=seconds,
                raise_on_status=False,
            ),
        }
        try:
            self._pool = _pool(self._http, parts, options)
        except self._http.exceptions.HTTPError:
            # Its text would show the proxy's password.
            raise SettingsError(f"the proxy that the environment names for {parts.scheme} is no proxy") from None

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Float64 rows for texts, in their order and as the server gives them. Raises `ModelUnavailableError`."""
        body = self._post(self._asking(texts))
        try:
            answer = json.loads(body)
            embeddings = _in_order(answer["data"]) if self._is_openai else answer
            rows = np.asarray([_numbers(one) for one in embeddings], dtype=np.float64)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            raise self.unavailable("its answer is not one of embeddings") from None
        if rows.ndim != 2 or len(rows) != len(texts) or not rows.shape[1]:
            raise self.unavailable(f"it answered {len(texts)} texts with numbers of shape {rows.shape}")
        # The sum of squares overflows only where cosines would, and is finite only if all numbers are.
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(np.square(rows).sum(axis=1)).all():
                raise self.unavailable("it gave numbers that are not finite")
        return rows

    def unavailable(self, why: str, way_out: str = "See that the URL and the model are right") -> ModelUnavailableError:
        """The error that says so of this server."""
        return ModelUnavailableError(f"the remote encoder at {self.url} gives no vectors: {why}. {way_out}.")

    @property
    def _is_openai(self) -> bool:
        return self.url.endswith(_OPENAI)

    def _asking(self, texts: Sequence[str]) -> bytes:
        openai = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        return json.dumps(openai if self._is_openai else {"inputs": list(texts), "truncate": True}).encode()

    def _post(self, body: bytes) -> bytes:
        try:
            answer = self._pool.request("POST", self.url, body=body, headers=self._headers, redirect=False)
        except self._http.exceptions.HTTPError as error:
            reason = getattr(error, "reason", None) or error
            raise self.unavailable(f"{reason}", "See that it runs and is reached from here, and try again") from None
        status, said = answer.status, answer.data
        if status in (401, 403):
            how = "refuses the key" if self._key else "asks for a key"
            way_out = "Set INTENTMATCH_REMOTE_KEY, or INTENTMATCH_REMOTE_KEY_FILE to a file with the key"
            raise self.unavailable(f"it {how} (status {status})", way_out)
        if status in _PASSING:
            raise self.unavailable(f"it answered with the status {status}{self._said(said)}", "Try again later")
        if status != 200:
            raise self.unavailable(f"it answered with the status {status}{self._said(said)}")
        content: bytes = said
        return content

    def _said(self, body: bytes) -> str:
        """What the server says of its error, on one line, without the key."""
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            return ""
        for name in ("error", "message", "detail"):
            found = found.get(name, found) if isinstance(found, dict) else found
        if not isinstance(found, str):
            return ""
        line = " ".join("".join(char if char.isprintable() else " " for char in found).split())
        return f" ({line.replace(self._key, '...') if self._key else line})"[:_SHOWN]


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    # Not shown: it may hold a password, and settings travel with an artefact.
    if not good or not url.isascii() or not url.isprintable() or " " in url or {*url} & {*"@?#"}:
        raise SettingsError(
            f"write {FORM}, without a user or a query in the URL; a key goes into INTENTMATCH_REMOTE_KEY"
        )
    if not parts.path.endswith((_OPENAI, _TEI)):
        raise SettingsError(f"{url} ends neither in {_OPENAI} nor in {_TEI}: write {FORM}")
    return parts


def _pool(http: Any, url: SplitResult, options: dict[str, Any]) -> Any:
    """Connections to the server, through the proxy that the environment names for it, if there is one."""
    from urllib.request import getproxies, proxy_bypass  # by urllib3 anyway

    proxy = None if proxy_bypass(url.hostname or "") else getproxies().get(url.scheme)
    if not proxy:
        return http.PoolManager(**options)
    user = http.util.parse_url(proxy).auth
    headers = http.util.make_headers(proxy_basic_auth=unquote(user)) if user else None
    return http.ProxyManager(proxy, proxy_headers=headers, **options)


def _in_order(data: list[dict[str, Any]]) -> list[Any]:
    """The embeddings as they were asked for: a server may answer in another order. Raises `ValueError`."""
    if sorted(one["index"] for one in data) != list(range(len(data))):
        raise ValueError("not an index each")
    return [one["embedding"] for one in sorted(data, key=lambda one: int(one["index"]))]


def _numbers(embedding: Any) -> Any:
    """The numbers of an embedding: a list, or the bytes of float32 in base64, which some give unasked."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    return embedding
