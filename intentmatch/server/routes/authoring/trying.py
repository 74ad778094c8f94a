"""Calls that try a message and lint the files."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Request

from intentmatch.authoring.revisions import digest_of
from intentmatch.lint import fixes, lint
from intentmatch.server.bots.bot import Bot
from intentmatch.server.routes.authoring.common import ASKS, READS, explained
from intentmatch.server.routes.schemas.authoring.trying import (
    LintResponse,
    OverlapInfo,
    TryRequest,
    TryResponse,
    WordInfo,
)
from intentmatch.server.routes.schemas.matches import MatchResponse
from intentmatch.server.routes.schemas.problem_details import ErrorItem


def add_calls(router: APIRouter) -> None:
    """Add the calls."""
    router.post("/try", **ASKS)(try_message)
    router.post("/lint", **READS)(lint_files)


def try_message(request: Request, body: TryRequest) -> TryResponse:
    """Match a message and return everything that is known about it. Nothing is counted or kept."""
    bot: Bot = request.state.bot
    options = body.options()
    request.state.names = {"allowed": body.allowed or ()}
    with bot.snapshot_for() as snapshot:
        result = snapshot.match(
            body.text,
            language=options.language,
            top_k=options.top_k,
            allowed=options.allowed,
            context=options.context,
            now=options.now,
            previous=options.previous,
        )
        words = [WordInfo(**asdict(match)) for match in snapshot.word_matches(result)]
        explanation = snapshot.explain(result)
    return TryResponse(result=MatchResponse.from_result(result), explanation=explanation, words=words)


def lint_files(request: Request) -> LintResponse:
    """Return findings about the files as they are now, by meaning, and the diff that mends some of them."""
    bot: Bot = request.state.bot
    with explained():
        workspace = bot.editing.workspace
        revision = digest_of(workspace.files())
        matcher = bot.matcher
        # The server's own encoder: another copy would take its memory and time again.
        report = lint(workspace.path, **{**matcher.explicit_settings, "encoder": matcher.encoder})
        edits = fixes(report.problems, report.registry)
        fix = workspace.plan(edits).diff if edits else ""
    return LintResponse(
        revision=revision,
        problems=[ErrorItem.from_problem(problem) for problem in report.problems],
        ignored=report.ignored,
        overlaps=[
            OverlapInfo(intents=[pair.first, pair.second], errors=pair.errors, utterances=pair.lines)
            for pair in report.overlaps
        ],
        coverage=report.coverage,
        fix=fix,
    )
