"""What an adapter for activities must do: the same for the Microsoft 365 Agents SDK and for Bot Framework.

Details of a message are fields of an activity as channels send them, such as `channelId="msteams"`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import pytest
from contracts.chat_adapter import (
    ChatContract,
    ChatUnderTest,
    DeliveryContract,
    EventLoopContract,
    LanguageHintContract,
    Reply,
    texts,
)
from contracts.order_bot import DID_YOU_MEAN, NUMBERED, TITLES, TOO_LATE

ANNA, BERND, BOT = {"id": "anna"}, {"id": "bernd"}, {"id": "bot"}

IGNORED = [
    {"text": ""},
    {"text": None},
    {"text": None, "attachments": [{"contentType": "image/png", "contentUrl": "http://localhost/x.png"}]},
    {"text": "where is my order", "type": "messageUpdate"},
    {"text": "where is my order", "type": "event", "name": "tick"},
    {"text": "where is my order", "from": BOT},
    {"text": None, "type": "conversationUpdate", "membersAdded": [ANNA]},
    {"text": None, "type": "typing"},
]
"""Activities that are not a message of a user to the bot: empty ones, edits, events, and the bot's own messages."""


class ActivityChat(ChatUnderTest, Protocol):
    """A bot that gets activities in the channel "webchat", from Anna in the conversation "group"."""

    def buttons(self, reply: Reply) -> Sequence[Mapping[str, Any]]:
        """The buttons of a reply's hero card, with the names that a channel gets."""

    def has_card(self, reply: Reply) -> bool:
        """Whether a reply has a card."""


class ExampleReply(NamedTuple):
    """A reply of an example."""

    text: str
    titles: list[str] | None = None
    """What the buttons say; None where there are none."""
    values: list[Any] | None = None
    """What the buttons send."""


Send = Callable[..., Awaitable[ExampleReply]]
"""Sends a text, and perhaps `value=` of a button, to an example; an empty text stands for no reply."""


def activity(text: str | None, **fields: Any) -> dict[str, Any]:
    """A message as a channel sends it; fields that are None are left out."""
    message = {
        "type": "message",
        "text": text,
        "channelId": "webchat",
        "conversation": {"id": "group"},
        "from": ANNA,
        "recipient": BOT,
        **fields,
    }
    return {name: value for name, value in message.items() if value is not None}


def describe(fields: Mapping[str, Any]) -> str:
    """The id of a test for an activity."""
    return " ".join(f"{name}={value}"[:40] for name, value in fields.items())


def check_numbered(chat: ActivityChat, question: Reply) -> None:
    """Assert that a question has numbers instead of buttons."""
    assert chat.text(question) == NUMBERED
    assert not chat.has_card(question)


class ActivityContract(ChatContract, DeliveryContract, EventLoopContract, LanguageHintContract):
    """Buttons, values and conversations of activities."""

    def test_buttons_are_a_hero_card(self, chat: ActivityChat):
        """Each shows its title in the chat when it is pressed."""
        (question,) = chat.send("my order")

        buttons = chat.buttons(question)
        assert [button["title"] for button in buttons] == TITLES
        assert [button["displayText"] for button in buttons] == TITLES
        assert [button["text"] for button in buttons] == TITLES
        assert {button["type"] for button in buttons} == {"messageBack"}

    @pytest.mark.parametrize("channel", ["email", "twilio-sms"])
    def test_channel_without_buttons_gets_numbers(self, chat: ActivityChat, channel):
        (question,) = chat.send("my order", channelId=channel)

        check_numbered(chat, question)

    def test_value_of_button_chooses_without_text(self, chat: ActivityChat):
        (question,) = chat.send("my order")

        assert texts(chat, chat.send(None, value=chat.buttons(question)[1]["value"])) == ["Cancelled."]
        (late,) = chat.press(question, 1)
        assert chat.text(late).startswith(TOO_LATE)

    @pytest.mark.parametrize("value", ["im:1:1", {"choice": 7}, {"choice": "red"}, {"choice": ["im:"]}, 7, [], {}])
    def test_value_of_other_card_chooses_nothing(self, chat: ActivityChat, value):
        """Cards of the bot's own send values too; then the text counts."""
        chat.send("my order")

        assert texts(chat, chat.send("2", value=value)) == ["Cancelled."]
        assert list(chat.send(None, value=value)) == []

    @pytest.mark.parametrize("fields", IGNORED, ids=describe)
    def test_activities_other_than_messages_of_users_are_ignored(self, chat: ActivityChat, fields):
        if hasattr(chat, "add_fallback"):
            chat.add_fallback()

        assert list(chat.send(**fields)) == []

    def test_users_places_and_channels_have_conversations_of_their_own(self, chat: ActivityChat):
        """A pending question is not answered by another user or elsewhere."""
        (question,) = chat.send("my order")

        assert list(chat.send("2", **{"from": BERND})) == []
        (late,) = chat.press(question, 2, **{"from": BERND})
        assert chat.text(late).startswith(TOO_LATE)
        assert list(chat.send("2", conversation={"id": "elsewhere"})) == []
        assert list(chat.send("2", channelId="msteams")) == []
        assert texts(chat, chat.send("2")) == ["Cancelled."]


async def hold_example_conversation(send: Send) -> None:
    """Assert what the examples answer: two languages, a question about the intent and one about a slot."""
    question = await send("my order")
    assert question.text == DID_YOU_MEAN
    assert question.titles == TITLES
    assert (await send(None, value=question.values[1])).text == "Your order is cancelled."
    assert (await send("where is my order?")).text == "Your order is on its way."
    assert (await send("regnet es?")).text == "In welcher Stadt?"
    assert (await send("Paris")).text == "In Paris scheint die Sonne."
    assert (await send("sing a song")).text == "Sorry, I can help with orders and the weather."
