"""The adapter for discord.py, in a bot that is logged in to a Discord of this file.

There is no gateway: its events are given to the connection's `parse_...` methods.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

pytest.importorskip("discord", reason="needs the extra `discord`")

import discord
from aiohttp import web
from aiohttp.test_utils import TestServer
from contracts.chat_adapter import (
    ChatContract,
    DeliveryContract,
    EventLoopContract,
    FallbackContract,
    ShopExampleContract,
    texts,
)
from contracts.order_bot import TOO_LATE, GatedEncoder, load_example, order_dialogue
from discord.ext import commands

from intentmatch.integrations.discord import IntentRouter

Json = dict[str, Any]

BOT = {"id": "1", "username": "bot", "discriminator": "0", "avatar": None, "bot": True}
ANNA = {"id": "7", "username": "anna", "discriminator": "0", "avatar": None}
BERND = {"id": "8", "username": "bernd", "discriminator": "0", "avatar": None}
PRIVATE, HALL, KITCHEN = "70", "91", "92"
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
    """A bot that collects the errors of its listeners."""

    def __init__(self) -> None:
        super().__init__(command_prefix="!", intents=discord.Intents.default(), help_command=None)
        self.failed: list[BaseException | None] = []

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        self.failed.append(sys.exc_info()[1])


class Chat:
    """A bot with a router, its users, and the part of Discord's API that the tests need."""

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

    def send(self, text: str, *, user: Json = ANNA, channel: str = PRIVATE, **fields: Any) -> list[Json]:
        return self.run(self.replies_to("message_create", message(text, user, channel, **fields)))

    def send_while_encoder_waits(self, text: str) -> list[Json]:
        received = self.replies_to("message_create", message(text, ANNA, PRIVATE))
        return self.run(self.encoder.closed_until_loop_runs(received))

    def press(self, question: Json, number: int, *, user: Json = ANNA, locale: str = "en-US") -> list[Json]:
        channel, button = question["channel_id"], buttons(question)[number - 1]
        asked = message(question["content"], BOT, channel, components=question["components"])
        press = {
            "id": str(next(_ids)),
            "application_id": "1",
            "type": 3,
            "token": "token",
            "version": 1,
            "channel": {"id": channel, "type": 1, "recipients": [user]}
            if channel == PRIVATE
            else GUILD_CHANNELS[channel],
            "channel_id": channel,
            "message": asked,
            "data": {"custom_id": button["custom_id"], "component_type": 2},
            "locale": locale,
            "entitlements": [],
            "authorizing_integration_owners": {},
            "attachment_size_limit": 1,
            **({"user": user} if channel == PRIVATE else {"guild_id": "90", "member": member(user)}),
        }
        return self.run(self.replies_to("interaction_create", press))

    async def replies_to(self, event: str, data: Json) -> list[Json]:
        """What the bot sends after an event, once all its tasks are finished."""
        before = len(self.sent)
        getattr(self.bot._connection, f"parse_{event}")(data)
        await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name().startswith("discord.py: on_")))
        assert self.bot.failed == []
        return self.sent[before:]

    def delivery(self, number: int) -> Json:
        return {"id": str(number)}

    def add_fallback(self) -> None:
        @self.router.fallback
        async def sorry(event, turn):
            await event.channel.send(f"Sorry: {turn.message}")

    def text(self, reply: Json) -> str:
        return reply["content"]

    def titles(self, reply: Json) -> list[str]:
        return [button["label"] for button in buttons(reply)]


_ids = itertools.count(400)
GUILD_CHANNELS: dict[str, Json] = {channel["id"]: channel for channel in GUILD["channels"]}


def member(user: Json) -> Json:
    return {"user": user, "roles": [], "joined_at": None, "deaf": False, "mute": False, "flags": 0, "permissions": "0"}


def message(text: str, user: Json, channel: str, **fields: Any) -> Json:
    place = {} if channel == PRIVATE else {"guild_id": "90", "member": {**member(user), "user": None}}
    content = {"id": str(next(_ids)), "type": 0, "channel_id": channel, "author": user, "content": text}
    flags = {"tts": False, "pinned": False, "timestamp": "2026-05-04T12:00:00+00:00", "edited_timestamp": None}
    lists = {"attachments": [], "embeds": [], "mentions": [], "mention_roles": [], "mention_everyone": False}
    return {**content, **flags, **lists, **place, **fields}


def buttons(reply: Json) -> list[Json]:
    return [button for row in reply["components"] for button in row["components"]]


