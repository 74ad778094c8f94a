"""Calls that match: one message, many messages, and the answer to a question for slots."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.requests import Request

from intentmatch.core.result import MatchResult
from intentmatch.server.bots.bot import Bot
from intentmatch.server.routes.json_calls import JsonCalls
from intentmatch.server.routes.schemas.matches import BatchResponse, FillResponse, MatchResponse
from intentmatch.server.routes.schemas.requests import BatchRequest, FillRequest, MatchRequest


def add_calls(calls: JsonCalls) -> None:
    """Add the calls."""
    calls.add("/match", match, MatchRequest, MatchResponse)
    calls.add("/match/batch", match_batch, BatchRequest, BatchResponse)
    calls.add("/fill", fill, FillRequest, FillResponse)


async def match(body: MatchRequest, bot: Bot, request: Request) -> bytes:
    """Return what one message means."""
    request.state.names = {"allowed": body.allowed or ()}
    result = await bot.match(body.message, body.options(), body.conversation)
    # Written without the model, which would check what the matcher made over and over.
    return MatchResponse.json_from_result(result)


async def match_batch(body: BatchRequest, bot: Bot, request: Request) -> bytes:
    """Return what each of many messages means; faster than one call per message."""
    request.state.names = {"allowed": body.allowed or ()}
    results = await bot.match_many(body.messages, body.options())
    # Writing hundreds of results takes milliseconds, for which the event loop would stand still.
    return await asyncio.to_thread(_written, results)


def _written(results: Sequence[MatchResult]) -> bytes:
    return b'{"results":[' + b",".join(map(MatchResponse.json_from_result, results)) + b"]}"


def fill(body: FillRequest, bot: Bot, request: Request) -> FillResponse:
    """Return the slots of an intent that the answer to a question fills."""
    request.state.names = {"slots": body.slots or (), "others": body.others or ()}
    entities = bot.matcher_for(body.conversation).fill(
        body.text, body.intent, body.slots, others=body.others, language=body.language, now=body.now
    )
    return FillResponse.from_entities(entities)
