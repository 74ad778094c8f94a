"""Every error in one shape, `ProblemDetails`, whichever layer raised it. A protocol may have a shape of its own.

The status says who has to act. 4xx: the caller; `errors` lists what to correct. 409: the author; the YAML is invalid.
503: try again later, or install or turn on what the call needs. 500: the developers; no request leads to it.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from intentmatch.core.errors import (
    DATABASE_AWAY,
    DatabaseError,
    InputError,
    IntentMatchError,
    Problem,
    RegistryError,
    UnavailableError,
    UnknownNameError,
)
from intentmatch.core.rare_lines import RareLines
from intentmatch.server.middleware.request_log import CLIENT_GONE
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails

MEDIA_TYPE = "application/problem+json"
_SCHEMA = {"$ref": f"#/components/schemas/{ProblemDetails.__name__}"}
WARMING, BROKEN = "urn:intentmatch:warming", "urn:intentmatch:broken"

# A body of a megabyte can hold a hundred thousand mistakes; nobody reads more than these.
_MAX_ERRORS = 50
_MAX_LOCATION = 200

_STILL_ACTIVE = "The last valid registry stays active."

Shape = Callable[[ProblemDetails], Response]
"""Turns a problem into the error response that the clients of a protocol expect."""

_RETRY_DATABASE = {"Retry-After": "5"}
_lost_database_lines = RareLines()

_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_log = logging.getLogger(__name__)

DESCRIPTIONS: Mapping[int, str] = {
    400: "The body is not JSON.",
    401: "The call needs a valid key.",
    403: "The key is not valid for admin calls or for this bot, or admin calls are off.",
    404: "There is no bot of this name.",
    408: "The body did not arrive in time.",
    409: "The files are invalid; every problem is listed, and the last valid registry stays active.",
    413: "The body is too large.",
    415: "The body is not declared as JSON, or it is compressed.",
    428: "The header If-Match is missing.",
    422: "The body is JSON, but invalid; every problem is listed.",
    429: "Too many requests; the header Retry-After says when to try again.",
    503: "The intents are not loaded yet, too many messages are waiting (then the header Retry-After says when to try "
    "again), the database of the bot is away, or something that the call needs is not installed or not turned on.",
}
"""What each error status means, for the OpenAPI document."""
_BAD_PATH = "the path has the character 0."

# In place of pydantic's messages for Python programmers.
_MESSAGES: Mapping[str, str] = {
    "extra_forbidden": "This key is unknown",
    "model_attributes_type": "Input should be a JSON object",
    "model_type": "Input should be a JSON object",
    "string_unicode": "Input contains half of a surrogate pair, which is not text",
}


class ProblemError(HTTPException):
    """Raised anywhere below a route to answer with problem details."""

    def __init__(self, details: ProblemDetails, headers: Mapping[str, str] | None = None) -> None:
        self.details = details
        super().__init__(details.status, details.detail, headers)


def install(app: FastAPI, shapes: Sequence[tuple[re.Pattern[str], Shape]] = ()) -> None:
    """Answer every error of an app as `ProblemDetails`, and in the shape of a protocol on its paths."""
    app.state.shapes = shapes
    for expected, handler in _HANDLERS.items():
        app.add_exception_handler(expected, handler)
    app.add_exception_handler(Exception, _unexpected)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the errors of a FastAPI route, for the OpenAPI document.

    They refer to the schema: of a model, FastAPI would make a validator for each error of each route, and use none.
    """
    content = {MEDIA_TYPE: {"schema": _SCHEMA}}
    return {status: {"description": DESCRIPTIONS[status], "content": content} for status in statuses}


