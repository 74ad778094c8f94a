"""What an adapter for Telegram must do beside every chat adapter: the same for python-telegram-bot and for aiogram."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Protocol

import pytest
from contracts.chat_adapter import (
    ChatContract,
    DeliveryContract,
    EventLoopContract,
    FallbackChat,
    FallbackContract,
    LanguageHintContract,
    Reply,
    ShopExampleContract,
    texts,
)
from contracts.order_bot import TOO_LATE

BOT = {"id": 1, "is_bot": True, "first_name": "Bot", "username": "shop_bot"}
ANNA = {"id": 7, "is_bot": False, "first_name": "Anna"}
BERND = {"id": 8, "is_bot": False, "first_name": "Bernd"}
PRIVATE_CHAT = {"id": 7, "type": "private"}
GROUP = {"id": -9, "type": "supergroup", "title": "Group"}
STICKER = {"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1, "type": "regular"}
PHOTO = [{"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}]


class TelegramChat(FallbackChat, Protocol):
    """A bot whose requests to Telegram are recorded; details of a message are fields of the Bot API's `Message`."""

    def calls(self) -> Sequence[str]:
        """The methods of the Bot API that the bot called, in order."""

    def callback_data(self, question: Reply) -> list[str]:
        """What the buttons of a question send, one button a row."""

    def question_of_someone_else(self) -> Reply:
        """A question with one button, whose data is "mine:1"."""

    def place(self, reply: Reply) -> tuple[int, int | None]:
        """The ids of the chat and of the topic that a reply went to."""

    def parse_mode(self, reply: Reply) -> str | None:
        """How Telegram is asked to read a reply; None for plain text. The bot's default is HTML."""


_update_ids = itertools.count(1000)


def message_update(
    text: str | None,
    *,
    user: dict[str, Any] | None = ANNA,
    chat: dict[str, Any] = PRIVATE_CHAT,
    kind: str = "message",
    update_id: int | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """An update of Telegram with a message, or with another kind of update that holds one."""
    content = {"text": text} if text is not None else {}
    message = {"message_id": 10, "date": 1, "chat": chat, "from": user, **content, **fields}
    return {"update_id": update_id or next(_update_ids), kind: message}


def press_update(
    data: str, markup: dict[str, Any], chat_id: int, *, user: dict[str, Any] = ANNA, old: bool = False, **fields: Any
) -> dict[str, Any]:
    """An update of Telegram with a pressed button; of an `old` message Telegram reports only where it was."""
    chat = GROUP if chat_id == GROUP["id"] else PRIVATE_CHAT
    message = {"message_id": 100, "date": 0, "chat": chat}
    if not old:
        message |= {"date": 1, "from": BOT, "reply_markup": markup, **fields}
    query = {"id": "1", "from": user, "chat_instance": "1", "data": data, "message": message}
    return {"update_id": next(_update_ids), "callback_query": query}


class TelegramContract(
    ChatContract, DeliveryContract, FallbackContract, EventLoopContract, LanguageHintContract, ShopExampleContract
):
    """Buttons, markup, mentions and topics of Telegram."""

    def test_button_data_fits_limit_of_telegram(self, chat: TelegramChat):
        """Telegram accepts at most 64 bytes a button."""
        (question,) = chat.send("my order")

        assert all(len(data.encode()) <= 64 for data in chat.callback_data(question))
        assert len(chat.callback_data(question)) == 3

    def test_every_press_is_acknowledged(self, chat: TelegramChat):
        """Otherwise the button shows a progress indicator; a late press is acknowledged too."""
        (question,) = chat.send("my order")

        chat.press(question, 2)
        chat.press(question, 1)

        assert list(chat.calls()).count("answerCallbackQuery") == 2

    def test_button_of_old_message_works(self, chat: TelegramChat):
        """Telegram does not report the content of such a message."""
        (question,) = chat.send("my order")

        (late,) = chat.press(question, 1, old=True, user=BERND)
        assert chat.text(late).startswith(TOO_LATE)
        assert texts(chat, chat.press(question, 2, old=True)) == ["Cancelled."]

    def test_buttons_of_others_are_ignored(self, chat: TelegramChat):
        assert list(chat.press(chat.question_of_someone_else(), 1)) == []
        assert list(chat.calls()) == []

    def test_reply_with_text_of_user_is_sent_without_markup(self, chat: TelegramChat):
        """Whatever the bot's default parse mode."""
        chat.send("take down my name")
        (answer,) = chat.send("<Anna")

        assert chat.text(answer) == "Hello, <Anna!"
        assert chat.parse_mode(answer) is None

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
    def test_messages_for_others_are_ignored(self, chat: TelegramChat, message):
        """Empty and edited messages, channel posts, commands, and messages of bots get no reply."""
        chat.add_fallback()

        assert list(chat.send(**message)) == []

    def test_caption_is_matched(self, chat: TelegramChat):
        assert texts(chat, chat.send(None, photo=PHOTO, caption="where is my order")) == ["On its way."]

    def test_mention_of_bot_is_removed(self, chat: TelegramChat):
        """In groups, most bots receive only messages that mention them."""
        chat.encoder.encoded.clear()

        assert texts(chat, chat.send("@shop_bot where is my order", chat=GROUP)) == ["On its way."]
        assert chat.encoder.encoded == []

    def test_users_chats_and_topics_have_conversations_of_their_own(self, chat: TelegramChat):
        """A pending question is not answered by another user or elsewhere; replies stay in the topic."""
        in_topic = {"message_thread_id": 5, "is_topic_message": True}
        (question,) = chat.send("my order", chat=GROUP, **in_topic)
        assert chat.place(question) == (GROUP["id"], 5)

        assert list(chat.send("2", user=BERND, chat=GROUP, **in_topic)) == []
        assert list(chat.send("2", chat=GROUP)) == []
        (late,) = chat.press(question, 2, user=BERND, **in_topic)
        assert chat.text(late).startswith(TOO_LATE)
        (answer,) = chat.press(question, 2, **in_topic)
        assert (chat.text(answer), chat.place(answer)) == ("Cancelled.", (GROUP["id"], 5))
