"""What the webhook takes and gives, as pydantic models; the OpenAPI document is made from these.

Requests are strict: nothing is coerced (a number is no text), and a key that is not listed is an error rather than
silently ignored. Text with half of a surrogate pair in it is refused by pydantic itself: it could not be sent back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import to_json

from intentmatch.core import result
from intentmatch.core.errors import Problem, Severity
from intentmatch.core.result import MatchResult, Verdict
from intentmatch.core.types import Intent

# BCP-47 asks to be ready for 35 characters; whether they are a code is the matcher's to say.
_MAX_LANGUAGE = 35
_MAX_NAME = 200
_MAX_ALLOWED = 10_000
_MAX_TOP_K = 100


def sendable(text: Any) -> Any:
    """A text with what UTF-8 cannot carry written as escapes: the names of files need not be readable text."""
    return text.encode("utf-8", "backslashreplace").decode() if isinstance(text, str) else text


def local_time(value: Any) -> Any:
    """A time as text, which is how JSON has it, as a datetime."""
    return datetime.fromisoformat(value.replace("Z", "+00:00")) if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(sendable)]
RequestedName = Annotated[str, Field(max_length=_MAX_NAME)]


class _Response(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Request(BaseModel):
    """The requests themselves are made in `app`, with its limits in them."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class MessageOptions(_Request):
    """What a caller may say of the message."""

    language: str | None = Field(
        default=None,
        max_length=_MAX_LANGUAGE,
        description="BCP-47 code of the message; without it the language is guessed among those of the registry.",
        examples=["de"],
    )
    now: Annotated[datetime, BeforeValidator(local_time)] | None = Field(
        default=None,
        description="The user's local time, from which `tomorrow` counts; without it that of the server.",
        examples=["2026-11-21T10:00:00"],
    )


class Options(MessageOptions):
    """What a caller may say of the answer too."""

    top_k: int | None = Field(
        default=None,
        ge=1,
        le=_MAX_TOP_K,
        description="Candidates in the answer, at most; without it as the settings say.",
        examples=[3],
    )
    allowed: list[RequestedName] | None = Field(
        default=None,
        min_length=1,
        max_length=_MAX_ALLOWED,
        description="Names of the only intents that may answer, whatever their tags.",
    )
    context: list[Annotated[str, Field(max_length=_MAX_NAME)]] = Field(
        default=[],
        max_length=_MAX_ALLOWED,
        description="Active tags: an intent with `when` answers only where one of them is its own.",
        examples=[["checkout"]],
    )

    def options(self) -> dict[str, Any]:
        """As keywords of `Matcher.match`."""
        return {name: getattr(self, name) for name in Options.model_fields}


class Correction(_Request):
    """What a user may say beside the message that was misunderstood."""

    intent: str | None = Field(
        max_length=_MAX_NAME,
        description="Name of the intent that the message means; null for none of them.",
        examples=["order_status"],
    )
    language: str | None = Field(
        default=None, max_length=_MAX_LANGUAGE, description="BCP-47 code of the message.", examples=["de"]
    )


class Candidate(_Response):
    """An intent with its score for the message."""

    intent: Text
    title: Text | None = Field(description="The author's, to be shown to users.")
    score: float = Field(description="Similarity in [-1, 1]; not a probability.")
    confidence: float | None = Field(
        description="Probability that it is what the user wants; null where the registry is too small to tell."
    )
    utterance: Text | None = Field(description="The utterance nearest to the message.")
    language: Text | None = Field(description="Of that utterance.")
    location: Text | None = Field(description="`file:line` of that utterance.")


class Stage(_Response):
    """One step of the pipeline and what it found."""

    name: Text
    says: Text
    microseconds: float


