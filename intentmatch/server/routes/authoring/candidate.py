"""Calls for the candidate: a second registry beside the first, for authors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from intentmatch.authoring.operations.operation import Operation
from intentmatch.authoring.revisions import Files, digest_of
from intentmatch.core.errors import (
    ArtefactError,
    DatabaseError,
    InputError,
    IntentMatchError,
    RegistryError,
    UnavailableError,
)
from intentmatch.registry import is_yaml
from intentmatch.registry.editing.edits import Edit
from intentmatch.server.auth.authorisation import author_of
from intentmatch.server.bots.bot import Bot
from intentmatch.server.candidates.candidate import BotCandidate
from intentmatch.server.candidates.records import CandidateRecord, CandidateSource
from intentmatch.server.candidates.sources import NOT_PROMOTED, describe, files_of
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.authoring.common import (
    ASKS,
    READS,
    WRITES,
    IfMatch,
    also_404,
    expected_revision,
    explained,
    write,
)
from intentmatch.server.routes.schemas.authoring.candidate import CandidateRequest, CandidateResponse, PromoteRequest
from intentmatch.server.routes.schemas.authoring.revisions import WrittenResponse
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails

_STILL = "The registry in use and its candidate, if it has one, stay as they are."


def add_calls(router: APIRouter) -> None:
    """Add the calls."""
    router.post("/candidate", **also_404(ASKS))(begin_candidate)
    router.get("/candidate", **READS)(show_candidate)
    router.delete("/candidate", **READS)(roll_back_candidate)
    router.post("/candidate/promote", **also_404(WRITES))(promote_candidate)


async def begin_candidate(request: Request, body: CandidateRequest) -> CandidateResponse:
    """Load a revision, a folder or an artefact beside the registry in use, in all workers.

    It answers the same messages without being heard, or a share of the conversations. It takes the place of the
    candidate before. The same one again goes on, with its counts, under another mode, share or rule. If it cannot
    be loaded, nothing changes.
    """
    bot: Bot = request.state.bot
    source, share = _source(body), _share(body)
    record = CandidateRecord(
        id="",
        source=source,
        fingerprint="",
        mode=body.mode,
        share=share,
        rule=None if body.rollback is None else body.rollback.rule(),
        author=author_of(request),
        note=body.note.strip() or describe(source, body.mode, share),
        started=time.time(),
    )
    with _loading():
        await _candidate(bot).begin(record)
    return await _response(bot)


async def show_candidate(request: Request) -> CandidateResponse:
    """Return the candidate, how its answers differ from the registry's in use, and messages for each kind."""
    return await _response(request.state.bot)


async def roll_back_candidate(request: Request) -> CandidateResponse:
    """Roll back: only the registry in use answers, in all workers. Counts and samples are returned, and removed."""
    bot: Bot = request.state.bot
    candidate, author = _candidate(bot), author_of(request)
    with explained():
        ended = await candidate.end("rolled_back", f"by {author}")
    # Read between the two: the answer has the counts that are then removed.
    last = await _response(bot)
    with explained():
        await candidate.clear()
    if ended and last.candidate is not None:
        source = last.candidate.path or f"revision {last.candidate.revision}"
        await run_in_threadpool(_note, bot, author, f"Roll back candidate {source}")
    return last


