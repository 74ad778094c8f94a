"""The adapter for python-telegram-bot, in an application whose requests to Telegram end in this file."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("telegram", reason="needs the extra `telegram`")

from contracts.chat_adapter import texts
from contracts.order_bot import GatedEncoder, load_example, order_dialogue
from contracts.telegram_adapter import ANNA, BOT, PRIVATE_CHAT, TelegramContract, message_update, press_update
from telegram import Update
from telegram.ext import Application, ApplicationBuilder, Defaults, TypeHandler
from telegram.request import BaseRequest

from intentmatch import Turn
from intentmatch.integrations.telegram import IntentRouter

Message = dict[str, Any]


class Telegram(BaseRequest):
    """The part of the Bot API that the tests need; `calls` are methods with their parameters."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Message]] = []

    async def initialize(self) -> None: ...

    async def shutdown(self) -> None: ...

    @property
    def read_timeout(self) -> float:
        return 5.0

    async def do_request(self, url: str, method: str, request_data: Any = None, **_: Any) -> tuple[int, bytes]:
        name = url.rpartition("/")[2]
        if name == "getMe":
            return 200, json.dumps({"ok": True, "result": BOT}).encode()
        parameters = request_data.parameters
        self.calls.append((name, parameters))
        sent = {"message_id": 100, "date": 0, "chat": PRIVATE_CHAT, "from": BOT}
        return 200, json.dumps({"ok": True, "result": sent if name == "sendMessage" else True}).encode()

    @property
    def sent(self) -> list[Message]:
        return [parameters for name, parameters in self.calls if name == "sendMessage"]


class Chat:
    """An application with a router, and its users."""

    def __init__(self) -> None:
        self.telegram = Telegram()
        self.encoder = GatedEncoder()
        self.app: Any = self.new_app()
        self.router = IntentRouter(self.app, order_dialogue(self.encoder))

    def new_app(self) -> Application[Any, Any, Any, Any, Any, Any]:
        return (
            ApplicationBuilder()
            .token("1:token")
            .request(self.telegram)
            .updater(None)
            .defaults(Defaults(parse_mode="HTML"))
            .build()
        )

    def send(self, text: str | None, **details: Any) -> list[Message]:
        return asyncio.run(self.process(message_update(text, **details)))

    def press(self, question: Message, number: int, **details: Any) -> list[Message]:
        data = self.callback_data(question)[number - 1]
        return asyncio.run(self.process(press_update(data, question["reply_markup"], question["chat_id"], **details)))

    def send_while_encoder_waits(self, text: str) -> list[Message]:
        return asyncio.run(self.encoder.closed_until_loop_runs(self.process(message_update(text))))

    async def process(self, update: Message) -> list[Message]:
        """The messages that the application sends when it gets an update."""
        before = len(self.telegram.sent)
        failed: list[Exception | None] = []

        async def note(update: object, context: Any) -> None:
            failed.append(context.error)

        self.app.add_error_handler(note)
        async with self.app:
            await self.app.process_update(Update.de_json(update, self.app.bot))
        assert failed == []
        return self.telegram.sent[before:]

    def add_fallback(self) -> None:
        @self.router.fallback
        async def sorry(update: Update, context: Any, turn: Turn) -> None:
            await update.effective_chat.send_message(f"Sorry: {turn.message}")

    def text(self, reply: Message) -> str:
        return reply["text"]

    def titles(self, reply: Message) -> list[str]:
        return [button["text"] for (button,) in reply["reply_markup"]["inline_keyboard"]]

    def callback_data(self, question: Message) -> list[str]:
        return [button["callback_data"] for (button,) in question["reply_markup"]["inline_keyboard"]]

    def delivery(self, number: int) -> dict[str, int]:
        return {"update_id": number}

    def language_hint(self, language: str) -> Message:
        return {"user": {**ANNA, "language_code": language}}

    def calls(self) -> list[str]:
        return [name for name, _ in self.telegram.calls]

    def question_of_someone_else(self) -> Message:
        return {"chat_id": 7, "reply_markup": {"inline_keyboard": [[{"text": "Mine", "callback_data": "mine:1"}]]}}

    def place(self, reply: Message) -> tuple[int, int | None]:
        return reply["chat_id"], reply.get("message_thread_id")

    def parse_mode(self, reply: Message) -> str | None:
        return reply.get("parse_mode")


@pytest.fixture
def chat() -> Chat:
    return Chat()


@pytest.fixture
def example(chat: Chat) -> Chat:
    chat.app = chat.new_app()
    load_example("telegram/bot.py").add_intents(chat.app)
    return chat


class TestAdapter(TelegramContract):
    """python-telegram-bot does what every adapter for Telegram does."""


def test_function_of_intent_gets_callback_arguments_and_turn(chat):
    @chat.router.intent("order_status")
    async def order_status(update, context, turn):
        await update.message.reply_text(f"{turn.message} is {turn.intent}, {context.intentmatch is turn}")

    assert texts(chat, chat.send("where is my order")) == ["where is my order is order_status, True"]


def test_plain_text_is_requested_by_leaving_out_parse_mode(chat):
    chat.send("take down my name")
    (answer,) = chat.send("<Anna")

    assert "parse_mode" not in answer


def test_handlers_of_later_groups_find_the_turn(chat):
    """The message is not encoded again for them."""
    seen = []

    async def later(update, context):
        seen.append(context.intentmatch)

    chat.app.add_handler(TypeHandler(Update, later), group=1)
    chat.encoder.encoded.clear()

    chat.send("where might my order be")

    assert chat.encoder.encoded == ["where might my order be"]
    assert [turn.intent for turn in seen] == ["order_status"]
