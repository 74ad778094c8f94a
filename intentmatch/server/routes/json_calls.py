"""POST calls with a JSON body: a plain Starlette route for each, and its part of the OpenAPI document.

pydantic reads and checks the body in one step. FastAPI's own route parses it, checks it, resolves dependencies and
adds some 120 microseconds of CPU time to each `/match`; a plain route is within 10 of the shortest way past the router.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.json_schema import models_json_schema
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from intentmatch.server.auth.authorisation import admit
from intentmatch.server.bots.bot import Bot
from intentmatch.server.config import Limits
from intentmatch.server.middleware import problems
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.middleware.request_log import LoggedRoute
from intentmatch.server.routes.schemas.base import RequestModel, ResponseModel
from intentmatch.server.routes.schemas.problem_details import ProblemDetails
from intentmatch.server.routes.schemas.requests import limited

FindBot = Callable[[Request], Awaitable[Bot]]
"""Finds the bot that a request is for. Raises `ProblemError` if there is none."""

Answer = Callable[[Any, Bot, Request], Any]
"""A function from body, bot and request to a `ResponseModel`, or to its JSON as bytes.

One that is not a coroutine function runs in a thread.
"""

_ERRORS = (400, 401, 408, 413, 415, 422, 429, 503)
_REFERENCE = "#/components/schemas/{model}"
_JSON = "application/json"


class JsonCalls:
    """The POST calls of an app with a JSON body."""

    def __init__(self, find_bot: FindBot, limits: Limits, prefix: str = "") -> None:
        """Every path begins with `prefix`, which may name the bot as `{bot}`."""
        self._find_bot = find_bot
        self._limits = limits
        self._prefix = prefix
        self._calls: list[_Call] = []

    def add(
        self, path: str, answer: Answer, request: type[RequestModel], response: type[ResponseModel], status: int = 200
    ) -> None:
        """Add a call, described by the docstring of `answer`."""
        model = limited(request, self._limits)
        call = _Call(
            self._prefix + path, answer, request=model, response=response, status=status, find_bot=self._find_bot
        )
        self._calls.append(call)

    @property
    def routes(self) -> list[LoggedRoute]:
        """The routes for the router of the app."""
        return [LoggedRoute(call.path, call, methods=["POST"], name=call.name) for call in self._calls]

    def describe(self, document: dict[str, Any], parameters: list[dict[str, Any]], *errors: int) -> None:
        """Write the calls into an OpenAPI document, with the parameters and further errors of their prefix."""
        models: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [
            *((call.request, "validation") for call in self._calls),
            *((call.response, "serialization") for call in self._calls),
            (ProblemDetails, "serialization"),
        ]
        _, definitions = models_json_schema(models, ref_template=_REFERENCE)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        document["components"]["schemas"] = dict(sorted({**schemas, **definitions["$defs"]}.items()))
        described = {
            call.path: {"post": call.operation(parameters, sorted({*_ERRORS, *errors}))} for call in self._calls
        }
        # First, as the calls that most readers look for.
        document["paths"] = {**described, **document["paths"]}


class _Call:
    """One call, as an ASGI application."""

    def __init__(
        self,
        path: str,
        answer: Answer,
        *,
        request: type[RequestModel],
        response: type[ResponseModel],
        status: int,
        find_bot: FindBot,
    ) -> None:
        self.path, self.name = path, answer.__name__
        self.request, self.response = request, response
        self._answer = answer if inspect.iscoroutinefunction(answer) else _in_a_thread(answer)
        self._description = inspect.getdoc(answer)
        self._status = status
        self._find_bot = find_bot
        self._model: TypeAdapter[Any] = TypeAdapter(request)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        # Before the body is read: nobody without a key may fill the memory.
        admit(request)
        content = await request.body()
        bot = await self._find_bot(request)
        body = read_json(self._model, content, request.headers.get("content-type", ""))
        answer = await self._answer(body, bot, request)
        if isinstance(answer, ResponseModel):
            answer = answer.model_dump_json().encode()
        await Response(answer, self._status, media_type=_JSON)(scope, receive, send)

    def operation(self, parameters: list[dict[str, Any]], errors: list[int]) -> dict[str, Any]:
        """The operation for the OpenAPI document."""
        operation = {
            "tags": ["matching"],
            "summary": self.name.replace("_", " ").title(),
            "description": self._description,
            "operationId": self.name,
            "parameters": parameters,
            "requestBody": {"content": _content(self.request), "required": True},
            "responses": {
                str(self._status): {"description": "Successful Response", "content": _content(self.response)},
                **{
                    str(status): {
                        "description": problems.DESCRIPTIONS[status],
                        "content": _content(ProblemDetails, problems.MEDIA_TYPE),
                    }
                    for status in errors
                },
            },
        }
        if not parameters:
            del operation["parameters"]
        return operation


def read_json(model: TypeAdapter[Any], content: bytes, content_type: str) -> Any:
    """Read a body. Raises `ProblemError`: 400 if it is not JSON, 415 if it is not declared as JSON, 422 if invalid."""
    # In the words of FastAPI's own routes, so that clients see one kind of error.
    if not content:
        raise ProblemError(problems.from_findings([{"type": "missing", "loc": ("body",), "msg": "Field required"}]))
    if not problems.is_json(content_type):
        raise ProblemError(problems.unsupported_media_type(content_type))
    try:
        return model.validate_json(content)
    except ValidationError:
        return _read_leniently(model, content)


def _read_leniently(model: TypeAdapter[Any], content: bytes) -> Any:
    """Read a body that pydantic's parser refuses: Python's takes a byte order mark, and says where JSON breaks off."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ProblemError(ProblemDetails.for_status(400, problems.unreadable(error))) from None
    try:
        # As FastAPI validates: a body that is no object gets the same `rule` from either kind of route.
        return model.validate_python(value, from_attributes=True)
    except ValidationError as error:
        found: list[Mapping[str, Any]] = [
            {**each, "loc": ("body", *each["loc"])} for each in error.errors(include_url=False, include_input=False)
        ]
        raise ProblemError(problems.from_findings(found)) from None


def _in_a_thread(answer: Answer) -> Answer:
    async def threaded(body: Any, bot: Bot, request: Request) -> Any:
        return await run_in_threadpool(answer, body, bot, request)

    return threaded


def _content(model: type[ResponseModel | RequestModel], media_type: str = _JSON) -> dict[str, Any]:
    return {media_type: {"schema": {"$ref": _REFERENCE.format(model=model.__name__)}}}
