"""A message to try, findings of lint, and how to evaluate and replay."""

from __future__ import annotations

from pydantic import Field

from intentmatch.authoring.revision_replay import DAYS, Against
from intentmatch.server.routes.schemas.base import PathText, RequestModel, ResponseModel, Text
from intentmatch.server.routes.schemas.matches import MatchResponse
from intentmatch.server.routes.schemas.problem_details import ErrorItem
from intentmatch.server.routes.schemas.requests import MatchFields


class TryRequest(MatchFields):
    """A message to try."""

    text: str = Field(max_length=10_000, description="The message.", examples=["wo bleibt mein Paket?"])


class EvaluateRequest(RequestModel):
    """How to evaluate."""

    folds: int = Field(default=5, ge=2, le=20, description="Parts of the cross-validation.")
    seed: int = Field(default=0, ge=0, le=2**31, description="Seed of the parts.")
    robustness: bool = Field(default=True, description="Whether to try variations of the messages too.")


class ReplayRequest(RequestModel):
    """Which messages to replay, and what to compare with."""

    days: int = Field(default=DAYS, ge=1, le=366, description="Days of sampled answers to replay.")
    log: str | None = Field(
        default=None,
        description="JSON lines to replay in place of the sample, as `serve --log-format json --log-messages` writes.",
    )
    against: Against = Field(
        default="before", description="`before`: the revision before this one. `current`: the registry in use."
    )


class OverlapInfo(ResponseModel):
    """Two intents with utterances that lie nearer to the other."""

    intents: list[Text]
    errors: int
    utterances: int


class LintResponse(ResponseModel):
    """Findings about the files as they are now."""

    revision: str
    problems: list[ErrorItem]
    ignored: int = Field(description="Number of findings that a comment or a setting suppresses.")
    overlaps: list[OverlapInfo]
    coverage: dict[str, dict[str, int]] = Field(description="Number of utterances by intent and language.")
    fix: PathText = Field(description="Diff that mends what needs no decision; empty if nothing does.")


class WordInfo(ResponseModel):
    """A word of the message that met a word of the nearest utterance."""

    word: Text
    met: Text
    similarity: float
    weight: float
    salience: float = Field(description="How much the word counts in the message, 1 on the mean.")


class TryResponse(ResponseModel):
    """A match with everything that is known about it."""

    result: MatchResponse
    explanation: PathText
    words: list[WordInfo]
