"""The interface between the server and a protocol."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from intentmatch.core.result import Candidate, MatchResult
from intentmatch.dialogue import MemoryStore, Store
from intentmatch.matching.options import MatchOptions
from intentmatch.server.bots.bot import Bot
from intentmatch.server.middleware.problems import ProblemError, Shape, from_findings
from intentmatch.server.routes.schemas.problem_details import ProblemDetails


@dataclass(frozen=True)
class Protocol:
    """What a protocol adds to the server."""

    router: APIRouter
    paths: re.Pattern[str]
    """All paths that belong to it, with or without a route."""
    shape: Shape
    """Turns a problem into the error that its clients expect."""
    names_bots: bool = False
    """Whether its requests name the bot; if not and there are several, a path prefix does."""


@dataclass(frozen=True)
class ProtocolHost:
    """What the server gives a protocol: its bots and limits."""

    bot_named: Callable[[Request, str | None], Awaitable[Bot]]
    """Finds a bot by name, or by path if the name is None. Raises `ProblemError`."""
    max_text: int
    """Most characters of a text."""
    max_batch: int
    """Most texts of a request."""
    fulfillment: str | None = None
    """URL of the fulfillment webhook of Dialogflow."""
    store: Store = field(default_factory=MemoryStore)
    """Keeps conversations."""
    names_of_bots: Callable[[Request], list[str]] | None = None
    """Names of the bots that a caller may call; None if there is only one bot, which has any name."""
    protocols: frozenset[str] = frozenset()
    """Names of all protocols of the server."""

    async def bot(self, request: Request, name: str | None = None) -> Bot:
        """Return the bot of this name. Raises `ProblemError`: 404 for an unknown one, 403 without a key for it."""
        return await self.bot_named(request, name)

    async def match(self, bot: Bot, text: str, options: MatchOptions, conversation: str | None = None) -> MatchResult:
        """Match a text. Raises `ProblemError`: 400 if it is too long, 503 as `Bot.match` does."""
        self.check_length(text)
        return await bot.match(text, options, conversation)

    def check_length(self, text: str) -> None:
        """Raise `ProblemError` (400) if a text is too long."""
        if len(text) > self.max_text:
            raise refused(400, f"The text has {len(text)} characters; the limit is {self.max_text}.")


class Body(BaseModel):
    """A request body in camel case; unknown keys are ignored."""

    model_config = ConfigDict(frozen=True, strict=True, alias_generator=to_camel, populate_by_name=True)


_Body = TypeVar("_Body", bound=BaseModel)


async def read(request: Request, model: type[_Body]) -> _Body:
    """Read the body as JSON, whatever its content type. Raises `ProblemError` (400) with every mistake."""
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        raise ProblemError(from_findings(error.errors(include_url=False, include_input=False), 400)) from None


def refused(status: int, detail: str) -> ProblemError:
    """Make the error that answers a request with this status and detail."""
    return ProblemError(ProblemDetails.for_status(status, detail))


def confidence(candidate: Candidate) -> float:
    """Return the confidence of a candidate, or its score without one, clipped to [0, 1]."""
    value = candidate.score if candidate.confidence is None else candidate.confidence
    return min(1.0, max(0.0, float(value)))
