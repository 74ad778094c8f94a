"""intentmatch in a bot of discord.py that is logged in to a Discord of this file, and told of events by hand.

There is no gateway here: what it would send goes to the `parse_...` methods of the connection, as from there.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

pytest.importorskip("discord", reason="needs the extra `discord`")

import discord
from aiohttp import web
from aiohttp.test_utils import TestServer
from contracts.order_bot import DID_YOU_MEAN, TITLES, TOO_LATE, GatedEncoder, load_example, order_dialogue
from discord.ext import commands

from intentmatch.integrations.discord import IntentRouter

Json = dict[str, Any]

BOT = {"id": "1", "username": "bot", "discriminator": "0", "avatar": None, "bot": True}
ANNA = {"id": "7", "username": "anna", "discriminator": "0", "avatar": None}
BERND = {"id": "8", "username": "bernd", "discriminator": "0", "avatar": None}
AT_HOME, HALL, KITCHEN = "70", "91", "92"
GUILD = {
    "id": "90",
    "name": "Guild",
    "features": ["COMMUNITY"],
    "preferred_locale": "de",
    "member_count": 3,
    "roles": [{"id": "90", "name": "@everyone", "permissions": "0", "position": 0, "color": 0, "colors": {}}],
    "channels": [
        {"id": id_, "type": 0, "name": name, "position": 0, "permission_overwrites": [], "guild_id": "90"}
        for id_, name in ((HALL, "hall"), (KITCHEN, "kitchen"))
    ],
}


class Bot(commands.Bot):
    """A bot that keeps what goes wrong in its listeners."""

    def __init__(self) -> None:
        super().__init__(command_prefix="!", intents=discord.Intents.default(), help_command=None)
        self.failed: list[BaseException | None] = []

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        self.failed.append(sys.exc_info()[1])


class Chat:
    """A bot with a router, its users, and as much of Discord as it needs."""

    def __init__(self, loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch) -> None:
        self.loop = loop
        self.monkeypatch = monkeypatch
        self.sent: list[Json] = []
        self.acknowledged = 0
        self.encoder = GatedEncoder()
        self.bot = Bot()
        self.router: Any = None

    async def open(self) -> None:
        app = web.Application()
        app.router.add_get("/users/@me", self._me)
        app.router.add_get("/oauth2/applications/@me", self._application)
        app.router.add_post("/channels/{channel}/messages", self._message)
        app.router.add_post("/interactions/{id}/{token}/callback", self._acknowledge)
        self.server = TestServer(app)
        await self.server.start_server()
        self.monkeypatch.setattr(discord.http.Route, "BASE", str(self.server.make_url("")).rstrip("/"))
        await self.bot.login("token")
        self.bot._connection._add_guild_from_data(GUILD)

    async def close(self) -> None:
        await self.bot.close()
        await self.server.close()

    async def _me(self, request: web.Request) -> web.Response:
        return as_json(BOT)

    async def _application(self, request: web.Request) -> web.Response:
        about = {"id": "1", "name": "bot", "description": "", "icon": None, "verify_key": "", "owner": BERND}
        return as_json({**about, "bot_public": True, "bot_require_code_grant": False})

    async def _message(self, request: web.Request) -> web.Response:
        sent = {**await request.json(), "channel_id": request.match_info["channel"]}
        self.sent.append(sent)
        return as_json(message(sent["content"], BOT, sent["channel_id"]))

    async def _acknowledge(self, request: web.Request) -> web.Response:
        self.acknowledged += 1
        return as_json({"interaction": {"id": request.match_info["id"], "type": 3}})

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def hear(self, text: str, *, user: Json = ANNA, channel: str = AT_HOME, **more: Any) -> list[Json]:
        """What is said to a message."""
        return self.run(self.told("message_create", message(text, user, channel, **more)))

    def press(self, question: Json, number: int, *, user: Json = ANNA, locale: str = "en-US") -> list[Json]:
        """What is said to a button of a message of the bot."""
        channel, button = question["channel_id"], buttons(question)[number - 1]
        asked = message(question["content"], BOT, channel, components=question["components"])
        press = {
            "id": "500",
            "application_id": "1",
            "type": 3,
            "token": "token",
            "version": 1,
            "channel": {"id": channel, "type": 1, "recipients": [user]}
            if channel == AT_HOME
            else GUILD_CHANNELS[channel],
            "channel_id": channel,
            "message": asked,
            "data": {"custom_id": button["custom_id"], "component_type": 2},
            "locale": locale,
            "entitlements": [],
            "authorizing_integration_owners": {},
            "attachment_size_limit": 1,
            **({"user": user} if channel == AT_HOME else {"guild_id": "90", "member": member(user)}),
        }
        return self.run(self.told("interaction_create", press))

    async def told(self, event: str, data: Json) -> list[Json]:
        """What is said to an event, once all that it set off is done."""
        before = len(self.sent)
        getattr(self.bot._connection, f"parse_{event}")(data)
        await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name().startswith("discord.py: on_")))
        assert self.bot.failed == []
        return self.sent[before:]

    def falls_back(self) -> None:
        @self.router.fallback
        async def sorry(event, turn):
            await event.channel.send(f"Sorry: {turn.message}")


GUILD_CHANNELS: dict[str, Json] = {channel["id"]: channel for channel in GUILD["channels"]}


def member(user: Json) -> Json:
    return {"user": user, "roles": [], "joined_at": None, "deaf": False, "mute": False, "flags": 0, "permissions": "0"}


def message(text: str, user: Json, channel: str, **more: Any) -> Json:
    there = {} if channel == AT_HOME else {"guild_id": "90", "member": {**member(user), "user": None}}
    said = {"id": "400", "type": 0, "channel_id": channel, "author": user, "content": text}
    about = {"tts": False, "pinned": False, "timestamp": "2026-05-04T12:00:00+00:00", "edited_timestamp": None}
    lists = {"attachments": [], "embeds": [], "mentions": [], "mention_roles": [], "mention_everyone": False}
    return {**said, **about, **lists, **there, **more}


def buttons(said: Json) -> list[Json]:
    return [button for row in said["components"] for button in row["components"]]


def as_json(data: Json) -> web.Response:
    # With a charset, discord.py takes it for text.
    return web.Response(body=json.dumps(data).encode(), headers={"Content-Type": "application/json"})


def texts(messages: list[Json]) -> list[str]:
    return [said["content"] for said in messages]


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    loop = asyncio.new_event_loop()
    chat = Chat(loop, monkeypatch)
    loop.run_until_complete(chat.open())
    chat.router = IntentRouter(chat.bot, order_dialogue(chat.encoder))
    yield chat
    loop.run_until_complete(chat.close())
    loop.close()


def test_an_intent_with_a_function_is_answered_by_it(chat):
    """It gets the message and the turn; after a button, the interaction."""

    @chat.router.intent("order_status")
    async def order_status(event, turn):
        await event.channel.send(f"{type(event).__name__}: {turn.intent}")

    assert texts(chat.hear("where is my order")) == ["Message: order_status"]
    (question,) = chat.hear("my order")
    assert texts(chat.press(question, 1)) == ["Interaction: order_status"]


def test_an_intent_without_a_function_is_answered_from_the_yaml(chat):
    """In the language of the message."""
    assert texts(chat.hear("where is my order")) == ["On its way."]
    assert texts(chat.hear("wo bleibt meine bestellung")) == ["Unterwegs."]


def test_a_doubt_is_asked_about_with_buttons(chat):
    """Which nothing in the memory of the bot waits for."""
    (said,) = chat.hear("my order")

    assert said["content"] == DID_YOU_MEAN
    assert [button["label"] for button in buttons(said)] == TITLES
    assert chat.bot.persistent_views == []
    assert not chat.bot._connection._view_store._views


def test_a_button_chooses(chat):
    """Once; Discord hears that it was pressed in any case."""
    (question,) = chat.hear("my order")

    assert texts(chat.press(question, 2)) == ["Cancelled."]
    (late,) = chat.press(question, 1)
    assert late["content"].startswith(TOO_LATE)
    assert chat.acknowledged == 2


def test_what_is_over_is_told_in_the_language_of_the_user(chat):
    """Which Discord knows of those who press a button."""
    (question,) = chat.hear("my order")
    chat.press(question, 2)

    (late,) = chat.press(question, 1, locale="de")
    assert late["content"].startswith("Diese Frage")


def test_none_of_these_is_for_the_fallback(chat):
    """As a message that is not understood."""
    chat.falls_back()
    (question,) = chat.hear("my order")

    assert texts(chat.press(question, 3)) == ["Sorry: None of these"]


def test_buttons_of_others_are_left_alone(chat):
    """The bot may have some of its own."""
    row = {"type": 1, "components": [{"type": 2, "style": 1, "label": "Mine", "custom_id": "mine:1"}]}

    assert chat.press({"channel_id": AT_HOME, "content": "Mine?", "components": [row]}, 1) == []
    assert chat.acknowledged == 0


@pytest.mark.parametrize("answer", ["2", "cancel an order", "cancel"])
def test_a_number_or_words_choose_too(chat, answer):
    """For those who write on."""
    chat.hear("my order")

    assert texts(chat.hear(answer)) == ["Cancelled."]


def test_a_slot_is_asked_for(chat):
    """And what was said for it mentions nobody."""
    assert texts(chat.hear("take down my name")) == ["What is your name?"]
    (answer,) = chat.hear("@everyone")
    assert answer["content"] == "Hello, @everyone!"
    assert answer["allowed_mentions"] == {"parse": []}


def test_what_is_not_understood_is_for_the_fallback(chat):
    """Without one, the bot says nothing."""
    assert chat.hear("quantum chromodynamics") == []
    chat.falls_back()

    assert texts(chat.hear("quantum chromodynamics")) == ["Sorry: quantum chromodynamics"]


PICTURE = {"id": "1", "filename": "a.png", "size": 1, "url": "http://localhost/a", "proxy_url": "http://localhost/a"}


@pytest.mark.parametrize(
    "said",
    [
        {"text": ""},
        {"text": " "},
        {"text": "", "attachments": [PICTURE]},
        {"text": "<@1>"},
        {"text": "where is my order", "user": BOT},
        {"text": "where is my order", "user": {**BERND, "bot": True}},
        {"text": "!ping"},
        {"text": "where is my order", "type": 18},  # the name of a thread that was opened
    ],
    ids=str,
)
def test_what_is_not_said_to_the_bot_is_passed_over(chat, said):
    """Nothing is said to empty messages, to bots, itself among them, to commands and to Discord."""
    chat.falls_back()

    @chat.bot.command()
    async def ping(ctx): ...

    assert chat.hear(**said) == []


def test_what_is_edited_is_passed_over(chat):
    """It was answered as it was."""
    data = message("where is my order", ANNA, AT_HOME, edited_timestamp="2026-05-04T12:01:00+00:00")

    assert chat.run(chat.told("message_update", data)) == []


def test_a_mention_is_no_part_of_what_is_said(chat):
    """Without the right to read everything, bots hear only those who mention them."""
    chat.encoder.encoded.clear()

    assert texts(chat.hear("<@1> where is my order", channel=HALL)) == ["On its way."]
    assert chat.encoder.encoded == []


def test_users_and_channels_do_not_answer_for_each_other(chat):
    """What waits for one is not answered by another, nor elsewhere."""
    (question,) = chat.hear("my order", channel=HALL)

    assert chat.hear("2", user=BERND, channel=HALL) == []
    assert chat.hear("2", channel=KITCHEN) == []
    (late,) = chat.press(question, 2, user=BERND)
    assert late["content"].startswith(TOO_LATE)
    (answer,) = chat.press(question, 2)
    assert (answer["content"], answer["channel_id"]) == ("Cancelled.", HALL)


def test_a_message_is_recognised_once(chat):
    """By one listener."""
    chat.encoder.encoded.clear()

    chat.hear("where might my order be")

    assert chat.encoder.encoded == ["where might my order be"]


def test_the_language_of_a_community_is_a_hint(chat):
    """For messages that do not tell one."""
    assert texts(chat.hear("42 7", channel=HALL)) == ["Eine Zahl."]
    assert texts(chat.hear("42 7")) == ["A number."]


def test_the_loop_goes_on_while_a_message_is_read(chat):
    """A slow model keeps nobody else waiting."""

    async def while_closed() -> list[Json]:
        chat.encoder.close_until_loop_runs()
        return await chat.told("message_create", message("where might my order be", ANNA, AT_HOME))

    assert texts(chat.run(while_closed())) == ["On its way."]


def test_the_example_holds_a_conversation(chat):
    """In two languages, with a question of each kind."""
    chat.bot.remove_listener(chat.router._hear, "on_message")
    chat.bot.remove_listener(chat.router._press, "on_interaction")
    load_example("discord/bot.py").add_intents(chat.bot)

    (question,) = chat.hear("my order")
    assert [button["label"] for button in buttons(question)] == TITLES
    assert texts(chat.press(question, 1)) == ["What is your order number?"]
    assert texts(chat.hear("4711")) == ["Order 4711 is on its way."]
    assert texts(chat.hear("storniere meine Bestellung")) == ["Ich habe sie storniert."]
    assert texts(chat.hear("tell me a joke")) == ["Sorry, I did not understand that."]
    assert texts(chat.hear("what are your opening hours")) == ["We are here from nine to five."]
