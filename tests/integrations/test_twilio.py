"""The example for Twilio, as Twilio calls it: forms that are signed, over HTTP."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen
from xml.etree import ElementTree

import pytest

pytest.importorskip("twilio", reason="needs the package `twilio`")

import uvicorn
from chats import example
from twilio.request_validator import RequestValidator

WEBHOOK, TOKEN = "https://bot.example/message", "token"


class Chat:
    """Users who write to the bot through Twilio."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/message"

    def hear(self, text: str | None, *, user: str = "whatsapp:+491", token: str = TOKEN, **more: str) -> list[str]:
        """What is said to a message."""
        said = {} if text is None else {"Body": text}
        form = {"MessageSid": "SM1", "From": user, "To": "whatsapp:+490", "NumMedia": "0", **said, **more}
        return self.post(urlencode(form), RequestValidator(token).compute_signature(WEBHOOK, form))

    def post(self, body: str, signature: str) -> list[str]:
        with urlopen(Request(self.url, body.encode(), {"X-Twilio-Signature": signature}), timeout=10) as answer:
            assert answer.headers.get_content_type() == "text/xml"
            return [said.text or "" for said in ElementTree.fromstring(answer.read()).findall("Message")]


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    monkeypatch.setenv("TWILIO_WEBHOOK", WEBHOOK)
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", TOKEN)
    server = uvicorn.Server(uvicorn.Config(example("twilio/bot.py").app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield Chat(server.servers[0].sockets[0].getsockname()[1])
    server.should_exit = True
    thread.join()


def test_the_example_holds_a_conversation(chat):
    """In two languages, with a question of each kind."""
    question = "Did you mean:\n1. Where is my order?\n2. Cancel an order\n3. None of these"

    assert chat.hear("my order") == [question]
    assert chat.hear("1") == ["What is your order number?"]
    assert chat.hear("4711") == ["Order 4711 is on its way."]
    assert chat.hear("storniere meine Bestellung") == ["Ich habe sie storniert."]
    assert chat.hear("tell me a joke") == ["Sorry, I did not understand that."]


def test_an_answer_may_be_in_words(chat):
    """For those who do not read numbers."""
    chat.hear("my order")

    assert chat.hear("cancel") == ["I have cancelled it."]


def test_users_and_channels_do_not_answer_for_each_other(chat):
    """The same person by SMS is in another conversation."""
    chat.hear("my order")

    assert chat.hear("2", user="whatsapp:+492") == ["Sorry, I did not understand that."]
    assert chat.hear("2", user="+491") == ["Sorry, I did not understand that."]
    assert chat.hear("2") == ["I have cancelled it."]


@pytest.mark.parametrize("text", ["", " ", None])
def test_nothing_is_said_to_a_picture_without_a_text(chat, text):
    """Twilio takes an empty answer for that."""
    assert chat.hear(text, NumMedia="1", MediaUrl0="https://bot.example/picture") == []


def test_what_is_not_signed_is_turned_away(chat):
    """By another key, not at all, or changed on its way."""
    with pytest.raises(HTTPError, match="403"):
        chat.hear("my order", token="another")
    signature = RequestValidator(TOKEN).compute_signature(WEBHOOK, {"Body": "my order"})
    for body, signed in (("Body=my+order", ""), ("Body=storniere", signature), ("%ff=%fe&\u00fc", signature)):
        with pytest.raises(HTTPError, match="403"):
            chat.post(body, signed)
