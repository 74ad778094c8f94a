"""intentmatch in a Bolt app, sync and async, that is sent signed requests and answers to a Slack of this file."""

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

from contracts.order_bot import DID_YOU_MEAN, NUMBERED, TITLES, TOO_LATE, GatedEncoder, load_example, order_dialogue
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
    """As much of Slack's Web API as a bot that talks needs; `posted` are the messages that it was sent."""

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

    do_GET = do_POST  # noqa: N815 - the name that http.server wants

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
    """A Bolt app with a router, and its users. It has answered a request when `hear` or `press` is over."""

    def __init__(self, slack: Slack) -> None:
        self.slack = slack
        self.encoder = GatedEncoder()
        self.dialogue = order_dialogue(self.encoder)
        self.router: IntentRouter | AsyncIntentRouter
        self.app: App | AsyncApp

    def hear(self, text: str | None, *, user: str = "UANNA", **event: Any) -> list[Message]:
        """What is said to a message."""
        spoken = {"type": "message", "channel_type": "im", "channel": "D1", "ts": "1.0", "user": user, "text": text}
        body = {"type": "event_callback", "team_id": "T1", "event": {**spoken, **event}}
        return self.send(json.dumps(body), "application/json")

    def press(self, message: Message, number: int, *, user: str = "UANNA") -> list[Message]:
        """What is said to a button of a message of the bot."""
        said = {"ts": "2.0", **({"thread_ts": message["thread_ts"]} if message.get("thread_ts") else {})}
        body = {
            "type": "block_actions",
            "team": {"id": "T1"},
            "user": {"id": user},
            "channel": {"id": message["channel"]},
            "message": said,
            "actions": [{**buttons(message)[number - 1], "block_id": "b", "action_ts": "3.0"}],
        }
        return self.send("payload=" + quote(json.dumps(body)), "application/x-www-form-urlencoded")

    def send(self, body: str, content_type: str) -> list[Message]:
        before = len(self.slack.posted)
        now = str(int(time.time()))
        signature = SignatureVerifier(SECRET).generate_signature(timestamp=now, body=body) or ""
        headers = {"content-type": content_type, "x-slack-request-timestamp": now, "x-slack-signature": signature}
        assert self.dispatch(body, headers).status == 200
        return self.slack.posted[before:]

    def dispatch(self, body: str, headers: dict[str, str]) -> Any:
        raise NotImplementedError

    def handles(self, name: str, said: Callable[[Any], str]) -> None:
        """Adds a function for an intent that says what `said` makes of the turn."""
        raise NotImplementedError

    def falls_back(self) -> None:
        """Adds a fallback that says "Sorry?"."""
        raise NotImplementedError


class SyncChat(Chat):
    def __init__(self, slack: Slack, *, at_once: bool = True) -> None:
        super().__init__(slack)
        client = WebClient("xoxb-1", base_url=slack.url)
        self.app = App(client=client, signing_secret=SECRET, process_before_response=at_once)
        self.router = IntentRouter(self.app, self.dialogue)

    def dispatch(self, body: str, headers: dict[str, str]) -> Any:
        return self.app.dispatch(BoltRequest(body=body, headers=headers))

    def handles(self, name: str, said: Callable[[Any], str]) -> None:
        @self.router.intent(name)
        def answer(say: Any, turn: Any) -> None:
            say(said(turn))

    def falls_back(self) -> None:
        @self.router.fallback
        def sorry(say: Any) -> None:
            say("Sorry?")


class AsyncChat(Chat):
    def __init__(self, slack: Slack, *, at_once: bool = True) -> None:
        super().__init__(slack)
        client = AsyncWebClient("xoxb-1", base_url=slack.url)
        self.app = AsyncApp(client=client, signing_secret=SECRET, process_before_response=at_once)
        self.router = AsyncIntentRouter(self.app, self.dialogue)

    def dispatch(self, body: str, headers: dict[str, str]) -> Any:
        return asyncio.run(self.app.async_dispatch(AsyncBoltRequest(body=body, headers=headers)))

    def handles(self, name: str, said: Callable[[Any], str]) -> None:
        @self.router.intent(name)
        async def answer(say: Any, turn: Any) -> None:
            await say(said(turn))

    def falls_back(self) -> None:
        @self.router.fallback
        async def sorry(say: Any) -> None:
            await say("Sorry?")


