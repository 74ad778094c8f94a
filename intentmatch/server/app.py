"""The routes. Each translates between HTTP and one call of the matcher, and none of them holds up the event loop."""

# No postponed annotations here: FastAPI reads those of the routes, and the request models with an app's own limits in
# them are known only where they are made.
import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import FastAPI
from pydantic import Field

from intentmatch import __version__, plugins
from intentmatch.errors import UnknownNameError
from intentmatch.matcher import Matcher
from intentmatch.server import problems, schemas
from intentmatch.server.service import Service

_ABOUT = """Tells what a user means, from a folder of YAML intents.

Every error has the shape `ProblemDetails` (RFC 9457) and the media type `application/problem+json`.
"""


def create_app(
    matcher: Matcher | str | os.PathLike[str] = "intents",
    *,
    max_text: int = 2000,
    max_batch: int = 256,
    max_body: int = 1_000_000,
    watch: bool = False,
) -> FastAPI:
    """The webhook as an ASGI application.

    A path is loaded when the server starts, and what is wrong with it (`Matcher.load` says what may be) keeps the
    server from starting; a `Matcher` is used as it is. `max_text` bounds the characters of a message, `max_batch` the
    messages of a batch, `max_body` the bytes of a request. With `watch`, files that change are taken up by themselves.
    The setting `inbox` has messages kept that were not understood.
    """
    if watch:
        plugins.check_installed("watchfiles", what="Watching files", extra="watch")
    service = Service(matcher, watch=watch)

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
    app.add_middleware(problems.BodyLimit, max_bytes=max_body)
    problems.install(app)
    _add_matching(app, service, max_text, max_batch)
    _add_feedback(app, service, max_text)
    _add_operating(app, service)
    return app


class _Webhook(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        return problems.declare_media_type(super().openapi())


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

    @app.post("/match", tags=["matching"], responses=problems.responses(400, 413, 415, 422, 503))
    async def match(body: MatchRequest) -> schemas.MatchResponse:
        """What one message means."""
        result = await service.matcher.amatch(body.text, **body.options())
        service.record([result])
        return schemas.MatchResponse.of(result)

    @app.post("/match/batch", tags=["matching"], responses=problems.responses(400, 413, 415, 422, 503))
    async def match_batch(body: BatchRequest) -> schemas.BatchResponse:
        """What each of many messages means; faster than one by one."""
        return await asyncio.to_thread(_match_all, service, body.texts, body)

    @app.post("/fill", tags=["matching"], responses=problems.responses(400, 413, 415, 422, 503))
    def fill(body: FillRequest) -> schemas.FillResponse:
        """What the answer to a question says for the slots of an intent."""
        entities = service.matcher.fill(body.text, body.intent, body.slots, language=body.language, now=body.now)
        return schemas.FillResponse.of(entities)


def _match_all(service: Service, texts: list[str], options: schemas.Options) -> schemas.BatchResponse:
    results = service.matcher.match_many(texts, **options.options())
    service.record(results)
    return schemas.BatchResponse(results=[schemas.MatchResponse.of(result) for result in results])


def _add_feedback(app: FastAPI, service: Service, max_text: int) -> None:
    class FeedbackRequest(schemas.Correction):
        """What a user said that a message means."""

        text: Annotated[str, Field(max_length=max_text)] = Field(
            description="The message, as the user wrote it.", examples=["wo bleibt mein Paket?"]
        )

    @app.post("/feedback", status_code=202, tags=["matching"], responses=problems.responses(400, 413, 415, 422, 503))
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
    @app.get("/intents", tags=["operating"], responses=problems.responses(503))
    def intents() -> schemas.IntentsResponse:
        """The intents in use now."""
        registry = service.matcher.registry
        return schemas.IntentsResponse(
            fingerprint=registry.fingerprint, intents=[schemas.IntentInfo.of(intent) for intent in registry]
        )

    @app.post("/reload", tags=["operating"], responses=problems.responses(409, 413, 503))
    async def reload() -> schemas.ReloadResponse:
        """Read the files again; if anything is wrong with them, the old intents go on answering."""
        registry = (await service.reload()).registry
        return schemas.ReloadResponse(
            fingerprint=registry.fingerprint,
            intents=len(registry),
            utterances=len(registry.utterances),
        )

    @app.get("/healthz", tags=["operating"])
    async def healthz() -> schemas.Health:
        """Whether the process is alive: it is, if this answers."""
        return schemas.Health()

    @app.get("/readyz", tags=["operating"], responses=problems.responses(503))
    async def readyz() -> schemas.Ready:
        """Whether messages are answered, and by the newest files or by those before them."""
        registry = service.matcher.registry
        return schemas.Ready(
            fingerprint=registry.fingerprint,
            intents=len(registry),
            stale=service.reload_error is not None,
            reload_error=service.reload_error,
        )
