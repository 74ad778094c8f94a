"""The outermost middleware: gives each request an id, times it, counts it and logs it."""

from __future__ import annotations

import logging
import re
import secrets
import time
from contextvars import ContextVar

from starlette.datastructures import Headers
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from intentmatch.server.process.metrics import Metrics
from intentmatch.text.printable import one_line

HEADER = "X-Request-ID"
FINGERPRINT_HEADER = "X-Registry-Fingerprint"
_RAW_FINGERPRINT_HEADER = FINGERPRINT_HEADER.lower().encode()
_RAW_HEADER = HEADER.lower().encode()
request_id: ContextVar[str | None] = ContextVar("intentmatch_request_id", default=None)
"""Id of the current request, in worker threads too."""


class AnsweredBy:
    """The fingerprint of the registry that answered a request; empty until one has."""

    __slots__ = ("fingerprint",)

    def __init__(self) -> None:
        self.fingerprint = ""


answered_by: ContextVar[AnsweredBy | None] = ContextVar("intentmatch_answered_by", default=None)
"""Where the current request notes its registry, in worker threads too."""

# An id ends up in logs, searches and shells, so that it may hold nothing surprising.
_SAFE_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
CLIENT_GONE = 499
"""Status that web servers log for a client that disconnected."""
_NO_ROUTE = "none"

LOGGER = "intentmatch.server.observed"
"""Name of the logger of requests; operators set its level by this name."""

_log = logging.getLogger(LOGGER)


class LoggedRoute(Route):
    """A Starlette route that log and metrics know by its path, as they know FastAPI's routes."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match as usual, and note the route in the scope."""
        match, child_scope = super().matches(scope)
        return match, child_scope if match is Match.NONE else {**child_scope, "route": self}


class RequestLog:
    """Observes every response of an app, those to its own defects included."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Give the request an id, and note its status and time."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        identity = given if _SAFE_ID.fullmatch(given) else secrets.token_hex(16)
        # Never reset within the task: servers log an app's exception after the app has returned.
        request_id.set(identity)
        answered = AnsweredBy()
        answered_by.set(answered)
        # Stays if the app sends no response at all.
        status = CLIENT_GONE
        start = time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (_RAW_HEADER, identity.encode())]
                if answered.fingerprint:
                    message["headers"].append((_RAW_FINGERPRINT_HEADER, answered.fingerprint.encode()))
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            self._note(scope, status, time.perf_counter() - start)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = scope.get("route")
        # The route and not the path: a label for each path that somebody tries would fill the memory of Prometheus.
        self.metrics.answered(getattr(route, "path", _NO_ROUTE), status, seconds)
        if not _log.isEnabledFor(logging.INFO):
            return
        fields = {
            "method": scope["method"],
            "path": scope["path"],
            "status": status,
            "milliseconds": round(seconds * 1000, 3),
        }
        # A program may have a log of its own, which writes the text as it is.
        said = fields | {"path": one_line(scope["path"])}
        _log.info("%(method)s %(path)s %(status)d", said, extra={"fields": fields})
