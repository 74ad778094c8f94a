"""Responses about messages: results, entities and corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

from pydantic import Field
from pydantic_core import to_json

from intentmatch.core import result
from intentmatch.core.relative_paths import relative, relative_file
from intentmatch.core.result import MatchResult, Measure, Verdict
from intentmatch.server.routes.schemas.base import ResponseModel, Text


class Candidate(ResponseModel):
    """An intent with its score for the message."""

    intent: Text
    title: Text | None = Field(description="The author's title, to be shown to users.")
    score: float = Field(description="Similarity in [-1, 1]; not a probability.")
    confidence: float | None = Field(
        description="Probability that the user wants this intent; the confidences of a message add up to at most 1, "
        "unless its parts mean different intents. Null if the registry is too small to calibrate."
    )
    utterance: Text | None = Field(description="The utterance nearest to the message.")
    language: Text | None = Field(description="Language of that utterance.")
    location: Text | None = Field(description="`file:line` of that utterance, from the folder of the bot.")


class Stage(ResponseModel):
    """One step of the pipeline and what it found."""

    name: Text
    says: Text
    microseconds: float


class Trace(ResponseModel):
    """How the decision was made."""

    decided_by: Text = Field(
        description="The stage that decided: `exact`, `fuzzy`, `noise`, `head`, `dense`, `reranker`, `free_text`, "
        "`without_values`, `fragment`, `negation`, `acts`, `follow_up` or `empty`."
    )
    threshold: float | None = Field(
        description="The threshold for the leading candidate; `threshold_on` says what it is compared with."
    )
    threshold_on: Measure | None = Field(
        description="`score` or `confidence` of the leading candidate, or `in_scope`: the probability that the message "
        "is in scope."
    )
    threshold_origin: Text = Field(description="Where that threshold came from, in words.")
    reason: Text = Field(description="Why this verdict, in words.")
    stages: list[Stage]


class Entity(ResponseModel):
    """The value of a slot, found in the message."""

    slot: Text
    value: Text | int | float | dict[str, Text | int | float | None] = Field(
        description="The value; dates, times and durations in ISO 8601. Money has the keys `amount` and `currency`, a "
        "temperature `amount` and `unit`, a range of days or times `from` and `to`."
    )
    text: Text = Field(description="The words in the message.")
    start: int = Field(description="Position of the first character (code point) in the message.")
    end: int = Field(description="Position after the last character.")


class Missing(ResponseModel):
    """A slot to ask about: a required one that the message does not hold, or one with several values to choose from."""

    slot: Text
    question: Text | None = Field(
        description="The author's question for it, in the language of the answer if possible; for several values the "
        "words of the message, such as “small or medium?”."
    )


class Part(ResponseModel):
    """One of several requests in the message."""

    start: int = Field(description="Position of the first character (code point) in the message.")
    end: int = Field(description="Position after the last character.")
    intent: Text
    score: float
    confidence: float | None
    response: Text | None
    entities: list[Entity] = Field(description="Their positions count in the whole message.")
    missing: list[Missing]


class Trait(ResponseModel):
    """What the message says to a question of the registry."""

    answer: Text | None = Field(description="The likeliest answer if it is likelier than all else; otherwise null.")
    confidence: float = Field(description="Probability of the likeliest answer.")
    confidences: dict[Text, float] = Field(
        description="Probability of each answer. What they leave of 1 is that the message does not say."
    )


class MatchResponse(ResponseModel):
    """The result of one message. Every key is present, whatever the verdict."""

    message: Text = Field(description="The message as received; of hypotheses, the one that says most.")
    verdict: Verdict
    intent: Text | None = Field(description="The intent if the verdict is `matched`; otherwise null.")
    score: float = Field(description="Score of the leading candidate; 0 without any.")
    confidence: float | None = Field(
        description="Probability that the leading candidate is right; null if the registry is too small to calibrate."
    )
    in_scope: float | None = Field(
        description="Probability that the message means any intent: the sum of all confidences. Null as `confidence`."
    )
    language: Text | None = Field(description="The caller's language, otherwise the one guessed.")
    response: Text | None = Field(description="The author's response for the matched intent.")
    candidates: list[Candidate] = Field(description="Best first.")
    rivals: list[Candidate] = Field(description="The intents to ask about if the verdict is `ambiguous`.")
    entities: list[Entity] = Field(description="Slot values of the matched intent, in the order of the message.")
    missing: list[Missing] = Field(description="Required slots of the matched intent that the message does not hold.")
    parts: list[Part] = Field(description="Each of several requests; the other keys then describe the first.")
    confirm: bool = Field(description="Whether the author wants the matched intent confirmed before the bot acts.")
    traits: dict[Text, Trait] = Field(description="What the message says to each of the registry's `questions:`.")
    trace: Trace

    @classmethod
    def from_result(cls, result: MatchResult) -> MatchResponse:
        """Return the result, validated against this model."""
        return cls.model_validate(_values(result))

    @classmethod
    def json_from_result(cls, result: MatchResult) -> bytes:
        """Return the result as JSON. Only text that UTF-8 cannot carry takes the slower way through the model."""
        try:
            # As pydantic writes numbers that JSON lacks.
            return to_json(_values(result), inf_nan_mode="null")
        except ValueError:
            return cls.from_result(result).model_dump_json().encode()


def _values(result: MatchResult) -> dict[str, Any]:
    """Return a result as JSON values that name files from the folder of the bot."""
    values = result.to_dict()
    for candidate in (*values["candidates"], *values["rivals"]):
        if candidate["location"] is not None:
            candidate["location"] = relative_file(candidate["location"])
    trace = values["trace"]
    trace.update({name: relative(trace[name]) for name in ("threshold_origin", "reason")})
    return values


class FillResponse(ResponseModel):
    """The entities that an answer gives for an intent's slots."""

    entities: list[Entity] = Field(description="In the order of the message.")

    @classmethod
    def from_entities(cls, entities: Sequence[result.Entity]) -> FillResponse:
        """Return the entities, validated against this model."""
        return cls.model_validate({"entities": [asdict(entity) for entity in entities]})


class BatchResponse(ResponseModel):
    """The results, in the order of the messages."""

    results: list[MatchResponse]


class FeedbackResponse(ResponseModel):
    """The correction will be kept."""

    status: Literal["accepted"] = "accepted"