class Trace(_Response):
    """How the decision came about."""

    decided_by: Text = Field(
        description="The stage whose opinion was decided on: `exact`, `fuzzy`, `head`, `dense`, `reranker` or `empty`."
    )
    threshold: float | None = Field(
        description="The cut that the leading candidate was held against: of scores or, where learned, of confidence."
    )
    threshold_origin: Text = Field(description="Where that cut came from, in words.")
    reason: Text = Field(description="Why this verdict, in words.")
    stages: list[Stage]


class Entity(_Response):
    """The value of a slot, found in the message."""

    slot: Text
    value: Text | int | float = Field(description="An ISO 8601 date or time where the slot is one.")
    text: Text = Field(description="As it stands in the message.")
    start: int = Field(description="In characters (code points) of the message.")
    end: int = Field(description="Behind its last character.")


class Missing(_Response):
    """A required slot that the message does not hold."""

    slot: Text
    question: Text | None = Field(description="What to ask for it, in the language of the answer where there is one.")


class Part(_Response):
    """One of several requests in the message."""

    start: int = Field(description="In characters (code points) of the message.")
    end: int = Field(description="Behind its last character.")
    intent: Text
    score: float
    confidence: float | None
    response: Text | None
    entities: list[Entity] = Field(description="Their places are in the whole message.")
    missing: list[Missing]


class MatchResponse(_Response):
    """The one answer to a message. All keys are there whatever the verdict."""

    message: Text = Field(description="As it was received.")
    verdict: Verdict
    intent: Text | None = Field(description="The intent when the verdict is `matched`; otherwise null.")
    score: float = Field(description="Of the leading candidate; 0 when there is none.")
    confidence: float | None = Field(
        description="Probability that the leading candidate is right; null where the registry is too small to tell."
    )
    language: Text | None = Field(description="The caller's, otherwise the one guessed.")
    response: Text | None = Field(description="The author's response of the matched intent.")
    candidates: list[Candidate] = Field(description="Best first.")
    rivals: list[Candidate] = Field(description="The intents to ask about when the verdict is `ambiguous`.")
    entities: list[Entity] = Field(description="Values of the matched intent's slots, in the order of the message.")
    missing: list[Missing] = Field(description="Required slots of the matched intent that the message does not hold.")
    parts: list[Part] = Field(description="Where the message is several requests; the rest is then of the first.")
    trace: Trace

    @classmethod
    def of(cls, result: MatchResult) -> MatchResponse:
        """The same answer, checked against what is documented here."""
        return cls.model_validate(result.to_dict())

    @classmethod
    def json_of(cls, result: MatchResult) -> bytes:
        """The same answer as JSON. Only what cannot be written as it is takes the long way through the model."""
        try:
            return to_json(result.to_dict(), inf_nan_mode="null")
        except ValueError:
            return cls.of(result).model_dump_json().encode()


class FillResponse(_Response):
    """What the answer to a question says for an intent's slots."""

    entities: list[Entity] = Field(description="In the order of the message.")

    @classmethod
    def of(cls, entities: Sequence[result.Entity]) -> FillResponse:
        """The same entities."""
        return cls.model_validate({"entities": [asdict(entity) for entity in entities]})


class BatchResponse(_Response):
    """The answers, in the order of the texts."""

    results: list[MatchResponse]


class FeedbackResponse(_Response):
    """It will be kept."""

    status: Literal["accepted"] = "accepted"


class IntentInfo(_Response):
    """An intent of the registry, without its utterances."""

    name: Text
    title: Text | None
    description: Text | None
    languages: list[Text] = Field(description="The languages its utterances are written in, sorted.")
    utterances: int = Field(description="How many it has.")
    threshold: float | None = Field(description="The author's own cut; null when there is none.")
    metadata: dict[str, Any] = Field(description="The author's own data, untouched.")

    @classmethod
    def of(cls, intent: Intent) -> IntentInfo:
        """What there is to say about an intent."""
        return cls(
            name=intent.name,
            title=intent.title,
            description=intent.description,
            languages=sorted({u.language for u in intent.utterances if u.language}),
            utterances=len(intent.utterances),
            threshold=intent.threshold,
            metadata=dict(intent.metadata),
        )


