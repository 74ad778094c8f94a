"""Calls for a review: show questions about sampled answers and the numbers so far, and keep a judgement."""

from __future__ import annotations

from typing import Annotated, NoReturn

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath

from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.inbox.sample import Judged, SampledAnswer
from intentmatch.review import Question, all_questions, quality_of, questions_of
from intentmatch.server.bots.bot import Bot
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.authoring.common import ASKS, READS, also_404, explained
from intentmatch.server.routes.authoring.inbox import inbox_of
from intentmatch.server.routes.schemas.authoring.review import JudgementRequest, ReviewResponse
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails

_Number = Annotated[int, InPath(ge=1, le=2**63 - 1, description="Number of the question.", examples=[1])]
_Most = Annotated[int, Query(ge=0, le=1000, description="The most questions to return.")]


def add_calls(router: APIRouter) -> None:
    """Add the calls."""
    router.get("/review", **READS)(show_review)
    router.post("/review/{question}", **also_404(ASKS))(judge_answer)


def show_review(request: Request, most: _Most = 20) -> ReviewResponse:
    """Return questions about a random sample of all answers, the best first, and how good the answers are."""
    with explained():
        return _response(_sampled(request.state.bot), most)


def judge_answer(request: Request, question: _Number, body: JudgementRequest, most: _Most = 20) -> ReviewResponse:
    """Keep what a reviewer says about an answer, and return the next questions."""
    bot: Bot = request.state.bot
    with explained():
        judged, expected = _judgement(bot, _question(_sampled(bot), question), body)
        inbox_of(bot).judge(question, judged, expected)
        return _response(_sampled(bot), most)


def _sampled(bot: Bot) -> list[SampledAnswer]:
    inbox = inbox_of(bot)
    try:
        return inbox.sampled()
    except InputError:
        if inbox.has_messages:
            raise
        return []  # nothing was kept yet


def _response(answers: list[SampledAnswer], most: int) -> ReviewResponse:
    questions = questions_of(answers)
    return ReviewResponse(
        questions=[question.to_dict() for question in questions.open[:most]],
        open=len(questions.open),
        skipped=questions.skipped,
        hashed=questions.hashed,
        quality=quality_of(questions).to_dict(),
    )


def _question(answers: list[SampledAnswer], number: int) -> Question:
    """Return the question with an answer of this number. Raises `ProblemError` (404)."""
    found = next(
        (question for question in all_questions(answers) if any(a.id == number for a in question.answers)), None
    )
    if found is None:
        raise ProblemError(
            ProblemDetails.for_status(404, f"The sample has no question {number}. GET /review lists some.")
        )
    return found


def _judgement(bot: Bot, question: Question, body: JudgementRequest) -> tuple[Judged | None, str | None]:
    """Return a judgement and the intent that it names. Raises `ProblemError` (422)."""
    if (body.intent is None) == (body.judgement == "intent"):
        _refuse("`intent` takes an intent." if body.intent is None else f"`{body.judgement}` takes no intent.")
    if body.judgement == "right" and question.verdict == "ambiguous":
        _refuse("The bot asked, so that there is no right answer yet: say which `intent` the message means.")
    registry = bot.matcher.registry
    if body.intent is not None and body.intent not in registry:
        _refuse(str(UnknownNameError("intent", body.intent, [intent.name for intent in registry])))
    if body.judgement == "undo":
        return None, None
    if body.judgement == "skip":
        return "skipped", None
    return "meant", question.intent if body.judgement == "right" else body.intent


def _refuse(detail: str) -> NoReturn:
    item = ErrorItem(location="body.intent", message=detail)
    raise ProblemError(ProblemDetails.for_status(422, detail, [item]))
