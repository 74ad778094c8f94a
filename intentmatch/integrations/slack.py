"""Adapter for Slack: `IntentRouter` for Bolt's `App`, `AsyncIntentRouter` for its `AsyncApp`."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from intentmatch import Dialogue, MissingExtraError, Turn
from intentmatch.integrations.routes import Handler, Routes

try:
    from slack_bolt import Ack, App, BoltContext, BoltRequest
    from slack_bolt.kwargs_injection import build_required_kwargs
except ModuleNotFoundError as error:
    raise MissingExtraError("The adapter for Slack", "slack") from error

if TYPE_CHECKING:
    from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncBoltContext, AsyncBoltRequest

_BUTTON = re.compile(r"^intentmatch-\d+$")
# Slack refuses a message with a longer label.
_LONGEST_BUTTON = 75
_MESSAGE_SUBTYPES = {None, "file_share", "thread_broadcast"}
# Slack writes addresses, mail and numbers as `<mailto:a@b.c|a@b.c>`, in which no word would match.
_MARKUP = re.compile(r"<(?:mailto:|tel:)?([^<>|]+)(?:\|([^<>]*))?>")


class IntentRouter(Routes):
    """Answers messages to a Bolt app, in private or with a mention, and pressed buttons.

    A function gets, by parameter name, `turn` and everything that Bolt provides; `say` replies in the user's thread:

        @router.intent("order_status")
        def order_status(say, turn):
            say(f"Order {turn.slots['order']} is on its way.")

    An event is acknowledged to Slack before the message is matched. Listeners that were added before go first. A
    middleware can report the user's locale as `context["locale"]`. `turn.reply` is escaped for Slack; the user's text,
    in `turn.message` and `turn.slots`, is not.
    """

    def __init__(self, app: App, dialogue: Dialogue) -> None:
        super().__init__(dialogue)
        app.event("message")(self._on_message)
        app.event("app_mention")(self._on_message)
        app.action(_BUTTON)(self._on_button)

    def _on_message(self, event: Mapping[str, Any], request: BoltRequest) -> None:
        with self._deliveries.once(_delivery(request)) as is_new:
            if is_new:
                self._answer(self.dialogue.take(_text(event, request.context), **_place(request)), request)

    def _on_button(self, ack: Ack, action: Mapping[str, Any], request: BoltRequest) -> None:
        # First: Slack shows an error to the user after three seconds.
        ack()
        title, chosen = _button_of(action)
        self._answer(self.dialogue.take(title, chosen=chosen, **_place(request)), request)

    def _answer(self, turn: Turn, request: BoltRequest) -> None:
        turn = _into_context(turn, request)
        if (handler := self.handler(turn)) is not None:
            handler(**_arguments(build_required_kwargs, handler, request))
        elif turn.reply is not None:
            request.context.say(**_reply(turn))


class AsyncIntentRouter(Routes):
    """`IntentRouter` for an `AsyncApp` and `async` functions."""

    def __init__(self, app: AsyncApp, dialogue: Dialogue) -> None:
        super().__init__(dialogue)
        app.event("message")(self._on_message)
        app.event("app_mention")(self._on_message)
        app.action(_BUTTON)(self._on_button)

    async def _on_message(self, event: Mapping[str, Any], request: AsyncBoltRequest) -> None:
        with self._deliveries.once(_delivery(request)) as is_new:
            if is_new:
                turn = await self.dialogue.atake(_text(event, request.context), **_place(request))
                await self._answer(turn, request)

    async def _on_button(self, ack: AsyncAck, action: Mapping[str, Any], request: AsyncBoltRequest) -> None:
        await ack()
        title, chosen = _button_of(action)
        await self._answer(await self.dialogue.atake(title, chosen=chosen, **_place(request)), request)

    async def _answer(self, turn: Turn, request: AsyncBoltRequest) -> None:
        # Imported here: it needs aiohttp, which is installed wherever there is an `AsyncApp`.
        from slack_bolt.kwargs_injection.async_utils import build_async_required_kwargs

        turn = _into_context(turn, request)
        if (handler := self.handler(turn)) is not None:
            await handler(**_arguments(build_async_required_kwargs, handler, request))
        elif turn.reply is not None:
            await request.context.say(**_reply(turn))


def _text(event: Mapping[str, Any], context: BoltContext | AsyncBoltContext) -> str | None:
    """Return a user's message as plain text; None for messages of bots, edits and all other events."""
    if event.get("bot_id") or event.get("edited") or event.get("subtype") not in _MESSAGE_SUBTYPES:
        return None
    text, mention = event.get("text") or "", f"<@{context.bot_user_id}>"
    if mention in text and event["type"] == "message" and event.get("channel_type") != "im":
        return None  # Slack sends the message again, as an `app_mention`
    return html.unescape(_MARKUP.sub(lambda mark: mark[2] or mark[1], text.replace(mention, "")))


def _delivery(request: BoltRequest | AsyncBoltRequest) -> str | None:
    """Return the id of an event. Slack delivers an event again, up to three times, if it is not acknowledged in 3 s."""
    event: str | None = request.body.get("event_id")
    return event


def _button_of(action: Mapping[str, Any]) -> tuple[str, str]:
    """Return the title of a button and the id of its choice."""
    return action["text"]["text"], action["value"]


def _place(request: BoltRequest | AsyncBoltRequest) -> dict[str, Any]:
    """Return the keywords of `Dialogue.take` that describe the user and the conversation."""
    context = request.context
    conversation = f"slack:{context.team_id}:{context.channel_id}:{_thread(request) or ''}:{context.user_id}"
    return {"conversation": conversation, "language": context.get("locale"), "turn": context}


def _thread(request: BoltRequest | AsyncBoltRequest) -> str | None:
    """Return the thread of the message or of the pressed button; Bolt's `context.thread_ts` covers only assistants."""
    message = request.body.get("event") or request.body.get("message") or {}
    thread: str | None = message.get("thread_ts")
    return thread


def _into_context(turn: Turn, request: BoltRequest | AsyncBoltRequest) -> Turn:
    """Put the turn into the context, with its reply escaped: it may quote the user, who must not mention everyone."""
    context = request.context
    context.say.thread_ts = _thread(request)
    # Only the signs that Slack reads as markup: quotes are shown as they are.
    context["turn"] = replace(turn, reply=turn.reply and html.escape(turn.reply, quote=False))
    escaped: Turn = context["turn"]
    return escaped


def _arguments(build: Callable[..., dict[str, Any]], handler: Handler, request: Any) -> dict[str, Any]:
    """Return the arguments that a function asks for by its parameter names, as Bolt provides them."""
    return build(
        logger=request.context.logger,
        required_arg_names=list(inspect.signature(handler).parameters),
        request=request,
        response=None,
        this_func=handler,
        next_keys_required=False,
    )


def _reply(turn: Turn) -> dict[str, Any]:
    reply: dict[str, Any] = {"text": turn.text}
    if turn.choices:
        buttons = [
            {
                "type": "button",
                "action_id": f"intentmatch-{number}",
                "text": {"type": "plain_text", "text": choice.title[:_LONGEST_BUTTON]},
                "value": choice.id,
            }
            for number, choice in enumerate(turn.choices, 1)
        ]
        question = {"type": "section", "text": {"type": "plain_text", "text": turn.reply}}
        reply["blocks"] = [question, {"type": "actions", "elements": buttons}]
    return reply
