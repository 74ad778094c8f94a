"""Everything that goes wrong in one shape: `ProblemDetails`, whoever noticed it first. A protocol may have its own.

The status says whose turn it is. 4xx: the caller's, and `errors` lists what to put right. 409: the author's, the YAML
cannot be used. 503: try again once something is loaded or installed. 500: ours, and nothing a client sends leads to it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Scope

from intentmatch.core.errors import (
    InputError,
    IntentMatchError,
    Problem,
    RegistryError,
    UnavailableError,
    UnknownNameError,
)
from intentmatch.server.middleware.request_log import CLIENT_GONE
from intentmatch.server.routes.schemas import ErrorItem, ProblemDetails

MEDIA_TYPE = "application/problem+json"
WARMING, BROKEN = "urn:intentmatch:warming", "urn:intentmatch:broken"

# A body of a megabyte can hold a hundred thousand mistakes; nobody reads on after these.
_MAX_ERRORS = 50
_MAX_LOCATION = 200

Shape = Callable[[ProblemDetails], Response]
"""How the clients of a protocol expect to be told of a problem."""

_log = logging.getLogger(__name__)

_DESCRIPTIONS: Mapping[int, str] = {
    400: "The body cannot be read as JSON.",
    401: "A key is needed.",
    403: "The key is none for admin calls, or those are off; where there are several bots, it is none for this one.",
    404: "There is no bot of this name.",
    408: "The body took too long.",
    409: "The files cannot be used; every problem is listed, and the old intents go on answering.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    422: "The body is JSON, but not what is asked for here; every problem is listed.",
    429: "Too many requests; the header Retry-After says when to try again.",
    503: "The intents are not loaded yet, too many messages are waiting (then the header Retry-After says when to try "
    "again), or something that is needed is not installed or not turned on.",
}

# Where the words of pydantic are for Python programmers.
_WORDS: Mapping[str, str] = {
    "extra_forbidden": "This key is not known here",
    "model_attributes_type": "Input should be a JSON object",
    "model_type": "Input should be a JSON object",
    "string_unicode": "Input holds half of a surrogate pair, which is not text",
}


class ProblemError(HTTPException):
    """Raised anywhere below a route to answer with these details."""

    def __init__(self, details: ProblemDetails, headers: Mapping[str, str] | None = None) -> None:
        self.details = details
        super().__init__(details.status, details.detail, headers)


def install(app: FastAPI, shapes: Sequence[tuple[re.Pattern[str], Shape]] = ()) -> None:
    """Have every error of an app answered as `ProblemDetails`, and on the paths of `shapes` in their shape."""
    app.state.shapes = shapes
    for expected, handler in _HANDLERS.items():
        app.add_exception_handler(expected, handler)
    app.add_exception_handler(Exception, _unexpected)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI document."""
    return {status: {"model": ProblemDetails, "description": _DESCRIPTIONS[status]} for status in statuses}


