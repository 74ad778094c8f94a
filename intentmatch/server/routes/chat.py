"""The call of a whole conversation: it asks back where it is in doubt, and understands the answer."""

# No postponed annotations here: FastAPI reads those of the route, and the model of its request has the app's own limit.
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, FastAPI, Request
from pydantic import BaseModel, ConfigDict, Field

from intentmatch.core.types import checked_language_code
from intentmatch.dialogue import Dialogue, Store, Turn
from intentmatch.server.bots.bot import Service
from intentmatch.server.middleware import problems
from intentmatch.server.routes import schemas

_Name = Annotated[str, Field(max_length=200)]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Choice(_Answer):
    """One of the answers to "did you mean ...?"."""

    id: str = Field(description="To be sent back as `chosen`; good for one question only.")
    title: schemas.Text = Field(description="For the user, in their language.")
    intent: schemas.Text | None = Field(description="Null for `none of these`.")


class TurnResponse(_Answer):
    """What a bot does about a message. All keys are there whatever that is."""

    message: schemas.Text
    intent: schemas.Text | None = Field(
        description="What the user wants, with all that it needs; null while the user is asked, or is not understood."
    )
    entities: list[schemas.Entity] = Field(description="Found in this message and in those before it.")
    understood: bool = Field(description="Whether there is an intent or a question; otherwise a fallback is due.")
    reply: schemas.Text | None = Field(description="The author's response, or the question to the user.")
    text: schemas.Text | None = Field(description="`reply` with the choices numbered below it, where there are any.")
    choices: list[Choice] = Field(description="Where the user is asked which intent is meant.")
    asks_for: schemas.Text | None = Field(description="The slot that the user is asked for.")
    pending: schemas.Text | None = Field(description="The intent that it is asked for.")
    language: schemas.Text | None = Field(description="Of `reply` and `choices`.")
    result: schemas.MatchResponse | None = Field(description="What the message means on its own; null for a choice.")

    @classmethod
    def of(cls, turn: Turn) -> "TurnResponse":
        """The same turn."""
        return cls(
            message=turn.message,
            intent=turn.intent,
            entities=[schemas.Entity.model_validate(asdict(entity)) for entity in turn.entities],
            understood=turn.understood,
            reply=turn.reply,
            text=turn.text,
            choices=[Choice.model_validate(asdict(choice)) for choice in turn.choices],
            asks_for=turn.asks_for,
            pending=turn.pending,
            language=turn.language,
            result=None if turn.result is None else schemas.MatchResponse.of(turn.result),
        )


def add_calls(app: FastAPI | APIRouter, asked: Callable[[Request], Service], store: Store, max_text: int) -> None:
    """Add the call; `asked` says whom a request is for."""

    class ChatRequest(schemas.MessageOptions):
        """A message, or a button that was pressed."""

        conversation: Annotated[str, Field(min_length=1, max_length=1000)] = Field(
            description="Tells this user in this place from all others.", examples=["telegram:42:42"]
        )
        text: Annotated[str, Field(max_length=max_text)] = Field(
            default="", description="The message, as the user wrote it.", examples=["wo bleibt mein Paket?"]
        )
        chosen: _Name | None = Field(
            default=None, description="The `id` of the choice that was pressed; then counts more than the text."
        )
        language: Annotated[str, Field(max_length=35)] | None = Field(
            default=None, description="BCP-47 code of what the user speaks, where the message does not tell."
        )
        context: list[_Name] = Field(
            default=[], max_length=10_000, description="Active tags: an intent with `when` answers only where one is."
        )

    @app.post("/chat", tags=["matching"], responses=problems.responses(400, 401, 408, 413, 415, 422, 429, 503))
    def chat(body: ChatRequest, request: Request) -> TurnResponse:
        """What to do about a message in a conversation: answer it, or ask back and take the next one as the answer."""
        if body.language is not None:
            checked_language_code(body.language)
        service = asked(request)
        with service.answering() as matcher:
            turn = Dialogue(matcher, store=store).take(
                body.text,
                # Below another path, another bot has conversations of the same name.
                f"{request.scope['path']} {body.conversation}",
                chosen=body.chosen,
                language=body.language,
                context=body.context,
                now=body.now,
            )
        if turn.result is not None and not turn.answers:
            service.record([turn.result])
        return TurnResponse.of(turn)
