"""`create_app`: puts together bots, routes, middleware and protocols."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Request
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from intentmatch import __version__
from intentmatch.core import plugins
from intentmatch.core.errors import InputError
from intentmatch.dialogue import MemoryStore, Store
from intentmatch.matching.matcher import Matcher
from intentmatch.pieces.embedded import embedded_tokenizer
from intentmatch.server.auth.access import Access
from intentmatch.server.auth.authorisation import GuardedRoute
from intentmatch.server.auth.security_schemes import declare_keys
from intentmatch.server.bots.batching import BatchQueue
from intentmatch.server.bots.bot import Bot
from intentmatch.server.bots.folder import BotFolder, is_bot_folder
from intentmatch.server.bots.pool import BotPool
from intentmatch.server.bots.reloads import ReloadCounter
from intentmatch.server.config import ServerConfig, ServerOptions, app_config
from intentmatch.server.middleware import problems
from intentmatch.server.middleware.limits import (
    AllowedHosts,
    BodyLimit,
    OneReading,
    SecurityHeaders,
    checked_hosts,
    checked_origins,
)
from intentmatch.server.middleware.relative_paths import RelativePaths
from intentmatch.server.middleware.request_log import RequestLog
from intentmatch.server.process.metrics import Metrics
from intentmatch.server.process.telemetry import Spans, TraceContext
from intentmatch.server.protocols.host import Protocol, ProtocolHost
from intentmatch.server.protocols.load import load_protocols
from intentmatch.server.routes import chat, feedback, match, operations
from intentmatch.server.routes.docs import docs_route
from intentmatch.server.routes.home import home_route
from intentmatch.server.routes.json_calls import FindBot, JsonCalls
from intentmatch.server.studio import running as studio_running
from intentmatch.server.studio import studio_routes
from intentmatch.storage.postgres.address import address_of, is_address

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from intentmatch.server.auth.database_keys import DatabaseKeys

_ABOUT = """Matches messages to the intents of a folder of YAML.

