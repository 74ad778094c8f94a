"""The call that keeps a user's correction for the author of the intents."""

from __future__ import annotations

from starlette.requests import Request

from intentmatch.core.errors import UnknownNameError
from intentmatch.server.bots.bot import Bot
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.json_calls import JsonCalls
from intentmatch.server.routes.schemas.matches import FeedbackResponse
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails
from intentmatch.server.routes.schemas.requests import FeedbackRequest


def add_calls(calls: JsonCalls) -> None:
    """Add the call."""
    calls.add("/feedback", feedback, FeedbackRequest, FeedbackResponse, status=202)


async def feedback(body: FeedbackRequest, bot: Bot, request: Request) -> FeedbackResponse:
    """Keep a correction in the inbox, for the author of the intents to review."""
    inbox = bot.inbox
    if inbox is None:
        detail = "There is no inbox to keep the correction in; the setting `inbox` turns one on."
        raise ProblemError(ProblemDetails.for_status(503, detail))
    registry = bot.matcher_for(body.conversation).registry
    if body.intent is not None and body.intent not in registry:
        error = str(UnknownNameError("intent", body.intent, [intent.name for intent in registry]))
        item = ErrorItem(location="body.intent", message=error)
        raise ProblemError(ProblemDetails.for_status(422, error, [item]))
    inbox.correct(body.text, body.intent, body.language)
    if bot.candidate is not None:
        bot.candidate.corrected(body.text, body.intent, body.language, body.conversation)
    return FeedbackResponse()
