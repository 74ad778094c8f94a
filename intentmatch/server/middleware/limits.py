"""What every request passes on its way in, and every answer on its way out, whatever route it takes."""

from __future__ import annotations

import time
from collections.abc import Collection

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intentmatch.core.errors import InputError
from intentmatch.server.bots.batching import client
from intentmatch.server.middleware.problems import ProblemError, response
from intentmatch.server.routes.schemas import ProblemDetails

# As they are sent: names in small letters, everything in bytes.
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
_NOTHING = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
# The pages are FastAPI's, which has their scripts and pictures elsewhere.
_PAGES = (
    b"content-security-policy",
    b"default-src 'none'; frame-ancestors 'none'; connect-src 'self'; img-src 'self' data: https:; worker-src blob:; "
    b"script-src 'unsafe-inline' https://cdn.jsdelivr.net; "
    b"style-src 'unsafe-inline' https://cdn.jsdelivr.net https://fonts.googleapis.com; "
    b"font-src https://fonts.gstatic.com",
)
_YEAR = (b"strict-transport-security", b"max-age=31536000")


class BodyLimit:
    """Refuses bodies beyond a number of bytes, announced or not, and those that take longer than some seconds."""

    def __init__(self, app: ASGIApp, max_bytes: int, max_seconds: float) -> None:
        self.app = app
        self.max_bytes = max_bytes
        self.max_seconds = max_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, with its bytes counted."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if _announced(scope) > self.max_bytes:
            await response(scope, self._too_large())(scope, receive, send)
            return
        received = 0
        complete = False
        end = time.monotonic() + self.max_seconds

        async def counted() -> Message:
            nonlocal received, complete
            if complete:  # what is waited for now is the client's leaving
                return await receive()
            message: Message | None = None
            with anyio.move_on_after(end - time.monotonic()):
                message = await receive()
            if message is None:
                raise ProblemError(self._too_slow(), {"Connection": "close"})
            received += len(message.get("body", b""))
            if received > self.max_bytes:
                raise ProblemError(self._too_large())
            complete = not message.get("more_body", False)
            if complete:
                client.set(receive)
            return message

        await self.app(scope, counted, send)

    def _too_large(self) -> ProblemDetails:
        return ProblemDetails.of(413, f"The body is larger than the {self.max_bytes} bytes that are read here.")

    def _too_slow(self) -> ProblemDetails:
        return ProblemDetails.of(408, f"The body was not complete after {self.max_seconds:g} seconds.")


class AllowedHosts:
    """Refuses requests for other hosts than these, so that no page elsewhere can pass for us by a name of its own."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self.app = app
        self.hosts = frozenset(map(str.lower, hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, or say that it came to the wrong place."""
        if scope["type"] != "http" or _host(scope) in self.hosts:
            await self.app(scope, receive, send)
            return
        details = ProblemDetails.of(421, "This is not the host that the request is for.")
        await response(scope, details)(scope, receive, send)


class SecurityHeaders:
    """Tells browsers to make nothing of an answer but what it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and add to the answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = dict(message.get("headers", ()))
                is_page = given.get(b"content-type", b"").startswith(b"text/html")
                ours = [*_HEADERS, _PAGES if is_page else _NOTHING]
                if scope.get("scheme") == "https":
                    ours.append(_YEAR)
                message["headers"] = [*message.get("headers", ()), *(each for each in ours if each[0] not in given)]
            await send(message)

        await self.app(scope, receive, with_headers)


def checked_origins(origins: Collection[str]) -> list[str]:
    """The origins of pages that may call from a browser. Raises `InputError` for one that no browser would send."""
    for origin in origins:
        scheme, separator, host = origin.partition("://")
        if origin != "*" and not (scheme in ("http", "https") and separator and host and "/" not in host):
            raise InputError(f"an origin is such as https://shop.example, without a path, or *; not {origin!r}")
    return list(origins)


def _announced(scope: Scope) -> int:
    """Bytes of the body by its header; 0 where that says nothing of use, and then the stream is counted."""
    try:
        return int(Headers(scope=scope).get("content-length", "0"))
    except ValueError:
        return 0


def _host(scope: Scope) -> str:
    """The host that a request is for, without its port."""
    host = Headers(scope=scope).get("host", "").lower()
    name, _, port = host.rpartition(":")
    return name if port.isdecimal() else host