Every error has the shape `ProblemDetails` (RFC 9457) and the media type `application/problem+json`.
"""

_BOT = "/bots/{bot}"
"""Prefix of the calls of one bot, if there are several."""

_BOT_NAME: dict[str, Any] = {"description": "Name of the bot.", "examples": ["shop"]}
_BOT_PARAMETER = {
    "name": "bot",
    "in": "path",
    "required": True,
    "description": _BOT_NAME["description"],
    "schema": {"type": "string", "title": "Bot", **_BOT_NAME},
}


def create_app(
    matcher: Matcher | BotFolder | str | os.PathLike[str] = "intents",
    config: ServerConfig | None = None,
    *,
    store: Store | None = None,
    reloads: ReloadCounter | None = None,
    **options: Unpack[ServerOptions],
) -> FastAPI:
    """Return the server as an ASGI application.

    A path is loaded when the server starts; a `Matcher` is used as it is. A `BotFolder` holds several bots, and so does
    a folder called `bots` with no YAML of its own: their calls are below `/bots/{bot}`.

    Single options go over `config`: `create_app("intents", max_text=500)`. `ServerConfig` describes every option. With
    several bots, each key needs its bot in front, `shop:KEY`, or `*:KEY` for all bots.

    `store` keeps the conversations of `/chat` and the sessions of Dialogflow; without one they stay in this process.
    Apps in several processes that share `reloads` reload their files together.

    Raises `InputError` if an option is unknown or invalid. Problems of a path (see `Matcher.load`) are raised when the
    server starts.
    """
    config = app_config(config, options)
    if config.process.watch:
        # Of several bots, each starts its watcher when it is loaded: too late to name the pip line.
        plugins.check_installed("watchfiles", what="Watching files", extra="watch")
    matcher = _source(matcher)
    served = _served(matcher, config, reloads)
    several = isinstance(served, BotPool)
    access = Access.from_config(config.auth, several=several)
    keys = _database_keys(matcher, access, several=several) if config.auth.database_keys else None
    if isinstance(served, BotPool):
        served.warn_of_unknown(access.bots)
    limits, interfaces = config.limits, config.interfaces
    authoring = interfaces.authoring or interfaces.studio
    # Without a key, a page of any other site could write through the browser of whoever runs the server.
    if authoring and not interfaces.open_studio and not (access.has_author_keys or access.has_admin_keys):
        what = "the studio" if interfaces.studio else "authoring"
        raise InputError(f"{what} needs keys: set author keys (INTENTMATCH_AUTHOR_KEYS) or admin keys")
    store = MemoryStore() if store is None else store
    names = served.allowed_names if isinstance(served, BotPool) else None
    host = ProtocolHost(served.bot_named, limits.max_text, limits.max_batch, interfaces.fulfillment, store, names)
    protocols = load_protocols(interfaces.protocols, host)
    calls = JsonCalls(_find_bot(served), config.limits, _BOT if several else "")
    match.add_calls(calls)
    chat.add_calls(calls, store)
    feedback.add_calls(calls)
    app = _App(calls, access, served, keys, authoring=authoring, studio=interfaces.studio)
    app.state.conversations = store
    _add_middleware(app, config)
    app.add_middleware(RelativePaths, source=matcher)
    # Most requests match messages: their routes come first.
    app.router.routes.extend(calls.routes)
    if interfaces.studio:
        # Before the calls below, which FastAPI prepares when a request is compared with them first.
        app.router.routes.extend(studio_routes(served, access, without_keys=interfaces.open_studio))
    prefixes = {protocol.paths: "" if protocol.names_bots or not several else _BOT for protocol in protocols}
    problems.install(app, [(_paths(protocol, prefixes[protocol.paths]), protocol.shape) for protocol in protocols])
    for protocol in protocols:
        app.include_router(protocol.router, prefix=prefixes[protocol.paths])
    app.include_router(_bot_router(served, authoring=authoring))
    if authoring and isinstance(served, BotPool):
        from intentmatch.server.routes.authoring import add_pool_calls

        add_pool_calls(app.router, served)
    operations.add_process_calls(app, served)
    app.router.routes.extend([docs_route(app.openapi), home_route(several=several)])
    return app


class _App(FastAPI):
    """FastAPI with our document and our outermost middleware."""

    def __init__(
        self,
        calls: JsonCalls,
        access: Access,
        served: Bot | BotPool,
        keys: DatabaseKeys | None,
        *,
        authoring: bool,
        studio: bool,
    ) -> None:
        super().__init__(
            title="intentmatch",
            version=__version__,
            description=_ABOUT,
            lifespan=lambda app: _lifespan(served, keys, studio=studio),
            # Its pages need scripts of a CDN; `routes.docs` has a page that needs none.
            docs_url=None,
            redoc_url=None,
            # A redirect would be built from the Host header, which may be invalid.
            redirect_slashes=False,
            # Generated clients name their functions by these; FastAPI's own ids hold path and method too.
            generate_unique_id_function=lambda route: route.name,
        )
        self.router.route_class = GuardedRoute
        self.state.access, self.state.metrics, self.state.served = access, served.metrics, served
        self._calls, self._access, self._metrics = calls, access, served.metrics
        self._several, self._authoring = isinstance(served, BotPool), authoring
        self._described: dict[str, Any] | None = None

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document."""
        document = super().openapi()
        # FastAPI keeps its document: ours is added once, and again if a program has had it made anew.
        if document is not self._described:
            self._calls.describe(document, *(([_BOT_PARAMETER], 403, 404) if self._several else ([],)))
            problems.declare_media_type(document)
            problems.declare_bad_paths(document)
            declare_keys(document, self._access)
            if self._authoring:
                from intentmatch.server.routes.authoring.examples import add_examples

                add_examples(document)
            self._described = document
        return document

    def build_middleware_stack(self) -> ASGIApp:
        """Wrap the stack in what must also see the responses to unexpected errors."""
        return RequestLog(SecurityHeaders(super().build_middleware_stack()), self._metrics)


@asynccontextmanager
async def _lifespan(served: Bot | BotPool, keys: DatabaseKeys | None, *, studio: bool) -> AsyncIterator[None]:
    # Reading all pieces takes about 0.1 s, for which the first message with a rare word would wait.
    embedded_tokenizer().read_all()
    if keys is not None:
        keys.start()
    try:
        await served.load()
        async with studio_running(served) if studio else nullcontext():
            yield
    finally:
        await served.close()
        if keys is not None:
            # Stopping waits for the thread that follows the keys.
            await asyncio.to_thread(keys.stop)


