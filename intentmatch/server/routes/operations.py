"""The routes for those who operate the server: what it holds, how it is, and what it counts."""

# No postponed annotations here: FastAPI reads those of the routes.
from collections.abc import Callable

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import PlainTextResponse

from intentmatch import __version__
from intentmatch.server.auth import api_keys as access
from intentmatch.server.bots.bot import Service
from intentmatch.server.bots.pool import Bots
from intentmatch.server.middleware import problems
from intentmatch.server.process.metrics import MEDIA_TYPE
from intentmatch.server.routes import schemas


def add_calls(app: APIRouter, asked: Callable[[Request], Service]) -> None:
    """The calls of one bot."""

    @app.get("/intents", tags=["operating"], responses=problems.responses(401, 429, 503))
    def intents(request: Request) -> schemas.IntentsResponse:
        """The intents in use now."""
        registry = asked(request).matcher.registry
        return schemas.IntentsResponse(
            fingerprint=registry.fingerprint, intents=[schemas.IntentInfo.of(intent) for intent in registry]
        )

    @app.post(
        "/reload",
        tags=["operating"],
        responses=problems.responses(401, 403, 409, 413, 429, 503),
        openapi_extra=dict(access.ADMIN),
    )
    async def reload(request: Request) -> schemas.ReloadResponse:
        """Read the files again; if anything is wrong with them, the old intents go on answering."""
        registry = (await asked(request).reload()).registry
        return schemas.ReloadResponse(
            fingerprint=registry.fingerprint,
            intents=len(registry),
            utterances=len(registry.utterances),
        )


def add_process(app: FastAPI, served: Service | Bots) -> None:
    """The calls of the process, whatever it serves."""

    @app.get("/healthz", tags=["operating"], openapi_extra=dict(access.OPEN))
    async def healthz() -> schemas.Health:
        """Whether the process is alive: it is, if this answers."""
        return schemas.Health()

    @app.get("/version", tags=["operating"], responses=problems.responses(401, 429))
    async def version() -> schemas.Version:
        """What runs here."""
        return schemas.Version(version=__version__)

    refusals = (401, 403, 429) if isinstance(served, Bots) else (401, 429)

    @app.get("/metrics", tags=["operating"], response_class=PlainTextResponse, responses=problems.responses(*refusals))
    def metrics(request: Request) -> Response:
        """Counts and times for Prometheus; of several bots for whoever may ask all of them."""
        if not access.allowed(request, access.EVERY):
            raise problems.ProblemError(schemas.ProblemDetails.of(403, "This takes a key that is good for all bots."))
        return Response(served.exposition(), media_type=MEDIA_TYPE)

    if isinstance(served, Bots):
        _add_bots(app, served)
    else:
        _add_readiness(app, served)


def _add_readiness(app: FastAPI, service: Service) -> None:
    @app.get("/readyz", tags=["operating"], responses=problems.responses(503), openapi_extra=dict(access.OPEN))
    async def readyz(request: Request) -> schemas.Ready:
        """Whether messages are answered, and by the newest files or by those before them (`stale`).

        Where they are not, the type of the problem is `urn:intentmatch:warming` or `urn:intentmatch:broken`.
        """
        telling = access.may_know(request)
        registry = (await service.ready(telling=telling)).registry
        return schemas.Ready(
            status="stale" if service.reload_error else "ready",
            fingerprint=registry.fingerprint,
            intents=len(registry),
            stale=service.reload_error is not None,
            reload_error=service.reload_error if telling else None,
        )


def _add_bots(app: FastAPI, bots: Bots) -> None:
    @app.get("/bots", tags=["operating"], responses=problems.responses(401, 429), name="bots")
    async def list_bots(request: Request) -> schemas.BotsResponse:
        """The bots that the caller may ask, and how they are."""
        return schemas.BotsResponse(bots=bots.infos(request))

    @app.get("/readyz", tags=["operating"], responses=problems.responses(503), openapi_extra=dict(access.OPEN))
    async def readyz() -> schemas.BotsReady:
        """Whether bots can be asked; one that cannot answer is no reason to ask none of the others.

        Where they cannot, the type of the problem is `urn:intentmatch:warming` or `urn:intentmatch:broken`.
        """
        return await bots.ready()
