"""The call of a whole conversation: it asks back when in doubt, and reads the answer."""

from __future__ import annotations

from dataclasses import asdict

from pydantic import Field
from starlette.requests import Request

from intentmatch.core.types import checked_language_code
from intentmatch.dialogue import Dialogue, Store, Turn
from intentmatch.matching.options import MatchOptions
from intentmatch.server.bots.bot import Bot
from intentmatch.server.routes.json_calls import JsonCalls
from intentmatch.server.routes.schemas.base import ResponseModel, Text
from intentmatch.server.routes.schemas.matches import Entity, MatchResponse
from intentmatch.server.routes.schemas.requests import ChatRequest


class Choice(ResponseModel):
    """One of the answers to "did you mean ...?" or to a yes-or-no question."""

    id: str = Field(description="To be sent back as `chosen`; valid for one question only.")
    title: Text = Field(description="For the user, in their language.")
    intent: Text | None = Field(description="Null for `none of these` and `no`.")


class TurnResponse(ResponseModel):
    """What a bot does about a message. Every key is always present."""

    message: Text
    intent: Text | None = Field(
        description="What the user wants, with all its slots; null while the bot asks back, and without any intent."
    )
    entities: list[Entity] = Field(description="Found in this message and in those before it.")
    understood: bool = Field(description="Whether there is an intent, a question or a no; else a fallback is due.")
    reply: Text | None = Field(description="The author's response, or the question to the user.")
    text: Text | None = Field(description="`reply` with the choices numbered below it, if there are any.")
    choices: list[Choice] = Field(description="What to choose from, if the bot asks which intent is meant.")
    asks_for: Text | None = Field(description="The slot that the bot asks for.")
    pending: Text | None = Field(description="The intent of that slot, or the one to confirm or declined.")
    language: Text | None = Field(description="Language of `reply` and `choices`.")
    result: MatchResponse | None = Field(description="What the message means on its own; null for a choice.")

    @classmethod
    def from_turn(cls, turn: Turn) -> TurnResponse:
        """Return the turn, validated against this model."""
        return cls(
            message=turn.message,
            intent=turn.intent,
            entities=[Entity.model_validate(asdict(entity)) for entity in turn.entities],
            understood=turn.understood,
            reply=turn.reply,
            text=turn.text,
            choices=[Choice.model_validate(asdict(choice)) for choice in turn.choices],
            asks_for=turn.asks_for,
            pending=turn.pending,
            language=turn.language,
            result=None if turn.result is None else MatchResponse.from_result(turn.result),
        )


def add_calls(calls: JsonCalls, store: Store) -> None:
    """Add the call; `store` keeps the conversations."""

    def chat(body: ChatRequest, bot: Bot, request: Request) -> TurnResponse:
        """Return what to do about a message in a conversation: a reply, or a question that the next text answers."""
        if body.language is not None:
            checked_language_code(body.language)
        with bot.snapshot_for(body.conversation) as snapshot:
            turn = Dialogue(snapshot, store=store).take(
                body.message,
                # Another bot, below another path, may have conversations of the same name.
                f"{request.scope['path']} {body.conversation}",
                chosen=body.chosen,
                language=body.language,
                context=body.context,
                now=body.now,
            )
        if turn.result is not None and not turn.answers:
            previous = turn.result.intent if turn.result.is_follow_up else None
            options = MatchOptions(context=body.context, now=body.now, previous=previous)  # as the dialogue matches
            bot.record([turn.result], snapshot.registry, options, body.conversation, [body.message])
        return TurnResponse.from_turn(turn)

    calls.add("/chat", chat, ChatRequest, TurnResponse)
