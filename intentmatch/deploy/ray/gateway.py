"""The gateway in front of several bots: sends each request to a replica that has its bot in memory."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from intentmatch.deploy.ray.asgi import AsgiRequest, Response, ingress
from intentmatch.deploy.ray.engine import SECONDS_BETWEEN_TRIES, SECONDS_TO_RECOVER, is_full, is_lost
from intentmatch.deploy.ray.everywhere import ask_all, concerns_all

_BOT = re.compile(r"/bots/([^/]+)/")
# Most bodies are complete by then, and cost no second call of the matchers.
_SECONDS_OF_A_PROMPT_BODY = 0.25
_REPEATABLE = re.compile(r".*/(match|match/batch|fill)")
"""Paths whose requests change nothing, so that they can be sent twice."""


class Gateway:
    """A replica of the gateway. The matchers check keys and limits; the gateway only bounds what it keeps in memory.

    A request whose body is slow is shown to the matchers without it first.
    """

    def __init__(self, matchers: Any, max_body: int, body_seconds: float) -> None:
        """`matchers` is the handle of the deployment; the limits are those of the server."""
        self._matchers, self._max_body, self._body_seconds = matchers, max_body, body_seconds

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """Return the app. The name is Serve's."""
        return ingress(self._answer)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        reading = asyncio.create_task(self._body(receive))
        try:
            response = await self._response(AsgiRequest.of(scope, b""), reading)
        finally:
            # After an early answer, the body is still on its way.
            reading.cancel()
        await response(send)

    async def _response(self, head: AsgiRequest, reading: asyncio.Task[bytes]) -> Response:
        prompt = min(_SECONDS_OF_A_PROMPT_BODY, self._body_seconds)
        if not (await asyncio.wait({reading}, timeout=prompt))[0]:
            # Whoever has no key must not hold a place here for as long as a body may take.
            if (early := await self._ask(head, "early_answer")) is not None:
                return early
            if not (await asyncio.wait({reading}, timeout=self._body_seconds - prompt))[0]:
                return _problem(408, f"The body was not complete after {self._body_seconds:g} seconds.")
        request = replace(head, body=reading.result())
        response = await self._ask(request, "forward")
        assert response is not None  # noqa: S101 - only an early answer may be missing
        if concerns_all(request) and response.status < 400:
            response = await ask_all(self._matchers, request)
        return response

    async def _body(self, receive: Receive) -> bytes:
        """Read the body. One that is too large is cut one byte after the limit: the matchers refuse it."""
        body = bytearray()
        while len(body) <= self._max_body:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        return bytes(body[: self._max_body + 1])

    async def _ask(self, request: AsgiRequest, method: str) -> Response | None:
        """Call a method of the matchers; again, if its replica dies and the request may be repeated."""
        bot = bot_of(request)
        # Ray prefers replicas that have noted this bot, see `Matchers._notes_of_bots`.
        handle = self._matchers if bot is None else self._matchers.options(multiplexed_model_id=bot)
        end = time.monotonic() + SECONDS_TO_RECOVER
        while True:
            try:
                response: Response | None = await getattr(handle, method).remote(request, bot)
            except Exception as error:
                if is_full(error):
                    return _problem(503, "Too many requests wait for the replicas.")
                if not is_lost(error):
                    raise
                # The replica may have died after it did what was asked, such as keeping a correction.
                if not may_repeat(request) or time.monotonic() > end:
                    return _problem(503, "The replica that had begun to answer is gone.")
            else:
                return response
            await asyncio.sleep(SECONDS_BETWEEN_TRIES)


def bot_of(request: AsgiRequest) -> str | None:
    """Return the bot that the path of a request names, None if it names none."""
    path: str = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    found = _BOT.match(path)
    return None if found is None else found[1]


def may_repeat(request: AsgiRequest) -> bool:
    """Whether sending a request twice does the same as sending it once."""
    return request.scope["method"] == "GET" or _REPEATABLE.fullmatch(request.scope["path"]) is not None


def _problem(status: int, detail: str) -> Response:
    from intentmatch.server.middleware.problems import MEDIA_TYPE
    from intentmatch.server.routes.schemas.problem_details import ProblemDetails

    details = ProblemDetails.for_status(status, detail)
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"retry-after", b"1")]
    return Response(status, headers if status == 503 else headers[:1], details.model_dump_json().encode())
