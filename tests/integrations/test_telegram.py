"""intentmatch in an application of python-telegram-bot that is handed updates, and whose requests end in this file."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("telegram", reason="needs the extra `telegram`")

from chats import DID_YOU_MEAN, TITLES, TOO_LATE, GatedEncoder, dialogue, example
from telegram import Update
from telegram.ext import Application, ApplicationBuilder, Defaults, TypeHandler
from telegram.request import BaseRequest

from intentmatch import Turn
from intentmatch.integrations.telegram import IntentRouter

Message = dict[str, Any]

BOT = {"id": 1, "is_bot": True, "first_name": "Bot", "username": "shop_bot"}
ANNA = {"id": 7, "is_bot": False, "first_name": "Anna"}
BERND = {"id": 8, "is_bot": False, "first_name": "Bernd"}
AT_HOME = {"id": 7, "type": "private"}
GROUP = {"id": -9, "type": "supergroup", "title": "Group"}
OLD = {"message_id": 100, "date": 0}


class Telegram(BaseRequest):
    """As much of the Bot API as a bot that talks needs; `calls` are the methods and parameters that were called."""

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
        sent = {"message_id": 100, "date": 0, "chat": AT_HOME, "from": BOT}
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
        self.router = IntentRouter(self.app, dialogue(self.encoder))

    def new_app(self) -> Application[Any, Any, Any, Any, Any, Any]:
        return (
            ApplicationBuilder()
            .token("1:token")
            .request(self.telegram)
            .updater(None)
            .defaults(Defaults(parse_mode="HTML"))
            .build()
        )

    def hear(
        self, text: str | None, *, user: Message = ANNA, chat: Message = AT_HOME, kind: str = "message", **more: Any
    ) -> list[Message]:
        """What is said to a message."""
        said = {"text": text} if text is not None else {}
        message = {"message_id": 10, "date": 0, "chat": chat, "from": user, **said, **more}
        return self.send({"update_id": 1, kind: message})

    def press(
        self, question: Message, number: int, *, user: Message = ANNA, old: bool = False, **more: Any
    ) -> list[Message]:
        """What is said to a button of a message of the bot."""
        (button,) = question["reply_markup"]["inline_keyboard"][number - 1]
        chat = GROUP if question["chat_id"] == GROUP["id"] else AT_HOME
        markup = question["reply_markup"]
        asked = {"message_id": 100, "date": 1, "chat": chat, "from": BOT, "reply_markup": markup, **more}
        message = OLD | {"chat": chat} if old else asked
        query = {"id": "1", "from": user, "chat_instance": "1", "data": button["callback_data"]}
        return self.send({"update_id": 2, "callback_query": {**query, "message": message}})

    def send(self, update: Message) -> list[Message]:
        return asyncio.run(self.process(update))

    async def process(self, update: Message) -> list[Message]:
        before = len(self.telegram.sent)
        failed: list[Exception | None] = []

        async def note(update: object, context: Any) -> None:
            failed.append(context.error)

        self.app.add_error_handler(note)
        async with self.app:
            await self.app.process_update(Update.de_json(update, self.app.bot))
        assert failed == []
        return self.telegram.sent[before:]

    def falls_back(self) -> None:
        @self.router.fallback
        async def sorry(update: Update, context: Any, turn: Turn) -> None:
            await update.effective_chat.send_message(f"Sorry: {turn.message}")


@pytest.fixture
def chat() -> Chat:
    return Chat()


def texts(messages: list[Message]) -> list[str]:
    return [message["text"] for message in messages]


def test_an_intent_with_a_function_is_answered_by_it(chat):
    """It gets what a callback gets, and the turn."""

    @chat.router.intent("order_status")
    async def order_status(update, context, turn):
        await update.message.reply_text(f"{turn.message} is {turn.intent}, {context.intentmatch is turn}")

    assert texts(chat.hear("where is my order")) == ["where is my order is order_status, True"]


def test_an_intent_without_a_function_is_answered_from_the_yaml(chat):
    """In the language of the message."""
    assert texts(chat.hear("where is my order")) == ["On its way."]
    assert texts(chat.hear("wo bleibt meine bestellung", user={**ANNA, "language_code": "en"})) == ["Unterwegs."]


def test_a_doubt_is_asked_about_with_buttons(chat):
    """One below the other; Telegram takes 64 bytes from each."""
    (said,) = chat.hear("my order")

    assert said["text"] == DID_YOU_MEAN
    rows = said["reply_markup"]["inline_keyboard"]
    assert [button["text"] for (button,) in rows] == TITLES
    assert all(len(button["callback_data"].encode()) <= 64 for (button,) in rows)


def test_a_button_chooses(chat):
    """Once; Telegram hears that it was pressed in any case, or it would go on turning."""
    (question,) = chat.hear("my order")

    assert texts(chat.press(question, 2)) == ["Cancelled."]
    (late,) = chat.press(question, 1)
    assert late["text"].startswith(TOO_LATE)
    assert [name for name, _ in chat.telegram.calls].count("answerCallbackQuery") == 2


def test_none_of_these_is_for_the_fallback(chat):
    """As a message that is not understood."""
    chat.falls_back()
    (question,) = chat.hear("my order")

    assert texts(chat.press(question, 3)) == ["Sorry: None of these"]


def test_a_button_of_an_old_message_does_no_harm(chat):
    """Of which Telegram tells no more than where it was."""
    (question,) = chat.hear("my order")

    (late,) = chat.press(question, 1, old=True, user=BERND)
    assert late["text"].startswith(TOO_LATE)
    assert texts(chat.press(question, 2, old=True)) == ["Cancelled."]


def test_buttons_of_others_are_left_alone(chat):
    """The bot may have some of its own."""
    mine = {"chat_id": 7, "reply_markup": {"inline_keyboard": [[{"text": "Mine", "callback_data": "mine:1"}]]}}

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
    assert answer["text"] == "Hello, <Anna!"
    assert "parse_mode" not in answer


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
    assert (question["chat_id"], question["message_thread_id"]) == (GROUP["id"], 5)

    assert chat.hear("2", user=BERND, **topic) == []
    assert chat.hear("2", chat=GROUP) == []
    (late,) = chat.press(question, 2, user=BERND, message_thread_id=5, is_topic_message=True)
    assert late["text"].startswith(TOO_LATE)
    (answer,) = chat.press(question, 2, message_thread_id=5, is_topic_message=True)
    assert (answer["text"], answer["message_thread_id"]) == ("Cancelled.", 5)


def test_a_message_is_recognised_once(chat):
    """Handlers of later groups find the turn where they look for it."""
    seen = []

    async def later(update, context):
        seen.append(context.intentmatch)

    chat.app.add_handler(TypeHandler(Update, later), group=1)
    chat.encoder.encoded.clear()

    chat.hear("where might my order be")

    assert chat.encoder.encoded == ["where might my order be"]
    assert [turn.intent for turn in seen] == ["order_status"]


def test_the_language_of_the_user_is_a_hint(chat):
    """For messages that do not tell one."""
    assert texts(chat.hear("42 7", user={**ANNA, "language_code": "de-AT"})) == ["Eine Zahl."]
    assert texts(chat.hear("42 7")) == ["A number."]


def test_the_loop_goes_on_while_a_message_is_read(chat):
    """A slow model keeps nobody else waiting."""
    message = {"message_id": 10, "date": 0, "chat": AT_HOME, "from": ANNA, "text": "where might my order be"}

    async def while_closed() -> list[Message]:
        chat.encoder.closed_for_a_moment()
        return await chat.process({"update_id": 1, "message": message})

    assert texts(asyncio.run(while_closed())) == ["On its way."]


def test_the_example_holds_a_conversation(chat):
    """In two languages, with a question of each kind."""
    chat.app = chat.new_app()
    example("telegram/bot.py").add_intents(chat.app)

    (question,) = chat.hear("my order")
    assert [button["text"] for (button,) in question["reply_markup"]["inline_keyboard"]] == TITLES
    assert texts(chat.press(question, 1)) == ["What is your order number?"]
    assert texts(chat.hear("4711")) == ["Order 4711 is on its way."]
    assert texts(chat.hear("storniere meine Bestellung")) == ["Ich habe sie storniert."]
    assert texts(chat.hear("tell me a joke")) == ["Sorry, I did not understand that."]
    assert texts(chat.hear("what are your opening hours")) == ["We are here from nine to five."]
