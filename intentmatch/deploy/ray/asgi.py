"""ASGI between replicas: a request and its response as values, and an app that can be replaced while it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The rest of a scope, such as the app and its state, cannot be sent to another process.
_OF_A_REQUEST = (
    "type",
    "http_version",
    "method",
    "scheme",
    "path",
    "raw_path",
    "query_string",
    "root_path",
    "headers",
    "client",
    "server",
)
_REQUEST_ID = b"x-request-id"


@dataclass(frozen=True)
class AsgiRequest:
    """A request whose body has been read."""

    scope: Mapping[str, Any]
    """The parts of the ASGI scope that describe the request."""
    body: bytes

    @classmethod
    def of(cls, scope: Scope, body: bytes) -> AsgiRequest:
        """Make a request of a scope, without what belongs to one process."""
        return cls({name: scope[name] for name in _OF_A_REQUEST if name in scope}, body)


@dataclass(frozen=True)
class Response:
    """A response."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    replica: str = ""
    """Name of the replica that answered."""

    async def __call__(self, send: Send) -> None:
        """Send the response."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


async def answer(app: ASGIApp, request: AsgiRequest) -> Response:
    """Return the response of an app to a request."""
    messages: list[Message] = [{"type": "http.request", "body": request.body, "more_body": False}]

    async def receive() -> Message:
        # The caller waits for the response; if it does not, Serve cancels this task.
        return messages.pop() if messages else await _nothing()

    return await _response(app, request, receive)


async def early_answer(app: ASGIApp, request: AsgiRequest) -> Response | None:
    """Return the response of an app that does not ask for the body, such as the refusal of a key; None if it asks."""
    asked = asyncio.Event()

    async def receive() -> Message:
        asked.set()
        return await _nothing()

    response = asyncio.create_task(_response(app, request, receive))
    asking = asyncio.create_task(asked.wait())
    try:
        await asyncio.wait({response, asking}, return_when=asyncio.FIRST_COMPLETED)
        return None if asked.is_set() else response.result()
    finally:
        asking.cancel()
        response.cancel()
        # Waits for the end of the cancelled app, whose errors belong to nobody.
        await asyncio.gather(response, return_exceptions=True)


async def _nothing() -> Message:
    await asyncio.Event().wait()
    return {"type": "http.disconnect"}


async def _response(app: ASGIApp, request: AsgiRequest, receive: Receive) -> Response:
    status, headers, body = 500, [], bytearray()

    async def send(message: Message) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status, headers = message["status"], list(message.get("headers", ()))
        else:
            body.extend(message.get("body", b""))

    await app({"asgi": {"version": "3.0"}, **request.scope}, receive, send)
    return Response(status, headers, bytes(body))


def ingress(app: ASGIApp) -> ASGIApp:
    """Return an app for `serve.ingress`, which wants a function and has it answer lifespan messages.

    WebSockets are refused: only the studio takes some. The header `X-Request-ID` is left to Ray's proxy, which adds the
    id that the app has got from it.
    """

    async def ingress_app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await app(scope, receive, partial(_send_without_id, send))
            return
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        for event in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{event}.complete"})

    return ingress_app


async def _send_without_id(send: Send, message: Message) -> None:
    if message["type"] == "http.response.start":
        kept = [(name, value) for name, value in message.get("headers", ()) if name.lower() != _REQUEST_ID]
        message = {**message, "headers": kept}
    await send(message)


class RunningApp:
    """An app within its lifespan. It ends when the last request that it has begun is answered."""

    def __init__(self, app: Starlette) -> None:
        self.app = app
        self._lifespan = AsyncExitStack()
        self._answering = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def start(self) -> None:
        """Begin the lifespan. Raises what the app raises."""
        await self._lifespan.enter_async_context(self.app.router.lifespan_context(self.app))

    async def stop(self) -> None:
        """Wait for the requests that have begun, then end the lifespan."""
        # A bot that is closed under a request would answer it with an error.
        await self._idle.wait()
        await self._lifespan.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        self._answering += 1
        self._idle.clear()
        try:
            await self.app(scope, receive, send)
        finally:
            self._answering -= 1
            if not self._answering:
                self._idle.set()
