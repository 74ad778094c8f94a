"""Questions about sampled answers, and how good the answers are by the judgements."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from intentmatch.server.routes.schemas.base import Findings, RequestModel, ResponseModel
from intentmatch.server.routes.schemas.requests import Name


class JudgementRequest(RequestModel):
    """What a reviewer says about an answer."""

    judgement: Literal["right", "intent", "out_of_scope", "skip", "undo"] = Field(
        description="The answer is `right`; the message means another `intent`, or none; the reviewer cannot tell "
        "(`skip`); or a judgement is taken back (`undo`)."
    )
    intent: Name | None = Field(default=None, description="The intent that the message means, for `intent`.")


class ReviewResponse(ResponseModel):
    """Questions of the sample, and the numbers so far."""

    questions: Findings = Field(
        description="Open questions, the best first: `question` is the number, `text` the message, `verdict` and "
        "`intent` the answer, `count` how often the message is in the sample."
    )
    open: int = Field(description="Number of open questions.")
    skipped: int = Field(description="Number of messages that a reviewer could not judge.")
    hashed: int = Field(description="Number of answers stored as hashes, which nobody can judge.")
    quality: dict[str, Any] = Field(
        description="`judged` messages of the period from `since` to `until`; how many `more` are needed for numbers; "
        "`overall`, `intents` and `languages` with `precision`, `coverage` and `out_of_scope`, each with the 95% "
        "interval from `low` to `high`, or null where there are too few."
    )