def declare_media_type(openapi: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI document with the errors under their own media type; FastAPI files them under the route's."""
    for path in openapi["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                content = response.get("content", {})
                if not status.startswith("2") and content:
                    content[MEDIA_TYPE] = content.popitem()[1]
    return openapi


def of_reload(error: Exception) -> ProblemDetails:
    """Why a reload failed."""
    if isinstance(error, RegistryError):
        return of_problems(error.problems)
    if isinstance(error, IntentMatchError):
        return ProblemDetails.of(409, f"The old intents go on answering, because the new cannot be loaded: {error}")
    return ProblemDetails.of(500, "The reload failed unexpectedly, see the log; the old intents go on answering.")


def of_problems(found: Sequence[Problem]) -> ProblemDetails:
    """What is wrong with files that were not taken into use."""
    count = sum(problem.severity == "error" for problem in found)
    detail = f"The files have {count} {'error' if count == 1 else 'errors'}; the old intents go on answering."
    return ProblemDetails.of(409, detail, [ErrorItem.of(problem) for problem in found])


def of_findings(found: Sequence[Any], status: int = 422) -> ProblemDetails:
    """What pydantic found wrong with a request, in `status`; 400 where it is not JSON at all."""
    first = found[0]
    if first["type"] == "json_invalid":
        # FastAPI says at which character; pydantic has the place in the words.
        place = f", at character {first['loc'][-1]}" if first["loc"] else ""
        return ProblemDetails.of(400, f"The body is not JSON: {first['ctx']['error']}{place}.")
    items = [_error_item(each) for each in found[:_MAX_ERRORS]]
    count = "1 thing" if len(found) == 1 else f"{len(found)} things"
    shown = "" if len(found) <= _MAX_ERRORS else f" The first {_MAX_ERRORS} are listed."
    detail = f"{count} to put right in the request, first {items[0].location}: {items[0].message}.{shown}"
    return ProblemDetails.of(status, detail, items)


def response(scope: Scope, details: ProblemDetails, headers: Mapping[str, str] | None = None) -> Response:
    """A problem in the shape that belongs to the path of the request."""
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    for paths, shape in scope["app"].state.shapes:
        if paths.fullmatch(path):
            shaped: Response = shape(details)
            shaped.headers.update(headers or {})
            return shaped
    return Response(details.model_dump_json(), details.status, headers, MEDIA_TYPE)


async def answer(request: Request, error: Exception) -> Response:
    """The answer to an error that is one of `EXPECTED`."""
    handler = next(handler for expected, handler in _HANDLERS.items() if isinstance(error, expected))
    return await handler(request, error)


async def _invalid_request(request: Request, error: Exception) -> Response:
    # Starlette's type for handlers promises no more than Exception.
    found: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else ()
    kinds = {each["type"] for each in found}
    declared = request.headers.get("content-type", "")
    if not kinds & {"json_invalid", "missing"} and not is_json(declared):
        given = f"declared as {declared[:_MAX_LOCATION]}" if declared else "not declared as anything"
        detail = f"The body is {given}. Send JSON with the header Content-Type: application/json."
        return response(request.scope, ProblemDetails.of(415, detail))
    return response(request.scope, of_findings(found))


async def _http(request: Request, error: Exception) -> Response:
    if isinstance(error, ProblemError):
        return response(request.scope, error.details, error.headers)
    status, detail, headers = 500, "", None
    if isinstance(error, HTTPException):
        status, detail, headers = error.status_code, error.detail, error.headers
    if status == 404:
        detail = "There is nothing at this path. /docs lists what there is."
    elif status == 405:
        detail = f"This path does not answer to {request.method}; it does to {(headers or {}).get('Allow', 'others')}."
    elif status == 400:
        detail = _unreadable(error.__cause__)
    return response(request.scope, ProblemDetails.of(status, detail), headers)


async def _intentmatch(request: Request, error: Exception) -> Response:
    if isinstance(error, InputError):
        location = f"body{_naming(request, error)}" if isinstance(error, UnknownNameError) else "body"
        item = ErrorItem(location=location, message=str(error))
        return response(request.scope, ProblemDetails.of(422, str(error), [item]))
    if isinstance(error, UnavailableError):
        return response(request.scope, ProblemDetails.of(503, str(error)))
    _log.error("%s %r failed", request.method, request.scope["path"], exc_info=error)
    return response(request.scope, ProblemDetails.of(500, str(error)))


def _naming(request: Request, error: UnknownNameError) -> str:
    """The key of the request that names what is not there."""
    if error.kind == "slot":
        return ".slots"
    return ".intent" if request.scope["path"].endswith("/fill") else ".allowed"


async def _gone(request: Request, error: Exception) -> Response:
    # Nobody reads it.
    return Response(status_code=CLIENT_GONE)


async def _unexpected(request: Request, error: Exception) -> Response:
    # The server logs the error: Starlette raises it again once this answer is sent.
    return response(
        request.scope, ProblemDetails.of(500, "Something went wrong here that is not the fault of the request.")
    )


_HANDLERS: Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    RequestValidationError: _invalid_request,
    HTTPException: _http,
    IntentMatchError: _intentmatch,
    ClientDisconnect: _gone,
}
EXPECTED = tuple(_HANDLERS)
"""What is raised below a route and told by its kind; all else is a defect."""


def _unreadable(cause: BaseException | None) -> str:
    """Why FastAPI could not read a body, from the error that stopped it."""
    if isinstance(cause, UnicodeDecodeError):
        return f"The body is not UTF-8: byte {cause.start} cannot be part of a character."
    if isinstance(cause, RecursionError):
        return "The body is nested too deeply."
    if isinstance(cause, ValueError):
        return f"The body cannot be read as JSON: {cause}."
    return "The body cannot be read as JSON."


def is_json(content_type: str) -> bool:
    """Whether a body that is declared so is read as JSON."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _error_item(found: Mapping[str, Any]) -> ErrorItem:
    location = ".".join(map(str, found["loc"])) or "body"
    if len(location) > _MAX_LOCATION:
        location = f"{location[:_MAX_LOCATION]}…"
    return ErrorItem(location=location, message=_WORDS.get(found["type"], found["msg"]), rule=found["type"])
