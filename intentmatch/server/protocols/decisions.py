"""Typed decisions as OpenAI's decisions API has them: `POST /v1/decisions`, for its SDKs and those who call it.

The registry is the model: see `typed_decisions`. A question about nothing that the registry knows is refused, as the
API allows for each question by itself: a predicate that names neither an intent nor one of the registry's questions, a
score without a level that is an intent or an answer.
"""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field, StrictBool, StrictStr, field_validator
from starlette.responses import JSONResponse, Response

from intentmatch.core.types import TraitQuestion
from intentmatch.server.auth.authorisation import authorised, bearer
from intentmatch.server.protocols.host import Protocol, ProtocolHost, read, refused
from intentmatch.server.protocols.model_list import model_name
from intentmatch.server.protocols.openai import error_response
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
)


class _Choice(StrictModel):
    value: StrictStr | StrictBool
    description: str | None = None

    @property
    def option(self) -> Option:
        return Option(str(self.value), self.description or "")


class _Level(StrictModel):
    label: str
    description: str | None = None

    @property
    def option(self) -> Option:
        return Option(self.label, self.description or "")


class _Asked(StrictModel):
    instructions: str | list[Any] = ""
    name: str | None = None


class _PredicateQuestion(_Asked):
    type: Literal["predicate"]

    @property
    def statement(self) -> str:
        """What may be true of the input, in words."""
        return self.instructions if isinstance(self.instructions, str) else message_of([_user(self.instructions)])


class _ChoiceQuestion(_Asked):
    type: Literal["choice"]
    choices: Annotated[list[_Choice], Field(min_length=2, max_length=MAX_OPTIONS)] | None = None

    @property
    def options(self) -> list[Option]:
        """The options that the caller sends."""
        return [choice.option for choice in self.choices or ()]

    @field_validator("choices")
    @classmethod
    def _unique(cls, choices: list[_Choice] | None) -> list[_Choice] | None:
        given = [(type(choice.value), choice.value) for choice in choices or ()]
        if len(set(given)) < len(given):
            raise ValueError("each choice must be unique")
        return choices


class _ScoreQuestion(_Asked):
    type: Literal["score"]
    levels: Annotated[list[_Level], Field(min_length=1, max_length=MAX_OPTIONS)]

    @property
    def options(self) -> list[Option]:
        """The levels, lowest first."""
        return [level.option for level in self.levels]


_Question = Annotated[_PredicateQuestion | _ChoiceQuestion | _ScoreQuestion, Field(discriminator="type")]


class _Request(StrictModel):
    model: str
    input: str | list[Any]
    questions: Annotated[list[_Question], Field(min_length=1, max_length=MAX_QUESTIONS)]


def protocol(host: ProtocolHost) -> Protocol:
    """Make the route of decisions."""
    router = APIRouter(include_in_schema=False)
    deciders = Deciders(host)

    @router.post("/v1/decisions")
    async def decisions(request: Request) -> Response:
        if not authorised(request, bearer(request)):
            raise refused(401, "Incorrect API key provided.")
        body = await read(request, _Request)
        message = message_of(body.input)
        bot = await host.bot(request, body.model)
        options = [question.options for question in body.questions if not isinstance(question, _PredicateQuestion)]
        found = await deciders.about(bot, message, options)

        def respond() -> Response:
            offered = intent_options(bot.matcher.registry)
            answers = [{**_answer(found, question, offered), "name": question.name} for question in body.questions]
            usage = _usage(count_words(message, options), len(answers))
            return JSONResponse({"model": model_name(bot), "answers": answers, "usage": usage})

        # 400 questions without options, to a bot of 1,000 intents, take a second: too long for the event loop.
        return await asyncio.to_thread(respond)

    return Protocol(router, re.compile(r"/v1/decisions(/.*)?"), error_response, names_bots=True)


def _user(parts: list[Any]) -> dict[str, Any]:
    return {"role": "user", "content": parts}


def _answer(
    found: Decider, question: _PredicateQuestion | _ChoiceQuestion | _ScoreQuestion, offered: list[Option]
) -> dict[str, Any]:
    if isinstance(question, _PredicateQuestion):
        if found.is_known(question.statement):
            return {"type": "predicate", "probability": found.likelihood([question.statement], None)}
        yes = found.yes(found.question([question.statement, question.name]))
        return {"type": "refusal"} if yes is None else {"type": "predicate", "probability": yes}
    asked = found.question([message_of(question.instructions), question.name], question.options)
    if isinstance(question, _ScoreQuestion):
        return _score(found, question, asked)
    offered = offered if asked is None else answer_options(asked)
    choices = question.choices or [_Choice(value=option.name) for option in offered]
    options = [choice.option for choice in choices]
    probabilities = found.probabilities(options) if asked is None else found.trait_probabilities(asked, options)
    return {
        "type": "choice",
        "choice": choices[int(probabilities.argmax())].value,
        "confidence": choice_confidence(probabilities),
        "probabilities": [
            {"value": choice.value, "probability": p} for choice, p in zip(choices, probabilities.tolist(), strict=True)
        ],
    }


def _score(found: Decider, question: _ScoreQuestion, asked: TraitQuestion | None) -> dict[str, Any]:
    if asked is not None:
        probabilities = found.trait_probabilities(asked, question.options)
    elif any(found.intents(question.options)):
        probabilities = found.probabilities(question.options)
    else:
        return {"type": "refusal"}
    return {
        "type": "score",
        "score": mean_level(probabilities),
        "confidence": score_confidence(probabilities),
        "probabilities": [
            {"value": value, "label": level.label, "probability": p}
            for value, (level, p) in enumerate(zip(question.levels, probabilities.tolist(), strict=True))
        ],
    }


def _usage(words: int, answers: int) -> dict[str, Any]:
    return {
        "input_tokens": words,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": answers,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": words + answers,
    }
