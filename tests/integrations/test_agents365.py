"""The adapter for the Microsoft 365 Agents SDK, in an agent that gets activities over HTTP, as from channels."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import pytest

pytest.importorskip("microsoft_agents.hosting.aiohttp", reason="needs the extra `agents365`")

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from contracts.activity_adapter import (
    ActivityContract,
    ExampleReply,
    activity,
    check_numbered,
    hold_example_conversation,
)
from contracts.chat_adapter import FallbackContract, texts
from contracts.order_bot import TITLES, GatedEncoder, load_example, order_dialogue
from microsoft_agents.hosting.aiohttp import CloudAdapter, jwt_authorization_middleware, start_agent_process
from microsoft_agents.hosting.core import (
    AgentApplication,
    AgentAuthConfiguration,
    AnonymousTokenProvider,
    ConnectionManager,
    MemoryStorage,
    TurnContext,
    TurnState,
)

from intentmatch import UnknownNameError
from intentmatch.integrations.agents365 import IntentRouter

pytestmark = pytest.mark.filterwarnings("ignore:It is recommended to use web:aiohttp.web_exceptions.NotAppKeyWarning")

Reply = dict[str, Any]
Talk = Callable[[TestClient[Any, Any]], Coroutine[Any, Any, Any]]
ANONYMOUS = AgentAuthConfiguration(anonymous_allowed=True)


class Chat:
    """An agent with a router, and its users."""

    def __init__(self) -> None:
        self.encoder = GatedEncoder()
        connections = ConnectionManager(lambda _: AnonymousTokenProvider(), {"SERVICE_CONNECTION": ANONYMOUS})
        self.adapter = CloudAdapter(connection_manager=connections)
        self.agent = AgentApplication[TurnState](storage=MemoryStorage(), connection_manager=connections)
        self.router = IntentRouter(self.agent, order_dialogue(self.encoder))

    def add_function(self, intent: str, answer: Callable[[Any], str]) -> None:
        """Add a function for an intent that replies what `answer` makes of the turn."""

        @self.router.intent(intent)
        async def reply(context: TurnContext, state: TurnState, turn: Any) -> None:
            await context.send_activity(answer(turn))

    def add_fallback(self) -> None:
        @self.router.fallback
        async def sorry(context: TurnContext, state: TurnState, turn: Any) -> None:
            await context.send_activity(f"Sorry: {turn.message}")

    def send(self, text: str | None, **fields: Any) -> list[Reply]:
        async def talk(client: TestClient[Any, Any]) -> list[Reply]:
            return await post(client, text, **fields)

        return self.with_client(talk)

    def press(self, question: Reply, number: int, **fields: Any) -> list[Reply]:
        button = self.buttons(question)[number - 1]
        return self.send(button["text"], value=button["value"], **fields)

    def send_while_encoder_waits(self, text: str) -> list[Reply]:
        return self.with_client(lambda client: self.encoder.closed_until_loop_runs(post(client, text)))

    def with_client(self, talk: Talk) -> Any:
        async def messages(request: web.Request) -> web.StreamResponse | None:
            return await start_agent_process(request, self.agent, self.adapter)

        app = web.Application(middlewares=[jwt_authorization_middleware])
        app["agent_configuration"] = ANONYMOUS
        app.router.add_post("/api/messages", messages)
        return served(app, talk)

    def text(self, reply: Reply) -> str:
        return reply["text"]

    def titles(self, reply: Reply) -> list[str]:
        return [button["title"] for button in self.buttons(reply)]

    def buttons(self, reply: Reply) -> list[dict[str, Any]]:
        return card_buttons(reply)

    def has_card(self, reply: Reply) -> bool:
        return "attachments" in reply

    def delivery(self, number: int) -> Mapping[str, Any]:
        return {"id": f"delivered-{number}"}

    def language_hint(self, language: str) -> Mapping[str, Any]:
        return {"locale": language}


def served(app: web.Application, talk: Talk) -> Any:
    async def main() -> Any:
        async with TestClient(TestServer(app)) as client:
            return await talk(client)

    return asyncio.run(main())


_numbers = itertools.count()


async def post(client: TestClient[Any, Any], text: str | None, **fields: Any) -> list[Reply]:
    delivery = {"id": str(next(_numbers)), "serviceUrl": "http://localhost/", "deliveryMode": "expectReplies"}
    body = activity(text, **{**delivery, **fields})
    async with client.post("/api/messages", json=body) as response:
        assert response.status == 200
        return [reply for reply in (await response.json())["activities"] if reply["type"] == "message"]


def card_buttons(reply: Reply) -> list[dict[str, Any]]:
    (card,) = reply["attachments"]
    assert card["contentType"] == "application/vnd.microsoft.card.hero"
    return card["content"]["buttons"]


@pytest.fixture
def chat() -> Chat:
    return Chat()


class TestAdapter(ActivityContract, FallbackContract):
    """The Agents SDK does what every adapter for activities does."""


def test_function_of_intent_gets_context_state_and_turn(chat):
    """Context and state as every handler of an agent gets them."""
    seen = []

    @chat.router.intent("order_status")
    async def status(context, state, turn):
        seen.append((type(context), type(state), turn.intent, chat.router.turn(context) is turn))

    assert chat.send("where is my order") == []
    assert seen == [(TurnContext, TurnState, "order_status", True)]


def test_function_of_intent_gets_slots(chat):
    chat.add_function("tell_name", lambda turn: turn.slots["name"])

    assert texts(chat, chat.send("take down my name")) == ["What is your name?"]
    assert texts(chat, chat.send("Anna")) == ["Anna"]


def test_unknown_intent_is_refused_when_function_is_added(chat):
    with pytest.raises(UnknownNameError, match="order_status"):
        chat.router.intent("order_statu")


def test_channel_of_agents_without_cards_gets_numbers(chat):
    (question,) = chat.send("my order", channelId="m365extensions")

    check_numbered(chat, question)


def test_facebook_gets_three_buttons(chat):
    """A card has room for three there."""
    (question,) = chat.send("my order", channelId="facebook")

    assert chat.titles(question) == TITLES


def test_button_that_sends_only_its_title_chooses(chat):
    """As where a channel turns it into `imBack`."""
    chat.send("my order")

    assert texts(chat, chat.send(TITLES[1])) == ["Cancelled."]


def test_routes_of_agent_stay(chat):
    """Routes for a certain text go before the intents; routes for everything else go after them."""

    @chat.agent.message("where is my order")
    async def own(context, state):
        await context.send_activity("own")

    @chat.agent.message()
    async def left(context, state):
        await context.send_activity("left")

    assert texts(chat, chat.send("where is my order")) == ["own"]
    assert texts(chat, chat.send("track my order")) == ["On its way."]
    assert texts(chat, chat.send("quantum chromodynamics")) == ["left"]
    assert texts(chat, chat.send("")) == ["left"]


def test_mention_of_agent_is_removed(chat):
    """By the SDK, before the adapter gets the message."""
    chat.add_function("order_status", lambda turn: turn.message)
    mention = {"type": "mention", "text": "<at>Bot</at>", "mentioned": {"id": "bot", "name": "Bot"}}

    assert texts(chat, chat.send("<at>Bot</at> where is my order", entities=[mention])) == ["where is my order"]


def test_dialogue_answers_once_a_turn(chat):
    """However many routes there are; asking the dialogue again in the same turn gives the same answer."""
    seen = []

    @chat.router.intent("order_status", "cancel_order")
    async def answer(context, state, turn):
        seen.append(await chat.router.dialogue.atake("", "", turn=context.turn_state) is turn)

    chat.encoder.encoded.clear()
    chat.send("where might my order be")

    assert seen == [True]
    assert chat.encoder.encoded == ["where might my order be"]


def test_example_holds_its_conversation(monkeypatch):
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setenv("CONNECTIONS__SERVICE_CONNECTION__SETTINGS__ANONYMOUS_ALLOWED", "true")
    bot = load_example("agents365/bot.py")

    async def talk(client: TestClient[Any, Any]) -> None:
        async def send(text: str | None, value: object = None) -> ExampleReply:
            (reply,) = await post(client, text, value=value)
            if "attachments" not in reply:
                return ExampleReply(reply["text"])
            buttons = card_buttons(reply)
            titles = [button["title"] for button in buttons]
            return ExampleReply(reply["text"], titles, [button["value"] for button in buttons])

        await hold_example_conversation(send)

    served(bot.app, talk)


def test_example_refuses_requests_without_token(monkeypatch):
    """Unless anonymous requests are allowed."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setenv("CONNECTIONS__SERVICE_CONNECTION__SETTINGS__CLIENTID", "an-id")
    bot = load_example("agents365/bot.py")

    async def talk(client: TestClient[Any, Any]) -> int:
        async with client.post("/api/messages", json={}) as response:
            return response.status

    assert served(bot.app, talk) == 401
