"""Calls that show what a registry's own lines tell its author, and that mend findings.

A result that takes long is worked out once, in a thread. Until it is there, the answer has the progress.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from starlette.concurrency import run_in_threadpool

from intentmatch.authoring.insights import (
    Failed,
    Ready,
    Working,
    held_out_of,
    issues_of,
    learning_curve_of,
    overlaps_of,
    utterance_map_of,
)
from intentmatch.authoring.operations.operation import Operation
from intentmatch.authoring.revisions import digest_of
from intentmatch.evaluation.insight.confusion_matrix import confused_pairs, confusion_matrix
from intentmatch.evaluation.insight.held_out_cases import HeldOutCases
from intentmatch.evaluation.insight.issues import Issue, mends
from intentmatch.evaluation.insight.target_effect import coverage_curve, moved, rates
from intentmatch.registry.editing.edits import Edit
from intentmatch.server.auth.authorisation import author_of
from intentmatch.server.bots.bot import Bot
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.authoring.common import (
    ASKS,
    READS,
    WRITES,
    IfMatch,
    expected_revision,
    explained,
    preview,
    write,
)
from intentmatch.server.routes.schemas.authoring.edits import PreviewResponse
from intentmatch.server.routes.schemas.authoring.insight import (
    InsightResponse,
    IssuesResponse,
    MendPreviewRequest,
    MendRequest,
    ProgressInfo,
)
from intentmatch.server.routes.schemas.authoring.revisions import WrittenResponse
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

_T = TypeVar("_T")

_Wait = Annotated[float, Query(ge=0, le=30, description="Seconds to wait for the result.")]
_View = Annotated[
    Literal["map", "overlaps", "confusion", "growth"], InPath(description="Which view.", examples=["map"])
]
# Mends are planned for findings about the present files, which usually are there already.
_SECONDS_FOR_ISSUES = 30.0


def add_calls(router: APIRouter) -> None:
    """Add the calls."""
    router.get("/insight/target", **READS)(insight_target)
    router.get("/insight/{view}", **READS)(insight)
    router.get("/issues", **READS)(issues)
    router.post("/issues/preview", **ASKS)(preview_mends)
    router.post("/issues/mend", **WRITES)(mend_issues)


def insight_target(
    request: Request,
    precision: Annotated[float, Query(gt=0, lt=1, description="Wanted share of right answers among those given.")],
    wait: _Wait = 10.0,
) -> InsightResponse:
    """Return what another target would change: the rates, and which held-out utterances change their answer."""
    bot: Bot = request.state.bot
    state = held_out_of(bot.matcher, wait)
    return _answer(state, lambda cases: _target(cases, precision))


def insight(request: Request, view: _View, wait: _Wait = 10.0) -> InsightResponse:
    """Return a view of the registry in use.

    `map`: a position for each utterance, and which ones look misplaced. `overlaps`: pairs of intents with their
    closest lines. `confusion`: which intents held-out utterances are taken for, and precision against coverage.
    `growth`: the learning curve, and what ten more utterances would do for each intent.
    """
    matcher = request.state.bot.matcher
    if view == "map":
        return _answer(utterance_map_of(matcher, wait), lambda shown: shown.to_dict())
    if view == "overlaps":
        return _answer(overlaps_of(matcher, wait), lambda found: {"pairs": [pair.to_dict() for pair in found]})
    if view == "confusion":
        return _answer(held_out_of(matcher, wait), _confusion)
    return _answer(learning_curve_of(matcher, wait), lambda curve: curve.to_dict())


def issues(request: Request, wait: _Wait = 10.0) -> IssuesResponse:
    """Return what `lint` finds in the files, the most valuable first, and which mends there are."""
    bot: Bot = request.state.bot
    with explained():
        revision = digest_of(bot.editing.workspace.files())
        state = issues_of(bot.matcher, bot.editing.workspace, wait)
    progress = _progress(state)
    found = state.value if isinstance(state, Ready) else []
    return IssuesResponse(revision=revision, progress=progress, issues=[issue.to_dict() for issue in found])


def preview_mends(request: Request, body: MendPreviewRequest) -> PreviewResponse:
    """Return what the mends of issues would do. Nothing is written."""
    bot: Bot = request.state.bot
    return preview(bot, _edits(bot, body), effect=body.effect, seconds=body.seconds)


async def mend_issues(request: Request, body: MendRequest, if_match: IfMatch = None) -> WrittenResponse:
    """Write the mends of issues as a new revision, if the files are those of If-Match."""
    bot: Bot = request.state.bot
    expected, author = expected_revision(if_match), author_of(request)
    note = body.note or f"Mend {len(body.issues)} {'issue' if len(body.issues) == 1 else 'issues'}"
    edits = await run_in_threadpool(_edits, bot, body)
    return WrittenResponse.from_done(await write(bot, Operation(edits, author, note), expected))


def _edits(bot: Bot, body: MendRequest) -> list[Edit]:
    with explained():
        state: Ready[list[Issue]] | Working | Failed = issues_of(
            bot.matcher, bot.editing.workspace, _SECONDS_FOR_ISSUES
        )
        if isinstance(state, Ready):
            return mends(state.value, body.issues)
    reason = state.reason if isinstance(state, Failed) else "the findings are not worked out yet"
    raise ProblemError(ProblemDetails.for_status(503, f"{reason[:1].upper()}{reason[1:]}."), {"Retry-After": "5"})


def _answer(state: Ready[_T] | Working | Failed, describe: Callable[[_T], dict[str, Any]]) -> InsightResponse:
    progress = _progress(state)
    return InsightResponse(progress=progress, result=describe(state.value) if isinstance(state, Ready) else None)


def _progress(state: Ready[_T] | Working | Failed) -> ProgressInfo | None:
    """Return how far a result is; None once it is there. Raises `ProblemError` (422) if there will be none."""
    if isinstance(state, Failed):
        raise ProblemError(ProblemDetails.for_status(422, f"{state.reason[:1].upper()}{state.reason[1:]}."))
    if isinstance(state, Ready):
        return None
    step = state.step
    return ProgressInfo(step=step.name, done=step.done, total=step.total, seconds=round(state.seconds, 3))


def _confusion(cases: HeldOutCases) -> dict[str, Any]:
    calibration = cases.artefact.calibration
    verdicts = cases.verdicts(calibration)
    pairs = confused_pairs(cases, verdicts)
    return {
        "rates": rates(cases, verdicts)._asdict(),
        "pairs": [
            {
                "expected": pair.expected,
                "answer": pair.answer,
                "cases": [cases.describe(case, int(verdicts[case])) for case in pair.cases],
            }
            for pair in pairs
        ],
        "matrix": confusion_matrix(cases, verdicts, pairs)._asdict(),
        "curve": [
            {"threshold": point.threshold, **point.rates._asdict()} for point in coverage_curve(cases, calibration)
        ],
    }


def _target(cases: HeldOutCases, precision: float) -> dict[str, Any]:
    found = moved(cases, {"precision": precision})
    return {
        "threshold": found.threshold,
        "note": found.note,
        "before": found.before._asdict(),
        "after": found.after._asdict(),
        "changes": [
            {
                **cases.describe(change.case, change.after),
                "before": cases.answer(change.before),
                "effect": change.effect,
            }
            for change in found.changes
        ],
    }
