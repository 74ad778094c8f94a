"""The adapter for aiogram, in a dispatcher whose requests to Telegram end in this file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("aiogram", reason="needs the extra `aiogram`")

from aiogram import Bot, Dispatcher, F, Router
from aiogram.client.default import DefaultBotProperties
from aiogram.client.session.base import BaseSession
from aiogram.methods import GetMe, SendMessage, TelegramMethod
from aiogram.types import Chat as Place
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup, Message, Update, User
from contracts.chat_adapter import texts
from contracts.order_bot import GatedEncoder, load_example, order_dialogue
from contracts.telegram_adapter import ANNA, BOT, PRIVATE_CHAT, TelegramContract, message_update, press_update

from intentmatch.integrations.aiogram import IntentRouter


class Telegram(BaseSession):
    """The part of the Bot API that the tests need; `calls` are the methods that were called."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[TelegramMethod[Any]] = []

    async def close(self) -> None: ...

    async def stream_content(self, *args: Any, **kwargs: Any) -> AsyncGenerator[bytes, None]:
        yield b""

    async def make_request(self, bot: Bot, method: Any, timeout: int | None = None) -> Any:
        if isinstance(method, GetMe):
            return User(**BOT)
        self.calls.append(method)
        if isinstance(method, SendMessage):
            return Message(message_id=100, date=0, chat=Place(**PRIVATE_CHAT), from_user=User(**BOT))
        return True

    @property
    def sent(self) -> list[SendMessage]:
        return [method for method in self.calls if isinstance(method, SendMessage)]


class Chat:
    """A dispatcher with a router, and its users."""

    def __init__(self, router: Router | None = None) -> None:
        self.telegram = Telegram()
        self.bot = Bot("1:token", session=self.telegram, default=DefaultBotProperties(parse_mode="HTML"))
        self.encoder = GatedEncoder()
        self.router: Any = router or IntentRouter(order_dialogue(self.encoder))
        self.dispatcher = Dispatcher()
        self.dispatcher.include_router(self.router)

    def send(self, text: str | None, **details: Any) -> list[SendMessage]:
        return asyncio.run(self.process(message_update(text, **details)))

    def press(self, question: SendMessage, number: int, **details: Any) -> list[SendMessage]:
        markup = question.reply_markup.model_dump(exclude_none=True)
        data = self.callback_data(question)[number - 1]
        return asyncio.run(self.process(press_update(data, markup, question.chat_id, **details)))

    def send_while_encoder_waits(self, text: str) -> list[SendMessage]:
        return asyncio.run(self.encoder.closed_until_loop_runs(self.process(message_update(text))))

    async def process(self, update: dict[str, Any]) -> list[SendMessage]:
        """The messages that the dispatcher sends when it gets an update."""
        before = len(self.telegram.sent)
        await self.dispatcher.feed_update(self.bot, Update.model_validate(update, context={"bot": self.bot}))
        return self.telegram.sent[before:]

    def add_fallback(self) -> None:
        @self.router.fallback
        async def sorry(message, turn):
            await message.answer(f"Sorry: {turn.message}")

    def text(self, reply: SendMessage) -> str:
        return reply.text

    def titles(self, reply: SendMessage) -> list[str]:
        return [button.text for (button,) in reply.reply_markup.inline_keyboard]

    def callback_data(self, question: SendMessage) -> list[str]:
        return [button.callback_data for (button,) in question.reply_markup.inline_keyboard]

    def delivery(self, number: int) -> dict[str, int]:
        return {"update_id": number}

    def language_hint(self, language: str) -> dict[str, Any]:
        return {"user": {**ANNA, "language_code": language}}

    def calls(self) -> list[str]:
        return [method.__api_method__ for method in self.telegram.calls]

    def question_of_someone_else(self) -> SendMessage:
        rows = [[InlineKeyboardButton(text="Mine", callback_data="mine:1")]]
        return SendMessage(chat_id=7, text="Mine?", reply_markup=InlineKeyboardMarkup(inline_keyboard=rows))

    def place(self, reply: SendMessage) -> tuple[int, int | None]:
        return reply.chat_id, reply.message_thread_id

    def parse_mode(self, reply: SendMessage) -> str | None:
        return reply.parse_mode


@pytest.fixture
def chat() -> Chat:
    return Chat()


@pytest.fixture
def example() -> Chat:
    return Chat(load_example("aiogram/bot.py").intents())


class TestAdapter(TelegramContract):
    """aiogram does what every adapter for Telegram does."""


def test_function_of_intent_gets_message_turn_and_names_of_aiogram(chat):
    """Also after a button."""

    @chat.router.intent("order_status")
    async def order_status(message, turn, event_from_user, bot):
        await message.answer(f"{event_from_user.first_name}: {turn.intent}, {bot is chat.bot}")

    assert texts(chat, chat.send("where is my order")) == ["Anna: order_status, True"]
    (question,) = chat.send("my order")
    assert texts(chat, chat.press(question, 1)) == ["Anna: order_status, True"]


def test_function_of_intent_need_not_be_async(chat):
    received = []

    @chat.router.intent("order_status")
    def order_status(message):
        received.append(message.text)

    assert chat.send("where is my order") == []
    assert received == ["where is my order"]


def test_routers_included_before_go_first(chat):
    """A bot may have handlers beside the intents."""
    first = Router()
    received = []

    @first.message(F.text == "where is my order")
    async def own(message):
        received.append(message.text)

    chat.dispatcher.sub_routers.insert(0, first)

    assert chat.send("where is my order") == []
    assert received == ["where is my order"]
