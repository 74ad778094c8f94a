"""Dialogflow ES, API v2: what its clients call `detectIntent`, and the webhook that fulfils an intent.

A project is a bot. Sessions are not remembered here: the active contexts are those that a request names, and they are
the tags of `when`. Events and audio are refused. What was not decided for one intent is the fallback intent.

An intent with `metadata: {webhook: true}` is fulfilled by the one URL that the server was started with, once nothing
is missing. Whatever goes wrong there, the author's own response is given, and `webhookStatus` says what it was.
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
from intentmatch.server.auth.api_keys import authorised, bearer
from intentmatch.server.protocols.host import Body, Host, Protocol, confidence, read, refused
from intentmatch.server.routes.schemas import ProblemDetails

FALLBACK = "Default Fallback Intent"
FULFILLMENT_SECONDS = 5.0
"""How long Dialogflow waits for a webhook, and we too."""

_MOST_BYTES = 65_536  # of what a webhook says, as in Dialogflow
_CALLS = 16  # of the webhook at a time; they take no thread from messages
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
    # A number of protocol buffers may be written as text.
    lifespan_count: Annotated[int, Field(strict=False)] = 0


class _Parameters(Body):
    contexts: list[_Context] | None = None
    payload: dict[str, Any] | None = None

    @property
    def active(self) -> list[str]:
        """The ids of the contexts that are not over already."""
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
    # There are no events to go on with.
    followup_event_input: Annotated[dict[str, Any], Field(max_length=0)] | None = None


def protocol(host: Host) -> Protocol:
    """Dialogflow's routes. Raises `InputError` for a URL of fulfillment that is none."""
    router = APIRouter(include_in_schema=False)
    webhook = _Webhook(host.fulfillment) if host.fulfillment is not None else None

    async def detect_intent(request: Request, project: str) -> Response:
        presented = request.headers.get("x-goog-api-key") or request.query_params.get("key") or bearer(request)
        if not authorised(request, presented):
            raise refused(401, "Request had invalid authentication credentials.")
        body = await read(request, _Request)
        asked = body.query_input.text
        if asked is None or not asked.text:
            raise refused(400, "Input text not set: `queryInput.text` is all that is understood here.")
        parameters = body.query_params or _Parameters()
        bot = await host.bot(request, project)
        result = await host.match(bot, asked.text, language=asked.language_code or None, context=parameters.active)
        intent = next((intent for intent in bot.matcher.registry if intent.name == result.intent), None)
        path: str = request.scope["path"]
        session = path[path.index("projects/") :].removesuffix(":detectIntent")
        answer = {
            "responseId": str(uuid4()),
            "queryResult": _query_result(result, intent, session, asked.language_code),
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
    # While something is missing, Dialogflow asks for it.
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
        # Of a fallback Dialogflow is always sure.
        "intentDetectionConfidence": confidence(result.candidates[0]) if intent else 1.0,
    }


def _parameters(result: MatchResult, intent: Intent | None) -> dict[str, Any]:
    """Every slot of the intent: its value, its values where there are several, "" where there is none."""
    values: dict[str, list[Any]] = {slot.name: [] for slot in intent.slots} if intent else {}
    for entity in result.entities:
        values.setdefault(entity.slot, []).append(entity.value)
    return {slot: (found if len(found) > 1 else found[0]) if found else "" for slot, found in values.items()}


def _message(text: str) -> dict[str, Any]:
    return {"text": {"text": [text]}}


class _Webhook:
    """The one URL that fulfils intents. Redirects are not followed."""

    def __init__(self, url: str) -> None:
        self._url = _checked(url)
        self._pool = ThreadPoolExecutor(_CALLS, thread_name_prefix="intentmatch-fulfillment")

    async def fulfilled(self, answer: dict[str, Any], session: str, payload: dict[str, Any]) -> dict[str, Any]:
        """The answer as the webhook has it; as it was, with the reason, where that fails."""
        start = time.perf_counter()
        asked = {**answer, "session": session, "originalDetectIntentRequest": {"payload": payload}}
        call = asyncio.get_running_loop().run_in_executor(self._pool, _post, self._url, json.dumps(asked).encode())
        try:
            said = _Fulfilled.model_validate_json(await asyncio.wait_for(call, FULFILLMENT_SECONDS))
            result = {**answer["queryResult"], **_changes(said)}
            result["diagnosticInfo"] = {"webhook_latency_ms": round((time.perf_counter() - start) * 1000)}
            json.dumps(result, allow_nan=False)  # 1e999 is a number to read, and none to write
        except (asyncio.TimeoutError, TimeoutError):
            return _failed(answer, _DEADLINE_EXCEEDED, f"no answer within {FULFILLMENT_SECONDS:g} seconds")
        except (OSError, HTTPException) as error:
            return _failed(answer, _UNAVAILABLE, getattr(error, "strerror", None) or str(error))
        except (ValueError, RecursionError):
            return _failed(answer, _INVALID_ARGUMENT, "the answer is not a WebhookResponse that can be used here")
        return {**answer, "queryResult": result, "webhookStatus": {"message": "Webhook execution successful"}}


def _checked(text: str) -> SplitResult:
    try:
        url = urlsplit(text)
        good = url.scheme in ("http", "https") and url.hostname and url.port != 0 and url.username is None
    except ValueError:
        good = False
    if not good or not text.isascii() or not text.isprintable() or " " in text:
        raise InputError("fulfillment must be a URL such as https://bot.example/webhook, without a user in it")
    return url


def _post(url: SplitResult, body: bytes) -> bytes:
    """What the webhook says. Raises `OSError` or `HTTPException`."""
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    with closing(kind(url.hostname or "", url.port, timeout=FULFILLMENT_SECONDS)) as connection:
        connection.request("POST", target, body, {"Content-Type": "application/json"})
        with connection.getresponse() as answer:
            status, said = answer.status, answer.read(_MOST_BYTES + 1)
    if status != 200:
        raise HTTPException(f"it answered with the status {status}")
    if len(said) > _MOST_BYTES:
        raise HTTPException(f"it answered with more than {_MOST_BYTES} bytes")
    return said


def _changes(said: _Fulfilled) -> dict[str, Any]:
    """What a webhook puts in place of our own; what it leaves empty stays."""
    text, messages = said.fulfillment_text, said.fulfillment_messages
    changes = {
        "fulfillmentText": text,
        "fulfillmentMessages": messages or ([_message(text)] if text else None),
        "webhookSource": said.source,
        "webhookPayload": said.payload,
        "outputContexts": said.output_contexts,
    }
    return {key: value for key, value in changes.items() if value}


def _failed(answer: dict[str, Any], code: int, reason: str) -> dict[str, Any]:
    _log.warning("the webhook for fulfillment failed: %s", reason)
    return {**answer, "webhookStatus": {"code": code, "message": f"Webhook call failed. Error: {reason}."}}


def _shape(details: ProblemDetails) -> Response:
    code = 400 if details.status == 422 else details.status
    status = _STATUSES.get(code, "INVALID_ARGUMENT" if code < 500 else "INTERNAL")
    error: dict[str, Any] = {"code": code, "message": details.detail, "status": status}
    if details.errors and code == 400:
        violations = [{"field": item.location, "description": item.message} for item in details.errors]
        error["details"] = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}]
    return JSONResponse({"error": error}, code)
