"""Routes for the calls that are made all the time: their functions are called without FastAPI's solving of arguments.

FastAPI reads a body with one parser, checks it with another, and finds out anew what a function takes. Here pydantic
reads and checks it at once, and the function takes nothing but that and the request. Only what it finds nothing wrong
with is answered so: with everything else FastAPI goes on, and says what is wrong with it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response

from intentmatch.server import access, problems


class Direct(access.Route):
    """A route of an `async def call(body: Model, request: Request) -> Response`."""

    def answering(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The function itself where the body is as it should be, otherwise FastAPI."""
        otherwise = super().answering()
        call = self.endpoint
        wanted = inspect.signature(call).parameters["body"].annotation
        model: TypeAdapter[Any] = TypeAdapter(wanted)
        # What stands before the calls of several bots: they take what the path names, and the request.
        first = [each.dependency for each in self.dependencies if each.dependency]

        async def answer(request: Request) -> Response:
            if not problems.is_json(request.headers.get("content-type", "")):
                return await otherwise(request)
            try:
                body = model.validate_json(await request.body())
            except ValidationError:
                return await otherwise(request)
            for enter in first:
                await enter(request, **request.path_params)
            response: Response = await call(body, request)
            return response

        return answer
