"""The example for Twilio, called as Twilio calls it: with signed forms, over HTTP."""

from __future__ import annotations

import itertools
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
from contracts.order_bot import load_example
from twilio.request_validator import RequestValidator

_numbers = itertools.count(1)
WEBHOOK, TOKEN = "https://bot.example/message", "token"


class Chat:
    """Users who write to the bot through Twilio."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/message"

    def send(self, text: str | None, *, user: str = "whatsapp:+491", token: str = TOKEN, **fields: str) -> list[str]:
        """The replies to a message."""
        content = {} if text is None else {"Body": text}
        form = {
            "MessageSid": f"SM{next(_numbers)}",
            "From": user,
            "To": "whatsapp:+490",
            "NumMedia": "0",
            **content,
            **fields,
        }
        return self.post(urlencode(form), RequestValidator(token).compute_signature(WEBHOOK, form))

    def post(self, body: str, signature: str) -> list[str]:
        with urlopen(Request(self.url, body.encode(), {"X-Twilio-Signature": signature}), timeout=10) as answer:
            assert answer.headers.get_content_type() == "text/xml"
            return [message.text or "" for message in ElementTree.fromstring(answer.read()).findall("Message")]


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    monkeypatch.setenv("TWILIO_WEBHOOK", WEBHOOK)
    monkeypatch.setenv("TWILIO_AUTH_TOKEN", TOKEN)
    server = uvicorn.Server(uvicorn.Config(load_example("twilio/bot.py").app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield Chat(server.servers[0].sockets[0].getsockname()[1])
    server.should_exit = True
    thread.join()


def test_example_holds_its_conversation(chat):
    """In two languages, with a question about the intent and one about a slot."""
    question = "Did you mean:\n1. Where is my order?\n2. Cancel an order\n3. None of these"

    assert chat.send("my order") == [question]
    assert chat.send("1") == ["What is your order number?"]
    assert chat.send("4711") == ["Order 4711 is on its way."]
    assert chat.send("storniere meine Bestellung") == ["Ich habe sie storniert."]
    assert chat.send("tell me a joke") == ["Sorry, I did not understand that."]


def test_message_that_is_sent_again_gets_the_same_answer(chat):
    """Twilio did not get the response. The second delivery is no answer to the question of the first."""
    first, second = (chat.send("my order", MessageSid="SMagain") for _ in range(2))

    assert first == second
    assert first[0].startswith("Did you mean:")
    assert chat.send("1", MessageSid="SMnext") == ["What is your order number?"]
    assert chat.send("1", MessageSid="SMnext") == ["What is your order number?"]
    assert chat.send("4711") == ["Order 4711 is on its way."]


def test_words_choose(chat):
    chat.send("my order")

    assert chat.send("cancel") == ["I have cancelled it."]


def test_users_and_channels_have_conversations_of_their_own(chat):
    """The same person by SMS is in another conversation."""
    chat.send("my order")

    assert chat.send("2", user="whatsapp:+492") == ["Sorry, I did not understand that."]
    assert chat.send("2", user="+491") == ["Sorry, I did not understand that."]
    assert chat.send("2") == ["I have cancelled it."]


@pytest.mark.parametrize("text", ["", " ", None])
def test_picture_without_text_gets_no_reply(chat, text):
    """Twilio takes an empty response for that."""
    assert chat.send(text, NumMedia="1", MediaUrl0="https://bot.example/picture") == []


def test_request_without_valid_signature_is_refused(chat):
    """Signed with another key, not signed, or changed after signing."""
    with pytest.raises(HTTPError, match="403"):
        chat.send("my order", token="another")
    signature = RequestValidator(TOKEN).compute_signature(WEBHOOK, {"Body": "my order"})
    for body, signed in (("Body=my+order", ""), ("Body=storniere", signature), ("%ff=%fe&\u00fc", signature)):
        with pytest.raises(HTTPError, match="403"):
            chat.post(body, signed)
