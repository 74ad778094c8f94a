"""Typed decisions as TypeSafe's System One API has them: `POST /v1/systemone`, for its SDKs and those who call it.

The registry is the model: see `typed_decisions`. Every valid question is answered, because the API has no refusal;
`x_decided_by` says whether intents, questions of the registry or only texts decided. Words count as tokens.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import AfterValidator, Field, model_validator
from starlette.responses import JSONResponse, Response

from intentmatch.server.auth.authorisation import authorised, bearer
from intentmatch.server.protocols.host import Protocol, ProtocolHost, read, refused
from intentmatch.server.protocols.model_list import model_list, model_name
from intentmatch.server.protocols.typed_decisions import (
    MAX_OPTIONS,
    MAX_QUESTIONS,
    Decider,
    Deciders,
    Option,
    StrictModel,
    answer_options,
    choice_confidence,
    count_words,
    intent_options,
    mean_level,
    message_of,
    score_confidence,
    text_of,
)
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails

_MAX_LEVELS = 10
_ERRORS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}


def _finite(value: Any) -> Any:
    json.dumps(value, allow_nan=False)  # levels are sent back
    return value


_Text = Annotated[str | dict[str, Any] | list[Any], AfterValidator(_finite)]


class _YesOrNo(StrictModel):
    true: _Text | None = None
    false: _Text | None = None


class _Noul(StrictModel):
    type: Literal["noul"]
    instructions: _Text | None = None
    criteria: _YesOrNo | None = None

    @model_validator(mode="after")
    def _asks(self) -> _Noul:
        if not self.texts:
            raise ValueError("a noul question needs instructions or criteria")
        return self

    @property
    def texts(self) -> list[str]:
        """What a yes means, in words."""
        given = [self.instructions, self.criteria and self.criteria.true]
        if self.criteria and self.criteria.false is not None and not any(given):
            # Stands for a text of average similarity, see `Decider.likelihood`.
            return [""]
        return [text_of(text) for text in given if text]

    @property
    def all(self) -> list[str]:
        """All that the message is compared with."""
        return [*self.texts, self.against or ""]

    @property
    def against(self) -> str | None:
        """What a no means, in words."""
        return text_of(self.criteria.false) if self.criteria and self.criteria.false is not None else None


class _Choice(StrictModel):
    type: Literal["choice"]
    instructions: _Text | None = None
    criteria: Annotated[dict[str, _Text | None], Field(min_length=1, max_length=MAX_OPTIONS)] | None = None

    @property
    def options(self) -> list[Option]:
        """The options that the caller sends."""
        return [Option(name, text_of(text)) for name, text in (self.criteria or {}).items()]


class _Score(StrictModel):
    type: Literal["score"]
    instructions: _Text | None = None
    criteria: Annotated[list[_Text], Field(min_length=1, max_length=_MAX_LEVELS)]

    @property
    def options(self) -> list[Option]:
        """The levels, lowest first."""
        return [Option(text_of(level)) for level in self.criteria]


_Question = Annotated[_Noul | _Choice | _Score, Field(discriminator="type")]


class _Request(StrictModel):
    model: str
    state: str | dict[str, Any] | list[Any]
    questions: Annotated[
        dict[Annotated[str, Field(min_length=1)], _Question], Field(min_length=1, max_length=MAX_QUESTIONS)
    ]


def protocol(host: ProtocolHost) -> Protocol:
    """Make the routes of System One."""
    router = APIRouter(include_in_schema=False)
    deciders = Deciders(host)

    @router.post("/v1/systemone")
    async def systemone(request: Request) -> Response:
        _authorise(request)
        body = await read(request, _Request)
        message = message_of(body.state)
        bot = await host.bot(request, body.model)
        options = [question.options for question in body.questions.values() if not isinstance(question, _Noul)]
        texts = [text for question in body.questions.values() if isinstance(question, _Noul) for text in question.all]
        found = await deciders.about(bot, message, options, texts)

        def respond() -> Response:
            offered = intent_options(bot.matcher.registry)
            answers = {name: _answer(found, name, question, offered) for name, question in body.questions.items()}
            usage = {"input_tokens": count_words(message, options, texts), "output_tokens": len(answers)}
            said = {"model": model_name(bot), "answers": answers, "usage": usage}
            return JSONResponse({**said, "x_verdict": found.result.verdict, "x_intent": found.result.intent})

        return await asyncio.to_thread(respond)

    @router.get("/v1/models")
    async def models(request: Request) -> Response:
        _authorise(request)
        return JSONResponse(await model_list(host, request))

    return Protocol(router, re.compile(r"/v1/(systemone(/.*)?|models)"), _shape, names_bots=True)


def _authorise(request: Request) -> None:
    if not authorised(request, bearer(request)):
        raise refused(401, "The request needs a valid key: Authorization: Bearer KEY.")


def _answer(found: Decider, name: str, question: _Noul | _Choice | _Score, offered: Sequence[Option]) -> dict[str, Any]:
    if isinstance(question, _Noul):
        if any(map(found.is_known, question.texts)):
            by, likely = "intents", found.likelihood(question.texts, question.against)
        elif (yes := found.yes(found.question([*question.texts, name]))) is not None:
            by, likely = "questions", yes
        else:
            by, likely = "texts", found.likelihood(question.texts, question.against)
        return {"type": "noul", "noul": likely, "x_decided_by": by}
    options: Sequence[Option] = question.options
    if (asked := found.question([text_of(question.instructions), name], options)) is not None:
        options = options or answer_options(asked)
        probabilities, by = found.trait_probabilities(asked, options), "questions"
    else:
        options = options or offered
        probabilities, by = found.probabilities(options), "intents" if any(found.intents(options)) else "texts"
    decided = {"x_decided_by": by}
    if isinstance(question, _Choice):
        named = dict(zip((option.name for option in options), probabilities.tolist(), strict=True))
        best = max(named, key=named.__getitem__)
        sure = choice_confidence(probabilities)
        return {"type": "choice", "choice": best, "probabilities": named, "confidence": sure, **decided}
    return {
        "type": "score",
        "score": mean_level(probabilities),
        "legend": {str(level): text for level, text in enumerate(question.criteria)},
        "probabilities": {str(level): p for level, p in enumerate(probabilities.tolist())},
        "confidence": score_confidence(probabilities),
        **decided,
    }


def _shape(details: ProblemDetails) -> Response:
    # The API answers invalid requests as FastAPI does, which its clients parse.
    if details.status in (400, 422):
        items = details.errors or [ErrorItem(location="", message=details.detail)]
        found = [
            {
                "loc": ["body", *filter(None, item.location.split("."))],
                "msg": item.message,
                "type": item.rule or "value",
            }
            for item in items
        ]
        return JSONResponse({"detail": found}, 422)
    kind = _ERRORS.get(details.status, "api_usage_error" if details.status < 500 else "internal_error")
    return JSONResponse({"detail": {"error_type": kind, "message": details.detail}}, details.status)
