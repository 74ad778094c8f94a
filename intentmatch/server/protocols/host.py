"""What the server lends to a protocol, and what it wants from it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from intentmatch.core.errors import UnknownNameError
from intentmatch.core.result import Candidate, MatchResult
from intentmatch.server.bots.bot import Service
from intentmatch.server.middleware.problems import ProblemError, Shape, of_findings
from intentmatch.server.routes.schemas import ProblemDetails


@dataclass(frozen=True)
class Protocol:
    """An interface that bots already speak."""

    router: APIRouter
    paths: re.Pattern[str]
    """The paths that are its own, also those where it has nothing."""
    shape: Shape
    """A problem as its clients expect to be told."""
    names_bots: bool = False
    """Whether its requests say which bot they are for; where not and there are several, the path in front does."""


@dataclass(frozen=True)
class Host:
    """The bots and limits of a server."""

    bot_named: Callable[[Request, str | None], Awaitable[Service]]
    """The bot of that name, None where the protocol has no names. Raises `UnknownNameError`, or `ProblemError`."""
    max_text: int
    """Characters of a text."""
    max_batch: int
    """Texts of a request."""
    fulfillment: str | None = None
    """The URL of Dialogflow's webhook for fulfillment."""

    async def bot(self, request: Request, name: str | None = None) -> Service:
        """The bot of that name. Raises `ProblemError`: 404 for none, 403 for one that the caller has no key for."""
        try:
            return await self.bot_named(request, name)
        except UnknownNameError as error:
            raise refused(404, str(error)) from error

    async def match(self, bot: Service, text: str, **options: Any) -> MatchResult:
        """What a bot says of a text, under the options of `Matcher.match`.

        Raises `ProblemError` (400) for one that is too long.
        """
        self.bound(text)
        return await bot.match(bot.matcher, text, **options)

    def bound(self, text: str) -> None:
        """Raise `ProblemError` (400) for a text that is too long."""
        if len(text) > self.max_text:
            raise refused(400, f"The text has {len(text)} characters; {self.max_text} are read here at most.")


class Body(BaseModel):
    """A request in camel case. What it holds beside the fields is for others."""

    model_config = ConfigDict(frozen=True, strict=True, alias_generator=to_camel, populate_by_name=True)


_Body = TypeVar("_Body", bound=BaseModel)


async def read(request: Request, model: type[_Body]) -> _Body:
    """The body as JSON, whatever it is declared as. Raises `ProblemError` (400) with all that is wrong with it."""
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        raise ProblemError(of_findings(error.errors(include_url=False, include_input=False), 400)) from None


def refused(status: int, detail: str) -> ProblemError:
    """The error that ends a request with this."""
    return ProblemError(ProblemDetails.of(status, detail))


def confidence(candidate: Candidate) -> float:
    """From 0 to 1, for clients that know of nothing else: the score where there is no confidence."""
    sure = candidate.score if candidate.confidence is None else candidate.confidence
    return min(1.0, max(0.0, float(sure)))
