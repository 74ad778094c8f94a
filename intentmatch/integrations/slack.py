"""intentmatch in Slack: `IntentRouter` for Bolt's `App`, `AsyncIntentRouter` for its `AsyncApp`."""

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
_LONGEST_BUTTON = 75
_SPOKEN = {None, "file_share", "thread_broadcast"}
_MARKUP = re.compile(r"<(?:mailto:|tel:)?([^<>|]+)(?:\|([^<>]*))?>")


class IntentRouter(Routes):
    """Answers what users write to a Bolt app, directly or with a mention of it, and the buttons that they press.

    A function gets what Bolt gives to listeners, by name, and `turn`; `say` replies in the thread that was written in:

        @router.intent("order_status")
        def order_status(say, turn):
            say(f"Order {turn.slots['order']} is on its way.")

    Slack is told that an event has come before anything is recognised. Listeners that the app had before go first. A
    middleware that knows the user's locale tells it in `context["locale"]`. `turn.reply` is escaped as Slack wants it;
    what a user said, in `turn.message` and `turn.slots`, is not.
    """

    def __init__(self, app: App, dialogue: Dialogue) -> None:
        super().__init__(dialogue)
        app.event("message")(self._hear)
        app.event("app_mention")(self._hear)
        app.action(_BUTTON)(self._press)

    def _hear(self, event: Mapping[str, Any], request: BoltRequest) -> None:
        self._answer(self.dialogue.take(_said(event, request.context), **_place(request)), request)

    def _press(self, ack: Ack, action: Mapping[str, Any], request: BoltRequest) -> None:
        ack()
        title, chosen = _pressed(action)
        self._answer(self.dialogue.take(title, chosen=chosen, **_place(request)), request)

    def _answer(self, turn: Turn, request: BoltRequest) -> None:
        turn = _ready(turn, request)
        if (handler := self.handler(turn)) is not None:
            handler(**_arguments(build_required_kwargs, handler, request))
        elif turn.reply is not None:
            request.context.say(**_reply(turn))


class AsyncIntentRouter(Routes):
    """As `IntentRouter`, for an `AsyncApp` and functions that are `async`."""

    def __init__(self, app: AsyncApp, dialogue: Dialogue) -> None:
        super().__init__(dialogue)
        app.event("message")(self._hear)
        app.event("app_mention")(self._hear)
        app.action(_BUTTON)(self._press)

    async def _hear(self, event: Mapping[str, Any], request: AsyncBoltRequest) -> None:
        await self._answer(await self.dialogue.atake(_said(event, request.context), **_place(request)), request)

    async def _press(self, ack: AsyncAck, action: Mapping[str, Any], request: AsyncBoltRequest) -> None:
        await ack()
        title, chosen = _pressed(action)
        await self._answer(await self.dialogue.atake(title, chosen=chosen, **_place(request)), request)

    async def _answer(self, turn: Turn, request: AsyncBoltRequest) -> None:
        # Here, because it needs aiohttp, which an `AsyncApp` has brought with it.
        from slack_bolt.kwargs_injection.async_utils import build_async_required_kwargs

        turn = _ready(turn, request)
        if (handler := self.handler(turn)) is not None:
            await handler(**_arguments(build_async_required_kwargs, handler, request))
        elif turn.reply is not None:
            await request.context.say(**_reply(turn))


def _said(event: Mapping[str, Any], context: BoltContext | AsyncBoltContext) -> str | None:
    """What a user says to the bot, as plain text; None for what a bot says, what is edited, and all other events."""
    if event.get("bot_id") or event.get("edited") or event.get("subtype") not in _SPOKEN:
        return None
    text, mention = event.get("text") or "", f"<@{context.bot_user_id}>"
    if mention in text and event["type"] == "message" and event.get("channel_type") != "im":
        return None  # Slack sends it once more, as an `app_mention`
    return html.unescape(_MARKUP.sub(lambda mark: mark[2] or mark[1], text.replace(mention, "")))


def _pressed(action: Mapping[str, Any]) -> tuple[str, str]:
    """The title of a button and the id of its choice."""
    return action["text"]["text"], action["value"]


def _place(request: BoltRequest | AsyncBoltRequest) -> dict[str, Any]:
    """Who talks to the bot, and where."""
    context = request.context
    conversation = f"slack:{context.team_id}:{context.channel_id}:{_thread(request) or ''}:{context.user_id}"
    return {"conversation": conversation, "language": context.get("locale"), "turn": context}


def _thread(request: BoltRequest | AsyncBoltRequest) -> str | None:
    """The thread that a message is in, or that with the button; `context.thread_ts` knows only those of assistants."""
    message = request.body.get("event") or request.body.get("message") or {}
    thread: str | None = message.get("thread_ts")
    return thread


def _ready(turn: Turn, request: BoltRequest | AsyncBoltRequest) -> Turn:
    """The turn as functions find it. What a user said may be in the reply, and must not mention everyone."""
    context = request.context
    context.say.thread_ts = _thread(request)
    context["turn"] = replace(turn, reply=turn.reply and html.escape(turn.reply, quote=False))
    ready: Turn = context["turn"]
    return ready


def _arguments(build: Callable[..., dict[str, Any]], handler: Handler, request: Any) -> dict[str, Any]:
    """What a function asks for by the names of its parameters, as Bolt knows them."""
    return build(
        logger=request.context.logger,
        required_arg_names=list(inspect.signature(handler).parameters),
        request=request,
        response=None,
        this_func=handler,
        next_keys_required=False,
    )


def _reply(turn: Turn) -> dict[str, Any]:
    said: dict[str, Any] = {"text": turn.text}
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
        said["blocks"] = [question, {"type": "actions", "elements": buttons}]
    return said
