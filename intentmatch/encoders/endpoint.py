"""HTTP client for embedding servers: OpenAI-compatible servers and text-embeddings-inference.

Connections are pooled. Temporary failures are retried, after the server's `Retry-After` if it sends one. Redirects are
not followed, so that the key goes only to the named server.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, unquote

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.allowed import http_url
from intentmatch.core.errors import ModelUnavailableError, SettingsError

WHAT = "The encoder remote"
FORM = "remote:https://HOST/v1/embeddings#MODEL, or remote:http://HOST/embed for text-embeddings-inference"

_OPENAI, _TEI = "/embeddings", "/embed"
_CONNECTIONS = 16
_CONNECT_SECONDS = 5.0
# Retries for an overloaded server, and for a read timeout or a dropped connection.
_RETRIES, _RETRIES_OF_READING = 3, 1
# Statuses by which a server says that it may answer later; others will be the same again.
_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_BACKOFF_SECONDS = 0.5
_SHOWN = 200


class Endpoint:
    """Client of the embedding server at `url`. Safe to use from many threads.

    `seconds` is the read timeout and the longest wait before a retry. Raises `SettingsError` if the URL or the key is
    invalid, and `MissingExtraError` without urllib3.
    """

    def __init__(self, url: str, model: str, *, key: str | None, seconds: float) -> None:
        parts = _checked(url)
        self.url, self._model, self._key = url, model, key
        if self._is_openai and not model:
            raise SettingsError(f"{url} needs the name of a model after a #: write {FORM}")
        if key is not None and not (key and key.isascii() and key.isprintable()):
            raise SettingsError("the key of the remote encoder must be printable ASCII and not empty")
        self._http = plugins.require("urllib3", what=WHAT, extra="remote")
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        options = {
            "maxsize": _CONNECTIONS,
            "block": True,
            "timeout": self._http.Timeout(connect=min(_CONNECT_SECONDS, seconds), read=seconds),
            "retries": self._http.Retry(
                _RETRIES,
                read=_RETRIES_OF_READING,
                allowed_methods=None,  # encoding is idempotent, so POST may be retried
                status_forcelist=_PASSING,
                backoff_factor=_BACKOFF_SECONDS,
                backoff_max=seconds,
                backoff_jitter=_BACKOFF_SECONDS,
                retry_after_max=seconds,
                # The body of the last answer says why, and an exception would hide it.
                raise_on_status=False,
            ),
        }
        try:
            self._pool = connection_pool(self._http, parts, options)
        except self._http.exceptions.HTTPError:
            # The original text would show the proxy's password.
            raise SettingsError(f"the environment names an invalid proxy for {parts.scheme}") from None

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the server's vectors for texts, float64 of shape `(len(texts), dim)`, not scaled to unit length.

        Raises `ModelUnavailableError` if the server cannot be reached, refuses, or does not return finite vectors.
        """
        body = self._post(self._request_body(texts))
        try:
            answer = json.loads(body)
            embeddings = _in_order(answer["data"]) if self._is_openai else answer
            rows = np.asarray([_numbers(embedding) for embedding in embeddings], dtype=np.float64)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            raise self.unavailable("it did not answer with embeddings") from None
        if rows.ndim != 2 or len(rows) != len(texts) or not rows.shape[1]:
            raise self.unavailable(f"it answered {len(texts)} texts with numbers of shape {rows.shape}")
        # The sum of squares overflows only if cosines would, and is finite only if all numbers are.
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(np.square(rows).sum(axis=1)).all():
                raise self.unavailable("it returned numbers that are not finite")
        return rows

    def unavailable(self, why: str, remedy: str = "Check the URL and the model") -> ModelUnavailableError:
        """Return the error for this server, with a reason and what to do."""
        return ModelUnavailableError(f"the remote encoder at {self.url} gives no vectors: {why}. {remedy}.")

    @property
    def _is_openai(self) -> bool:
        return self.url.endswith(_OPENAI)

    def _request_body(self, texts: Sequence[str]) -> bytes:
        openai = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        return json.dumps(openai if self._is_openai else {"inputs": list(texts), "truncate": True}).encode()

    def _post(self, body: bytes) -> bytes:
        try:
            answer = self._pool.request("POST", self.url, body=body, headers=self._headers, redirect=False)
        except self._http.exceptions.HTTPError as error:
            reason = getattr(error, "reason", None) or error
            raise self.unavailable(f"{reason}", "Check that it runs and can be reached, and try again") from None
        status = answer.status
        content: bytes = answer.data
        if status in (401, 403):
            refusal = "refuses the key" if self._key else "asks for a key"
            remedy = (
                "Set INTENTMATCH_REMOTE_KEY, or INTENTMATCH_REMOTE_KEY_FILE to a file with the key; "
                "INTENTMATCH_REMOTE_KEY_HOSTS, if it is set, must list the server"
            )
            raise self.unavailable(f"it {refusal} (status {status})", remedy)
        if status in _PASSING:
            raise self.unavailable(
                f"it answered with status {status}{error_text(content, self._key)}", "Try again later"
            )
        if status != 200:
            raise self.unavailable(f"it answered with status {status}{error_text(content, self._key)}")
        return content


