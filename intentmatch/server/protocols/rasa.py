"""The NLU part of a Rasa server's HTTP API, for Rasa and opsdroid bots and for Rasa's own tools.

A message without a matched intent is `nlu_fallback`, as with Rasa's FallbackClassifier: its confidence is the
threshold, and it comes first in the ranking, before the refused intents.
"""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, PlainTextResponse, Response

from intentmatch import __version__
from intentmatch.core.result import Entity, MatchResult
from intentmatch.matching.options import MatchOptions
from intentmatch.server.auth.api_keys import authorised, bearer
from intentmatch.server.protocols.host import Host, Protocol, confidence, read, refused
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

# The Rasa version whose API this is, and the oldest compatible one: clients check both.
VERSION = "3.6.21"
MINIMUM_COMPATIBLE_VERSION = "3.5.0"
FALLBACK = "nlu_fallback"
# The default length in a Rasa model.
_RANKING_LENGTH = 10
_REASONS = {401: "NotAuthenticated", 403: "NotAuthorized"}


class _Message(BaseModel):
    text: str
    token: str | None = None


def protocol(host: Host) -> Protocol:
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
        message = await read(request, _Message)
        _authorise(request, _token(request) or message.token)
        if request.query_params.get("emulation_mode"):
            raise refused(400, "`emulation_mode` is not supported; use `--protocol` for other protocols.")
        result = await host.match(await host.bot(request), message.text, MatchOptions(top_k=_RANKING_LENGTH))
        return JSONResponse(_parsed(result))

    return Protocol(router, re.compile(r"/|/version|/status|/model/.*"), _shape)


def _token(request: Request) -> str | None:
    return request.query_params.get("token") or bearer(request)


def _authorise(request: Request, token: str | None) -> None:
    if not authorised(request, token):
        raise refused(401, "User is not authenticated.")


def _parsed(result: MatchResult) -> dict[str, Any]:
    ranking = [{"name": candidate.intent, "confidence": confidence(candidate)} for candidate in result.candidates]
    intent: dict[str, Any] = {"name": None, "confidence": 0.0}
    if result.verdict == "matched":
        intent = ranking[0]
    elif result.message.strip():
        # Without any candidate there is no threshold, and the fallback is certain.
        threshold = 1.0 if result.trace.threshold is None else result.trace.threshold
        intent = {"name": FALLBACK, "confidence": min(1.0, max(0.0, threshold))}
        ranking = [intent, *ranking]
    return {
        "text": result.message,
        "intent": intent,
        "entities": list(map(_entity, result.entities)),
        "intent_ranking": ranking,
    }


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