@pytest.fixture(params=[SyncChat, AsyncChat], ids=["sync", "async"])
def chat(request: pytest.FixtureRequest, slack: Slack) -> Chat:
    return request.param(slack)


def buttons(message: Message) -> list[Message]:
    return message["blocks"][1]["elements"]


def texts(messages: list[Message]) -> list[str]:
    return [message["text"] for message in messages]


def test_an_intent_with_a_function_is_answered_by_it(chat):
    """It gets what it asks for by name: Bolt's own, and the turn."""
    chat.handles("order_status", lambda turn: f"{turn.message!r} is {turn.intent}")

    (said,) = chat.hear("where is my order")

    assert said["text"] == "'where is my order' is order_status"
    assert said["channel"] == "D1"
    assert "thread_ts" not in said


def test_a_function_may_be_a_method_and_ask_for_anything_of_bolts(slack):
    """`self` is not one of the things that Bolt hands out."""
    chat = SyncChat(slack)
    seen = []

    class Bot:
        def answer(self, event, client, context, turn):
            seen.append((event["user"], client.token, context["turn"] is turn))

    chat.router.intent("order_status")(Bot().answer)
    chat.hear("where is my order")

    assert seen == [("UANNA", "xoxb-1", True)]


def test_an_intent_without_a_function_is_answered_from_the_yaml(chat):
    """In the language of the message."""
    assert texts(chat.hear("where is my order")) == ["On its way."]
    assert texts(chat.hear("wo bleibt meine bestellung")) == ["Unterwegs."]


def test_a_doubt_is_asked_about_with_buttons(chat):
    """The numbered text is for notifications, which show no buttons."""
    (said,) = chat.hear("my order")

    assert said["text"] == NUMBERED
    assert said["blocks"][0]["text"] == {"type": "plain_text", "text": DID_YOU_MEAN}
    assert [button["text"]["text"] for button in buttons(said)] == TITLES
    assert len({button["action_id"] for button in buttons(said)}) == 3


def test_a_button_chooses(chat):
    """Once; then its question is over."""
    (question,) = chat.hear("my order")

    assert texts(chat.press(question, 2)) == ["Cancelled."]
    (late,) = chat.press(question, 1)
    assert late["text"].startswith(TOO_LATE)


def test_none_of_these_is_for_the_fallback(chat):
    """As a message that is not understood."""
    chat.falls_back()
    (question,) = chat.hear("my order")

    assert texts(chat.press(question, 3)) == ["Sorry?"]


@pytest.mark.parametrize("answer", ["2", "cancel an order", "cancel"])
def test_a_number_or_words_choose_too(chat, answer):
    """For those who write on."""
    chat.hear("my order")

    assert texts(chat.hear(answer)) == ["Cancelled."]


def test_a_slot_is_asked_for(chat):
    """And what was said for it mentions nobody."""
    assert texts(chat.hear("take down my name")) == ["What is your name?"]
    assert texts(chat.hear("&lt;!channel&gt;")) == ["Hello, &lt;!channel&gt;!"]


def test_a_function_gets_a_reply_that_it_may_say(chat):
    """It is escaped, and the values are what the user said."""
    chat.handles("tell_name", lambda turn: f"{turn.reply} {'<!channel>' in turn.slots.values()}")
    chat.hear("take down my name")

    assert texts(chat.hear("&lt;!channel&gt;")) == ["Hello, &lt;!channel&gt;! True"]


def test_what_is_not_understood_is_for_the_fallback(chat):
    """Without one, the bot says nothing."""
    assert chat.hear("quantum chromodynamics") == []
    chat.falls_back()

    assert texts(chat.hear("quantum chromodynamics")) == ["Sorry?"]


@pytest.mark.parametrize(
    "event",
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
    ids=lambda event: " ".join(f"{key}={value}" for key, value in event.items()),
)
def test_what_is_not_said_to_the_bot_is_passed_over(chat, event):
    """Nothing is said to empty messages, to what is edited, and to bots, itself among them."""
    chat.falls_back()

    assert chat.hear(**{"text": "", **event}) == []


def test_a_text_with_a_file_is_heard(chat):
    """The file is not the bot's business."""
    assert texts(chat.hear("where is my order", subtype="file_share")) == ["On its way."]


