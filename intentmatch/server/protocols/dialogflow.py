"""Dialogflow ES, API v2: the call `detectIntent`, and the fulfillment webhook.

A project is a bot. The server keeps sessions, see `dialogflow_session`: active contexts are the tags of `when`, intents
set contexts by `metadata: {output_contexts: {NAME: LIFESPAN}}`, and a message may answer the question for a required
slot. Events and audio are refused. A message without a matched intent gets the fallback intent, with a text of the
setting `fallback`.

An intent with `metadata: {webhook: true}` is fulfilled by the URL of `--fulfillment` once no slot is missing. If the
webhook fails, the author's own response is used, and `webhookStatus` says why.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Annotated, Any
from urllib.parse import SplitResult, quote, urlsplit
from uuid import uuid4

from fastapi import APIRouter, Request
from pydantic import Field, field_validator
from starlette.responses import JSONResponse, Response

from intentmatch.core.errors import InputError
from intentmatch.core.placeholders import fill
from intentmatch.core.result import Entity, MatchResult
from intentmatch.core.types import Intent
from intentmatch.dialogue.pending import WhichValue
from intentmatch.dialogue.turn_builder import DialogueOptions, UserInput
from intentmatch.dialogue.turn_logic import next_turn
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.snapshot import Snapshot
from intentmatch.server.auth.authorisation import authorised, bearer
from intentmatch.server.bots.bot import Bot
from intentmatch.server.protocols.dialogflow_session import DialogflowSession, DialogflowSessions, fallback_text
from intentmatch.server.protocols.host import Body, Protocol, ProtocolHost, confidence, read, refused
from intentmatch.server.routes.schemas.problem_details import ProblemDetails
from intentmatch.text.normalize import language_code, language_range

FALLBACK = "Default Fallback Intent"
FULFILLMENT_SECONDS = 5.0
"""Seconds that Dialogflow, and so the server, waits for a webhook."""

_MOST_BYTES = 65_536  # of a webhook response, as in Dialogflow
_ATTEMPTS = 3  # to ask for a slot
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
    parameters: dict[str, Any] | None = None

    @field_validator("parameters")
    @classmethod
    def _finite(cls, parameters: dict[str, Any] | None) -> dict[str, Any] | None:
        json.dumps(parameters, allow_nan=False)  # 1e999 can be read but not written
        return parameters


class _Parameters(Body):
    contexts: list[_Context] | None = None
    reset_contexts: bool | None = None
    payload: dict[str, Any] | None = None


class _Request(Body):
    query_input: _Input
    query_params: _Parameters | None = None


class _Fulfilled(Body):
    fulfillment_text: str | None = None
    fulfillment_messages: list[dict[str, Any]] | None = None
    source: str | None = None
    payload: dict[str, Any] | None = None
    output_contexts: list[_Context] | None = None
    # Events are not supported.
    followup_event_input: Annotated[dict[str, Any], Field(max_length=0)] | None = None


def protocol(host: ProtocolHost) -> Protocol:
    """Make the routes of Dialogflow. Raises `InputError` if the fulfillment URL is invalid."""
    router = APIRouter(include_in_schema=False)
    webhook = _Webhook(host.fulfillment) if host.fulfillment is not None else None
    sessions = DialogflowSessions(host.store)

    async def detect_intent(request: Request, project: str) -> Response:
        # Google's clients send an API key in the header or the query, and an OAuth token as a bearer.
        presented = request.headers.get("x-goog-api-key") or request.query_params.get("key") or bearer(request)
        if not authorised(request, presented):
            raise refused(401, "Request had invalid authentication credentials.")
        body = await read(request, _Request)
        query = body.query_input.text
        if query is None or not query.text:
            raise refused(400, "Input text not set: the server supports `queryInput.text` only.")
        parameters = body.query_params or _Parameters()
        bot = await host.bot(request, project)
        whole: str = request.scope["path"]
        # What the client calls the session: without the version, and without a prefix of a proxy.
        path = whole[whole.index("projects/") :].removesuffix(":detectIntent")
        session = await sessions.read(path)
        if parameters.reset_contexts:
            # Still written, although it is empty: or the store would go on holding the old contexts.
            session = DialogflowSession(stored=session.stored)
        _activate(session, parameters.contexts or ())
        reply = await _reply(host, bot, query, session, path)
        answer: dict[str, Any] = {
            "responseId": str(uuid4()),
            "queryResult": {**_query_result(reply, path), "outputContexts": session.written(path)},
        }
        if webhook and reply.complete and reply.intent and reply.intent.metadata.get("webhook") is True:
            answer, contexts = await webhook.fulfilled(answer, path, parameters.payload or {})
            _activate(session, contexts)
            # Again, with the contexts that the webhook has set.
            answer["queryResult"]["outputContexts"] = session.written(path)
        await sessions.write(path, session)
        return JSONResponse(answer)

    for path in _PATHS:
        router.add_api_route(path, detect_intent, methods=["POST"])
    return Protocol(router, re.compile(r"/v2(beta1)?/.*"), _shape, names_bots=True)


@dataclass(frozen=True)
class _Reply:
    """What the bot answers to a message of a session."""

    message: str
    language: str
    intent: Intent | None = None
    """None for the fallback."""
    entities: tuple[Entity, ...] = ()
    text: str = ""
    complete: bool = True
    """Whether no required slot is asked for."""
    cancels: bool = False
    """Whether the user does not want the intent any more."""
    confidence: float = 1.0


def _activate(session: DialogflowSession, contexts: Iterable[_Context]) -> None:
    for context in contexts:
        session.activate(context.name.rpartition("/")[2], context.lifespan_count, context.parameters)


async def _reply(host: ProtocolHost, bot: Bot, query: _Text, session: DialogflowSession, conversation: str) -> _Reply:
    """Match a message, or read the value of the slot that was asked for; change the session accordingly."""
    matcher = bot.matcher_for(conversation)
    tags = session.tags(matcher.registry)
    if session.pending is None:
        options = MatchOptions(query.language_code or None, context=tags)
        result = await host.match(bot, query.text, options, conversation)
        found = _matched(result, matcher, query, session)
    else:
        host.check_length(query.text)
        found = await asyncio.to_thread(_answered, bot, query, session, tags, conversation)
    if found.complete:
        session.answered(found.intent, _parameters(found))
    return replace(found, text=_filled(found.text, found.entities))


def _matched(result: MatchResult, matcher: Matcher | Snapshot, query: _Text, session: DialogflowSession) -> _Reply:
    """Return the reply to a message on its own."""
    language = result.language or query.language_code
    session.pending = None
    # A reload may have removed the intent in the meantime.
    if result.intent is None or result.intent not in matcher.registry:
        codes = [code for each in (query.language_code, result.language) if each for code in language_range(each)]
        session.fallbacks += 1
        text = fallback_text(matcher.settings.fallback, codes, session.fallbacks - 1)
        return _Reply(result.message, language, text=text)
    intent = matcher.registry[result.intent]
    certainty = confidence(result.candidates[0])
    # While a slot is missing, Dialogflow asks for it.
    asked = next((missing for missing in result.missing if missing.question), None)
    if asked is not None:
        left = _ATTEMPTS - 1
        session.pending = WhichValue(intent.name, asked.slot, result.entities, left, result.language, confirmed=True)
    text = (asked.question if asked else result.response) or ""
    complete = not result.missing
    return _Reply(result.message, language, intent, result.entities, text, complete, confidence=certainty)


def _answered(bot: Bot, query: _Text, session: DialogflowSession, tags: Collection[str], conversation: str) -> _Reply:
    """Return the reply to a message after the question for a slot, which the message may answer or not."""

    def choose(_intent: str, responses: Sequence[str]) -> str:
        # The same response to the same words, as a bot without a dialogue gives.
        return responses[zlib.crc32(query.text.encode("utf-8", "surrogatepass")) % len(responses)]

    said = UserInput(query.text, None, language_code(query.language_code), tags, None)
    with bot.snapshot_for(conversation) as snapshot:
        found = next_turn(snapshot, DialogueOptions(_ATTEMPTS, {}, resumes=False), said, session.pending, choose)
    turn, result = found.turn, found.turn.result
    if result is not None and not turn.answers:
        bot.record([result], snapshot.registry, MatchOptions(context=tags), conversation)
    name = turn.intent or turn.pending
    if name is None and result is not None:
        return _matched(result, snapshot, query, session)
    # Dialogflow has no confirmation: an intent counts as confirmed once its slots are filled.
    session.pending = replace(found.pending, confirmed=True) if isinstance(found.pending, WhichValue) else None
    intent = snapshot.registry[name] if name else None
    text = turn.reply or ""
    if turn.choices and intent:
        # Dialogflow does not ask for confirmation.
        text = intent.response_to(query.text, turn.language) or ""
    own = result is not None and result.intent == name
    certainty = confidence(result.candidates[0]) if own and result else 1.0
    language = query.language_code or turn.language or ""
    complete = turn.asks_for is None and not turn.declined
    return _Reply(query.text, language, intent, turn.entities, text, complete, turn.declined, certainty)


def _query_result(reply: _Reply, session: str) -> dict[str, Any]:
    intent = reply.intent
    name = intent.name if intent else FALLBACK
    found: dict[str, Any] = {"name": f"{session.partition('/agent')[0]}/agent/intents/{quote(name, safe='')}"}
    found["displayName"] = name
    if intent is None:
        found["isFallback"] = True
    return {
        "queryText": reply.message,
        "languageCode": reply.language,
        "action": str(intent.metadata.get("action", "")) if intent else "input.unknown",
        "parameters": _parameters(reply),
        "allRequiredParamsPresent": reply.complete,
        **({"cancelsSlotFilling": True} if reply.cancels else {}),
        "fulfillmentText": reply.text,
        "fulfillmentMessages": [_message(reply.text)],
        "intent": found,
        # Dialogflow's fallback always has confidence 1.
        "intentDetectionConfidence": reply.confidence,
    }


def _parameters(reply: _Reply) -> dict[str, Any]:
    """Every slot of the intent with its value, a list of several values, or "" without any."""
    values: dict[str, list[Any]] = {slot.name: [] for slot in reply.intent.slots} if reply.intent else {}
    for entity in reply.entities:
        values.setdefault(entity.slot, []).append(entity.value)
    return {slot: (found if len(found) > 1 else found[0]) if found else "" for slot, found in values.items()}


def _filled(text: str, entities: Iterable[Entity]) -> str:
    """Replace each `{slot}` in a response by its values; a slot without a value stays as it is.

    Values of several parts, such as an amount of money, are shown in the user's words.
    """
    values: dict[str, list[str]] = {}
    for entity in entities:
        shown = entity.text if isinstance(entity.value, Mapping) else str(entity.value)
        values.setdefault(entity.slot, []).append(shown)
    return fill(text, {slot: ", ".join(found) for slot, found in values.items()})


def _message(text: str) -> dict[str, Any]:
    return {"text": {"text": [text]}}


class _Webhook:
    """The fulfillment URL. Redirects are not followed."""

    def __init__(self, url: str) -> None:
        self._url = _checked(url)
        # A webhook that hangs must not hold the threads that match messages.
        self._pool = ThreadPoolExecutor(_CALLS, thread_name_prefix="intentmatch-fulfillment")

    async def fulfilled(
        self, answer: dict[str, Any], session: str, payload: dict[str, Any]
    ) -> tuple[dict[str, Any], Sequence[_Context]]:
        """Return the answer with the webhook's changes, and the contexts that the webhook sets.

        If the webhook fails, the answer is unchanged but for the reason.
        """
        start = time.perf_counter()
        request = {**answer, "session": session, "originalDetectIntentRequest": {"payload": payload}}
        call = asyncio.get_running_loop().run_in_executor(self._pool, _post, self._url, json.dumps(request).encode())
        try:
            # The timeout of the connection counts for each read by itself: a slow server could drag on for ever.
            fulfilled = _Fulfilled.model_validate_json(await asyncio.wait_for(call, FULFILLMENT_SECONDS))
            result = {**answer["queryResult"], **_changes(fulfilled)}
            result["diagnosticInfo"] = {"webhook_latency_ms": round((time.perf_counter() - start) * 1000)}
            json.dumps(result, allow_nan=False)  # 1e999 can be read but not written
        # Two classes before Python 3.11.
        except (asyncio.TimeoutError, TimeoutError):
            return _failed(answer, _DEADLINE_EXCEEDED, f"no response within {FULFILLMENT_SECONDS:g} seconds"), ()
        except (OSError, HTTPException) as error:
            return _failed(answer, _UNAVAILABLE, getattr(error, "strerror", None) or str(error)), ()
        except (ValueError, RecursionError):
            return _failed(answer, _INVALID_ARGUMENT, "the response is not a valid WebhookResponse"), ()
        done = {**answer, "queryResult": result, "webhookStatus": {"message": "Webhook execution successful"}}
        return done, fulfilled.output_contexts or ()


def _checked(text: str) -> SplitResult:
    try:
        url = urlsplit(text)
        good = url.scheme in ("http", "https") and url.hostname and url.port != 0 and url.username is None
    except ValueError:
        good = False
    # Line ends would become headers of the request, and a password would stand in the log of a failure.
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
            # One byte more tells a response that is too long from one that just fits.
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
    }
    return {key: value for key, value in changes.items() if value}


def _failed(answer: dict[str, Any], code: int, reason: str) -> dict[str, Any]:
    _log.warning("the fulfillment webhook failed: %s", reason)
    return {**answer, "webhookStatus": {"code": code, "message": f"Webhook call failed. Error: {reason}."}}


def _shape(details: ProblemDetails) -> Response:
    # Google's API has no 422: INVALID_ARGUMENT is a 400.
    code = 400 if details.status == 422 else details.status
    status = _STATUSES.get(code, "INVALID_ARGUMENT" if code < 500 else "INTERNAL")
    error: dict[str, Any] = {"code": code, "message": details.detail, "status": status}
    if details.errors and code == 400:
        violations = [{"field": item.location, "description": item.message} for item in details.errors]
        error["details"] = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}]
    return JSONResponse({"error": error}, code)