def _database_keys(
    source: Matcher | BotFolder | str | os.PathLike[str], access: Access, *, several: bool
) -> DatabaseKeys:
    """Have an app accept the keys of the database that its bots are in. Raises `InputError` for other bots."""
    path = source.path if isinstance(source, BotFolder) else source
    address = path.address if isinstance(path, Matcher) else address_of(path) if is_address(path) else None
    if address is None:
        raise InputError("keys in a database need bots in PostgreSQL: serve postgres://HOST/DATABASE/BOT")
    from intentmatch.server.auth.database_keys import DatabaseKeys  # needs psycopg

    return DatabaseKeys(address, access.use_stored, every_bot=several)


def _source(source: Matcher | BotFolder | str | os.PathLike[str]) -> Matcher | BotFolder | str | os.PathLike[str]:
    """Return what an app serves; a folder of bots as such."""
    return BotFolder(source) if not isinstance(source, (Matcher, BotFolder)) and is_bot_folder(source) else source


def _served(
    source: Matcher | BotFolder | str | os.PathLike[str], config: ServerConfig, reloads: ReloadCounter | None
) -> Bot | BotPool:
    """The one bot of an app, or all bots of a folder."""
    watch, spans = config.process.watch, Spans() if config.process.telemetry else None
    # One queue for all bots: its length bounds the memory of the process, not that of each bot.
    queue = BatchQueue(config.batching, Metrics(several=isinstance(source, BotFolder)))
    candidates = config.interfaces.authoring or config.interfaces.studio
    if isinstance(source, BotFolder):
        return BotPool(source, queue, watch=watch, spans=spans, reloads=reloads, candidates=candidates)
    return Bot(source, queue, watch=watch, spans=spans, reloads=reloads, candidates=candidates)


def _find_bot(served: Bot | BotPool) -> FindBot:
    """How a call of one bot finds it: by the name in the path, if there are several."""

    async def by_path(request: Request) -> Bot:
        return served if isinstance(served, Bot) else await served.bot(request.path_params["bot"])

    return by_path


def _bot_router(served: Bot | BotPool, *, authoring: bool) -> APIRouter:
    """The calls of one bot that FastAPI routes; their dependency keeps the bot in the request."""
    find = _find_bot(served)

    async def enter(request: Request) -> None:
        request.state.bot = await find(request)

    async def enter_by_name(request: Request, bot: str = Path(**_BOT_NAME)) -> None:
        await enter(request)

    if isinstance(served, Bot):
        router = APIRouter(route_class=GuardedRoute, dependencies=[Depends(enter)])
    else:
        responses = problems.responses(403, 404)
        dependencies = [Depends(enter_by_name)]
        router = APIRouter(route_class=GuardedRoute, prefix=_BOT, dependencies=dependencies, responses=responses)
    operations.add_bot_calls(router)
    if authoring:
        from intentmatch.server.routes.authoring import add_calls

        add_calls(router)
    return router


def _paths(protocol: Protocol, prefix: str) -> re.Pattern[str]:
    # The path that a request has, and not its route: errors before routing, such as 404 and 413, need the shape too.
    return re.compile(f"{prefix}({protocol.paths.pattern})".replace("{bot}", "[^/]+"))


def _add_middleware(app: FastAPI, config: ServerConfig) -> None:
    """Add middleware, innermost first."""
    limits, auth = config.limits, config.auth
    app.add_middleware(BodyLimit, max_bytes=limits.max_body, max_seconds=limits.body_seconds)
    # Outside of the limits: a browser shows a page the status of an error only if that has the headers of CORS too.
    if origins := checked_origins(auth.cors_origins):
        # Keys travel in headers, never in cookies, so that no origin needs credentials.
        headers = ["Authorization", "Content-Type", "X-API-Key", "X-Request-ID"]
        methods = ["GET", "POST"]
        if config.interfaces.authoring or config.interfaces.studio:
            # Only the calls of authors need these.
            headers, methods = [*headers, "If-Match"], [*methods, "DELETE"]
        app.add_middleware(CORSMiddleware, allow_origins=origins, allow_methods=methods, allow_headers=headers)
    if hosts := checked_hosts(auth.allowed_hosts):
        app.add_middleware(AllowedHosts, hosts=hosts)
    if config.process.telemetry:
        app.add_middleware(TraceContext)
    # Outermost of these: hosts are judged by one header, which must be the one that everybody else reads.
    app.add_middleware(OneReading)
