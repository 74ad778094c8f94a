"""Calls for operators: what the server holds, its state, and its metrics."""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import PlainTextResponse

from intentmatch import __version__
from intentmatch.server.auth.api_keys import ANY_BOT
from intentmatch.server.auth.authorisation import allowed, may_know
from intentmatch.server.auth.security_schemes import ADMIN, OPEN
from intentmatch.server.bots.bot import Bot
from intentmatch.server.bots.pool import BotPool
from intentmatch.server.middleware.problems import ProblemError, responses
from intentmatch.server.process.metrics import MEDIA_TYPE
from intentmatch.server.routes.schemas.operations import (
    BotsReady,
    BotsResponse,
    Health,
    IntentsResponse,
    Ready,
    ReloadResponse,
    Version,
)
from intentmatch.server.routes.schemas.problem_details import ProblemDetails


def add_bot_calls(router: APIRouter) -> None:
    """Add the calls of one bot, which a dependency of the router keeps as `request.state.bot`."""

    @router.get("/intents", tags=["operating"], responses=responses(401, 429, 503))
    def intents(request: Request) -> IntentsResponse:
        """Return the intents in use."""
        bot: Bot = request.state.bot
        return IntentsResponse.from_registry(bot.matcher.registry)

    @router.post(
        "/reload", tags=["operating"], responses=responses(401, 403, 409, 413, 429, 503), openapi_extra=dict(ADMIN)
    )
    async def reload(request: Request) -> ReloadResponse:
        """Read the files again. If they are invalid, the last valid registry stays active."""
        bot: Bot = request.state.bot
        return ReloadResponse.from_registry((await bot.files.reload()).registry)


def add_process_calls(app: FastAPI, served: Bot | BotPool) -> None:
    """Add the calls of the process, whether it serves one bot or several."""

    # Some load balancers and monitors ask with HEAD; the server leaves out the body.
    @app.head("/healthz", include_in_schema=False, openapi_extra=dict(OPEN))
    @app.get("/healthz", tags=["operating"], openapi_extra=dict(OPEN))
    async def healthz() -> Health:
        """Return 200 while the process is alive."""
        return Health()

    @app.get("/version", tags=["operating"], responses=responses(401, 429))
    async def version() -> Version:
        """Return the version of the server."""
        return Version(version=__version__)

    refusals = (401, 403, 429) if isinstance(served, BotPool) else (401, 429)

    @app.head("/metrics", include_in_schema=False)
    @app.get("/metrics", tags=["operating"], response_class=PlainTextResponse, responses=responses(*refusals))
    def metrics(request: Request) -> Response:
        """Return counts and times for Prometheus. With several bots, this takes a key for all of them."""
        # The metrics name every bot and its intents.
        if not allowed(request, ANY_BOT):
            raise ProblemError(ProblemDetails.for_status(403, "This call needs a key that is valid for all bots."))
        return Response(served.exposition(), media_type=MEDIA_TYPE)

    if isinstance(served, BotPool):
        _add_pool_calls(app, served)
    else:
        _add_readiness(app, served)


def _add_readiness(app: FastAPI, bot: Bot) -> None:
    @app.head("/readyz", include_in_schema=False, openapi_extra=dict(OPEN))
    @app.get("/readyz", tags=["operating"], responses=responses(503), openapi_extra=dict(OPEN))
    async def readyz(request: Request) -> Ready:
        """Return 200 while messages are answered: `ready`, or `stale` if newer files are invalid, not loaded or away.

        Otherwise the type of the problem is `urn:intentmatch:warming` or `urn:intentmatch:broken`.
        """
        # Open to all, so that orchestrators need no key; the reasons may quote files.
        with_reasons = may_know(request)
        registry = (await bot.ready(with_reasons=with_reasons)).registry
        await asyncio.to_thread(bot.files.look)
        since = bot.files.stale_since
        return Ready(
            status="ready" if since is None else "stale",
            fingerprint=registry.fingerprint,
            intents=len(registry),
            stale=since is not None,
            stale_since=None if since is None else datetime.fromtimestamp(since, timezone.utc),
            reload_error=bot.files.error if with_reasons else None,
        )


def _add_pool_calls(app: FastAPI, bots: BotPool) -> None:
    @app.get("/bots", tags=["operating"], responses=responses(401, 429), name="bots")
    async def list_bots(request: Request) -> BotsResponse:
        """Return the bots that the caller may call, and their states."""
        await asyncio.to_thread(bots.look_for_newer_files)
        return BotsResponse(bots=bots.infos(request))

    @app.head("/readyz", include_in_schema=False, openapi_extra=dict(OPEN))
    @app.get("/readyz", tags=["operating"], responses=responses(503), openapi_extra=dict(OPEN))
    async def readyz() -> BotsReady:
        """Return 200 while bots can be called, even if some of them cannot answer.

        Otherwise the type of the problem is `urn:intentmatch:warming` or `urn:intentmatch:broken`.
        """
        return await bots.ready()
