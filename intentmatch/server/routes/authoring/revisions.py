"""Calls for revisions and the audit log."""

from __future__ import annotations

from fastapi import APIRouter, Request

from intentmatch.authoring.evaluator import Evaluation
from intentmatch.authoring.operations.operation import Operation
from intentmatch.authoring.revisions import Revision, digest_of, restoring_note
from intentmatch.authoring.workspace import Workspace
from intentmatch.server.auth.authorisation import author_of
from intentmatch.server.auth.security_schemes import ADMIN
from intentmatch.server.bots.bot import Bot
from intentmatch.server.routes.authoring.common import (
    READS,
    WRITES,
    Identity,
    IfMatch,
    Most,
    also_404,
    expected_revision,
    explained,
    write,
)
from intentmatch.server.routes.schemas.authoring.revisions import (
    AuditResponse,
    EvaluationInfo,
    ListedRevision,
    RestoreRequest,
    RevisionDiff,
    RevisionInfo,
    RevisionResponse,
    RevisionsResponse,
    WrittenResponse,
)


def _listed(workspace: Workspace, revision: Revision) -> ListedRevision:
    scores = workspace.scores.read(revision.id)
    evaluation = None if scores is None else EvaluationInfo.from_evaluation(Evaluation("done", scores))
    return ListedRevision(**RevisionInfo.from_revision(revision).model_dump(), evaluation=evaluation)


def add_calls(router: APIRouter) -> None:
    """Add the calls."""
    router.get("/revisions", **READS)(revisions)
    router.get("/revisions/{id}", **also_404(READS))(show_revision)
    router.post("/revisions/{id}/restore", **also_404(WRITES))(restore_revision)
    router.get("/audit", **{**READS, "openapi_extra": dict(ADMIN)})(audit)


def revisions(request: Request, most: Most = 100) -> RevisionsResponse:
    """Return the newest revisions of the files."""
    bot: Bot = request.state.bot
    with explained():
        workspace = bot.editing.workspace
        digest, found = digest_of(workspace.files()), workspace.revisions(most)
    return RevisionsResponse(revision=digest, revisions=[_listed(workspace, revision) for revision in found])


def show_revision(request: Request, identity: Identity) -> RevisionResponse:
    """Return what a revision changed, and how many answers were right before it and after it.

    The server evaluates a revision in the background once it is written. A revision of another program is evaluated
    once somebody asks for it.
    """
    bot: Bot = request.state.bot
    with explained():
        revision, files = bot.editing.workspace.revision(identity)
        evaluation = bot.editing.evaluator.evaluation(revision.id)
    return RevisionResponse(
        **RevisionInfo.from_revision(revision).model_dump(),
        files=[RevisionDiff(file=one.name, diff=one.diff) for one in files],
        evaluation=EvaluationInfo.from_evaluation(evaluation),
    )


async def restore_revision(
    request: Request,
    identity: Identity,
    body: RestoreRequest,
    if_match: IfMatch = None,
) -> WrittenResponse:
    """Write the files of a revision again, as a new revision."""
    expected, author = expected_revision(if_match), author_of(request)
    bot: Bot = request.state.bot
    note = body.note or restoring_note(identity)
    operation = Operation(lambda _: bot.editing.workspace.restoring(identity), author, note, undoes=True)
    return WrittenResponse.from_done(await write(bot, operation, expected))


def audit(request: Request, most: Most = 100) -> AuditResponse:
    """Return who wrote what, and when."""
    bot: Bot = request.state.bot
    with explained():
        return AuditResponse.from_entries(bot.editing.workspace.audit(most))
