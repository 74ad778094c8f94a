"""`POST /evaluate`: an evaluation that reports its progress as server-sent events, and stops with its connection."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import StreamingResponse

from intentmatch.authoring.time_limit import StoppedError, stopping
from intentmatch.core.errors import IntentMatchError
from intentmatch.evaluation.run import evaluate
from intentmatch.runtime.steps import Step
from intentmatch.server.bots.bot import Bot
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.authoring.common import ASKS
from intentmatch.server.routes.schemas.authoring.trying import EvaluateRequest
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

_log = logging.getLogger(__name__)

MEDIA_TYPE = "text/event-stream"
_EVENTS = {
    200: {
        "description": "Events: `progress` with `step`, `done`, `total` and `seconds_left`; at the end `result` with "
        "the report of `intentmatch eval --json`, or `error` with problem details.",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
    }
}
# A proxy closes a connection that is silent for long.
_SECONDS_BETWEEN_EVENTS = 10.0


def add_calls(router: APIRouter) -> None:
    """Add the call."""

    @router.post(
        "/evaluate", **{**ASKS, "responses": {**ASKS["responses"], **_EVENTS}}, response_class=StreamingResponse
    )
    async def run_evaluation(request: Request, body: EvaluateRequest) -> StreamingResponse:
        """Evaluate the registry in use by cross-validation and on its tests. Close the connection to cancel.

        One evaluation of a bot runs at a time; others are answered with 503.
        """
        bot: Bot = request.state.bot
        if not bot.evaluating.acquire(blocking=False):
            detail = "An evaluation of this bot is running already."
            raise ProblemError(ProblemDetails.for_status(503, detail), {"Retry-After": "30"})
        return StreamingResponse(_Evaluation(bot, body).events(), media_type=MEDIA_TYPE)


class _Evaluation:
    """An evaluation in a thread of its own, which holds `bot.evaluating` until it ends."""

    def __init__(self, bot: Bot, body: EvaluateRequest) -> None:
        """Start it."""
        self._bot, self._body = bot, body
        self._cancelled = False
        self._events: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._loop.run_in_executor(None, self._run)

    async def events(self) -> AsyncIterator[str]:
        """Yield the events until it ends; cancel it if nobody listens any more."""
        name = "progress"
        try:
            while name == "progress":
                try:
                    name, values = await asyncio.wait_for(self._events.get(), _SECONDS_BETWEEN_EVENTS)
                except asyncio.TimeoutError:
                    yield ": still running\n\n"
                    continue
                yield f"event: {name}\ndata: {json.dumps(values, ensure_ascii=False)}\n\n"
        finally:
            self._cancelled = True

    def _run(self) -> None:
        try:
            with stopping(lambda: self._cancelled, self._progress):
                report = evaluate(
                    self._bot.matcher, folds=self._body.folds, seed=self._body.seed, robustness=self._body.robustness
                )
            self._put("result", report.to_dict())
        except StoppedError:
            _log.info("an evaluation was cancelled")
        except IntentMatchError as error:
            self._put("error", ProblemDetails.for_status(422, str(error)).model_dump())
        except Exception:  # noqa: BLE001 - the caller waits for an event, whatever went wrong
            _log.exception("an evaluation failed")
            detail = "The evaluation failed unexpectedly, see the log."
            self._put("error", ProblemDetails.for_status(500, detail).model_dump())
        finally:
            self._bot.evaluating.release()

    def _progress(self, step: Step) -> None:
        left = {"seconds_left": step.seconds_left, "detail": step.detail}
        self._put("progress", {"step": step.name, "done": step.done, "total": step.total, **left})

    def _put(self, name: str, values: dict[str, Any]) -> None:
        with suppress(RuntimeError):  # the server has stopped
            self._loop.call_soon_threadsafe(self._events.put_nowait, (name, values))