class IntentsResponse(_Response):
    """All intents in use now."""

    fingerprint: str = Field(description="Of the registry; changes whenever an answer may.")
    intents: list[IntentInfo]


class ReloadResponse(_Response):
    """What is in use after a reload."""

    fingerprint: str = Field(description="Of the new registry.")
    intents: int = Field(description="How many it has.")
    utterances: int = Field(description="How many it has, all intents together.")


class Health(_Response):
    """The process is alive."""

    status: Literal["alive"] = "alive"


class Version(_Response):
    """What runs here."""

    version: str = Field(description="Of intentmatch.")


class Ready(_Response):
    """Messages are answered."""

    status: Literal["ready", "stale"] = Field(description="`stale`: by files older than those on disk.")
    fingerprint: str = Field(description="Of the registry in use.")
    intents: int = Field(description="How many it has.")
    stale: bool = Field(description="Whether the files have changed to something that could not be loaded.")
    reload_error: ProblemDetails | None = Field(
        description="Why the last reload failed; null when it did not, and where a key is needed that is not presented."
    )


BotState = Literal["idle", "warming", "ready", "stale", "broken"]


class BotInfo(_Response):
    """One of several bots."""

    name: str
    state: BotState = Field(
        description="`idle`: not loaded, but it will be when it is asked; `broken`: it could not be loaded, or answer."
    )


class BotsResponse(_Response):
    """The bots that the caller may ask."""

    bots: list[BotInfo]


class BotsReady(_Response):
    """Bots are there to be asked; whether each can answer is another question."""

    status: Literal["ready"] = "ready"
    bots: int = Field(description="How many there are.")
    loaded: int = Field(description="How many of them are loaded.")
    idle: int = Field(description="How many are not, and will be when they are asked.")
    stale: int = Field(description="How many answer by files older than those on disk.")
    broken: int = Field(description="How many could not be loaded, or answer.")


class ErrorItem(_Response):
    """One thing to put right."""

    location: Text = Field(description="A path into the request (`body.texts.3`), or `file:line:column` in the YAML.")
    message: Text
    hint: Text | None = Field(default=None, description="What to do about it.")
    rule: Text | None = Field(default=None, description="Id of the rule that is broken.")
    severity: Severity = "error"
    path: Text | None = Field(default=None, description="The YAML file.")
    line: int | None = Field(default=None, description="In that file, from 1.")
    column: int | None = Field(default=None, description="In that line, from 1.")

    @classmethod
    def of(cls, problem: Problem) -> ErrorItem:
        """A problem of the YAML."""
        place = problem.location
        return cls(
            location=str(place),
            message=problem.message,
            hint=problem.hint or None,
            rule=problem.rule,
            severity=problem.severity,
            path=place.path,
            line=place.line,
            column=place.column,
        )


class ProblemDetails(_Response):
    """What every error looks like: RFC 9457, `application/problem+json`."""

    type: str = Field(
        default="about:blank",
        description="`about:blank`: the status says what kind of problem it is. `urn:intentmatch:warming`: nothing can "
        "be answered yet. `urn:intentmatch:broken`: nothing can be answered any more. "
        "`urn:intentmatch:busy`: too much to do at once.",
    )
    title: str = Field(description="The status in words.", examples=["Unprocessable Entity"])
    status: int = Field(description="As in the status line.", examples=[422])
    detail: Text = Field(description="What is wrong and how to put it right, for people.")
    errors: list[ErrorItem] = Field(description="Each thing to put right; empty where there is only the detail.")

    @classmethod
    def of(
        cls, status: int, detail: str, errors: Sequence[ErrorItem] = (), kind: str = "about:blank"
    ) -> ProblemDetails:
        """A problem with the title that belongs to its status."""
        return cls(type=kind, title=HTTPStatus(status).phrase, status=status, detail=detail, errors=list(errors))


Ready.model_rebuild()
