"""Calls that create, remove and restore bots, if there are several; for admins."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import APIRouter, Path, Request, Response
from starlette.concurrency import run_in_threadpool

from intentmatch.authoring.bots import Bots
from intentmatch.core.errors import UnknownNameError
from intentmatch.server.auth.access import ADMIN_NAME
from intentmatch.server.auth.api_keys import ANY_BOT
from intentmatch.server.auth.authorisation import admin_of, require_admin
from intentmatch.server.auth.security_schemes import ADMIN
from intentmatch.server.bots.pool import BotPool
from intentmatch.server.middleware.problems import ProblemError, responses
from intentmatch.server.routes.authoring.common import READS, WRITES, IfMatch, Most, expected_revision, explained
from intentmatch.server.routes.schemas.authoring.bots import (
    CreateBotRequest,
    CreatedBotResponse,
    RemovedBotInfo,
    RemovedBotResponse,
    RemovedBotsResponse,
)
from intentmatch.server.routes.schemas.authoring.revisions import AuditResponse
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

if TYPE_CHECKING:
    from intentmatch.authoring.database_bots import DatabaseBots

_READS = {**READS, "openapi_extra": dict(ADMIN)}
_WRITES = {**WRITES, "openapi_extra": dict(ADMIN)}
_ON_404 = {**WRITES, "openapi_extra": dict(ADMIN), "responses": {**WRITES["responses"], **responses(404)}}
_Bot = Annotated[str, Path(alias="bot", description="Name of the bot.", examples=["bakery"])]
_Removed = Annotated[
    str,
    Path(alias="id", description="Id of the removed bot.", max_length=200, examples=["bakery@20260102T030405Z-1a2b"]),
]

_Done = TypeVar("_Done")


def add_pool_calls(router: APIRouter, pool: BotPool) -> None:
    """Add the calls of a folder or a database of bots."""

    async def changed(action: Callable[[Bots | DatabaseBots], _Done]) -> _Done:
        """Change the bots in a thread, and answer with them from now on."""

        def explain() -> _Done:
            with explained():
                return action(pool.folder)

        done = await run_in_threadpool(explain)
        # Or the next call of the author might not find the bot for seconds.
        await pool.look()
        return done

    @router.post("/bots", status_code=201, **_WRITES)
    async def create_bot(request: Request, response: Response, body: CreateBotRequest) -> CreatedBotResponse:
        """Create a bot from files, or from a starting set. 409 if the name is taken.

        The admin key must be valid for the new name, or for all bots.
        """
        require_admin(request, body.name)
        with explained():
            texts = body.texts()
        made = await changed(lambda bots: bots.create(body.name, texts, author=ADMIN_NAME, note=body.note))
        response.headers["Location"] = f"/bots/{body.name}/registry"
        return CreatedBotResponse.from_bot(made)

    @router.delete("/bots/{bot}", **_ON_404)
    async def remove_bot(name: _Bot, if_match: IfMatch = None) -> RemovedBotResponse:
        """Remove a bot: its folder moves aside, with its history, and can be restored.

        An artefact has no revision: send `If-Match: *`. The last bot is not removed (409).
        """
        expected = expected_revision(if_match)
        gone = await changed(lambda bots: bots.remove(name, author=ADMIN_NAME, expected=expected))
        await pool.forget(name)
        return RemovedBotResponse(**RemovedBotInfo.from_bot(gone).model_dump(), warnings=list(gone.warnings))

    @router.get("/removed-bots", **_READS)
    def list_removed_bots(request: Request) -> RemovedBotsResponse:
        """Return the removed bots that can be restored, the newest first."""
        with explained():
            found = [bot for bot in pool.folder.removed() if admin_of(request, bot.name)]
        return RemovedBotsResponse(bots=[RemovedBotInfo.from_bot(bot) for bot in found])

    @router.post("/removed-bots/{id}/restore", **_ON_404)
    async def restore_bot(request: Request, identity: _Removed) -> CreatedBotResponse:
        """Bring a removed bot back, with its history. 409 if its name is taken."""
        removed = await run_in_threadpool(lambda: {bot.id: bot for bot in pool.folder.removed()})
        # 404 for both: an admin of one bot learns nothing about others.
        if identity not in removed or not admin_of(request, removed[identity].name):
            error = UnknownNameError("removed bot", identity, None)
            raise ProblemError(ProblemDetails.for_status(404, str(error)))
        back = await changed(lambda bots: bots.restore(identity, author=ADMIN_NAME))
        return CreatedBotResponse.from_bot(back)

    @router.get("/audit", **_READS, name="audit_of_bots")
    def audit_of_bots(request: Request, most: Most = 100) -> AuditResponse:
        """Return who created, removed and restored bots, and when. Takes an admin key for all bots."""
        require_admin(request, ANY_BOT)
        with explained():
            return AuditResponse.from_entries(pool.folder.audit(most))
