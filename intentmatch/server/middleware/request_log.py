"""Around everything: each request gets an id, is timed, counted and, where the log is of that kind, logged."""

from __future__ import annotations

import logging
import re
import secrets
import time
from contextvars import ContextVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intentmatch.server.process.metrics import Metrics

HEADER = "X-Request-ID"
_RAW_HEADER = HEADER.lower().encode()
request_id: ContextVar[str | None] = ContextVar("intentmatch_request_id", default=None)
"""The id of the request that is being answered here; worker threads know it too."""

# What others make of an id (a log, a search, a shell) is not known here, so that it may hold nothing surprising.
_SANE = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
CLIENT_GONE = 499
"""As web servers log a client that went away."""
_NO_ROUTE = "none"

LOGGER = "intentmatch.server.observed"
"""Name of the logger of requests; operators set its level by this name."""

_log = logging.getLogger(LOGGER)


class Observed:
    """An app whose every answer is known of, those of defects included."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and note what comes of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        identity = given if _SANE.fullmatch(given) else secrets.token_hex(16)
        # Until the end of its task: servers log what an app raised after the app is left.
        request_id.set(identity)
        status = CLIENT_GONE
        start = time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (_RAW_HEADER, identity.encode())]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            self._note(scope, status, time.perf_counter() - start)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = scope.get("route")
        self.metrics.answered(getattr(route, "path", _NO_ROUTE), status, seconds)
        if not _log.isEnabledFor(logging.INFO):
            return
        asked = {"method": scope["method"], "path": scope["path"]}
        more = {**asked, "status": status, "milliseconds": round(seconds * 1000, 3)}
        _log.info("%(method)s %(path)s %(status)d", more, extra={"fields": more})
