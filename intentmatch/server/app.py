"""The routes. Each translates between HTTP and one call of the matcher, and none of them holds up the event loop."""

# No postponed annotations here: FastAPI reads those of the routes, and the request models with an app's own limits in
# them are known only where they are made.
import asyncio
import os
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import FastAPI, Response
from fastapi.responses import PlainTextResponse
from pydantic import Field
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from intentmatch import __version__, plugins
from intentmatch.dialogue import MemoryStore, Store
from intentmatch.errors import UnknownNameError
from intentmatch.matcher import Matcher
from intentmatch.server import access, chat, gate, problems, schemas
from intentmatch.server.metrics import MEDIA_TYPE
from intentmatch.server.observed import Observed
from intentmatch.server.protocols import load
from intentmatch.server.protocols.host import Host
from intentmatch.server.service import Service
from intentmatch.server.telemetry import Continued, Spans

_ABOUT = """Tells what a user means, from a folder of YAML intents.

Every error has the shape `ProblemDetails` (RFC 9457) and the media type `application/problem+json`.
"""

_BODY_ERRORS = (400, 401, 408, 413, 415, 422, 429, 503)


def create_app(
    matcher: Matcher | str | os.PathLike[str] = "intents",
    *,
    max_text: int = 2000,
    max_batch: int = 256,
    max_body: int = 1_000_000,
    watch: bool = False,
    telemetry: bool = False,
    protocols: Collection[str] = (),
    fulfillment: str | None = None,
    keys: Collection[str] | None = None,
    admin_keys: Collection[str] | None = None,
    rate_limit: str | None = None,
    body_seconds: float = 10.0,
    cors_origins: Collection[str] = (),
    allowed_hosts: Collection[str] = (),
    store: Store | None = None,
) -> FastAPI:
    """The webhook as an ASGI application.

    A path is loaded when the server starts, and what is wrong with it (`Matcher.load` says what may be) keeps the
    server from starting; a `Matcher` is used as it is. `max_text` bounds the characters of a message, `max_batch` the
    messages of a batch, `max_body` the bytes of a request. With `watch`, files that change are taken up by themselves.
    The setting `inbox` has messages kept that were not understood. `telemetry` makes matches spans of OpenTelemetry.

    `protocols` names what bots already speak and shall be answered in: `rasa`, `clu`, `dialogflow`, `openai`.
    `fulfillment` is the URL that Dialogflow's intents with `metadata: {webhook: true}` are fulfilled by.

    Where there are `keys`, a caller must present one. Admin calls are off unless there are `admin_keys`, which are good
    for the other calls too. Without either, those of the environment are taken: `INTENTMATCH_KEYS` and
    `INTENTMATCH_ADMIN_KEYS`, or the files that these name with `_FILE` behind them. `rate_limit` bounds the requests of
    a key, or of an address where there are no keys: `600/minute`. A body has to arrive in `body_seconds`. Pages of
    `cors_origins` may call from a browser. Where there are `allowed_hosts`, requests for others are refused.

    What a conversation (`/chat`) waits for is kept in `store`; without one, in the memory of this process.

    Raises `InputError` where one of these cannot be.
    """
    if watch:
        plugins.check_installed("watchfiles", what="Watching files", extra="watch")
    service = Service(matcher, watch=watch, spans=Spans() if telemetry else None)
    spoken = load(protocols, Host(service.bot_named, service.match, max_text, max_batch, fulfillment))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await service.load()
        try:
            yield
        finally:
            await service.close()

    app = _Webhook(
        title="intentmatch",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        # A redirect is built from the Host header, which need not be one.
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.metrics = service.metrics
    app.router.route_class = access.Route
    app.state.access = access.Access(
        access.environment_keys(access.KEYS) if keys is None else keys,
        access.environment_keys(access.ADMIN_KEYS) if admin_keys is None else admin_keys,
        rate_limit,
    )
    _add_gate(app, max_body, body_seconds, gate.checked_origins(cors_origins), allowed_hosts)
    if telemetry:
        app.add_middleware(Continued)
    problems.install(app, [(protocol.paths, protocol.shape) for protocol in spoken])
    for protocol in spoken:
        app.include_router(protocol.router)
    _add_matching(app, service, max_text, max_batch)
    chat.add_calls(app, lambda request: service, store or MemoryStore(), max_text)
    _add_feedback(app, service, max_text)
    _add_operating(app, service)
    return app


class _Webhook(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        return access.declare(problems.declare_media_type(super().openapi()), self.state.access)

    def build_middleware_stack(self) -> ASGIApp:
        """What stands before the routes. Outermost is what has to do with answers to defects too."""
        return Observed(gate.SecurityHeaders(super().build_middleware_stack()), self.state.metrics)


def _add_gate(app: FastAPI, max_body: int, body_seconds: float, origins: Sequence[str], hosts: Collection[str]) -> None:
    app.add_middleware(gate.BodyLimit, max_bytes=max_body, max_seconds=body_seconds)
    if origins:
        # Keys travel in headers and never by themselves, so that no origin needs to be trusted with cookies.
        headers = ["Authorization", "Content-Type", "X-API-Key", "X-Request-ID"]
        app.add_middleware(CORSMiddleware, allow_origins=origins, allow_methods=["GET", "POST"], allow_headers=headers)
    if hosts:
        app.add_middleware(gate.AllowedHosts, hosts=hosts)


def _add_matching(app: FastAPI, service: Service, max_text: int, max_batch: int) -> None:
    # The limits of this app, written into the models so that /docs shows them.
    message = Annotated[str, Field(max_length=max_text)]

    class MatchRequest(schemas.Options):
        """One message."""

        text: message = Field(description="The message, as the user wrote it.", examples=["wo bleibt mein Paket?"])

    class BatchRequest(schemas.Options):
        """Many messages, matched against one and the same registry."""

        texts: list[message] = Field(
            min_length=1,
            max_length=max_batch,
            description="The messages, as the users wrote them.",
            examples=[["hello", "tschüss"]],
        )

    class FillRequest(schemas.MessageOptions):
        """The answer to a question for slots of an intent."""

        text: message = Field(description="The answer, as the user wrote it.", examples=["tomorrow"])
        intent: schemas.RequestedName = Field(description="The intent that was matched.")
        slots: list[schemas.RequestedName] | None = Field(
            default=None, min_length=1, max_length=100, description="The slots asked for; without it all of the intent."
        )

    @app.post("/match", tags=["matching"], responses=problems.responses(*_BODY_ERRORS))
    async def match(body: MatchRequest) -> schemas.MatchResponse:
        """What one message means."""
        result = await service.match(service.matcher, body.text, **body.options())
        return schemas.MatchResponse.of(result)

    @app.post("/match/batch", tags=["matching"], responses=problems.responses(*_BODY_ERRORS))
    async def match_batch(body: BatchRequest) -> schemas.BatchResponse:
        """What each of many messages means; faster than one by one."""
        return await asyncio.to_thread(_match_all, service, body.texts, body)

    @app.post("/fill", tags=["matching"], responses=problems.responses(*_BODY_ERRORS))
    def fill(body: FillRequest) -> schemas.FillResponse:
        """What the answer to a question says for the slots of an intent."""
        entities = service.matcher.fill(body.text, body.intent, body.slots, language=body.language, now=body.now)
        return schemas.FillResponse.of(entities)


def _match_all(service: Service, texts: list[str], options: schemas.Options) -> schemas.BatchResponse:
    with service.answering() as matcher:
        results = matcher.match_many(texts, **options.options())
    service.record(results)
    return schemas.BatchResponse(results=[schemas.MatchResponse.of(result) for result in results])


def _add_feedback(app: FastAPI, service: Service, max_text: int) -> None:
    class FeedbackRequest(schemas.Correction):
        """What a user said that a message means."""

        text: Annotated[str, Field(max_length=max_text)] = Field(
            description="The message, as the user wrote it.", examples=["wo bleibt mein Paket?"]
        )

    @app.post("/feedback", status_code=202, tags=["matching"], responses=problems.responses(*_BODY_ERRORS))
    async def feedback(body: FeedbackRequest) -> schemas.FeedbackResponse:
        """Keep a correction in the inbox, for the author of the intents to look at."""
        inbox = service.inbox
        if inbox is None:
            detail = "There is no inbox to keep it in; the setting `inbox` turns one on."
            raise problems.ProblemError(schemas.ProblemDetails.of(503, detail))
        registry = service.matcher.registry
        if body.intent is not None and body.intent not in registry:
            error = str(UnknownNameError("intent", body.intent, [intent.name for intent in registry]))
            item = schemas.ErrorItem(location="body.intent", message=error)
            raise problems.ProblemError(schemas.ProblemDetails.of(422, error, [item]))
        inbox.correct(body.text, body.intent, body.language)
        return schemas.FeedbackResponse()


def _add_operating(app: FastAPI, service: Service) -> None:
    @app.get("/intents", tags=["operating"], responses=problems.responses(401, 429, 503))
    def intents() -> schemas.IntentsResponse:
        """The intents in use now."""
        registry = service.matcher.registry
        return schemas.IntentsResponse(
            fingerprint=registry.fingerprint, intents=[schemas.IntentInfo.of(intent) for intent in registry]
        )

    @app.post(
        "/reload",
        tags=["operating"],
        responses=problems.responses(401, 403, 409, 413, 429, 503),
        openapi_extra=dict(access.ADMIN),
    )
    async def reload() -> schemas.ReloadResponse:
        """Read the files again; if anything is wrong with them, the old intents go on answering."""
        registry = (await service.reload()).registry
        return schemas.ReloadResponse(
            fingerprint=registry.fingerprint,
            intents=len(registry),
            utterances=len(registry.utterances),
        )

    @app.get("/healthz", tags=["operating"], openapi_extra=dict(access.OPEN))
    async def healthz() -> schemas.Health:
        """Whether the process is alive: it is, if this answers."""
        return schemas.Health()

    @app.get("/readyz", tags=["operating"], responses=problems.responses(503), openapi_extra=dict(access.OPEN))
    async def readyz() -> schemas.Ready:
        """Whether messages are answered, and by the newest files or by those before them (`stale`).

        Where they are not, the type of the problem is `urn:intentmatch:warming` or `urn:intentmatch:broken`.
        """
        registry = (await service.ready()).registry
        return schemas.Ready(
            status="stale" if service.reload_error else "ready",
            fingerprint=registry.fingerprint,
            intents=len(registry),
            stale=service.reload_error is not None,
            reload_error=service.reload_error,
        )

    @app.get("/version", tags=["operating"], responses=problems.responses(401, 429))
    async def version() -> schemas.Version:
        """What runs here."""
        return schemas.Version(version=__version__)

    @app.get("/metrics", tags=["operating"], response_class=PlainTextResponse, responses=problems.responses(401, 429))
    def metrics() -> Response:
        """Counts and times for Prometheus."""
        return Response(service.exposition(), media_type=MEDIA_TYPE)
