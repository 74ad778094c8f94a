"""Limits that every request passes, whatever its route, and headers that every response gets."""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from contextvars import ContextVar

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intentmatch.core.errors import InputError
from intentmatch.server.addresses import parsed
from intentmatch.server.middleware.problems import ProblemError, response
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

client_receive: ContextVar[Receive | None] = ContextVar("intentmatch_client_receive", default=None)
"""The ASGI `receive` of the current request once its body is complete: next comes the client's disconnect."""

# As ASGI wants them: names in lower case, everything in bytes.
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    # A page that needs more, such as its own style, sends a policy of its own.
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
_HOST_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_FRAMINGS = {b"content-length", b"transfer-encoding"}
_ONE_YEAR_OF_HTTPS = (b"strict-transport-security", b"max-age=31536000")


class BodyLimit:
    """Refuses bodies with too many bytes, announced or not, that take too many seconds, or that are compressed."""

    def __init__(self, app: ASGIApp, max_bytes: int, max_seconds: float) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.max_seconds = max_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the bytes of the request while the app reads them."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        coding = Headers(scope=scope).get("content-encoding", "identity").strip()
        if coding.lower() not in ("", "identity"):
            # Nothing below unpacks a body, and a complaint about its JSON would hide the cause. RFC 7694, section 3,
            # asks for the header, which says what is accepted.
            await response(scope, _compressed(coding), {"Accept-Encoding": "identity"})(scope, receive, send)
            return
        if _announced(scope) > self.max_bytes:
            await response(scope, self._too_large())(scope, receive, send)
            return
        received = 0
        complete = False
        end = time.monotonic() + self.max_seconds

        async def counted() -> Message:
            nonlocal received, complete
            if complete:  # only the client's disconnect is left
                return await receive()
            message: Message | None = None
            with anyio.move_on_after(end - time.monotonic()):
                message = await receive()
            if message is None:
                # What is still to come of the body would otherwise be waited for before the
                # next request of the connection.
                raise ProblemError(self._too_slow(), {"Connection": "close"})
            received += len(message.get("body", b""))
            # Counted as well as announced: chunked bodies announce nothing.
            if received > self.max_bytes:
                raise ProblemError(self._too_large())
            complete = not message.get("more_body", False)
            if complete:
                client_receive.set(receive)
            return message

        await self.app(scope, counted, send)

    def _too_large(self) -> ProblemDetails:
        return ProblemDetails.for_status(413, f"The body is larger than {self.max_bytes} bytes.")

    def _too_slow(self) -> ProblemDetails:
        return ProblemDetails.for_status(408, f"The body was not complete after {self.max_seconds:g} seconds.")


def _compressed(coding: str) -> ProblemDetails:
    detail = f"The body has the Content-Encoding {coding[:20]!r}; send it without compression."
    return ProblemDetails.for_status(415, detail)


class OneReading:
    """Refuses requests that a proxy may read otherwise than the server, and closes the connection.

    - A body with two lengths: a proxy may go by `Content-Length` where the server goes by `Transfer-Encoding`. What the
      one takes for the end of a body is for the other the next request (RFC 9112, section 6.1).
    - Two `Host` headers: each may choose another one (RFC 9112, section 3.2).
    - The character 0 in a path, at which many programs end it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check path and headers."""
        detail = _two_readings(scope)
        if detail is None:
            await self.app(scope, receive, send)
            return
        details = ProblemDetails.for_status(400, detail)
        await response(scope, details, {"Connection": "close"})(scope, receive, send)


def _two_readings(scope: Scope) -> str | None:
    """Return what is wrong with a request; None if nothing is."""
    if scope["type"] != "http":
        return None
    names = [name for name, _ in scope["headers"]]
    if _FRAMINGS.issubset(names):
        return "The request has both Content-Length and Transfer-Encoding; send one of them."
    # `AllowedHosts` and the app go by one of them, a cache in front perhaps by the other.
    if names.count(b"host") > 1:
        return "The request has more than one Host header; send one."
    return "The path has the character 0." if "\0" in scope["path"] else None


class AllowedHosts:
    """Refuses requests for other hosts than these, against DNS rebinding."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower().strip("[]") for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the Host header."""
        if scope["type"] == "lifespan" or _host(scope) in self.hosts:
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            # ASGI lets an app close a socket only once it has seen the connect. 1008 is a policy violation (RFC 6455).
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        # Misdirected Request (RFC 9110, section 15.5.20): the client may ask again, at the right host.
        details = ProblemDetails.for_status(421, "The server does not answer for this host.")
        await response(scope, details)(scope, receive, send)


class SecurityHeaders:
    """Adds headers that keep browsers from running, framing, caching or guessing anything."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers that the response does not have yet."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = dict(message.get("headers", ()))
                # RFC 6797, section 7.2, forbids that header over plain HTTP.
                ours = (*_HEADERS, _ONE_YEAR_OF_HTTPS) if scope.get("scheme") == "https" else _HEADERS
                message["headers"] = [*message.get("headers", ()), *(each for each in ours if each[0] not in given)]
            await send(message)

        await self.app(scope, receive, with_headers)


def checked_origins(origins: Collection[str]) -> list[str]:
    """Return the origins as a list. Raises `InputError` for one that no browser would send."""
    for origin in origins:
        scheme, separator, host = origin.partition("://")
        if origin != "*" and not (scheme in ("http", "https") and separator and host and "/" not in host):
            raise InputError(
                f"a CORS origin must look like https://shop.example, without a path, or be *; not {origin!r}"
            )
    return list(origins)


def checked_hosts(hosts: Collection[str]) -> list[str]:
    """Return the hosts as a list. Raises `InputError` for one that no request could have."""
    for host in hosts:
        if not _HOST_NAME.fullmatch(host) and parsed(host.strip("[]")) is None:
            raise InputError(
                f"an allowed host must be a name such as shop.example, without scheme, port and path; not {host!r}"
            )
    return list(hosts)


def _announced(scope: Scope) -> int:
    """Bytes of the body by its header; 0 if the header is missing or invalid, and then only the stream counts."""
    try:
        return int(Headers(scope=scope).get("content-length", "0"))
    except ValueError:
        return 0


def _host(scope: Scope) -> str:
    """The host of the request, without its port and the brackets of an IPv6 address."""
    host = Headers(scope=scope).get("host", "").lower()
    # The last group of an address in brackets keeps its bracket, so that `[::1]` does not lose it as a port.
    name, _, port = host.rpartition(":")
    return (name if port.isdecimal() else host).strip("[]")
