"""The routes. Each translates between HTTP and one call of the matcher, and none of them holds up the event loop."""

# No postponed annotations here: FastAPI reads those of the routes, and the request models with an app's own limits in
# them are known only where they are made.
import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Request, Response
from pydantic import Field
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from intentmatch import __version__
from intentmatch.core import plugins
from intentmatch.core.errors import UnknownNameError
from intentmatch.dialogue import MemoryStore, Store
from intentmatch.encoders.tokenizer.embedded import embedded_tokenizer
from intentmatch.matching.matcher import Matcher
from intentmatch.server.auth import api_keys as access
from intentmatch.server.bots.batching import Batches, Bounds
from intentmatch.server.bots.bot import Service
from intentmatch.server.bots.folder import BotFolder, is_bot_folder
from intentmatch.server.bots.pool import Bots
from intentmatch.server.bots.reloads import Reloads
from intentmatch.server.middleware import limits as gate
from intentmatch.server.middleware import problems
from intentmatch.server.middleware.fast_path import Direct
from intentmatch.server.middleware.request_log import Observed
from intentmatch.server.process.metrics import Metrics
from intentmatch.server.process.telemetry import Continued, Spans
from intentmatch.server.protocols import load
from intentmatch.server.protocols.host import Host, Protocol
from intentmatch.server.routes import chat, schemas
from intentmatch.server.routes import operations as operating

_ABOUT = """Tells what a user means, from a folder of YAML intents.

Every error has the shape `ProblemDetails` (RFC 9457) and the media type `application/problem+json`.
"""

_BOT = "/bots/{bot}"
"""In front of the calls of one bot, where there are several."""

_Asked = Callable[[Request], Service]
"""The bot that a request is for."""

_JSON = "application/json"
_BODY_ERRORS = (400, 401, 408, 413, 415, 422, 429, 503)


