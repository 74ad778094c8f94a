"""The NLU part of a Rasa server's HTTP API, for Rasa and opsdroid bots and for Rasa's own tools.

A message without a matched intent is `nlu_fallback`, as with Rasa's FallbackClassifier: its confidence is the
threshold, and it comes first in the ranking, before the refused intents. Intents such as `faq/ask_hours` are answered
as Rasa answers for retrieval intents, see `rasa_retrieval`. The payload of a button names its intent, see
`rasa_payload`.
"""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, PlainTextResponse, Response

from intentmatch import __version__
from intentmatch.core.result import Candidate, Entity, MatchResult
from intentmatch.core.types import Registry
from intentmatch.matching.options import MatchOptions
from intentmatch.server.auth.authorisation import authorised, bearer, needs_key
from intentmatch.server.protocols.host import Protocol, ProtocolHost, read, refused
from intentmatch.server.protocols.rasa_payload import Payload
from intentmatch.server.protocols.rasa_retrieval import decided, groups_of, ranking, response_selector
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

# The Rasa version whose API this is, and the oldest compatible one: clients check both.
VERSION = "3.6.21"
MINIMUM_COMPATIBLE_VERSION = "3.5.0"
FALLBACK = "nlu_fallback"
# The default length in a Rasa model.
_RANKING_LENGTH = 10
# Of a body that is read for its token: an emoji is twelve bytes of JSON (two times \uXXXX); beside the text there are
# names, token and message id.
_BYTES_OF_A_CHARACTER, _BYTES_BESIDE_THE_TEXT = 12, 4096
_REASONS = {401: "NotAuthenticated", 403: "NotAuthorized"}


class _Message(BaseModel):
    text: str
    token: str | None = None


def protocol(host: ProtocolHost) -> Protocol:
    """Make the routes of Rasa."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def hello() -> Response:
        return PlainTextResponse(f"Hello from Rasa: {VERSION} (intentmatch {__version__})")

    @router.get("/version")
    async def version() -> Response:
        return JSONResponse({"version": VERSION, "minimum_compatible_version": MINIMUM_COMPATIBLE_VERSION})

    @router.get("/status")
    async def status(request: Request) -> Response:
        _authorise(request, _token(request))
        fingerprint = (await host.bot(request)).matcher.registry.fingerprint
        model = {"model_file": f"{fingerprint}.intentmatch", "model_id": fingerprint}
        return JSONResponse({**model, "fingerprint": {"registry": fingerprint}, "num_active_training_jobs": 0})

    @router.post("/model/parse")
    async def parse(request: Request) -> Response:
        message = await _authorised_message(request, host.max_text)
        # Ignored, it would answer a client of another API in Rasa's shape.
        if request.query_params.get("emulation_mode"):
            raise refused(400, "`emulation_mode` is not supported; use `--protocol` for other protocols.")
        bot = await host.bot(request)
        registry = bot.matcher.registry
        groups = groups_of(intent.name for intent in registry)
        host.check_length(message.text)
        payload = Payload.read(message.text, [*(intent.name for intent in registry), *groups.values()])
        if payload is not None:
            return JSONResponse(_named(payload, registry, groups))
        # A retrieval intent counts with all of its intents.
        length = max(_RANKING_LENGTH, len(registry)) if groups else _RANKING_LENGTH
        result = await host.match(bot, message.text, MatchOptions(top_k=length))
        return JSONResponse(_parsed(result, registry, groups))

    return Protocol(router, re.compile(r"/|/version|/status|/model/.*"), _shape)


def _token(request: Request) -> str | None:
    return request.query_params.get("token") or bearer(request)


async def _authorised_message(request: Request, max_text: int) -> _Message:
    """Read a message once its token is known to be good.

    Rasa's own client has the token in the body. Without a token elsewhere, only a body is read that is short enough to
    be a message with a token: a caller without a key cannot fill the memory.
    """
    token = _token(request)
    if not token and needs_key(request):
        length = request.headers.get("content-length", "")
        most = _BYTES_OF_A_CHARACTER * max_text + _BYTES_BESIDE_THE_TEXT
        # Raises, as there are keys and none was sent.
        if not length.isdecimal() or int(length) > most:
            _authorise(request, None)
        message = await read(request, _Message)
        _authorise(request, message.token)
        return message
    _authorise(request, token)
    return await read(request, _Message)


def _authorise(request: Request, token: str | None) -> None:
    if not authorised(request, token):
        raise refused(401, "User is not authenticated.")


def _parsed(result: MatchResult, registry: Registry, groups: dict[str, str]) -> dict[str, Any]:
    ranked = ranking(result.candidates, groups)
    name = decided(result, groups)
    intent: dict[str, Any] = {"name": None, "confidence": 0.0}
    if name is not None:
        intent = next(entry for entry in ranked if entry["name"] == name)
        ranked = [intent, *(entry for entry in ranked if entry is not intent)]
    elif result.message.strip():
        # Without any candidate there is no threshold, and the fallback is certain.
        threshold = 1.0 if result.trace.threshold is None else result.trace.threshold
        intent = {"name": FALLBACK, "confidence": min(1.0, max(0.0, threshold))}
    fallback = [intent] if intent["name"] == FALLBACK else []
    parsed = {
        "text": result.message,
        "intent": intent,
        "entities": list(map(_entity, result.entities)),
        "intent_ranking": [*fallback, *ranked[:_RANKING_LENGTH]],
    }
    if groups:
        parsed["response_selector"] = response_selector(result.candidates, result.language, registry, groups)
    return parsed


def _named(payload: Payload, registry: Registry, groups: dict[str, str]) -> dict[str, Any]:
    """Return the result for a payload, which is alone in its ranking."""
    candidate = Candidate(payload.intent, payload.confidence, confidence=payload.confidence)
    (intent,) = ranking([candidate], groups)
    parsed = {
        "text": payload.text,
        "intent": intent,
        "entities": list(payload.entities),
        "intent_ranking": [intent],
    }
    if groups:
        parsed["response_selector"] = response_selector([candidate], None, registry, groups)
    return parsed


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "entity": entity.slot,
        "value": entity.value,
        "start": entity.start,
        "end": entity.end,
        # A slot is found or not. opsdroid refuses an entity without these two keys.
        "confidence_entity": 1.0,
        "extractor": "intentmatch",
    }


def _shape(details: ProblemDetails) -> Response:
    # Rasa has no 422.
    status = 400 if details.status == 422 else details.status
    title = ProblemDetails.for_status(status, "").title
    error = {
        "version": VERSION,
        "status": "failure",
        "message": details.detail,
        "reason": _REASONS.get(status, title.replace(" ", "")),
        "details": {item.location: item.message for item in details.errors},
        "help": None,
        "code": status,
    }
    return JSONResponse(error, status)
