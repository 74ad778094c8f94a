"""Calls that read the YAML, preview edits, and write them."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi import Path as InPath
from starlette.concurrency import run_in_threadpool

from intentmatch.authoring.operations.operation import Operation
from intentmatch.authoring.revisions import digest_of
from intentmatch.core.errors import UnknownNameError
from intentmatch.server.auth.authorisation import author_of
from intentmatch.server.bots.bot import Bot
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.authoring.common import (
    ASKS,
    READS,
    WRITES,
    IfMatch,
    also_404,
    expected_revision,
    explained,
    preview,
    write,
)
from intentmatch.server.routes.schemas.authoring.edits import EditsRequest, PreviewRequest, PreviewResponse
from intentmatch.server.routes.schemas.authoring.registry import AuthoredIntent, RegistryResponse
from intentmatch.server.routes.schemas.authoring.revisions import WrittenResponse
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails


def add_calls(router: APIRouter) -> None:
    """Add the calls."""
    router.get("/registry", **READS)(registry)
    router.get("/intents/{name:path}", **also_404(READS))(show_intent)
    router.post("/edits/preview", **ASKS)(preview_edits)
    router.post("/edits", **WRITES)(write_edits)


def registry(request: Request) -> RegistryResponse:
    """Return the files as they are now, with their intents, lines and problems."""
    bot: Bot = request.state.bot
    with explained():
        files = bot.editing.workspace.files()
        found, problems = bot.editing.workspace.examine()
    # A file that is no UTF-8 is shown with its problem, so that the author can replace it.
    texts = {name: content.decode("utf-8", "replace") for name, content in files.items()}
    items = [ErrorItem.from_problem(problem) for problem in problems]
    return RegistryResponse.from_registry(digest_of(files), texts, found, items)


def show_intent(
    request: Request, name: str = InPath(description="Name of the intent.", examples=["order_status"])
) -> AuthoredIntent:
    """Return one intent with everything that the YAML says about it."""
    bot: Bot = request.state.bot
    with explained():
        found, _ = bot.editing.workspace.examine()
    if name not in found:
        error = UnknownNameError("intent", name, [intent.name for intent in found])
        raise ProblemError(ProblemDetails.for_status(404, str(error)))
    return AuthoredIntent.from_intent(found[name])


def preview_edits(request: Request, body: PreviewRequest) -> PreviewResponse:
    """Return what edits would do: the diff, the problems, and which answers change. Nothing is written."""
    bot: Bot = request.state.bot
    edits = body.planned(bot.editing.workspace.place)
    return preview(bot, edits, effect=body.effect, seconds=body.seconds)


async def write_edits(request: Request, body: EditsRequest, if_match: IfMatch = None) -> WrittenResponse:
    """Write edits as a new revision, if the files are those of If-Match, and answer with them from now on.

    If somebody else was quicker, nothing is written, and the answer (409) has both sides.
    """
    bot: Bot = request.state.bot
    expected, author = expected_revision(if_match), author_of(request)
    # The first call opens it, which reads the folder or asks the database.
    workspace = await run_in_threadpool(lambda: bot.editing.workspace)
    edits = body.planned(workspace.place)
    return WrittenResponse.from_done(await write(bot, Operation(edits, author, body.note), expected))
