"""What was written, the revisions, the audit log, and the refusal of a stale edit."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from intentmatch.server.routes.schemas.authoring.edits import NOTE, Note
from intentmatch.server.routes.schemas.base import RequestModel, ResponseModel, Text
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails


class RestoreRequest(RequestModel):
    """How a restored revision is noted."""

    note: Note = NOTE


class RevisionInfo(ResponseModel):
    """A state of the files that can be restored."""

    id: str
    author: Text | None = Field(description="Name of the key; null if another program changed the files.")
    time: datetime
    note: Text


class WrittenResponse(ResponseModel):
    """What was written."""

    revision: str = Field(description="Digest of the files now.")
    recorded: RevisionInfo | None = Field(description="The new revision; null if nothing changed.")
    diff: Text
    problems: list[ErrorItem] = Field(description="Warnings that the edits bring.")
    warnings: list[Text] = Field(description="What went wrong after the files were written.")
    active: bool = Field(description="Whether the server already answers with the new files.")


class RevisionsResponse(ResponseModel):
    """The newest revisions, the newest first."""

    revision: str = Field(description="Digest of the files now.")
    revisions: list[RevisionInfo]


class RevisionDiff(ResponseModel):
    """What a revision changed in a file."""

    file: Text
    diff: Text


class RevisionResponse(RevisionInfo):
    """A revision with what it changed."""

    files: list[RevisionDiff]


class AuditInfo(ResponseModel):
    """A write."""

    time: Text
    author: Text
    what: Text
    digest: Text = Field(description="Digest of the files afterwards.")
    revision: Text | None = Field(description="Id of the revision.")


class AuditResponse(ResponseModel):
    """The newest writes, the newest first."""

    entries: list[AuditInfo]


class ConflictDetails(ProblemDetails):
    """Somebody else was quicker. Nothing was written."""

    revision: str | None = Field(default=None, description="Digest of the files now, for another try.")
    theirs: Text | None = Field(
        default=None, description="Diff from your revision to the files now; null if your revision is not kept."
    )
    yours: Text | None = Field(
        default=None, description="Diff of your edits applied to the files now; null if they do not fit any more."
    )
