"""What was written, the revisions, the audit log, and the refusal of a stale edit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Literal

from pydantic import Field

from intentmatch.authoring.audit import AuditEntry
from intentmatch.authoring.evaluator import Evaluation
from intentmatch.authoring.operations.operation import Done
from intentmatch.authoring.revisions import Revision
from intentmatch.server.routes.schemas.authoring.edits import NOTE, Note
from intentmatch.server.routes.schemas.base import PathText, RequestModel, ResponseModel, Text
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

    @classmethod
    def from_revision(cls, revision: Revision) -> RevisionInfo:
        """Describe a revision."""
        return cls(id=revision.id, author=revision.author, time=revision.time, note=revision.note)


class SourceScoreInfo(ResponseModel):
    """Right answers to the messages of one source."""

    source: str = Field(description="`held_out` (utterances, by cross-validation) or `tests`.", examples=["held_out"])
    messages: int = Field(description="Messages that were compared.", examples=[40])
    of: int = Field(description="Messages that there are.", examples=[40])
    right_before: int | None = Field(description="Null for the first revision.", examples=[36])
    right_after: int = Field(examples=[38])


class EvaluationInfo(ResponseModel):
    """The answers before and after a revision, to the same messages."""

    state: Literal["pending", "done", "failed"] = Field(description="`pending`: ask again in some seconds.")
    sources: list[SourceScoreInfo]
    fixed: int | None = Field(description="Answers that became right; null unless done.", examples=[3])
    broken: int | None = Field(description="Answers that became wrong; null unless done.", examples=[1])
    sampled: bool | None = Field(description="Whether messages were left out for lack of time; null unless done.")
    reason: PathText | None = Field(description="Why it failed.", examples=[None])

    @classmethod
    def from_evaluation(cls, evaluation: Evaluation) -> EvaluationInfo:
        """Describe an evaluation."""
        scores = evaluation.scores
        return cls(
            state=evaluation.state,
            sources=[] if scores is None else [SourceScoreInfo(**asdict(one)) for one in scores.sources],
            fixed=None if scores is None else scores.fixed,
            broken=None if scores is None else scores.broken,
            sampled=None if scores is None else scores.sampled,
            reason=evaluation.reason,
        )


class WrittenResponse(ResponseModel):
    """What was written."""

    revision: str = Field(description="Digest of the files now.")
    recorded: RevisionInfo | None = Field(description="The new revision; null if nothing changed.")
    diff: PathText
    problems: list[ErrorItem] = Field(description="Warnings that the edits bring.")
    warnings: list[PathText] = Field(description="What went wrong after the files were written.")
    active: bool = Field(description="Whether the server already answers with the new files.")

    @classmethod
    def from_done(cls, done: Done) -> WrittenResponse:
        """Return what has become of an operation."""
        return cls(
            revision=done.digest,
            recorded=None if done.revision is None else RevisionInfo.from_revision(done.revision),
            diff=done.changes.diff,
            problems=[ErrorItem.from_problem(problem) for problem in done.changes.brought],
            warnings=list(done.warnings),
            active=done.active,
        )


class ListedRevision(RevisionInfo):
    """A revision of a list."""

    evaluation: EvaluationInfo | None = Field(description="Null if it is not evaluated yet.")


class RevisionsResponse(ResponseModel):
    """The newest revisions, the newest first."""

    revision: str = Field(description="Digest of the files now.")
    revisions: list[ListedRevision]


class RevisionDiff(ResponseModel):
    """What a revision changed in a file."""

    file: Text
    diff: PathText


class RevisionResponse(RevisionInfo):
    """A revision with what it changed."""

    files: list[RevisionDiff]
    evaluation: EvaluationInfo


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

    @classmethod
    def from_entries(cls, entries: Iterable[AuditEntry]) -> AuditResponse:
        """Describe the entries of an audit log."""
        return cls(entries=[AuditInfo(**asdict(entry)) for entry in entries])


class ConflictDetails(ProblemDetails):
    """Somebody else was quicker. Nothing was written."""

    revision: str | None = Field(default=None, description="Digest of the files now, for another try.")
    theirs: PathText | None = Field(
        default=None, description="Diff from your revision to the files now; null if your revision is not kept."
    )
    yours: PathText | None = Field(
        default=None, description="Diff of your edits applied to the files now; null if they do not fit any more."
    )
