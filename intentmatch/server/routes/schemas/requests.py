"""Request bodies. `limited` writes the limits of an app into them, so that the OpenAPI document shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from datetime import datetime
from functools import cache, lru_cache
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, create_model, field_validator
from pydantic_core import PydanticCustomError

from intentmatch.matching.n_best import MOST_HYPOTHESES, Hypotheses
from intentmatch.matching.options import MatchOptions
from intentmatch.server.config import Limits
from intentmatch.server.routes.schemas.base import RequestModel

# BCP-47 asks readers to accept 35 characters; the matcher checks whether they are a code.
_MAX_LANGUAGE = 35
_MAX_NAME = 200
_MAX_NAMES = 10_000
_MAX_TOP_K = 100
_MAX_CONVERSATION = 1000


def local_time(value: Any) -> Any:
    """Read a time from the text that JSON has it in; other values pass unchanged."""
    try:
        # `fromisoformat` reads the Z of UTC from Python 3.11 on.
        return datetime.fromisoformat(value.replace("Z", "+00:00")) if isinstance(value, str) else value
    except ValueError:
        hint = "Input should be a time in ISO 8601, such as 2026-11-21T10:00:00"
        raise PydanticCustomError("datetime_parsing", hint) from None


def _above_zero(weight: float) -> float:
    if weight <= 0:
        hint = "Input should be greater than 0; of a log-probability, give the exponential"
        raise PydanticCustomError("greater_than", hint)
    return weight


Name = Annotated[str, Field(max_length=_MAX_NAME)]
LanguageCode = Annotated[str, Field(max_length=_MAX_LANGUAGE)]
Conversation = Annotated[str, Field(min_length=1, max_length=_MAX_CONVERSATION)]
LocalTime = Annotated[datetime, BeforeValidator(local_time)]
Weight = Annotated[
    float, Field(allow_inf_nan=False, json_schema_extra={"exclusiveMinimum": 0}), AfterValidator(_above_zero)
]

_MESSAGE: Any = Field(description="The message, as the user wrote it.", examples=["wo bleibt mein Paket?"])
_NOW: Any = Field(
    default=None,
    description='The user\'s local time, from which "tomorrow" counts; the default is the time of the server.',
    examples=["2026-11-21T10:00:00"],
)
_LANGUAGE: Any = Field(
    default=None,
    description="BCP-47 code of the message; the default is a guess among the languages of the registry.",
    examples=["de"],
)


_CONVERSATION: Any = Field(
    default=None,
    description="Id of the conversation, so that one registry answers all of it while a canary runs. Without one, the "
    "present registry answers.",
    examples=["telegram:42:42"],
)


class MatchFields(RequestModel):
    """Options of a match, as `MatchOptions` has them."""

    language: LanguageCode | None = _LANGUAGE
    now: LocalTime | None = _NOW
    top_k: int | None = Field(
        default=None,
        ge=1,
        le=_MAX_TOP_K,
        description="Most candidates in the answer; the default is the setting `top_k`.",
        examples=[3],
    )
    allowed: list[Name] | None = Field(
        default=None,
        min_length=1,
        max_length=_MAX_NAMES,
        description="Names of the only intents that may answer, whatever their tags.",
    )
    context: list[Name] = Field(
        default=[],
        max_length=_MAX_NAMES,
        description="Active tags: an intent with `when` answers only if one of them is its own.",
        examples=[["checkout"]],
    )
    previous: Name | None = Field(
        default=None,
        description="The intent of the turn before. It counts only for a message that does not stand alone, such as "
        "“and tomorrow?”.",
        examples=["order_status"],
    )

    def options(self) -> MatchOptions:
        """Return the options for the matcher."""
        return MatchOptions(self.language, self.top_k, self.allowed, self.context, self.now, self.previous)


class Hypothesis(RequestModel):
    """One reading of what was said, as speech recognition gives it."""

    text: str = Field(description="What may have been said.", examples=["where is my order"])
    weight: Weight = Field(description="How likely that is; only the proportions of the weights count.", examples=[0.4])


def _pairs(hypotheses: Sequence[Hypothesis]) -> Hypotheses:
    return [(one.text, one.weight) for one in hypotheses]


def _one_of(written: str, value: Any, info: ValidationInfo) -> Any:
    """Return the value of the field `written`; there must be either this or `hypotheses`."""
    heard = info.data.get("hypotheses", ())  # missing if they are invalid
    if value is None and heard is None:
        raise PydanticCustomError("missing", f"Field required, or `hypotheses` in place of `{written}`")
    if value and heard:
        raise PydanticCustomError("two_messages", f"Give `{written}` or `hypotheses`, not both")
    return value


class MessageFields(RequestModel):
    """What a user wrote or said: either `text` or `hypotheses`."""

    hypotheses: list[Hypothesis] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_HYPOTHESES,
        description="In place of `text`, for a message from speech: what may have been said. The answer is of the "
        "hypothesis that says most, and that one is the `message` in it.",
        examples=[[{"text": "wear is my odor", "weight": 0.6}, {"text": "where is my order", "weight": 0.4}]],
    )
    text: str | None = Field(
        default=None,
        validate_default=True,
        description="The message, as the user wrote it. Required without `hypotheses`.",
        examples=["wo bleibt mein Paket?"],
    )

    @field_validator("text")
    @classmethod
    def _one_message(cls, text: str | None, info: ValidationInfo) -> str | None:
        default = cls.model_fields["text"].default  # null is the same as leaving it out
        checked: str | None = _one_of("text", default if text is None else text, info)
        return checked

    @property
    def message(self) -> str | Hypotheses:
        """The message, as the matcher takes it."""
        return self.text or "" if self.hypotheses is None else _pairs(self.hypotheses)


class MatchRequest(MatchFields, MessageFields):
    """One message."""

    conversation: Conversation | None = _CONVERSATION


class BatchRequest(MatchFields):
    """Many messages, all matched against the same registry."""

    hypotheses: list[list[Hypothesis]] | None = Field(
        default=None,
        min_length=1,
        description="In place of `texts`, for messages from speech: the hypotheses of each. Every hypothesis counts as "
        "a message of the batch.",
        examples=[[[{"text": "wear is my odor", "weight": 0.6}, {"text": "where is my order", "weight": 0.4}]]],
    )
    texts: list[str] | None = Field(
        default=None,
        validate_default=True,
        min_length=1,
        description="The messages, as the users wrote them. Required without `hypotheses`.",
        examples=[["hello", "tschüss"]],
    )

    @field_validator("texts")
    @classmethod
    def _one_list(cls, texts: list[str] | None, info: ValidationInfo) -> list[str] | None:
        checked: list[str] | None = _one_of("texts", texts, info)
        return checked

    @property
    def messages(self) -> Sequence[str | Hypotheses]:
        """The messages, as the matcher takes them."""
        return self.texts or [] if self.hypotheses is None else [_pairs(each) for each in self.hypotheses]


class FillRequest(RequestModel):
    """The answer to a question for slots of an intent."""

    language: LanguageCode | None = _LANGUAGE
    now: LocalTime | None = _NOW
    conversation: Conversation | None = _CONVERSATION
    text: str = Field(description="The answer, as the user wrote it.", examples=["tomorrow"])
    intent: Name = Field(description="The intent that was matched.")
    slots: list[Name] | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="The slots asked for; the default is all slots of the intent.",
    )
    others: list[Name] | None = Field(
        default=None,
        max_length=100,
        description="Slots that were not asked for; they are filled only where the answer's own words say so.",
    )


class FeedbackRequest(RequestModel):
    """What a user said that a message means."""

    intent: Name | None = Field(
        description="Name of the intent that the message means; null for none of them.", examples=["order_status"]
    )
    language: LanguageCode | None = Field(default=None, description="BCP-47 code of the message.", examples=["de"])
    conversation: Conversation | None = Field(
        default=None,
        description="Id of the conversation, so that the correction counts for the registry that answered it.",
        examples=["telegram:42:42"],
    )
    text: str = _MESSAGE


class ChatRequest(MessageFields):
    """A message in a conversation, or a button that was pressed."""

    language: LanguageCode | None = Field(
        default=None, description="BCP-47 code of the user's language, for messages that do not tell theirs."
    )
    now: LocalTime | None = _NOW
    conversation: Conversation = Field(description="Id of this user in this channel.", examples=["telegram:42:42"])
    text: str | None = Field(
        default="", description="The message, as the user wrote it.", examples=["wo bleibt mein Paket?"]
    )
    chosen: Name | None = Field(
        default=None, description="The `id` of the choice that was pressed; it wins over the text."
    )
    context: list[Name] = Field(
        default=[],
        max_length=_MAX_NAMES,
        description="Active tags: an intent with `when` answers only if one of them is its own.",
    )


@lru_cache(64)
def limited(model: type[RequestModel], limits: Limits) -> type[RequestModel]:
    """Return the model of the same name whose texts are within the limits of an app; the same one for equal limits."""
    text = Annotated[str, Field(max_length=limits.max_text)]
    hypothesis: Any = _limited_hypothesis(limits.max_text)
    hypotheses = Annotated[list[hypothesis], Field(min_length=1, max_length=MOST_HYPOTHESES)]
    many = Annotated[list[hypotheses], Field(max_length=limits.max_batch), AfterValidator(_at_most(limits.max_batch))]
    bounds: dict[str, Any] = {
        "text": text,
        "texts": Annotated[list[text], Field(max_length=limits.max_batch)],
        "hypotheses": many if "texts" in model.model_fields else hypotheses,
    }
    fields = {
        # Copied, since pydantic writes the new bounds into the field that it is given.
        name: (bounds[name] | None if type(None) in get_args(field.annotation) else bounds[name], copy(field))
        for name, field in model.model_fields.items()
        if name in bounds
    }
    made: type[RequestModel] = create_model(model.__name__, __base__=model, __doc__=model.__doc__, **fields)  # type: ignore[call-overload]
    return made


@cache
def _limited_hypothesis(max_text: int) -> type[Hypothesis]:
    text: Any = (Annotated[str, Field(max_length=max_text)], copy(Hypothesis.model_fields["text"]))
    return create_model("Hypothesis", __base__=Hypothesis, __doc__=Hypothesis.__doc__, text=text)


def _at_most(max_batch: int) -> Callable[[list[list[Hypothesis]]], list[list[Hypothesis]]]:
    """Return a check of how many hypotheses a batch has: each is matched as a message is."""

    def checked(messages: list[list[Hypothesis]]) -> list[list[Hypothesis]]:
        if (total := sum(map(len, messages))) > max_batch:
            hint = f"At most {max_batch} hypotheses in all, not {total}; keep the heaviest, or send several batches"
            raise PydanticCustomError("too_long", hint)
        return messages

    return checked