def declare_media_type(openapi: dict[str, Any]) -> None:
    """Give the errors in an OpenAPI document their own media type; FastAPI gives them that of the route."""
    for path in openapi["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                content = response.get("content", {})
                if not status.startswith("2") and content:
                    content[MEDIA_TYPE] = content.popitem()[1]


def declare_bad_paths(openapi: dict[str, Any]) -> None:
    """Add the error (400) of a path with the character 0 to the calls that have a name in their path."""
    for path, operations in openapi["paths"].items():
        for operation in operations.values() if "{" in path else ():
            statuses = operation["responses"]
            description = f"{DESCRIPTIONS[400][:-1]}, or {_BAD_PATH}" if "400" in statuses else _BAD_PATH.capitalize()
            statuses["400"] = {"description": description, "content": {MEDIA_TYPE: {"schema": _SCHEMA}}}
            operation["responses"] = dict(sorted(statuses.items()))


def from_lost_database(error: DatabaseError) -> ProblemError:
    """Return the problem (503) of a database that cannot be used.

    Its address and the reason are in the log alone, at most once a minute.
    """
    if _lost_database_lines.due():
        _log.warning("a call failed because of its database; such calls of the next minute are not logged: %s", error)
    return ProblemError(ProblemDetails.for_status(503, DATABASE_AWAY), _RETRY_DATABASE)


def from_failed_reload(error: Exception) -> ProblemDetails:
    """Return why a reload failed."""
    if isinstance(error, RegistryError):
        return from_invalid_files(error.problems)
    if isinstance(error, IntentMatchError):
        return ProblemDetails.for_status(409, f"{_STILL_ACTIVE} The new one cannot be loaded: {error}")
    return ProblemDetails.for_status(500, f"The reload failed unexpectedly, see the log. {_STILL_ACTIVE}")


def from_invalid_files(found: Sequence[Problem]) -> ProblemDetails:
    """Return the problems of files that were not taken into use."""
    count = sum(problem.severity == "error" for problem in found)
    detail = f"The files have {count} {'error' if count == 1 else 'errors'}. {_STILL_ACTIVE}"
    return ProblemDetails.for_status(409, detail, [ErrorItem.from_problem(problem) for problem in found])


def from_findings(found: Sequence[Mapping[str, Any]], status: int = 422) -> ProblemDetails:
    """Return what pydantic found wrong with a request; the status is 400 if the body is not JSON at all."""
    first = found[0]
    if first["type"] == "json_invalid":
        # FastAPI gives the character as the location; pydantic names it in its message.
        place = f", at character {first['loc'][-1]}" if first["loc"] else ""
        return ProblemDetails.for_status(400, f"The body is not JSON: {first['ctx']['error']}{place}.")
    items = [_error_item(each) for each in found[:_MAX_ERRORS]]
    count = "1 mistake" if len(found) == 1 else f"{len(found)} mistakes"
    shown = "" if len(found) <= _MAX_ERRORS else f" The first {_MAX_ERRORS} are listed."
    detail = f"{count} in the request, first {items[0].location}: {items[0].message}.{shown}"
    return ProblemDetails.for_status(status, detail, items)


def unsupported_media_type(content_type: str) -> ProblemDetails:
    """Return the problem of a body that is not declared as JSON."""
    given = f"declared as {content_type[:_MAX_LOCATION]}" if content_type else "not declared as anything"
    return ProblemDetails.for_status(
        415, f"The body is {given}. Send JSON with the header Content-Type: application/json."
    )


def unreadable(error: ValueError | RecursionError) -> str:
    """Say why Python's parser cannot read a body as JSON."""
    if isinstance(error, json.JSONDecodeError):
        return f"The body is not JSON: {error.msg}, at character {error.pos}."
    if isinstance(error, UnicodeDecodeError):
        return f"The body is not UTF-8: byte {error.start} cannot be part of a character."
    if isinstance(error, RecursionError):
        return "The body is nested too deeply."
    return f"The body cannot be read as JSON: {error}."


def response(scope: Scope, details: ProblemDetails, headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem in the shape that clients of this path expect."""
    # Behind a proxy that serves the app below a path, Starlette leaves that path in front.
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    for paths, shape in scope["app"].state.shapes:
        if paths.fullmatch(path):
            shaped: Response = shape(details)
            shaped.headers.update(headers or {})
            return shaped
    return Response(details.model_dump_json(), details.status, headers, MEDIA_TYPE)


async def _invalid_request(request: Request, error: Exception) -> Response:
    # Of routes for authors and those that a user adds to the app: the others read their bodies themselves. Starlette
    # types the error of a handler as Exception.
    found: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else ()
    declared = request.headers.get("content-type", "")
    # FastAPI takes a body that is not declared as JSON for bytes, and then complains that it is no object: the missing
    # header is the cause. If it found invalid JSON or no body, it has looked, and the header was right.
    in_body = any(each["loc"][:1] == ("body",) for each in found)
    if in_body and not {each["type"] for each in found} & {"json_invalid", "missing"} and not is_json(declared):
        return response(request.scope, unsupported_media_type(declared))
    return response(request.scope, from_findings(found))


async def _http(request: Request, error: Exception) -> Response:
    if isinstance(error, ProblemError):
        return response(request.scope, error.details, error.headers)
    status, detail, headers = 500, "", None
    if isinstance(error, HTTPException):
        status, detail, headers = error.status_code, error.detail, error.headers
    if status == 404:
        detail = "There is nothing at this path. /docs lists all calls."
    elif status == 405:
        # RFC 9110, section 15.5.6: a 405 must say which methods there are.
        allowed = _methods(request) or (headers or {}).get("Allow", "other methods")
        headers = {**(headers or {}), "Allow": allowed}
        detail = f"This path does not support {request.method}, only {allowed}."
    return response(request.scope, ProblemDetails.for_status(status, detail), headers)


def _methods(request: Request) -> str:
    """Return all methods of a path: Starlette names those of the first route alone."""
    scopes = [{**request.scope, "method": method} for method in _METHODS]
    found = [one for one in scopes if any(route.matches(one)[0] is Match.FULL for route in request.app.routes)]
    return ", ".join(one["method"] for one in found)


async def _database(request: Request, error: Exception) -> Response:
    if not isinstance(error, DatabaseError):
        return await _unexpected(request, error)
    problem = from_lost_database(error)
    return response(request.scope, problem.details, problem.headers)


async def _intentmatch(request: Request, error: Exception) -> Response:
    if isinstance(error, InputError):
        location = f"body{_key_at_fault(request, error)}" if isinstance(error, UnknownNameError) else "body"
        item = ErrorItem(location=location, message=str(error))
        return response(request.scope, ProblemDetails.for_status(422, str(error), [item]))
    if isinstance(error, UnavailableError):
        return response(request.scope, ProblemDetails.for_status(503, str(error)))
    # Any other error of ours is a defect: the caller sees its sentence, the log has the traceback.
    _log.error("%s %r failed", request.method, request.scope["path"], exc_info=error)
    return response(request.scope, ProblemDetails.for_status(500, str(error)))


def _key_at_fault(request: Request, error: UnknownNameError) -> str:
    """The key of the request that holds the unknown name."""
    if error.kind == "slot":
        # The library says which name is unknown but not in which argument it stood; the route has noted that.
        return ".slots" if error.name in request.state.names["slots"] else ".others"
    if request.scope["path"].endswith("/fill"):
        return ".intent"
    allowed = getattr(request.state, "names", {}).get("allowed")
    return ".allowed" if allowed is None or error.name in allowed else ".previous"


async def _gone(request: Request, error: Exception) -> Response:
    # Nobody reads this response.
    return Response(status_code=CLIENT_GONE)


async def _unexpected(request: Request, error: Exception) -> Response:
    # The server logs the error: Starlette raises it again once this answer is sent.
    return response(
        request.scope, ProblemDetails.for_status(500, "The server failed unexpectedly; the request is not at fault.")
    )


_HANDLERS: Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    RequestValidationError: _invalid_request,
    HTTPException: _http,
    DatabaseError: _database,
    IntentMatchError: _intentmatch,
    ClientDisconnect: _gone,
}


def is_json(content_type: str) -> bool:
    """Whether a content type stands for JSON."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _error_item(found: Mapping[str, Any]) -> ErrorItem:
    location = ".".join(map(str, found["loc"])) or "body"
    if len(location) > _MAX_LOCATION:
        # A location holds keys of the body, which may be as long as the body.
        location = f"{location[:_MAX_LOCATION]}…"
    return ErrorItem(location=location, message=_MESSAGES.get(found["type"], found["msg"]), rule=found["type"])
