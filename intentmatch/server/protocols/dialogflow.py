"""Dialogflow ES, API v2: the call `detectIntent`, and the fulfillment webhook.

A project is a bot. The server keeps no sessions: the active contexts are those of the request, and they are the tags of
`when`. Events and audio are refused. A message without a matched intent gets the fallback intent.

An intent with `metadata: {webhook: true}` is fulfilled by the URL of `--fulfillment` once no slot is missing. If the
webhook fails, the author's own response is used, and `webhookStatus` says why.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Annotated, Any
from urllib.parse import SplitResult, quote, urlsplit
from uuid import uuid4

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import JSONResponse, Response

from intentmatch.core.errors import InputError
from intentmatch.core.result import MatchResult
from intentmatch.core.types import Intent
from intentmatch.matching.options import MatchOptions
from intentmatch.server.auth.api_keys import authorised, bearer
from intentmatch.server.protocols.host import Body, Host, Protocol, confidence, read, refused
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

FALLBACK = "Default Fallback Intent"
FULFILLMENT_SECONDS = 5.0
"""Seconds that Dialogflow, and so the server, waits for a webhook."""

_MOST_BYTES = 65_536  # of a webhook response, as in Dialogflow
_CALLS = 16  # of the webhook at a time, in threads of their own
_PATHS = [
    f"/{version}/projects/{{project}}{location}/agent{environment}/sessions/{{session}}:detectIntent"
    for version in ("v2", "v2beta1")
    for location in ("", "/locations/{location}")
    for environment in ("", "/environments/{environment}/users/{user}")
]
_STATUSES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
_DEADLINE_EXCEEDED, _UNAVAILABLE, _INVALID_ARGUMENT = 4, 14, 3

_log = logging.getLogger(__name__)


class _Text(Body):
    text: str = ""
    language_code: str = ""


class _Input(Body):
    text: _Text | None = None


class _Context(Body):
    name: str
    # Protocol buffers allow numbers as text.
    lifespan_count: Annotated[int, Field(strict=False)] = 0


class _Parameters(Body):
    contexts: list[_Context] | None = None
    payload: dict[str, Any] | None = None

    @property
    def active(self) -> list[str]:
        """Ids of the contexts that have not expired."""
        return [context.name.rpartition("/")[2] for context in self.contexts or () if context.lifespan_count > 0]


class _Request(Body):
    query_input: _Input
    query_params: _Parameters | None = None


class _Fulfilled(Body):
    fulfillment_text: str | None = None
    fulfillment_messages: list[dict[str, Any]] | None = None
    source: str | None = None
    payload: dict[str, Any] | None = None
    output_contexts: list[dict[str, Any]] | None = None
    # Events are not supported.
    followup_event_input: Annotated[dict[str, Any], Field(max_length=0)] | None = None


def protocol(host: Host) -> Protocol:
    """Make the routes of Dialogflow. Raises `InputError` if the fulfillment URL is invalid."""
    router = APIRouter(include_in_schema=False)
    webhook = _Webhook(host.fulfillment) if host.fulfillment is not None else None

    async def detect_intent(request: Request, project: str) -> Response:
        presented = request.headers.get("x-goog-api-key") or request.query_params.get("key") or bearer(request)
        if not authorised(request, presented):
            raise refused(401, "Request had invalid authentication credentials.")
        body = await read(request, _Request)
        query = body.query_input.text
        if query is None or not query.text:
            raise refused(400, "Input text not set: the server supports `queryInput.text` only.")
        parameters = body.query_params or _Parameters()
        bot = await host.bot(request, project)
        options = MatchOptions(query.language_code or None, context=parameters.active)
        result = await host.match(bot, query.text, options)
        intent = next((intent for intent in bot.matcher.registry if intent.name == result.intent), None)
        path: str = request.scope["path"]
        session = path[path.index("projects/") :].removesuffix(":detectIntent")
        answer = {
            "responseId": str(uuid4()),
            "queryResult": _query_result(result, intent, session, query.language_code),
        }
        if webhook and intent and intent.metadata.get("webhook") is True and not result.missing:
            answer = await webhook.fulfilled(answer, session, parameters.payload or {})
        return JSONResponse(answer)

    for path in _PATHS:
        router.add_api_route(path, detect_intent, methods=["POST"])
    return Protocol(router, re.compile(r"/v2(beta1)?/.*"), _shape, names_bots=True)


def _query_result(result: MatchResult, intent: Intent | None, session: str, language: str) -> dict[str, Any]:
    name = intent.name if intent else FALLBACK
    found: dict[str, Any] = {"name": f"{session.partition('/agent')[0]}/agent/intents/{quote(name, safe='')}"}
    found["displayName"] = name
    if intent is None:
        found["isFallback"] = True
    # While a slot is missing, Dialogflow asks for it.
    questions = [missing.question for missing in result.missing if missing.question]
    text = (questions[0] if questions else result.response) or ""
    return {
        "queryText": result.message,
        "languageCode": result.language or language,
        "action": str(intent.metadata.get("action", "")) if intent else "input.unknown",
        "parameters": _parameters(result, intent),
        "allRequiredParamsPresent": not result.missing,
        "fulfillmentText": text,
        "fulfillmentMessages": [_message(text)],
        "outputContexts": [],
        "intent": found,
        # Dialogflow's fallback always has confidence 1.
        "intentDetectionConfidence": confidence(result.candidates[0]) if intent else 1.0,
    }


def _parameters(result: MatchResult, intent: Intent | None) -> dict[str, Any]:
    """Every slot of the intent with its value, a list of several values, or "" without any."""
    values: dict[str, list[Any]] = {slot.name: [] for slot in intent.slots} if intent else {}
    for entity in result.entities:
        values.setdefault(entity.slot, []).append(entity.value)
    return {slot: (found if len(found) > 1 else found[0]) if found else "" for slot, found in values.items()}


def _message(text: str) -> dict[str, Any]:
    return {"text": {"text": [text]}}


class _Webhook:
    """The fulfillment URL. Redirects are not followed."""

    def __init__(self, url: str) -> None:
        self._url = _checked(url)
        self._pool = ThreadPoolExecutor(_CALLS, thread_name_prefix="intentmatch-fulfillment")

    async def fulfilled(self, answer: dict[str, Any], session: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the answer with the webhook's changes, or unchanged with the reason if the webhook fails."""
        start = time.perf_counter()
        request = {**answer, "session": session, "originalDetectIntentRequest": {"payload": payload}}
        call = asyncio.get_running_loop().run_in_executor(self._pool, _post, self._url, json.dumps(request).encode())
        try:
            fulfilled = _Fulfilled.model_validate_json(await asyncio.wait_for(call, FULFILLMENT_SECONDS))
            result = {**answer["queryResult"], **_changes(fulfilled)}
            result["diagnosticInfo"] = {"webhook_latency_ms": round((time.perf_counter() - start) * 1000)}
            json.dumps(result, allow_nan=False)  # 1e999 can be read but not written
        except (asyncio.TimeoutError, TimeoutError):
            return _failed(answer, _DEADLINE_EXCEEDED, f"no response within {FULFILLMENT_SECONDS:g} seconds")
        except (OSError, HTTPException) as error:
            return _failed(answer, _UNAVAILABLE, getattr(error, "strerror", None) or str(error))
        except (ValueError, RecursionError):
            return _failed(answer, _INVALID_ARGUMENT, "the response is not a valid WebhookResponse")
        return {**answer, "queryResult": result, "webhookStatus": {"message": "Webhook execution successful"}}


