"""Long work of an author that reports its progress as server-sent events, and stops with its connection or its key."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import StreamingResponse

from intentmatch.authoring.time_limit import StoppedError, stopping
from intentmatch.core.errors import IntentMatchError
from intentmatch.core.relative_paths import relative, with_relative_places
from intentmatch.runtime.steps import Step
from intentmatch.server.auth.authorisation import is_still_author
from intentmatch.server.bots.bot import Bot
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

_log = logging.getLogger(__name__)

MEDIA_TYPE = "text/event-stream"
# How often a silent stream looks whether its key is still valid. A proxy closes a connection that is silent for long.
_SECONDS_BETWEEN_EVENTS = 1.0
_REVOKED = "The key of this call is not valid any more."


def described(result: str) -> dict[int, dict[str, Any]]:
    """Return how the document describes the events, of which the last is the `result`."""
    says = "Events: `progress` with `step`, `done`, `total` and `seconds_left`; at the end `result` with "
    content = {MEDIA_TYPE: {"schema": {"type": "string"}}}
    return {200: {"description": f"{says}{result}, or `error` with problem details.", "content": content}}


def stream(request: Request, bot: Bot, name: str, work: Callable[[], dict[str, Any]]) -> StreamingResponse:
    """Return a response that does the work in a thread and streams its events; its result is the last one.

    Once the key of the request is revoked, the stream ends with an `error`, and the work is cancelled. Only one such
    work of a bot runs at a time: raises `ProblemError` (503) while another one does.
    """
    # Each trains several registries: two at once would leave little of the processor for answers.
    if not bot.editing.evaluating.acquire(blocking=False):
        detail = "An evaluation or a replay of this bot is running already."
        raise ProblemError(ProblemDetails.for_status(503, detail), {"Retry-After": "30"})
    return StreamingResponse(Job(bot, name, work).events(partial(is_still_author, request)), media_type=MEDIA_TYPE)


class Job:
    """Work in a thread of its own, which holds `bot.editing.evaluating` until it ends."""

    def __init__(self, bot: Bot, name: str, work: Callable[[], dict[str, Any]]) -> None:
        """Start it; the caller has acquired `bot.editing.evaluating`."""
        self._bot, self._name, self._work = bot, name, work
        self._cancelled = False
        self._events: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._loop.run_in_executor(None, self._run)

    async def events(self, may_listen: Callable[[], bool]) -> AsyncIterator[str]:
        """Yield the events until it ends; cancel it if nobody listens any more, or may listen."""
        name = "progress"
        try:
            while name == "progress":
                found = None
                with suppress(asyncio.TimeoutError):
                    found = await asyncio.wait_for(self._events.get(), _SECONDS_BETWEEN_EVENTS)
                if not may_listen():
                    found = "error", ProblemDetails.for_status(401, _REVOKED).model_dump()
                if found is None:
                    # A comment by the format of events: it keeps proxies from closing the connection, and
                    # finds out whether anyone is there.
                    yield ": still running\n\n"
                    continue
                name, values = found
                told = with_relative_places(values)
                if name == "error":
                    told["detail"] = relative(told["detail"])
                yield f"event: {name}\ndata: {json.dumps(told, ensure_ascii=False)}\n\n"
        finally:
            self._cancelled = True

    def _run(self) -> None:
        try:
            last = self._ended()
        finally:
            self._bot.editing.evaluating.release()  # before the last event: whoever has read it may begin another one
        if last is not None:
            self._put(*last)

    def _ended(self) -> tuple[str, dict[str, Any]] | None:
        """Do the work; return the last event, or None if it was cancelled."""
        try:
            with stopping(lambda: self._cancelled, self._progress):
                return "result", self._work()
        except StoppedError:
            _log.info("the %s was cancelled", self._name)
            return None
        except IntentMatchError as error:
            return "error", ProblemDetails.for_status(422, str(error)).model_dump()
        except Exception:  # noqa: BLE001 - the caller waits for an event, whatever went wrong
            _log.exception("the %s failed", self._name)
            detail = f"The {self._name} failed unexpectedly, see the log."
            return "error", ProblemDetails.for_status(500, detail).model_dump()

    def _progress(self, step: Step) -> None:
        left = {"seconds_left": step.seconds_left, "detail": step.detail}
        self._put("progress", {"step": step.name, "done": step.done, "total": step.total, **left})

    def _put(self, name: str, values: dict[str, Any]) -> None:
        with suppress(RuntimeError):  # the server has stopped
            self._loop.call_soon_threadsafe(self._events.put_nowait, (name, values))