def error_text(body: bytes, key: str | None) -> str:
    """Return a server's error message on one line, without the key, as " (...)"; "" if there is none."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    # OpenAI nests a message in `error`, FastAPI writes `detail`, as a text or a list with `msg`.
    for name in ("error", "detail", "message", "msg"):
        if isinstance(found, list) and found:
            found = found[0]
        found = found.get(name, found) if isinstance(found, dict) else found
    if not isinstance(found, str):
        return ""
    line = " ".join("".join(char if char.isprintable() else " " for char in found).split())
    return f" ({line.replace(key, '...') if key else line})"[:_SHOWN]


def plain_url(url: str) -> SplitResult | None:
    """Return the parts of an http(s) URL without user, query and fragment; None for anything else.

    A URL with a user is refused because an artefact contains the settings. Errors should not show it.
    """
    return None if "?" in url else http_url(url)


def _checked(url: str) -> SplitResult:
    parts = plain_url(url)
    if parts is None:
        raise SettingsError(
            f"the URL of the remote encoder is invalid: write {FORM}, without a user or a query in the URL; "
            "put a key into INTENTMATCH_REMOTE_KEY"
        )
    if not parts.path.endswith((_OPENAI, _TEI)):
        raise SettingsError(f"{url} must end in {_OPENAI} or {_TEI}: write {FORM}")
    return parts


def connection_pool(http: Any, url: SplitResult, options: dict[str, Any]) -> Any:
    """Return a connection pool, through the proxy that the environment names for the URL, if any."""
    from urllib.request import getproxies, proxy_bypass  # urllib3 imports it anyway

    # urllib3 reads neither HTTPS_PROXY nor NO_PROXY itself.
    proxy = None if proxy_bypass(url.hostname or "") else getproxies().get(url.scheme)
    if not proxy:
        return http.PoolManager(**options)
    user = http.util.parse_url(proxy).auth
    headers = http.util.make_headers(proxy_basic_auth=unquote(user)) if user else None
    return http.ProxyManager(proxy, proxy_headers=headers, **options)


def _in_order(data: list[dict[str, Any]]) -> list[Any]:
    """Return embeddings in request order; a server may answer in another. Raises `ValueError` for bad indexes."""
    if sorted(item["index"] for item in data) != list(range(len(data))):
        raise ValueError("the indexes are not 0 to n-1")
    return [item["embedding"] for item in sorted(data, key=lambda item: int(item["index"]))]


def _numbers(embedding: Any) -> Any:
    """Return the numbers of an embedding: a list, or float32 in base64, which some servers send unasked."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    return embedding