def create_app(
    matcher: Matcher | BotFolder | str | os.PathLike[str] = "intents",
    *,
    max_text: int = 2000,
    max_batch: int = 256,
    max_body: int = 1_000_000,
    max_together: int = 32,
    max_queue: int = 1024,
    max_wait: float = 10.0,
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
    reloads: Reloads | None = None,
) -> FastAPI:
    """The webhook as an ASGI application.

    A path is loaded when the server starts, and what is wrong with it (`Matcher.load` says what may be) keeps the
    server from starting; a `Matcher` is used as it is. A `BotFolder` holds several bots, and so does the path of a
    folder that is called `bots` and has no YAML in itself: their calls stand below `/bots/{bot}`.

    `max_text` bounds the characters of a message, `max_batch` the messages of a batch, `max_body` the bytes of a
    request. Messages that arrive together are encoded together where the encoder gains from that, `max_together` of
    them; `max_queue` may wait, and each for `max_wait` seconds: beyond that the answer is 503. With `watch`, files that
    change are taken up by themselves. The setting `inbox` has messages kept that were not understood. `telemetry` makes
    matches spans of OpenTelemetry.

    `protocols` names what bots already speak and shall be answered in: `rasa`, `clu`, `dialogflow`, `openai`.
    `fulfillment` is the URL that Dialogflow's intents with `metadata: {webhook: true}` are fulfilled by.

    Where there are `keys`, a caller must present one. Admin calls are off unless there are `admin_keys`, which are good
    for the other calls too. Without either, those of the environment are taken: `INTENTMATCH_KEYS` and
    `INTENTMATCH_ADMIN_KEYS`, or the files that these name with `_FILE` behind them. Several bots want each key with its
    bot, `shop:KEY`, or `*:KEY` for all of them. `rate_limit` bounds the requests of a key, or of an address where there
    are no keys: `600/minute`. A body has to arrive in `body_seconds`. Pages of `cors_origins` may call from a browser.
    Where there are `allowed_hosts`, requests for others are refused. Apps in several processes that share `reloads`
    read their files again together.

    What a conversation (`/chat`) waits for is kept in `store`; without one, in the memory of this process.

    Raises `InputError` where one of these cannot be.
    """
    if watch:
        plugins.check_installed("watchfiles", what="Watching files", extra="watch")
    if not isinstance(matcher, (Matcher, BotFolder)) and is_bot_folder(matcher):
        matcher = BotFolder(matcher)
    spans = Spans() if telemetry else None
    batches = Batches(Bounds(max_together, max_queue, max_wait), Metrics(several=isinstance(matcher, BotFolder)))
    served: Service | Bots
    if isinstance(matcher, BotFolder):
        served = Bots(matcher, batches, watch=watch, spans=spans, reloads=reloads)
    else:
        served = Service(matcher, batches, watch=watch, spans=spans, reloads=reloads)
    spoken = load(protocols, Host(served.bot_named, max_text, max_batch, fulfillment))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        embedded_tokenizer().read_all()
        await served.load()
        try:
            yield
        finally:
            await served.close()

    app = _Webhook(
        title="intentmatch",
        version=__version__,
        description=_ABOUT,
        lifespan=lifespan,
        # A redirect is built from the Host header, which need not be one.
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.metrics = served.metrics
    app.router.route_class = access.Route
    app.state.access = access.Access(
        access.environment_keys(access.KEYS) if keys is None else keys,
        access.environment_keys(access.ADMIN_KEYS) if admin_keys is None else admin_keys,
        rate_limit,
        several=isinstance(served, Bots),
    )
    if isinstance(served, Bots):
        served.tell_missing(app.state.access.bots)
    router = _router(served)
    # The middleware that is added last is the first that a request passes.
    app.add_middleware(Direct, routes=_add_matching(router, _asked(served), max_text, max_batch))
    _add_gate(app, max_body, body_seconds, gate.checked_origins(cors_origins), allowed_hosts)
    if telemetry:
        app.add_middleware(Continued)
    problems.install(app, [(_paths(protocol, served), protocol.shape) for protocol in spoken])
    for protocol in spoken:
        app.include_router(protocol.router, prefix=_front(protocol, served))
    chat.add_calls(router, _asked(served), store or MemoryStore(), max_text)
    _add_feedback(router, _asked(served), max_text)
    operating.add_calls(router, _asked(served))
    app.include_router(router)
    operating.add_process(app, served)
    return app


def _front(protocol: Protocol, served: Service | Bots) -> str:
    """What stands before the paths of a protocol."""
    return "" if protocol.names_bots or isinstance(served, Service) else _BOT


def _paths(protocol: Protocol, served: Service | Bots) -> re.Pattern[str]:
    return re.compile(f"{_front(protocol, served)}({protocol.paths.pattern})".replace("{bot}", "[^/]+"))


def _router(served: Service | Bots) -> APIRouter:
    """For the calls of one bot."""
    if isinstance(served, Service):
        return APIRouter(route_class=access.Route)
    bots = served

    async def enter(request: Request, bot: Annotated[str, Path(description="Its name.", examples=["shop"])]) -> None:
        request.state.bot = await bots.service(bot)

    return APIRouter(
        route_class=access.Route, prefix=_BOT, dependencies=[Depends(enter)], responses=problems.responses(403, 404)
    )


def _asked(served: Service | Bots) -> _Asked:
    """How a call finds the bot that it is for."""
    if isinstance(served, Service):
        return lambda request: served
    return _entered


def _entered(request: Request) -> Service:
    bot: Service = request.state.bot
    return bot


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


def _add_matching(app: APIRouter, asked: _Asked, max_text: int, max_batch: int) -> list[access.Route]:
    """Add the calls that match; given back are those that are made all the time."""
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

    errors = problems.responses(*_BODY_ERRORS)

    # Their answers are written here and not by FastAPI, which would check them against the models over and over.
    @app.post("/match", tags=["matching"], response_model=schemas.MatchResponse, responses=errors)
    async def match(body: MatchRequest, request: Request) -> Response:
        """What one message means."""
        service = asked(request)
        result = await service.match(service.matcher, body.text, **body.options())
        return Response(schemas.MatchResponse.json_of(result), media_type=_JSON)

    @app.post("/match/batch", tags=["matching"], response_model=schemas.BatchResponse, responses=errors)
    async def match_batch(body: BatchRequest, request: Request) -> Response:
        """What each of many messages means; faster than one by one."""
        return Response(await asyncio.to_thread(_match_all, asked(request), body.texts, body), media_type=_JSON)

    often = [route for route in app.routes if isinstance(route, access.Route)]

    @app.post("/fill", tags=["matching"], responses=errors)
    def fill(body: FillRequest, request: Request) -> schemas.FillResponse:
        """What the answer to a question says for the slots of an intent."""
        matcher = asked(request).matcher
        entities = matcher.fill(body.text, body.intent, body.slots, language=body.language, now=body.now)
        return schemas.FillResponse.of(entities)

    return often


def _match_all(service: Service, texts: list[str], options: schemas.Options) -> bytes:
    with service.answering() as matcher:
        results = matcher.match_many(texts, **options.options())
    service.record(results)
    return b'{"results":[' + b",".join(map(schemas.MatchResponse.json_of, results)) + b"]}"


def _add_feedback(app: APIRouter, asked: _Asked, max_text: int) -> None:
    class FeedbackRequest(schemas.Correction):
        """What a user said that a message means."""

        text: Annotated[str, Field(max_length=max_text)] = Field(
            description="The message, as the user wrote it.", examples=["wo bleibt mein Paket?"]
        )

    @app.post("/feedback", status_code=202, tags=["matching"], responses=problems.responses(*_BODY_ERRORS))
    async def feedback(body: FeedbackRequest, request: Request) -> schemas.FeedbackResponse:
        """Keep a correction in the inbox, for the author of the intents to look at."""
        service = asked(request)
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
