"""intentmatch in an aiogram dispatcher that is fed updates, and whose requests end in this file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("aiogram", reason="needs the extra `aiogram`")

from aiogram import Bot, Dispatcher, F, Router
from aiogram.client.default import DefaultBotProperties
from aiogram.client.session.base import BaseSession
from aiogram.methods import AnswerCallbackQuery, GetMe, SendMessage, TelegramMethod
from aiogram.types import Chat as Place
from aiogram.types import InlineKeyboardButton, InlineKeyboardMarkup, Message, Update, User
from chats import DID_YOU_MEAN, TITLES, TOO_LATE, GatedEncoder, dialogue, example

from intentmatch.integrations.aiogram import IntentRouter

BOT = {"id": 1, "is_bot": True, "first_name": "Bot", "username": "shop_bot"}
ANNA = {"id": 7, "is_bot": False, "first_name": "Anna"}
BERND = {"id": 8, "is_bot": False, "first_name": "Bernd"}
AT_HOME = {"id": 7, "type": "private"}
GROUP = {"id": -9, "type": "supergroup", "title": "Group"}
OLD = {"message_id": 100, "date": 0}


class Telegram(BaseSession):
    """As much of the Bot API as a bot that talks needs; `calls` are the methods that were called."""

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
            return Message(message_id=100, date=0, chat=Place(**AT_HOME), from_user=User(**BOT))
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
        self.router: Any = router or IntentRouter(dialogue(self.encoder))
        self.dispatcher = Dispatcher()
        self.dispatcher.include_router(self.router)

    def hear(self, text: str | None, **message: Any) -> list[SendMessage]:
        """What is said to a message."""
        return asyncio.run(self.process(self.message(text, **message)))

    def message(
        self,
        text: str | None,
        *,
        user: dict[str, Any] | None = ANNA,
        chat: dict[str, Any] = AT_HOME,
        kind: str = "message",
        **more: Any,
    ) -> dict[str, Any]:
        said = {"text": text} if text is not None else {}
        return {"update_id": 1, kind: {"message_id": 10, "date": 1, "chat": chat, "from": user, **said, **more}}

    def press(
        self, question: SendMessage, number: int, *, user: dict[str, Any] = ANNA, old: bool = False, **more: Any
    ) -> list[SendMessage]:
        """What is said to a button of a message of the bot."""
        markup = question.reply_markup.model_dump(exclude_none=True)
        chat = GROUP if question.chat_id == GROUP["id"] else AT_HOME
        asked = {"message_id": 100, "date": 1, "chat": chat, "from": BOT, "reply_markup": markup, **more}
        message = OLD | {"chat": chat} if old else asked
        data = markup["inline_keyboard"][number - 1][0]["callback_data"]
        query = {"id": "1", "from": user, "chat_instance": "1", "data": data, "message": message}
        return asyncio.run(self.process({"update_id": 2, "callback_query": query}))

    async def process(self, update: dict[str, Any]) -> list[SendMessage]:
        before = len(self.telegram.sent)
        await self.dispatcher.feed_update(self.bot, Update.model_validate(update, context={"bot": self.bot}))
        return self.telegram.sent[before:]

    def falls_back(self) -> None:
        @self.router.fallback
        async def sorry(message, turn):
            await message.answer(f"Sorry: {turn.message}")


@pytest.fixture
def chat() -> Chat:
    return Chat()


def texts(messages: list[SendMessage]) -> list[str]:
    return [message.text for message in messages]


def buttons(message: SendMessage) -> list[Any]:
    return [button for row in message.reply_markup.inline_keyboard for button in row]


def test_an_intent_with_a_function_is_answered_by_it(chat):
    """It gets the message, the turn, and what aiogram knows by name; also after a button."""

    @chat.router.intent("order_status")
    async def order_status(message, turn, event_from_user, bot):
        await message.answer(f"{event_from_user.first_name}: {turn.intent}, {bot is chat.bot}")

    assert texts(chat.hear("where is my order")) == ["Anna: order_status, True"]
    (question,) = chat.hear("my order")
    assert texts(chat.press(question, 1)) == ["Anna: order_status, True"]


def test_a_function_need_not_be_async(chat):
    """As everywhere in aiogram."""
    heard = []

    @chat.router.intent("order_status")
    def order_status(message):
        heard.append(message.text)

    assert chat.hear("where is my order") == []
    assert heard == ["where is my order"]


def test_an_intent_without_a_function_is_answered_from_the_yaml(chat):
    """In the language of the message."""
    assert texts(chat.hear("where is my order")) == ["On its way."]
    assert texts(chat.hear("wo bleibt meine bestellung", user={**ANNA, "language_code": "en"})) == ["Unterwegs."]


def test_a_doubt_is_asked_about_with_buttons(chat):
    """One below the other; Telegram takes 64 bytes from each."""
    (said,) = chat.hear("my order")

    assert said.text == DID_YOU_MEAN
    assert [button.text for button in buttons(said)] == TITLES
    assert all(len(button.callback_data.encode()) <= 64 for button in buttons(said))


def test_a_button_chooses(chat):
    """Once; Telegram hears that it was pressed in any case, or it would go on turning."""
    (question,) = chat.hear("my order")

    assert texts(chat.press(question, 2)) == ["Cancelled."]
    (late,) = chat.press(question, 1)
    assert late.text.startswith(TOO_LATE)
    assert sum(isinstance(method, AnswerCallbackQuery) for method in chat.telegram.calls) == 2


def test_none_of_these_is_for_the_fallback(chat):
    """As a message that is not understood."""
    chat.falls_back()
    (question,) = chat.hear("my order")

    assert texts(chat.press(question, 3)) == ["Sorry: None of these"]


def test_a_button_of_an_old_message_does_no_harm(chat):
    """Of which Telegram tells no more than where it was."""
    (question,) = chat.hear("my order")

    (late,) = chat.press(question, 1, old=True, user=BERND)
    assert late.text.startswith(TOO_LATE)
    assert texts(chat.press(question, 2, old=True)) == ["Cancelled."]


def test_buttons_of_others_are_left_alone(chat):
    """The bot may have some of its own."""
    rows = [[InlineKeyboardButton(text="Mine", callback_data="mine:1")]]
    mine = SendMessage(chat_id=7, text="Mine?", reply_markup=InlineKeyboardMarkup(inline_keyboard=rows))

    assert chat.press(mine, 1) == []
    assert chat.telegram.calls == []


@pytest.mark.parametrize("answer", ["2", "cancel an order", "cancel"])
def test_a_number_or_words_choose_too(chat, answer):
    """For those who write on."""
    chat.hear("my order")

    assert texts(chat.hear(answer)) == ["Cancelled."]


def test_a_slot_is_asked_for(chat):
    """And what was said for it is no markup, whatever the bot uses elsewhere."""
    assert texts(chat.hear("take down my name")) == ["What is your name?"]
    (answer,) = chat.hear("<Anna")
    assert answer.text == "Hello, <Anna!"
    assert answer.parse_mode is None


def test_what_is_not_understood_is_for_the_fallback(chat):
    """Without one, the bot says nothing."""
    assert chat.hear("quantum chromodynamics") == []
    chat.falls_back()

    assert texts(chat.hear("quantum chromodynamics")) == ["Sorry: quantum chromodynamics"]


STICKER = {"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1, "type": "regular"}
PHOTO = [{"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}]


@pytest.mark.parametrize(
    "message",
    [
        {"text": None},
        {"text": ""},
        {"text": " "},
        {"text": None, "photo": PHOTO},
        {"text": None, "sticker": {**STICKER, "is_animated": False, "is_video": False}},
        {"text": "where is my order", "kind": "edited_message"},
        {"text": "where is my order", "kind": "channel_post"},
        {"text": "where is my order", "user": BOT},
        {"text": "where is my order", "user": None},
        {"text": "/order", "entities": [{"type": "bot_command", "offset": 0, "length": 6}]},
        {"text": "@shop_bot"},
    ],
    ids=lambda message: " ".join(f"{key}={value}"[:40] for key, value in message.items()),
)
def test_what_is_not_said_to_the_bot_is_passed_over(chat, message):
    """Nothing is said to empty messages, to what is edited, to commands, and to bots."""
    chat.falls_back()

    assert chat.hear(**message) == []


def test_a_caption_is_heard(chat):
    """What is written below a picture is said as well."""
    assert texts(chat.hear(None, photo=PHOTO, caption="where is my order")) == ["On its way."]


def test_a_mention_is_no_part_of_what_is_said(chat):
    """Bots in groups mostly hear only those who mention them."""
    chat.encoder.encoded.clear()

    assert texts(chat.hear("@shop_bot where is my order", chat=GROUP)) == ["On its way."]
    assert chat.encoder.encoded == []


def test_users_chats_and_topics_do_not_answer_for_each_other(chat):
    """What waits for one is not answered by another, nor elsewhere; the bot stays in the topic."""
    topic = {"chat": GROUP, "message_thread_id": 5, "is_topic_message": True}
    (question,) = chat.hear("my order", **topic)
    assert (question.chat_id, question.message_thread_id) == (GROUP["id"], 5)

    assert chat.hear("2", user=BERND, **topic) == []
    assert chat.hear("2", chat=GROUP) == []
    (late,) = chat.press(question, 2, user=BERND, message_thread_id=5, is_topic_message=True)
    assert late.text.startswith(TOO_LATE)
    (answer,) = chat.press(question, 2, message_thread_id=5, is_topic_message=True)
    assert (answer.text, answer.message_thread_id) == ("Cancelled.", 5)


def test_a_message_is_recognised_once(chat):
    """And not at all where a router that was included before takes it."""
    chat.encoder.encoded.clear()

    chat.hear("where might my order be")

    assert chat.encoder.encoded == ["where might my order be"]


def test_routers_that_were_included_before_go_first(chat):
    """A bot may have handlers beside the intents."""
    first = Router()
    heard = []

    @first.message(F.text == "where is my order")
    async def own(message):
        heard.append(message.text)

    chat.dispatcher.sub_routers.insert(0, first)

    assert chat.hear("where is my order") == []
    assert heard == ["where is my order"]


def test_the_language_of_the_user_is_a_hint(chat):
    """For messages that do not tell one."""
    assert texts(chat.hear("42 7", user={**ANNA, "language_code": "de-AT"})) == ["Eine Zahl."]
    assert texts(chat.hear("42 7")) == ["A number."]


def test_the_loop_goes_on_while_a_message_is_read(chat):
    """A slow model keeps nobody else waiting."""

    async def while_closed() -> list[SendMessage]:
        chat.encoder.closed_for_a_moment()
        return await chat.process(chat.message("where might my order be"))

    assert texts(asyncio.run(while_closed())) == ["On its way."]


def test_the_example_holds_a_conversation():
    """In two languages, with a question of each kind."""
    chat = Chat(example("aiogram/bot.py").intents())

    (question,) = chat.hear("my order")
    assert [button.text for button in buttons(question)] == TITLES
    assert texts(chat.press(question, 1)) == ["What is your order number?"]
    assert texts(chat.hear("4711")) == ["Order 4711 is on its way."]
    assert texts(chat.hear("storniere meine Bestellung")) == ["Ich habe sie storniert."]
    assert texts(chat.hear("tell me a joke")) == ["Sorry, I did not understand that."]
    assert texts(chat.hear("what are your opening hours")) == ["We are here from nine to five."]
