"""The candidate of a bot: what to try and how, and how its answers compare."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Annotated, Literal

from pydantic import Field

from intentmatch.server.candidates.candidate import CandidateStatus
from intentmatch.server.candidates.differences import KINDS
from intentmatch.server.candidates.records import CandidateRecord, Sample
from intentmatch.server.candidates.rollback import ERROR, MARGIN, RollbackRule
from intentmatch.server.routes.schemas.authoring.edits import NOTE, Note
from intentmatch.server.routes.schemas.base import PathText, RequestModel, ResponseModel, Text

_MAX_PATH = 4096

_Margin = Annotated[float, Field(ge=0, lt=1)]
_VERDICTS = ("matched", "ambiguous", "out_of_scope")


class RollbackRequest(RequestModel):
    """By how much the candidate's rates may exceed the present registry's; null for a rate that may be anything."""

    asked: _Margin | None = Field(default=MARGIN, description="Margin of the share of messages answered by a question.")
    refused: _Margin | None = Field(
        default=MARGIN, description="Margin of the share of messages that are out of scope, or fail."
    )
    corrected: _Margin | None = Field(
        default=MARGIN, description="Margin of the share of heard answers that users correct with /feedback."
    )
    error: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=ERROR, description="Probability of rolling back a candidate that is no worse than the margins allow."
    )

    def rule(self) -> RollbackRule:
        """Return the rule."""
        return RollbackRule(self.asked, self.refused, self.corrected, self.error)


class CandidateRequest(RequestModel):
    """A candidate, by `revision` or by `path`, and what it answers."""

    revision: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, description="Id of a revision of the files.", examples=["2"]
    )
    path: Annotated[str, Field(min_length=1, max_length=_MAX_PATH)] | None = Field(
        default=None,
        description="A folder or file of YAML, or an artefact; relative paths count from the folder of the bot. A "
        "server that confines bots to their folders refuses others.",
        examples=["next.intentmatch"],
    )
    mode: Literal["shadow", "canary"] = Field(
        default="shadow",
        description="`shadow`: the candidate answers, and nobody hears it. `canary`: it also answers users, in `share` "
        "of the conversations.",
    )
    share: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="Share of the conversations that a canary answers.", examples=[0.1]
    )
    rollback: RollbackRequest | None = Field(
        default=RollbackRequest(), description="When a canary is rolled back by itself; null for never."
    )
    note: Note = NOTE


class PromoteRequest(RequestModel):
    """How the new revision is noted."""

    note: Note = NOTE


class CandidateInfo(ResponseModel):
    """The candidate that runs, or the last one."""

    revision: str | None = Field(description="Id of its revision; null if it comes from a path.")
    path: Text | None = Field(description="Its path as it was named; null if it is a revision.")
    fingerprint: str = Field(description="Fingerprint of its registry, as X-Registry-Fingerprint names it in answers.")
    mode: Literal["shadow", "canary"]
    share: float = Field(description="Share of the conversations that it answers; 0 in a shadow.")
    rollback: RollbackRequest | None
    author: Text
    started: datetime
    ended: datetime | None
    reason: PathText = Field(description="Why it ended; empty while it runs.")
    loaded: bool = Field(description="Whether the worker that answers this call has loaded it.")
    problem: Text | None = Field(description="Why that worker has not.")
    bytes: int = Field(description="Estimated memory in each worker, without models.")
    shares_encoder: bool = Field(
        description="Whether it uses the encoder of the registry in use, which is then in memory once."
    )
    equals_present: bool = Field(
        description="Whether it is the same as the registry in use, so that no answer can differ."
    )

    @classmethod
    def from_status(cls, status: CandidateStatus, record: CandidateRecord) -> CandidateInfo:
        """Describe a candidate."""
        rule, source = record.rule, record.source
        return cls(
            revision=source.name if source.kind == "revision" else None,
            path=source.name if source.kind == "path" else None,
            fingerprint=record.registry,
            mode=record.mode,
            share=record.share,
            rollback=None
            if rule is None
            else RollbackRequest(asked=rule.asked, refused=rule.refused, corrected=rule.corrected, error=rule.error),
            author=record.author,
            started=_time(record.started),
            ended=None if record.ended is None else _time(record.ended),
            reason=record.reason,
            loaded=status.loaded,
            problem=status.problem,
            bytes=status.bytes,
            shares_encoder=status.shares_encoder,
            equals_present=status.equals_present,
        )


class AnswerInfo(ResponseModel):
    """What a registry made of a message."""

    verdict: str
    intent: Text | None
    rivals: list[Text]
    confidence: float | None


class SampleInfo(ResponseModel):
    """A message that the two registries answer differently."""

    kind: str = Field(description="How the candidate's answer differs.", examples=["matched_to_out_of_scope"])
    text: Text | None = Field(description="The message as the inbox would keep it; null if that keeps hashes.")
    language: Text | None
    present: AnswerInfo | None
    candidate: AnswerInfo | None = Field(description="Null if the candidate failed.")
    time: datetime

    @classmethod
    def from_sample(cls, sample: Sample) -> SampleInfo:
        """Describe a sample."""
        return cls(
            kind=sample.kind,
            text=sample.text,
            language=sample.language,
            present=None if sample.present is None else AnswerInfo(**sample.present),
            candidate=None if sample.candidate is None else AnswerInfo(**sample.candidate),
            time=_time(sample.time),
        )


class RegistryCounts(ResponseModel):
    """Messages of one of the two registries."""

    matched: int = Field(description="Of the compared messages.")
    ambiguous: int
    out_of_scope: int
    heard: int = Field(description="Messages of a canary's conversations that this registry answered.")
    corrected: int = Field(description="Corrections of such messages that this registry got wrong.")


class ComparisonInfo(ResponseModel):
    """How the candidate compares with the registry in use since that was loaded, or did when the candidate ended."""

    compared: int = Field(description="Messages that both have answered.")
    skipped: int = Field(description="Messages that were not compared, to save time; `compared` is then a sample.")
    kinds: dict[str, int] = Field(description="The compared messages by how the answers differ; `same` if they do not.")
    present: RegistryCounts
    candidate: RegistryCounts
    samples: list[SampleInfo] = Field(
        description="Some messages of each kind. Without an inbox, no message is kept, and so there are none."
    )

    @classmethod
    def from_status(cls, status: CandidateStatus) -> ComparisonInfo:
        """Describe counts and samples."""
        counts = status.counts
        kinds: dict[str, int] = {kind: counts[kind] for kind in KINDS if counts.get(kind)}
        return cls(
            compared=sum(kinds.values()),
            skipped=counts.get("skipped", 0),
            kinds=kinds,
            present=_of("present", counts),
            candidate=_of("candidate", counts),
            samples=[SampleInfo.from_sample(sample) for sample in status.samples],
        )


class CandidateResponse(ResponseModel):
    """The state of the candidate."""

    revision: str | None = Field(description="Digest of the bot's files now, for If-Match; null for an artefact.")
    state: Literal["none", "running", "rolled_back", "promoted"]
    candidate: CandidateInfo | None = Field(description="Null if there is none.")
    comparison: ComparisonInfo | None = Field(description="Null if there is no candidate.")

    @classmethod
    def from_status(cls, status: CandidateStatus, revision: str | None) -> CandidateResponse:
        """Describe what is known about a candidate."""
        record = status.record
        if record is None:
            return cls(revision=revision, state="none", candidate=None, comparison=None)
        return cls(
            revision=revision,
            state=record.state,
            candidate=CandidateInfo.from_status(status, record),
            comparison=ComparisonInfo.from_status(status),
        )


def _of(registry: str, counts: dict[str, int]) -> RegistryCounts:
    verdicts = {verdict: counts.get(f"{registry}/{verdict}", 0) for verdict in _VERDICTS}
    return RegistryCounts(
        **verdicts, heard=counts.get(f"heard/{registry}", 0), corrected=counts.get(f"corrected/{registry}", 0)
    )


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)
