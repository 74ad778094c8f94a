"""What an adapter of a chat framework must do, as test classes that the tests of each framework inherit from.

A test file has a fixture `chat`, a `ChatUnderTest` around the bot of `order_bot`, and a class for each contract:
`class TestAdapter(ChatContract, FallbackContract): ...`. What only one framework does stays in its own file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pytest
from contracts.order_bot import DID_YOU_MEAN, TITLES, TOO_LATE, GatedEncoder

Reply = Any
"""A message of the bot, as the framework hands it out."""


class ChatUnderTest(Protocol):
    """A bot with an adapter, and its users. What a call takes by keyword is the framework's own."""

    encoder: GatedEncoder

    def send(self, text: str | None, **details: Any) -> Sequence[Reply]:
        """The replies to a message."""

    def press(self, question: Reply, number: int, **details: Any) -> Sequence[Reply]:
        """The replies to a button of a question; the first has the number 1."""

    def text(self, reply: Reply) -> str:
        """The text of a reply."""

    def titles(self, reply: Reply) -> list[str]:
        """What the buttons of a reply say."""


class AsyncChat(ChatUnderTest, Protocol):
    """A chat whose adapter is async."""

    def send_while_encoder_waits(self, text: str) -> Sequence[Reply]:
        """The replies to a message whose encoding needs a running event loop, by `closed_until_loop_runs`."""


class ChatWithLanguage(ChatUnderTest, Protocol):
    """A chat whose framework reports any language of the user."""

    def language_hint(self, language: str) -> Mapping[str, Any]:
        """The details of a message so that the framework reports this language."""


class FallbackChat(ChatUnderTest, Protocol):
    """A chat whose adapter has a fallback."""

    def add_fallback(self) -> None:
        """Add a fallback that replies "Sorry: " and the message."""


class ChatWithDeliveries(ChatUnderTest, Protocol):
    """A chat whose platform may deliver an event again."""

    def delivery(self, number: int) -> Mapping[str, Any]:
        """The details of a message so that its event has the id of this number."""


def texts(chat: ChatUnderTest, replies: Sequence[Reply]) -> list[str]:
    return [chat.text(reply) for reply in replies]


class ChatContract:
    """Intents, questions, buttons and slots."""

    def test_response_comes_from_yaml_in_language_of_message(self, chat: ChatUnderTest):
        assert texts(chat, chat.send("where is my order")) == ["On its way."]
        assert texts(chat, chat.send("wo bleibt meine bestellung")) == ["Unterwegs."]

    def test_ambiguous_message_is_answered_with_buttons(self, chat: ChatUnderTest):
        (question,) = chat.send("my order")

        assert chat.text(question) == DID_YOU_MEAN
        assert chat.titles(question) == TITLES

    def test_button_chooses_once(self, chat: ChatUnderTest):
        (question,) = chat.send("my order")

        assert texts(chat, chat.press(question, 2)) == ["Cancelled."]
        (late,) = chat.press(question, 1)
        assert chat.text(late).startswith(TOO_LATE)

    @pytest.mark.parametrize("answer", ["2", "cancel an order", "cancel"])
    def test_typed_number_or_words_choose(self, chat: ChatUnderTest, answer):
        chat.send("my order")

        assert texts(chat, chat.send(answer)) == ["Cancelled."]

    def test_missing_slot_is_asked_for(self, chat: ChatUnderTest):
        assert texts(chat, chat.send("take down my name")) == ["What is your name?"]
        assert texts(chat, chat.send("Anna")) == ["Hello, Anna!"]

    def test_intent_with_confirm_is_asked_about(self, chat: ChatUnderTest):
        (question,) = chat.send("erase everything")

        assert chat.text(question) == "Erase everything?"
        assert chat.titles(question) == ["Yes", "No"]
        assert texts(chat, chat.press(question, 1)) == ["Erased."]

    @pytest.mark.parametrize("number", [None, 2])
    def test_no_drops_an_intent_with_confirm(self, chat: ChatUnderTest, number):
        """With the button as in words, and in the language of the user."""
        (question,) = chat.send("lösche alles")
        assert chat.text(question) == "Alles löschen?"

        replies = chat.send("nein, danke") if number is None else chat.press(question, number)

        assert texts(chat, replies) == ["In Ordnung, das mache ich nicht."]

    def test_message_is_encoded_once(self, chat: ChatUnderTest):
        chat.encoder.encoded.clear()

        chat.send("where might my order be")

        assert chat.encoder.encoded == ["where might my order be"]


class FallbackContract:
    """A function for messages that no intent answers."""

    def test_none_of_these_goes_to_fallback(self, chat: FallbackChat):
        chat.add_fallback()
        (question,) = chat.send("my order")

        assert texts(chat, chat.press(question, 3)) == ["Sorry: None of these"]

    def test_message_out_of_scope_goes_to_fallback(self, chat: FallbackChat):
        """Without a fallback, the bot stays silent."""
        assert list(chat.send("quantum chromodynamics")) == []
        chat.add_fallback()

        assert texts(chat, chat.send("quantum chromodynamics")) == ["Sorry: quantum chromodynamics"]


class DeliveryContract:
    """An event that the platform delivers again."""

    def test_event_is_answered_once(self, chat: ChatWithDeliveries):
        """Otherwise the second delivery would be the answer to the question."""
        first, second = (chat.send("take down my name", **chat.delivery(1)) for _ in range(2))

        assert texts(chat, first) == ["What is your name?"]
        assert list(second) == []
        assert texts(chat, chat.send("Anna", **chat.delivery(2))) == ["Hello, Anna!"]


class EventLoopContract:
    """A slow model keeps no other user waiting."""

    def test_event_loop_runs_while_message_is_encoded(self, chat: AsyncChat):
        assert texts(chat, chat.send_while_encoder_waits("where might my order be")) == ["On its way."]


class LanguageHintContract:
    """A language that the framework reports decides for messages that do not show one."""

    @pytest.mark.parametrize("locale", ["de-DE", "de-AT", "de", "DE_at"])
    def test_reported_language_decides_where_message_does_not(self, chat: ChatWithLanguage, locale):
        assert texts(chat, chat.send("42 7")) == ["A number."]
        assert texts(chat, chat.send("42 7", **chat.language_hint(locale))) == ["Eine Zahl."]

    def test_language_of_message_wins_over_reported_language(self, chat: ChatWithLanguage):
        german = chat.send("wo bleibt meine bestellung", **chat.language_hint("en"))

        assert texts(chat, german) == ["Unterwegs."]

    def test_invalid_reported_language_is_ignored(self, chat: ChatWithLanguage):
        assert texts(chat, chat.send("where is my order", **chat.language_hint("??"))) == ["On its way."]


class ShopExampleContract:
    """The conversation that the examples of the chat frameworks hold; the fixture `example` is a chat with one."""

    def test_example_holds_its_conversation(self, example: ChatUnderTest):
        """In two languages, with a question about the intent and one about a slot."""
        (question,) = example.send("my order")
        assert example.titles(question) == TITLES
        assert texts(example, example.press(question, 1)) == ["What is your order number?"]
        assert texts(example, example.send("4711")) == ["Order 4711 is on its way."]
        assert texts(example, example.send("storniere meine Bestellung")) == ["Ich habe sie storniert."]
        assert texts(example, example.send("tell me a joke")) == ["Sorry, I did not understand that."]
        assert texts(example, example.send("what are your opening hours")) == ["We are here from nine to five."]
