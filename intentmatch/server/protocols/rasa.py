"""The HTTP API of a Rasa server, as far as it understands messages; for Rasa and opsdroid bots, and Rasa's own tools.

What was not decided for one intent is `nlu_fallback`, as Rasa's FallbackClassifier has it: with the cut as its
confidence, and first in the ranking, before what was refused.
"""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, PlainTextResponse, Response

from intentmatch import __version__
from intentmatch.core.result import Entity, MatchResult
from intentmatch.server.auth.api_keys import authorised, bearer
from intentmatch.server.protocols.host import Host, Protocol, confidence, read, refused
from intentmatch.server.routes.schemas import ProblemDetails

# What is spoken here, and since when it is spoken so: clients look whether that suits them.
VERSION = "3.6.21"
MINIMUM_COMPATIBLE_VERSION = "3.5.0"
FALLBACK = "nlu_fallback"
# Of a Rasa model, if it is not set otherwise.
_RANKING_LENGTH = 10
_REASONS = {401: "NotAuthenticated", 403: "NotAuthorized"}


class _Message(BaseModel):
    text: str
    token: str | None = None


def protocol(host: Host) -> Protocol:
    """Rasa's routes."""
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
            raise refused(400, "There is no `emulation_mode` here; other protocols have routes of their own.")
        result = await host.match(await host.bot(request), message.text, top_k=_RANKING_LENGTH)
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
        # Where nothing was even scored there is no cut, and nothing could be surer.
        cut = 1.0 if result.trace.threshold is None else result.trace.threshold
        intent = {"name": FALLBACK, "confidence": min(1.0, max(0.0, cut))}
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
        # Slots are found or not; and opsdroid takes no entity that names neither of these.
        "confidence_entity": 1.0,
        "extractor": "intentmatch",
    }


def _shape(details: ProblemDetails) -> Response:
    status = 400 if details.status == 422 else details.status
    title = ProblemDetails.of(status, "").title
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
