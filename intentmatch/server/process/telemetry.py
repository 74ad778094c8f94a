"""OpenTelemetry: one span per match, with the stages as events, in the trace of the caller.

The tracer provider of the process decides where spans go; without one they are dropped. Spans never hold messages.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from intentmatch import __version__
from intentmatch.core import plugins
from intentmatch.core.result import MatchResult


class Spans:
    """Makes spans of matches. Raises `MissingExtraError` without OpenTelemetry, which only this module imports."""

    def __init__(self) -> None:
        trace = plugins.require("opentelemetry.trace", what="Telemetry", extra="telemetry")
        self._tracer = trace.get_tracer("intentmatch", __version__)

    def matched(self, results: Sequence[MatchResult], fingerprint: str) -> None:
        """Make spans of matches that have just ended; `fingerprint` is that of the registry that answered."""
        end = time.time_ns()
        for result in results:
            # Spans are made afterwards, when the verdict is known, and are given the times at which the stages ran.
            moment = end - sum(round(stage.microseconds * 1000) for stage in result.trace.stages)
            attributes = {
                "intentmatch.verdict": result.verdict,
                "intentmatch.intent": result.intent or "",
                "intentmatch.score": result.score,
                "intentmatch.language": result.language or "",
                "intentmatch.decided_by": result.trace.decided_by,
                "intentmatch.fingerprint": fingerprint,
            }
            span = self._tracer.start_span("intentmatch.match", attributes=attributes, start_time=moment)
            for stage in result.trace.stages:
                moment += round(stage.microseconds * 1000)
                span.add_event(stage.name, {"intentmatch.microseconds": stage.microseconds}, timestamp=moment)
            span.end(end_time=end)


class TraceContext:
    """Continues the traces of callers (`traceparent`), unless an outer middleware does so already."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._trace = plugins.require("opentelemetry.trace", what="Telemetry", extra="telemetry")
        self._context = plugins.require("opentelemetry.context", what="Telemetry", extra="telemetry")
        self._propagate = plugins.require("opentelemetry.propagate", what="Telemetry", extra="telemetry")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Attach the caller's trace while the app handles the request."""
        if scope["type"] != "http" or self._trace.get_current_span().get_span_context().is_valid:
            await self.app(scope, receive, send)
            return
        token = self._context.attach(self._propagate.extract(Headers(scope=scope)))
        try:
            await self.app(scope, receive, send)
        finally:
            self._context.detach(token)
