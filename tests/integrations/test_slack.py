"""The adapter for Slack, in Bolt apps, sync and async, that get signed requests and answer to a Slack of this file."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("slack_bolt", reason="needs the extra `slack`")

from contracts.chat_adapter import (
    ChatContract,
    DeliveryContract,
    EventLoopContract,
    FallbackContract,
    ShopExampleContract,
    texts,
)
from contracts.order_bot import DID_YOU_MEAN, NUMBERED, TOO_LATE, GatedEncoder, load_example, order_dialogue
from slack_bolt import App, BoltRequest
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_sdk import WebClient
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from intentmatch.integrations.slack import AsyncIntentRouter, IntentRouter

SECRET = "secret"
BOT, TEAM = {"user_id": "UBOT", "bot_id": "BBOT"}, {"team_id": "T1", "team": "Team", "url": "http://localhost/"}

Message = dict[str, Any]


class Slack(ThreadingHTTPServer):
    """The part of Slack's Web API that the tests need; `posted` are the messages that it received."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Api)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"
        self.posted: list[Message] = []


class _Api(BaseHTTPRequestHandler):
    server: Slack

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.path == "/chat.postMessage":
            self.server.posted.append(json.loads(body))
        answer = json.dumps({"ok": True, "user": "bot", **BOT, **TEAM}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST  # noqa: N815 - the name that http.server calls

    def log_message(self, *args: Any) -> None: ...


@pytest.fixture
def slack() -> Iterator[Slack]:
    with Slack() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Chat:
    """A Bolt app with a router, and its users. A request is answered when `send` or `press` returns."""

    def __init__(self, slack: Slack) -> None:
        self.slack = slack
        self.encoder = GatedEncoder()
        self.dialogue = order_dialogue(self.encoder)
        self.router: IntentRouter | AsyncIntentRouter
        self.app: App | AsyncApp

    def send(
        self, text: str | None, *, user: str = "UANNA", event_id: str | None = None, **fields: Any
    ) -> list[Message]:
        event = {"type": "message", "channel_type": "im", "channel": "D1", "ts": "1.0", "user": user, "text": text}
        body = {"type": "event_callback", "team_id": "T1", "event": {**event, **fields}, "event_id": event_id}
        return self.post(json.dumps(body), "application/json")

    def press(self, message: Message, number: int, *, user: str = "UANNA") -> list[Message]:
        place = {"ts": "2.0", **({"thread_ts": message["thread_ts"]} if message.get("thread_ts") else {})}
        body = {
            "type": "block_actions",
            "team": {"id": "T1"},
            "user": {"id": user},
            "channel": {"id": message["channel"]},
            "message": place,
            "actions": [{**buttons(message)[number - 1], "block_id": "b", "action_ts": "3.0"}],
        }
        return self.post("payload=" + quote(json.dumps(body)), "application/x-www-form-urlencoded")

    def post(self, body: str, content_type: str) -> list[Message]:
        before = len(self.slack.posted)
        now = str(int(time.time()))
        signature = SignatureVerifier(SECRET).generate_signature(timestamp=now, body=body) or ""
        headers = {"content-type": content_type, "x-slack-request-timestamp": now, "x-slack-signature": signature}
        assert self.dispatch(body, headers).status == 200
        return self.slack.posted[before:]

    def dispatch(self, body: str, headers: dict[str, str]) -> Any:
        raise NotImplementedError

    def delivery(self, number: int) -> dict[str, str]:
        return {"event_id": f"Ev{number}"}

    def add_function(self, intent: str, answer: Callable[[Any], str]) -> None:
        """Add a function for an intent that replies what `answer` makes of the turn."""
        raise NotImplementedError

    def add_fallback(self) -> None:
        raise NotImplementedError

    def text(self, reply: Message) -> str:
        """The text that users see: of a question, that above the buttons."""
        return reply["blocks"][0]["text"]["text"] if "blocks" in reply else reply["text"]

    def titles(self, reply: Message) -> list[str]:
        return [button["text"]["text"] for button in buttons(reply)]


class SyncChat(Chat):
    def __init__(self, slack: Slack, *, at_once: bool = True) -> None:
        super().__init__(slack)
        client = WebClient("xoxb-1", base_url=slack.url)
        self.app = App(client=client, signing_secret=SECRET, process_before_response=at_once)
        self.router = IntentRouter(self.app, self.dialogue)

    def dispatch(self, body: str, headers: dict[str, str]) -> Any:
        return self.app.dispatch(BoltRequest(body=body, headers=headers))

    def add_function(self, intent: str, answer: Callable[[Any], str]) -> None:
        @self.router.intent(intent)
        def reply(say: Any, turn: Any) -> None:
            say(answer(turn))

    def add_fallback(self) -> None:
        @self.router.fallback
        def sorry(say: Any, turn: Any) -> None:
            say(f"Sorry: {turn.message}")


class AsyncChat(Chat):
    def __init__(self, slack: Slack, *, at_once: bool = True) -> None:
        super().__init__(slack)
        client = AsyncWebClient("xoxb-1", base_url=slack.url)
        self.app = AsyncApp(client=client, signing_secret=SECRET, process_before_response=at_once)
        self.router = AsyncIntentRouter(self.app, self.dialogue)

    def dispatch(self, body: str, headers: dict[str, str]) -> Any:
        return asyncio.run(self.app.async_dispatch(AsyncBoltRequest(body=body, headers=headers)))

    def send_while_encoder_waits(self, text: str) -> list[Message]:
        dispatch = self.app.async_dispatch
        self.app.async_dispatch = lambda request: self.encoder.closed_until_loop_runs(dispatch(request))
        return self.send(text)

    def add_function(self, intent: str, answer: Callable[[Any], str]) -> None:
        @self.router.intent(intent)
        async def reply(say: Any, turn: Any) -> None:
            await say(answer(turn))

    def add_fallback(self) -> None:
        @self.router.fallback
        async def sorry(say: Any, turn: Any) -> None:
            await say(f"Sorry: {turn.message}")


@pytest.fixture(params=[SyncChat, AsyncChat], ids=["sync", "async"])
def chat(request: pytest.FixtureRequest, slack: Slack) -> Chat:
    return request.param(slack)


@pytest.fixture
def example(slack: Slack) -> Chat:
    chat = SyncChat(slack)
    chat.app = App(client=chat.app.client, signing_secret=SECRET, process_before_response=True)
    load_example("slack/bot.py").add_intents(chat.app)
    return chat


def buttons(message: Message) -> list[Message]:
    return message["blocks"][1]["elements"]


class TestAdapter(ChatContract, DeliveryContract, FallbackContract, ShopExampleContract):
    """Both kinds of Bolt app do what every chat adapter does."""


class TestAsyncAdapter(EventLoopContract):
    """An `AsyncApp` does not block its event loop."""

    @pytest.fixture
    def chat(self, slack: Slack) -> Chat:
        return AsyncChat(slack)


def test_function_of_intent_gets_turn_and_names_of_bolt(chat):
    chat.add_function("order_status", lambda turn: f"{turn.message!r} is {turn.intent}")

    (reply,) = chat.send("where is my order")

    assert reply["text"] == "'where is my order' is order_status"
    assert reply["channel"] == "D1"
    assert "thread_ts" not in reply


def test_function_of_intent_may_be_a_method(slack):
    """Bolt must not be asked for `self`."""
    chat = SyncChat(slack)
    seen = []

    class Bot:
        def answer(self, event, client, context, turn):
            seen.append((event["user"], client.token, context["turn"] is turn))

    chat.router.intent("order_status")(Bot().answer)
    chat.send("where is my order")

    assert seen == [("UANNA", "xoxb-1", True)]


def test_question_has_buttons_and_numbers_for_notifications(chat):
    """Notifications show the text and no buttons."""
    (question,) = chat.send("my order")

    assert question["text"] == NUMBERED
    assert question["blocks"][0]["text"] == {"type": "plain_text", "text": DID_YOU_MEAN}
    assert len({button["action_id"] for button in buttons(question)}) == 3


def test_reply_with_text_of_user_mentions_nobody(chat):
    chat.send("take down my name")

    assert texts(chat, chat.send("&lt;!channel&gt;")) == ["Hello, &lt;!channel&gt;!"]


def test_function_gets_escaped_reply_and_plain_slots(chat):
    chat.add_function("tell_name", lambda turn: f"{turn.reply} {'<!channel>' in turn.slots.values()}")
    chat.send("take down my name")

    assert texts(chat, chat.send("&lt;!channel&gt;")) == ["Hello, &lt;!channel&gt;! True"]


@pytest.mark.parametrize(
    "fields",
    [
        {"text": ""},
        {"text": None},
        {"text": "", "subtype": "file_share", "files": [{"id": "F1"}]},
        {"text": "where is my order", "subtype": "message_changed"},
        {"text": "where is my order", "subtype": "message_deleted"},
        {"text": "<@UBOT> where is my order", "type": "app_mention", "edited": {"ts": "2.0"}},
        {"text": "where is my order", "subtype": "channel_topic"},
        {"text": "where is my order", "bot_id": "BOTHER"},
        {"text": "where is my order", "bot_id": "BBOT"},
        {"text": "where is my order", "user": "UBOT"},
    ],
    ids=lambda fields: " ".join(f"{key}={value}" for key, value in fields.items()),
)
def test_messages_for_others_are_ignored(chat, fields):
    """Empty messages, edits, and messages of bots, the bot's own included, get no reply."""
    chat.add_fallback()

    assert chat.send(**{"text": "", **fields}) == []


def test_text_with_file_is_matched(chat):
    """The file is ignored."""
    assert texts(chat, chat.send("where is my order", subtype="file_share")) == ["On its way."]


def test_mention_in_channel_is_answered_once(chat):
    """Slack sends two events to a bot that subscribes to both kinds; the mention is removed from the text."""
    chat.add_function("order_status", lambda turn: turn.message)
    text = "<@UBOT> where is my order"

    assert chat.send(text, channel="C1", channel_type="channel") == []
    assert texts(chat, chat.send(text, type="app_mention", channel="C1")) == [" where is my order"]
    assert texts(chat, chat.send(text)) == [" where is my order"]


def test_markup_is_matched_as_plain_text(chat):
    """Links count as the text that Slack shows for them."""
    chat.add_function("order_status", lambda turn: turn.message)

    (reply,) = chat.send("where is my order <https://a.example|here> &amp; <mailto:a@b.example|a@b.example>")

    assert reply["text"] == "where is my order here & a@b.example"


def test_thread_is_answered_in_the_thread(chat):
    """By the YAML, after a button, and by functions."""
    (question,) = chat.send("my order", thread_ts="0.5")
    (answer,) = chat.press(question, 2)
    chat.add_function("order_status", lambda turn: "Here")
    (own,) = chat.send("where is my order", thread_ts="0.5")

    assert [reply["thread_ts"] for reply in (question, answer, own)] == ["0.5", "0.5", "0.5"]


def test_users_and_threads_have_conversations_of_their_own(chat):
    """A pending question is not answered by another user or elsewhere."""
    channel = {"channel": "C1", "channel_type": "channel"}
    (question,) = chat.send("my order", **channel)

    assert chat.send("2", user="UBERND", **channel) == []
    (late,) = chat.press(question, 2, user="UBERND")
    assert late["text"].startswith(TOO_LATE)
    assert chat.send("2", thread_ts="0.5", **channel) == []
    assert texts(chat, chat.send("2", **channel)) == ["Cancelled."]


def test_dialogue_answers_once_a_turn_with_a_function(chat):
    """The function reuses the turn of the adapter."""
    chat.add_function("order_status", lambda turn: turn.message)
    chat.encoder.encoded.clear()

    chat.send("where might my order be")

    assert chat.encoder.encoded == ["where might my order be"]


def test_locale_of_a_middleware_decides_where_message_does_not(slack):
    chat = SyncChat(slack)
    assert texts(chat, chat.send("42 7")) == ["A number."]

    @chat.app.middleware
    def locale(context, next):  # noqa: A002 - Bolt's own name for it
        context["locale"] = "de-DE"
        next()

    assert texts(chat, chat.send("42 7")) == ["Eine Zahl."]


def test_request_is_answered_before_message_is_matched(slack):
    chat = SyncChat(slack, at_once=False)
    chat.encoder.gate.clear()

    assert chat.send("where might my order be") == []
    chat.encoder.gate.set()
    deadline = time.monotonic() + 10
    while not slack.posted and time.monotonic() < deadline:
        time.sleep(0.01)

    assert texts(chat, slack.posted) == ["On its way."]
