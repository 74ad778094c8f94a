"""What a registry's own lines tell its author, and findings to mend."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from intentmatch.server.routes.schemas.authoring.edits import NOTE, SECONDS, Note
from intentmatch.server.routes.schemas.base import Finding, Findings, RequestModel, ResponseModel, Text


class ProgressInfo(ResponseModel):
    """How far a result is that is not there yet."""

    step: str
    done: int
    total: int | None = Field(description="Null if unknown.")
    seconds: float = Field(description="How long it has been worked on.")


class InsightResponse(ResponseModel):
    """A result, or how far it is: then ask again."""

    progress: ProgressInfo | None = Field(description="Null once the result is there.")
    result: Finding | None = Field(description="Null as long as it is worked on.")


class IssuesResponse(ResponseModel):
    """Findings about the files as they are now, the most valuable first."""

    revision: str
    progress: ProgressInfo | None = Field(description="Null once the findings are there.")
    issues: Findings = Field(
        description="Each has an `id`, `why`, the `lines` that it is about, and a `mend` or null. `value` counts the "
        "lines to be won: lines that would find their intent when they are left out."
    )


_IDS: Any = Field(min_length=1, max_length=1000, description="Ids from `GET /issues`.")


class MendRequest(RequestModel):
    """Issues to mend."""

    issues: list[Text] = _IDS
    note: Note = NOTE


class MendPreviewRequest(MendRequest):
    """Issues to mend, to look at."""

    effect: bool = Field(default=True, description="Whether to work out which answers change.")
    seconds: Annotated[float, Field(strict=False)] = SECONDS