def _checked(text: str) -> SplitResult:
    try:
        url = urlsplit(text)
        good = url.scheme in ("http", "https") and url.hostname and url.port != 0 and url.username is None
    except ValueError:
        good = False
    if not good or not text.isascii() or not text.isprintable() or " " in text:
        raise InputError("fulfillment must be a URL such as https://bot.example/webhook, without user and password")
    return url


def _post(url: SplitResult, body: bytes) -> bytes:
    """Return the response body of the webhook. Raises `OSError` or `HTTPException`."""
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    with closing(kind(url.hostname or "", url.port, timeout=FULFILLMENT_SECONDS)) as connection:
        connection.request("POST", target, body, {"Content-Type": "application/json"})
        with connection.getresponse() as answer:
            status, content = answer.status, answer.read(_MOST_BYTES + 1)
    if status != 200:
        raise HTTPException(f"the webhook answered with the status {status}")
    if len(content) > _MOST_BYTES:
        raise HTTPException(f"the webhook answered with more than {_MOST_BYTES} bytes")
    return content


def _changes(fulfilled: _Fulfilled) -> dict[str, Any]:
    """Fields that the webhook replaces; those it leaves empty keep their values."""
    text, messages = fulfilled.fulfillment_text, fulfilled.fulfillment_messages
    changes = {
        "fulfillmentText": text,
        "fulfillmentMessages": messages or ([_message(text)] if text else None),
        "webhookSource": fulfilled.source,
        "webhookPayload": fulfilled.payload,
        "outputContexts": fulfilled.output_contexts,
    }
    return {key: value for key, value in changes.items() if value}


def _failed(answer: dict[str, Any], code: int, reason: str) -> dict[str, Any]:
    _log.warning("the fulfillment webhook failed: %s", reason)
    return {**answer, "webhookStatus": {"code": code, "message": f"Webhook call failed. Error: {reason}."}}


def _shape(details: ProblemDetails) -> Response:
    code = 400 if details.status == 422 else details.status
    status = _STATUSES.get(code, "INVALID_ARGUMENT" if code < 500 else "INTERNAL")
    error: dict[str, Any] = {"code": code, "message": details.detail, "status": status}
    if details.errors and code == 400:
        violations = [{"field": item.location, "description": item.message} for item in details.errors]
        error["details"] = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}]
    return JSONResponse({"error": error}, code)