def as_json(data: Json) -> web.Response:
    # If the content type names a charset, discord.py does not parse the body.
    return web.Response(body=json.dumps(data).encode(), headers={"Content-Type": "application/json"})


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    loop = asyncio.new_event_loop()
    chat = Chat(loop, monkeypatch)
    loop.run_until_complete(chat.open())
    chat.router = IntentRouter(chat.bot, order_dialogue(chat.encoder))
    yield chat
    loop.run_until_complete(chat.close())
    loop.close()


@pytest.fixture
def example(chat: Chat) -> Chat:
    chat.bot.remove_listener(chat.router._on_message, "on_message")
    chat.bot.remove_listener(chat.router._on_interaction, "on_interaction")
    load_example("discord/bot.py").add_intents(chat.bot)
    return chat


class TestAdapter(ChatContract, DeliveryContract, FallbackContract, EventLoopContract, ShopExampleContract):
    """discord.py does what every chat adapter does."""


def test_function_of_intent_gets_message_or_interaction_and_turn(chat):
    @chat.router.intent("order_status")
    async def order_status(event, turn):
        await event.channel.send(f"{type(event).__name__}: {turn.intent}")

    assert texts(chat, chat.send("where is my order")) == ["Message: order_status"]
    (question,) = chat.send("my order")
    assert texts(chat, chat.press(question, 1)) == ["Interaction: order_status"]


def test_buttons_are_not_kept_in_memory(chat):
    """discord.py would keep a view for each question until it is answered."""
    chat.send("my order")

    assert chat.bot.persistent_views == []
    assert not chat.bot._connection._view_store._views


def test_every_press_is_acknowledged(chat):
    """A late press too."""
    (question,) = chat.send("my order")

    chat.press(question, 2)
    chat.press(question, 1)

    assert chat.acknowledged == 2


def test_late_press_is_answered_in_language_of_user(chat):
    """Discord reports the language of a user who presses a button."""
    (question,) = chat.send("my order")
    chat.press(question, 2)

    (late,) = chat.press(question, 1, locale="de")
    assert late["content"].startswith("Diese Frage")


def test_buttons_of_others_are_ignored(chat):
    row = {"type": 1, "components": [{"type": 2, "style": 1, "label": "Mine", "custom_id": "mine:1"}]}

    assert chat.press({"channel_id": PRIVATE, "content": "Mine?", "components": [row]}, 1) == []
    assert chat.acknowledged == 0


def test_reply_with_text_of_user_mentions_nobody(chat):
    chat.send("take down my name")
    (answer,) = chat.send("@everyone")

    assert answer["content"] == "Hello, @everyone!"
    assert answer["allowed_mentions"] == {"parse": []}


PICTURE = {"id": "1", "filename": "a.png", "size": 1, "url": "http://localhost/a", "proxy_url": "http://localhost/a"}


@pytest.mark.parametrize(
    "fields",
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
def test_messages_for_others_are_ignored(chat, fields):
    """Empty messages, messages of bots, commands, and notices of Discord get no reply."""
    chat.add_fallback()

    @chat.bot.command()
    async def ping(ctx): ...

    assert chat.send(**fields) == []


def test_edited_message_is_ignored(chat):
    data = message("where is my order", ANNA, PRIVATE, edited_timestamp="2026-05-04T12:01:00+00:00")

    assert chat.run(chat.replies_to("message_update", data)) == []


def test_mention_of_bot_is_removed(chat):
    """Without the message content intent, bots receive only messages that mention them."""
    chat.encoder.encoded.clear()

    assert texts(chat, chat.send("<@1> where is my order", channel=HALL)) == ["On its way."]
    assert chat.encoder.encoded == []


def test_users_and_channels_have_conversations_of_their_own(chat):
    """A pending question is not answered by another user or elsewhere."""
    (question,) = chat.send("my order", channel=HALL)

    assert chat.send("2", user=BERND, channel=HALL) == []
    assert chat.send("2", channel=KITCHEN) == []
    (late,) = chat.press(question, 2, user=BERND)
    assert late["content"].startswith(TOO_LATE)
    (answer,) = chat.press(question, 2)
    assert (answer["content"], answer["channel_id"]) == ("Cancelled.", HALL)


def test_language_of_community_decides_where_message_does_not(chat):
    assert texts(chat, chat.send("42 7", channel=HALL)) == ["Eine Zahl."]
    assert texts(chat, chat.send("42 7")) == ["A number."]