async def promote_candidate(request: Request, body: PromoteRequest, if_match: IfMatch = None) -> WrittenResponse:
    """Write the candidate's files in place of the bot's, as a new revision, if the bot's are those of If-Match.

    The revision before can be restored. 422 for an artefact, and for a candidate whose files have changed since it
    was loaded.
    """
    bot: Bot = request.state.bot
    expected, author = expected_revision(if_match), author_of(request)
    candidate = _candidate(bot)
    record = (await run_in_threadpool(candidate.status)).record  # writes what is counted
    if record is None or record.state != "running":
        raise ProblemError(ProblemDetails.for_status(409, "No candidate runs: begin one with POST /candidate."))
    _check_promotable(bot)
    note = body.note.strip() or f"Promote candidate {record.source}"

    def promoted(_: Files) -> list[Edit]:
        if record.source.kind == "revision":
            return bot.editing.workspace.restoring(record.source.name)
        wanted = files_of(record.source, bot.matcher)
        if digest_of(wanted) != record.digest:
            raise InputError("the files of the candidate have changed since it was loaded: begin it again")
        return bot.editing.workspace.replacing(wanted)

    # Noted before the write, after which the candidate's files are those in use.
    beside = bot.matcher.fingerprint
    done = await write(bot, Operation(promoted, author, note), expected)
    answer = WrittenResponse.from_done(done)
    answer.warnings.extend(await _promoted(candidate, author, beside))
    return answer


async def _promoted(candidate: BotCandidate, author: str, beside: str) -> list[str]:
    """End a candidate whose files are written; return a warning if that fails."""
    try:
        await candidate.end("promoted", f"by {author}", beside)
    except (InputError, DatabaseError) as error:
        # No error: the author would take it that nothing was written.
        return [f"The files are written, but the candidate goes on: {error}"]
    return []


@contextmanager
def _loading() -> Iterator[None]:
    """Turn errors of a candidate that cannot be loaded into `ProblemError`: 404, 422 with each problem, or 503."""
    try:
        with explained():
            try:
                yield
            except RegistryError as error:
                count = sum(problem.severity == "error" for problem in error.problems)
                detail = f"The candidate has {count} {'error' if count == 1 else 'errors'}. {_STILL}"
                items = [ErrorItem.from_problem(problem) for problem in error.problems]
                raise ProblemError(ProblemDetails.for_status(422, detail, items)) from error
    except ArtefactError as error:
        raise ProblemError(ProblemDetails.for_status(422, f"{error}. {_STILL}".replace("..", "."))) from error
    except (UnavailableError, IntentMatchError) as error:
        raise ProblemError(ProblemDetails.for_status(503, f"{error}. {_STILL}".replace("..", "."))) from error


def _check_promotable(bot: Bot) -> None:
    path = bot.matcher.path
    if path is not None and not is_yaml(path):
        raise ProblemError(ProblemDetails.for_status(409, f"{path} is an artefact: {NOT_PROMOTED}."))


def _candidate(bot: Bot) -> BotCandidate:
    assert bot.candidate is not None  # noqa: S101 - servers with these calls have candidates
    return bot.candidate


def _source(body: CandidateRequest) -> CandidateSource:
    if (body.revision is None) == (body.path is None):
        detail = "Name either a `revision` or a `path`."
        raise ProblemError(ProblemDetails.for_status(422, detail, [ErrorItem(location="body", message=detail)]))
    if body.revision is not None:
        return CandidateSource("revision", body.revision)
    assert body.path is not None  # noqa: S101 - one of the two is there
    return CandidateSource("path", body.path)


def _share(body: CandidateRequest) -> float:
    if (body.share is None) == (body.mode == "canary"):
        detail = "A canary takes a `share`." if body.share is None else "A shadow takes no `share`: it answers nobody."
        raise ProblemError(ProblemDetails.for_status(422, detail, [ErrorItem(location="body.share", message=detail)]))
    return body.share or 0.0


async def _response(bot: Bot) -> CandidateResponse:
    def described() -> CandidateResponse:
        with explained():
            status = _candidate(bot).status()
            try:
                revision = digest_of(bot.editing.workspace.files())
            except ProblemError:  # an artefact
                revision = None
            return CandidateResponse.from_status(status, revision)

    return await run_in_threadpool(described)


def _note(bot: Bot, author: str, what: str) -> None:
    try:
        workspace = bot.editing.workspace
    except ProblemError:  # an artefact has no audit log
        return
    with explained():
        workspace.note(author, what)
