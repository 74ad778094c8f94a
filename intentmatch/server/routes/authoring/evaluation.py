"""`POST /evaluate` and `POST /revisions/{id}/replay`: long work with its progress as server-sent events."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from intentmatch.authoring import revision_replay
from intentmatch.authoring.revision_replay import RecordedMessages, heard
from intentmatch.evaluation.logs import log_of_text
from intentmatch.evaluation.run import evaluate
from intentmatch.server.bots.bot import Bot
from intentmatch.server.routes.authoring.common import ASKS, Identity, also_404, explained
from intentmatch.server.routes.authoring.events import described, stream
from intentmatch.server.routes.schemas.authoring.trying import EvaluateRequest, ReplayRequest


def _route(result: str) -> dict[str, Any]:
    return {**ASKS, "responses": {**ASKS["responses"], **described(result)}, "response_class": StreamingResponse}


def add_calls(router: APIRouter) -> None:
    """Add the calls."""
    replayed = _route("what differs, as `intentmatch replay --json` writes it")
    router.post("/evaluate", **_route("the report of `intentmatch eval --json`"))(run_evaluation)
    router.post("/revisions/{id}/replay", **also_404(replayed))(replay_revision)


async def run_evaluation(request: Request, body: EvaluateRequest) -> StreamingResponse:
    """Evaluate the registry in use by cross-validation and on its tests. Close the connection to cancel.

    One evaluation or replay of a bot runs at a time; others are answered with 503.
    """
    bot: Bot = request.state.bot

    def work() -> dict[str, Any]:
        return evaluate(bot.matcher, folds=body.folds, seed=body.seed, robustness=body.robustness).to_dict()

    return stream(request, bot, "evaluation", work)


async def replay_revision(request: Request, identity: Identity, body: ReplayRequest) -> StreamingResponse:
    """Find out which messages a revision answers otherwise, by cause, the worst first.

    Close the connection to cancel. One evaluation or replay of a bot runs at a time; others are answered with 503.
    """
    bot: Bot = request.state.bot

    def messages() -> RecordedMessages:
        with explained():
            # Before the stream begins: once it has, an unknown revision could not be a 404 any more.
            bot.editing.workspace.revision(identity)
            return (
                heard(bot.inbox, body.days)
                if body.log is None
                else RecordedMessages(log_of_text(body.log, bot=bot.name))
            )

    found = await run_in_threadpool(messages)
    return stream(
        request,
        bot,
        "replay",
        lambda: revision_replay.replay_revision(
            bot.editing.workspace, bot.matcher, identity, found, body.against
        ).to_dict(),
    )
