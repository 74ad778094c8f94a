"""The adapter for Bot Framework, a recognizer, with the framework's own test adapter and over HTTP."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from typing import Any

import pytest

pytest.importorskip("botbuilder.dialogs", reason="needs the extra `botbuilder`")

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from botbuilder.core import ActivityHandler, Recognizer, RecognizerResult, TurnContext
from botbuilder.core.adapters import TestAdapter as FrameworkTestAdapter
from botbuilder.schema import Activity, ConversationAccount
from contracts.activity_adapter import (
    IGNORED,
    ActivityContract,
    ExampleReply,
    activity,
    check_numbered,
    describe,
    hold_example_conversation,
)
from contracts.order_bot import GatedEncoder, load_example, order_dialogue

from intentmatch import Dialogue, Intent, Matcher, Registry, Utterance
from intentmatch.integrations.botbuilder import NONE, IntentRecognizer

_ids = itertools.count()


class Chat(ActivityHandler):
    """A bot that replies what its recognizer says, and its users."""

    def __init__(self, dialogue: Dialogue | None = None) -> None:
        self.encoder = GatedEncoder()
        self.recognizer = IntentRecognizer(dialogue or order_dialogue(self.encoder))
        self.results: list[RecognizerResult] = []

    async def on_turn(self, turn_context: TurnContext) -> None:
        result = await self.recognizer.recognize(turn_context)
        self.results.append(result)
        if "reply" in result.properties:
            await turn_context.send_activity(result.properties["reply"])

    def send(self, text: str | None, **fields: Any) -> list[Activity]:
        return asyncio.run(self.asend(text, **fields))

    async def asend(self, text: str | None, **fields: Any) -> list[Activity]:
        adapter = FrameworkTestAdapter(self.on_turn)
        # Without an id, each adapter counts anew.
        fields = {"id": str(next(_ids)), **fields}
        await adapter.receive_activity(Activity().deserialize(activity(text, **fields)))
        return adapter.activity_buffer

    def press(self, question: Activity, number: int, **fields: Any) -> list[Activity]:
        button = self.buttons(question)[number - 1]
        return self.send(button["text"], value=button["value"], **fields)

    def send_while_encoder_waits(self, text: str) -> list[Activity]:
        return asyncio.run(self.encoder.closed_until_loop_runs(self.asend(text)))

    def text(self, reply: Activity) -> str:
        return reply.text

    def titles(self, reply: Activity) -> list[str]:
        return [button["title"] for button in self.buttons(reply)]

    def buttons(self, reply: Activity) -> list[Mapping[str, Any]]:
        (card,) = reply.attachments
        assert card.content_type == "application/vnd.microsoft.card.hero"
        return [button.serialize() for button in card.content.buttons]

    def has_card(self, reply: Activity) -> bool:
        return bool(reply.attachments)

    def delivery(self, number: int) -> Mapping[str, Any]:
        return {"id": f"delivered-{number}"}

    def language_hint(self, language: str) -> Mapping[str, Any]:
        return {"locale": language}

    @property
    def top(self) -> str:
        """The top intent of the last result."""
        return self.results[-1].get_top_scoring_intent().intent


@pytest.fixture
def chat() -> Chat:
    return Chat()


class TestAdapter(ActivityContract):
    """Bot Framework does what every adapter for activities does."""


def test_result_has_scores_of_intents_best_on_top(chat):
    assert isinstance(chat.recognizer, Recognizer)

    chat.send("where might my order be")
    (result,) = chat.results

    assert (result.text, chat.top) == ("where might my order be", "order_status")
    assert {"order_status", "cancel_order"} <= set(result.intents)
    assert all(0 <= intent.score <= result.intents["order_status"].score for intent in result.intents.values())
    assert result.properties["turn"].intent == "order_status"
    assert result.serialize()["intents"]["order_status"]["score"] > 0


def test_test_adapter_of_bot_framework_agrees(chat):
    """Its `test` compares what a bot says."""
    asyncio.run(FrameworkTestAdapter(chat.on_turn).test("where is my order", "On its way."))
    with pytest.raises(AssertionError):
        asyncio.run(FrameworkTestAdapter(chat.on_turn).test("where is my order", "Cancelled."))


def test_ambiguous_message_has_no_intent_yet(chat):
    chat.send("my order")

    assert chat.top == NONE


def test_test_channel_gets_numbers(chat):
    (question,) = chat.send("my order", channelId="test")

    check_numbered(chat, question)


def test_chosen_intent_is_on_top(chat):
    """With the highest score; a late choice is no intent."""
    (question,) = chat.send("my order")

    chat.send(None, value=chat.buttons(question)[1]["value"])
    assert chat.results[-1].intents["cancel_order"].score == 1.0
    assert chat.top == "cancel_order"
    chat.press(question, 1)
    assert chat.top == NONE


@pytest.mark.parametrize("answer", ["2", "cancel an order", "cancel"])
def test_intent_chosen_by_text_is_on_top(chat, answer):
    """Whatever the answer would mean as a message of its own."""
    chat.send("my order")
    chat.send(answer)

    assert chat.top == "cancel_order"


def test_none_of_these_is_no_intent(chat):
    """And gets no reply."""
    (question,) = chat.send("my order")

    assert chat.press(question, 3) == []
    assert chat.top == NONE


def test_slots_become_entities_as_luis_has_them(chat):
    chat.send("take down my name")
    assert (chat.top, chat.results[-1].entities) == (NONE, {"$instance": {}})
    chat.send("Anna")
    assert chat.top == "tell_name"
    assert chat.results[-1].entities == {
        "name": ["Anna"],
        "$instance": {"name": [{"type": "name", "text": "Anna", "startIndex": 0, "endIndex": 4}]},
    }


def test_message_out_of_scope_has_no_intent(chat):
    """It gets no reply; the nearest intents follow below `NONE`."""
    assert chat.send("quantum chromodynamics") == []
    assert chat.top == NONE
    assert chat.results[-1].intents[NONE].score == 1.0
    assert len(chat.results[-1].intents) > 1


def test_intent_may_be_named_none():
    """Every LUIS app has such an intent."""
    intents = (Intent(NONE, (Utterance("quantum"),)), Intent("greet", (Utterance("hello"), Utterance("good day"))))
    chat = Chat(Dialogue(Matcher.load(Registry(intents), encoder=GatedEncoder(), threshold=0.4, cache="off")))

    chat.send("quantum")
    assert (chat.top, chat.results[-1].properties["turn"].intent) == (NONE, NONE)
    chat.send("hello")
    assert chat.top == "greet"
    chat.send("zebra")
    assert chat.top == NONE


@pytest.mark.parametrize("fields", IGNORED, ids=describe)
def test_ignored_activities_have_no_intent(chat, fields):
    chat.send(**fields)

    (result,) = chat.results
    assert (chat.top, list(result.intents), result.entities) == (NONE, [NONE], {"$instance": {}})


@pytest.mark.parametrize(
    ("mention", "expected"),
    [
        ({"type": "mention", "text": "<at>Bot</at>", "mentioned": {"id": "bot"}}, " where is my order"),
        ({"type": "mention", "text": "<at>Bot</at>", "mentioned": {"id": "bernd"}}, "<at>Bot</at> where is my order"),
        ({"type": "mention"}, "<at>Bot</at> where is my order"),
        ({"type": "mention", "text": 7, "mentioned": {"id": "bot"}}, "<at>Bot</at> where is my order"),
        ({"type": "mention", "text": "<at>Bot</at>", "mentioned": "bot"}, "<at>Bot</at> where is my order"),
        ({"type": "clientInfo", "locale": "en"}, "<at>Bot</at> where is my order"),
        ({}, "<at>Bot</at> where is my order"),
    ],
)
def test_mention_of_bot_is_removed(chat, mention, expected):
    """Mentions of others, and entities of other shapes, leave the text alone."""
    chat.send("<at>Bot</at> where is my order", entities=[mention])

    assert chat.results[-1].text == expected


def test_channel_may_name_neither_user_nor_bot(chat):
    message = Activity(type="message", text="where is my order", conversation=ConversationAccount(id="group"))

    asyncio.run(chat.on_turn(TurnContext(FrameworkTestAdapter(), message)))

    assert chat.top == "order_status"


def test_recognizer_answers_once_a_turn(chat):
    """Several dialogs may ask in one turn; they get the same answer, and a pending question is answered once."""
    seen = []

    async def twice(context: TurnContext) -> None:
        first, second = [await chat.recognizer.recognize(context) for _ in range(2)]
        seen.append(first.properties["turn"] is second.properties["turn"])

    chat.encoder.encoded.clear()
    asyncio.run(FrameworkTestAdapter(twice).receive_activity("where might my order be"))

    assert seen == [True]
    assert chat.encoder.encoded == ["where might my order be"]


def test_example_holds_its_conversation(monkeypatch):
    """Over HTTP, with a channel that receives the replies."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    bot = load_example("botbuilder/bot.py")
    replies: list[dict[str, Any]] = []

    async def receive(request: web.Request) -> web.Response:
        replies.append(await request.json())
        return web.json_response({"id": "1"})

    async def main() -> None:
        channel = web.Application()
        channel.router.add_post("/v3/conversations/{conversation}/activities/{activity}", receive)
        async with TestServer(channel) as service, TestClient(TestServer(bot.app)) as client:

            async def send(text: str | None, value: object = None) -> ExampleReply:
                replies.clear()
                place = {"id": str(next(_ids)), "channelId": "emulator", "serviceUrl": str(service.make_url("/"))}
                async with client.post("/api/messages", json=activity(text, value=value, **place)) as response:
                    assert response.status == 201
                if not replies:
                    return ExampleReply("")
                (reply,) = replies
                if not reply.get("attachments"):
                    return ExampleReply(reply["text"])
                buttons = reply["attachments"][0]["content"]["buttons"]
                titles = [button["title"] for button in buttons]
                return ExampleReply(reply["text"], titles, [button["value"] for button in buttons])

            await hold_example_conversation(send)
            assert await send("") == ExampleReply("")

    asyncio.run(main())