def test_a_mention_in_a_channel_is_answered_once(chat):
    """Slack tells of it in two events where a bot hears both kinds; the mention is no part of what is said."""
    chat.handles("order_status", lambda turn: turn.message)
    said = "<@UBOT> where is my order"

    assert chat.hear(said, channel="C1", channel_type="channel") == []
    assert texts(chat.hear(said, type="app_mention", channel="C1")) == [" where is my order"]
    assert texts(chat.hear(said)) == [" where is my order"]


def test_markup_is_heard_as_plain_text(chat):
    """Links by what stands for them, as Slack shows them to the user."""
    chat.handles("order_status", lambda turn: turn.message)

    (said,) = chat.hear("where is my order <https://a.example|here> &amp; <mailto:a@b.example|a@b.example>")

    assert said["text"] == "where is my order here & a@b.example"


def test_a_thread_is_answered_in_the_thread(chat):
    """By the bot itself, by its functions, and after a button."""
    (question,) = chat.hear("my order", thread_ts="0.5")
    (answer,) = chat.press(question, 2)
    chat.handles("order_status", lambda turn: "Here")
    (own,) = chat.hear("where is my order", thread_ts="0.5")

    assert [said["thread_ts"] for said in (question, answer, own)] == ["0.5", "0.5", "0.5"]


def test_users_and_threads_do_not_answer_for_each_other(chat):
    """What waits for one is not answered by another, nor elsewhere."""
    (question,) = chat.hear("my order", channel="C1", channel_type="channel")

    assert chat.hear("2", channel="C1", channel_type="channel", user="UBERND") == []
    (other,) = chat.press(question, 2, user="UBERND")
    assert other["text"].startswith(TOO_LATE)
    assert chat.hear("2", channel="C1", channel_type="channel", thread_ts="0.5") == []
    assert texts(chat.hear("2", channel="C1", channel_type="channel")) == ["Cancelled."]


def test_a_message_is_recognised_once(chat):
    """Whoever asks the dialogue again in the same turn gets the same answer."""
    chat.handles("order_status", lambda turn: turn.message)
    chat.encoder.encoded.clear()

    chat.hear("where might my order be")

    assert chat.encoder.encoded == ["where might my order be"]


def test_the_locale_that_a_middleware_knows_is_a_hint(slack):
    """For messages that do not tell a language."""
    chat = SyncChat(slack)
    assert texts(chat.hear("42 7")) == ["A number."]

    @chat.app.middleware
    def locale(context, next):  # noqa: A002 - Bolt's own name for it
        context["locale"] = "de-DE"
        next()

    assert texts(chat.hear("42 7")) == ["Eine Zahl."]


def test_slack_need_not_wait(slack):
    """The request is answered while the message is still being read."""
    chat = SyncChat(slack, at_once=False)
    chat.encoder.gate.clear()

    assert chat.hear("where might my order be") == []
    chat.encoder.gate.set()
    deadline = time.monotonic() + 10
    while not slack.posted and time.monotonic() < deadline:
        time.sleep(0.01)

    assert texts(slack.posted) == ["On its way."]


def test_the_loop_goes_on_while_a_message_is_read(slack):
    """A slow model keeps nobody else waiting."""
    chat = AsyncChat(slack)
    dispatch = chat.app.async_dispatch

    async def while_closed(request: AsyncBoltRequest) -> Any:
        chat.encoder.close_until_loop_runs()
        return await dispatch(request)

    chat.app.async_dispatch = while_closed

    assert texts(chat.hear("where might my order be")) == ["On its way."]


def test_the_example_holds_a_conversation(slack):
    """In two languages, with a question of each kind."""
    chat = SyncChat(slack)
    chat.app = App(client=chat.app.client, signing_secret=SECRET, process_before_response=True)
    load_example("slack/bot.py").add_intents(chat.app)

    (question,) = chat.hear("my order")
    assert [button["text"]["text"] for button in buttons(question)] == TITLES
    assert texts(chat.press(question, 1)) == ["What is your order number?"]
    assert texts(chat.hear("4711")) == ["Order 4711 is on its way."]
    assert texts(chat.hear("storniere meine Bestellung")) == ["Ich habe sie storniert."]
    assert texts(chat.hear("tell me a joke")) == ["Sorry, I did not understand that."]
