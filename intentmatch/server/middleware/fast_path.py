"""The short way to the calls that are made all the time: past what FastAPI does for any call that there may be.

FastAPI looks through the routes, reads a body with one parser, checks it with another, and finds out anew what a
function takes. Here pydantic reads and checks the body at once, and the function takes nothing but that and the
request. Whatever is not plainly right, in the path or in the body, goes on to FastAPI, which has the same routes and
says what is wrong: none of that is decided here.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from fastapi import Request
from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intentmatch.server.auth import api_keys as access
from intentmatch.server.middleware import problems


class Direct:
    """An app in front of whose routing some routes are called.

    Each is that of an `async def call(body: Model, request: Request) -> Response`; what it depends on takes the request
    and what the path names.
    """

    def __init__(self, app: ASGIApp, routes: Sequence[access.Route]) -> None:
        self.app = app
        self._calls = [(route, _model(route)) for route in routes]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or hand it on."""
        # Where FastAPI traces requests by itself, it wants to have found the route.
        call = self._call(scope) if scope["type"] == "http" and "fastapi.telemetry" not in scope else None
        if call is None:
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await _answer(*call, request)
        except problems.EXPECTED as error:
            response = await problems.answer(request, error)
        if response is None:
            await self.app(scope, _again(await request.body(), receive), send)
        else:
            await response(scope, receive, send)

    def _call(self, scope: Scope) -> tuple[access.Route, TypeAdapter[Any]] | None:
        """The route that a request is for, and what that takes; None for one that is not called so."""
        for route, model in self._calls:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found)
                return route, model
        return None


def _model(route: access.Route) -> TypeAdapter[Any]:
    wanted = inspect.signature(route.endpoint).parameters["body"].annotation
    return TypeAdapter(wanted)


async def _answer(route: access.Route, model: TypeAdapter[Any], request: Request) -> Response | None:
    """The answer of the route's own function; None where the body is not what that takes. Raises what it raises."""
    route.admit(request)
    content = await request.body()
    if not problems.is_json(request.headers.get("content-type", "")):
        return None
    try:
        body = model.validate_json(content)
    except ValidationError:
        return None
    for each in route.dependencies:
        if each.dependency is not None:
            await each.dependency(request, **request.path_params)
    response: Response = await route.endpoint(body, request)
    return response


def _again(content: bytes, receive: Receive) -> Receive:
    """What a body can be read from that was read already; then the client's leaving."""
    messages: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed
