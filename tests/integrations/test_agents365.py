"""intentmatch in an agent of the Microsoft 365 Agents SDK that is sent activities over HTTP, as channels do."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

pytest.importorskip("microsoft_agents.hosting.aiohttp", reason="needs the extra `agents365`")

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from chats import DID_YOU_MEAN, NUMBERED, TITLES, TOO_LATE, GatedEncoder, dialogue, example
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

Activity = dict[str, Any]
Talk = Callable[[TestClient[Any, Any]], Coroutine[Any, Any, Any]]
ANONYMOUS = AgentAuthConfiguration(anonymous_allowed=True)


class Chat:
    """An agent with a router, and its users."""

    def __init__(self) -> None:
        self.encoder = GatedEncoder()
        connections = ConnectionManager(lambda _: AnonymousTokenProvider(), {"SERVICE_CONNECTION": ANONYMOUS})
        self.adapter = CloudAdapter(connection_manager=connections)
        self.agent = AgentApplication[TurnState](storage=MemoryStorage(), connection_manager=connections)
        self.router = IntentRouter(self.agent, dialogue(self.encoder))

    def handles(self, name: str, said: Callable[[Any], str]) -> None:
        """Adds a function for an intent that says what `said` makes of the turn."""

        @self.router.intent(name)
        async def answer(context: TurnContext, state: TurnState, turn: Any) -> None:
            await context.send_activity(said(turn))

    def falls_back(self) -> None:
        """Adds a fallback that says "Sorry?"."""

        @self.router.fallback
        async def sorry(context: TurnContext, state: TurnState, turn: Any) -> None:
            await context.send_activity("Sorry?")

    def hear(self, text: str | None, **activity: Any) -> list[Activity]:
        """What is said to a message."""

        async def say(client: TestClient[Any, Any]) -> list[Activity]:
            return await send(client, text, **activity)

        return self.with_client(say)

    def with_client(self, talk: Talk) -> Any:
        async def messages(request: web.Request) -> web.StreamResponse | None:
            return await start_agent_process(request, self.agent, self.adapter)

        app = web.Application(middlewares=[jwt_authorization_middleware])
        app["agent_configuration"] = ANONYMOUS
        app.router.add_post("/api/messages", messages)
        return served(app, talk)

    def press(self, question: Activity, number: int, **activity: Any) -> list[Activity]:
        """What is said to a button of a message of the agent."""
        button = buttons(question)[number - 1]
        return self.hear(button["text"], value=button["value"], **activity)


def served(app: web.Application, talk: Talk) -> Any:
    async def main() -> Any:
        async with TestClient(TestServer(app)) as client:
            return await talk(client)

    return asyncio.run(main())


_numbers = itertools.count()


async def send(
    client: TestClient[Any, Any], text: str | None, *, user: str = "anna", **activity: Any
) -> list[Activity]:
    body = {
        "type": "message",
        "id": str(next(_numbers)),
        "text": text,
        "channelId": "webchat",
        "serviceUrl": "http://localhost/",
        "conversation": {"id": "group"},
        "from": {"id": user},
        "recipient": {"id": "agent"},
        "deliveryMode": "expectReplies",
        **activity,
    }
    body = {key: value for key, value in body.items() if value is not None}
    async with client.post("/api/messages", json=body) as response:
        assert response.status == 200
        return [reply for reply in (await response.json())["activities"] if reply["type"] == "message"]


def buttons(reply: Activity) -> list[dict[str, Any]]:
    (card,) = reply["attachments"]
    assert card["contentType"] == "application/vnd.microsoft.card.hero"
    return card["content"]["buttons"]


def texts(replies: list[Activity]) -> list[str]:
    return [reply["text"] for reply in replies]


@pytest.fixture
def chat() -> Chat:
    return Chat()


def test_an_intent_with_a_function_is_answered_by_it(chat):
    """It gets the context and the state as every handler of an agent does, and the turn."""
    seen = []

    @chat.router.intent("order_status")
    async def status(context, state, turn):
        seen.append((type(context), type(state), turn.intent, chat.router.turn(context) is turn))

    assert chat.hear("where is my order") == []
    assert seen == [(TurnContext, TurnState, "order_status", True)]


def test_a_function_for_no_intent_is_refused(chat):
    """When the agent starts, not when someone asks."""
    with pytest.raises(UnknownNameError, match="order_status"):
        chat.router.intent("order_statu")


def test_an_intent_without_a_function_is_answered_from_the_yaml(chat):
    """In the language of the message."""
    assert texts(chat.hear("where is my order")) == ["On its way."]
    assert texts(chat.hear("wo bleibt meine bestellung")) == ["Unterwegs."]


def test_a_doubt_is_asked_about_with_buttons(chat):
    """A hero card, whose buttons show the title in the chat when they are pressed."""
    (question,) = chat.hear("my order")

    assert question["text"] == DID_YOU_MEAN
    assert [button["title"] for button in buttons(question)] == TITLES
    assert {button["type"] for button in buttons(question)} == {"messageBack"}
    assert [button["displayText"] for button in buttons(question)] == TITLES


@pytest.mark.parametrize("channel", ["email", "twilio-sms", "m365extensions", "facebook"])
def test_a_channel_without_so_many_buttons_gets_numbers(chat, channel):
    """There are three, and on Facebook a card has room for as many."""
    (question,) = chat.hear("my order", channelId=channel)

    if channel == "facebook":
        assert [button["title"] for button in buttons(question)] == TITLES
    else:
        assert question["text"] == NUMBERED
        assert "attachments" not in question


def test_a_button_chooses(chat):
    """Once; then its question is over. What it sends as a text is of no account."""
    (question,) = chat.hear("my order")
    value = buttons(question)[1]["value"]

    assert texts(chat.hear(None, value=value)) == ["Cancelled."]
    (late,) = texts(chat.press(question, 1))
    assert late.startswith(TOO_LATE)


def test_a_button_that_sends_only_its_title_chooses(chat):
    """As where a channel makes `imBack` of it."""
    chat.hear("my order")

    assert texts(chat.hear(TITLES[1])) == ["Cancelled."]


@pytest.mark.parametrize("value", ["im:1:1", {"choice": 7}, {"choice": "red"}, {"choice": ["im:"]}, 7, [], {}])
def test_a_value_of_someone_elses_chooses_nothing(chat, value):
    """Cards of the agent's own send values too; the text is what counts then."""
    chat.hear("my order")

    assert texts(chat.hear("2", value=value)) == ["Cancelled."]
    assert chat.hear(None, value=value) == []


@pytest.mark.parametrize("answer", ["2", "cancel an order", "cancel"])
def test_a_number_or_words_choose_too(chat, answer):
    """For those who write on."""
    chat.hear("my order")

    assert texts(chat.hear(answer)) == ["Cancelled."]


def test_none_of_these_is_for_the_fallback(chat):
    """As a message that is not understood."""
    chat.falls_back()
    (question,) = chat.hear("my order")

    assert texts(chat.press(question, 3)) == ["Sorry?"]


def test_a_slot_is_asked_for(chat):
    """And is there when the intent's function is called."""
    chat.handles("tell_name", lambda turn: turn.slots["name"])

    assert texts(chat.hear("take down my name")) == ["What is your name?"]
    assert texts(chat.hear("Anna")) == ["Anna"]


def test_what_is_not_understood_is_for_the_fallback(chat):
    """Without one, the agent says nothing."""
    assert chat.hear("quantum chromodynamics") == []
    chat.falls_back()

    assert texts(chat.hear("quantum chromodynamics")) == ["Sorry?"]


def test_the_agents_own_routes_stay(chat):
    """Those for a text of their own go first; those for all that is left go last."""

    @chat.agent.message("where is my order")
    async def own(context, state):
        await context.send_activity("own")

    @chat.agent.message()
    async def left(context, state):
        await context.send_activity("left")

    assert texts(chat.hear("where is my order")) == ["own"]
    assert texts(chat.hear("track my order")) == ["On its way."]
    assert texts(chat.hear("quantum chromodynamics")) == ["left"]
    assert texts(chat.hear("")) == ["left"]


@pytest.mark.parametrize(
    "activity",
    [
        {"text": ""},
        {"text": None},
        {"attachments": [{"contentType": "image/png", "contentUrl": "http://localhost/x.png"}]},
        {"text": "where is my order", "type": "messageUpdate"},
        {"text": "where is my order", "type": "event", "name": "tick"},
        {"text": "where is my order", "user": "agent"},
        {"type": "conversationUpdate", "membersAdded": [{"id": "anna"}]},
        {"type": "typing"},
    ],
    ids=lambda activity: " ".join(f"{key}={value}" for key, value in activity.items()),
)
def test_what_is_not_said_to_the_agent_is_passed_over(chat, activity):
    """Nothing is said to empty messages, to what is edited, and to the agent's own."""
    chat.falls_back()

    assert chat.hear(**{"text": None, **activity}) == []


def test_users_and_places_do_not_answer_for_each_other(chat):
    """What waits for one is not answered by another, nor elsewhere."""
    (question,) = chat.hear("my order")

    assert chat.hear("2", user="bernd") == []
    (late,) = texts(chat.press(question, 2, user="bernd"))
    assert late.startswith(TOO_LATE)
    assert chat.hear("2", conversation={"id": "elsewhere"}) == []
    assert chat.hear("2", channelId="msteams") == []
    assert texts(chat.hear("2")) == ["Cancelled."]


def test_a_mention_is_no_part_of_what_is_said(chat):
    """The SDK takes it out before."""
    chat.handles("order_status", lambda turn: turn.message)
    mention = {"type": "mention", "text": "<at>Agent</at>", "mentioned": {"id": "agent", "name": "Agent"}}

    assert texts(chat.hear("<at>Agent</at> where is my order", entities=[mention])) == ["where is my order"]


def test_a_message_is_recognised_once(chat):
    """However many routes there are; whoever asks the dialogue again in the same turn gets the same answer."""
    seen = []

    @chat.router.intent("order_status", "cancel_order")
    async def answer(context, state, turn):
        seen.append(await chat.router.dialogue.atake("", "", turn=context.turn_state) is turn)

    chat.encoder.encoded.clear()
    chat.hear("where might my order be")

    assert seen == [True]
    assert chat.encoder.encoded == ["where might my order be"]


@pytest.mark.parametrize("locale", ["de-DE", "de", "DE_at"])
def test_the_locale_of_the_channel_is_a_hint(chat, locale):
    """For messages that do not tell a language."""
    assert texts(chat.hear("42 7")) == ["A number."]
    assert texts(chat.hear("42 7", locale=locale)) == ["Eine Zahl."]
    assert texts(chat.hear("where is my order", locale="??")) == ["On its way."]


def test_the_loop_goes_on_while_a_message_is_read(chat):
    """A slow model keeps nobody else waiting."""

    async def talk(client: TestClient[Any, Any]) -> list[Activity]:
        chat.encoder.closed_for_a_moment()
        return await send(client, "where might my order be")

    assert texts(chat.with_client(talk)) == ["On its way."]


def test_the_example_holds_a_conversation(monkeypatch):
    """In two languages, with a question of each kind."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setenv("CONNECTIONS__SERVICE_CONNECTION__SETTINGS__ANONYMOUS_ALLOWED", "true")
    bot = example("agents365/bot.py")

    async def talk(client: TestClient[Any, Any]) -> None:
        (question,) = await send(client, "my order")
        assert [button["title"] for button in buttons(question)] == TITLES
        assert texts(await send(client, None, value=buttons(question)[1]["value"])) == ["Your order is cancelled."]
        assert texts(await send(client, "where is my order?")) == ["Your order is on its way."]
        assert texts(await send(client, "regnet es?")) == ["In welcher Stadt?"]
        assert texts(await send(client, "Paris")) == ["In Paris scheint die Sonne."]
        assert texts(await send(client, "sing a song")) == ["Sorry, I can help with orders and the weather."]

    served(bot.app, talk)


def test_the_example_lets_nobody_in_without_a_token(monkeypatch):
    """Unless it is told to."""
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    monkeypatch.setenv("CONNECTIONS__SERVICE_CONNECTION__SETTINGS__CLIENTID", "an-id")
    bot = example("agents365/bot.py")

    async def talk(client: TestClient[Any, Any]) -> int:
        async with client.post("/api/messages", json={}) as response:
            return response.status

    assert served(bot.app, talk) == 401
