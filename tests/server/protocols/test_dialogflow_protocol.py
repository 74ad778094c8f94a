"""Dialogflow's detectIntent, held against its documentation; and the webhook that it calls out to."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from fastapi import Request
from speaking import BERLIN, KEY, NO_DAY, TWO, client
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.core.result import Missing
from intentmatch.server import create_app
from intentmatch.server.bots.bot import Bot
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.protocols import dialogflow
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

SESSION = "projects/shop/agent/sessions/123"


def detected(client: TestClient, text: str, session: str = SESSION, **parameters: Any) -> dict:
    """The whole response to a text."""
    body = {"queryInput": {"text": {"text": text, "languageCode": "en"}}, "queryParams": parameters}
    answer = client.post(f"/v2/{session}:detectIntent?$alt=json;enum-encoding=int", json=body)
    assert answer.status_code == 200
    return answer.json()


def test_an_intent_is_detected(speaker: TestClient) -> None:
    """The documented shape, with the author's response as fulfillment."""
    response = detected(speaker, "hello")
    assert response.keys() == {"responseId", "queryResult"}
    assert response["queryResult"] == {
        "queryText": "hello",
        "languageCode": "en",
        "action": "",
        "parameters": {},
        "allRequiredParamsPresent": True,
        "fulfillmentText": "Hello!",
        "fulfillmentMessages": [{"text": {"text": ["Hello!"]}}],
        "outputContexts": [],
        "intent": {"name": "projects/shop/agent/intents/greet", "displayName": "greet"},
        "intentDetectionConfidence": 1.0,
    }
    assert response["responseId"] != detected(speaker, "hello")["responseId"]


def test_an_action_is_the_authors(speaker: TestClient) -> None:
    """What bots of Dialogflow switch by stands in the metadata."""
    assert detected(speaker, "goodbye")["queryResult"]["action"] == "smalltalk.bye"


@pytest.mark.parametrize("verdict", ["out_of_scope", "ambiguous"])
def test_what_is_not_decided_is_the_fallback(speaker: TestClient, answers: Callable[..., None], verdict: str) -> None:
    """The default fallback intent, of which Dialogflow is always sure."""
    answers(verdict=verdict, intent=None, response=None)
    result = detected(speaker, "hello")["queryResult"]
    assert result["intent"] == {
        "name": "projects/shop/agent/intents/Default%20Fallback%20Intent",
        "displayName": "Default Fallback Intent",
        "isFallback": True,
    }
    assert (result["action"], result["intentDetectionConfidence"]) == ("input.unknown", 1.0)
    assert (result["fulfillmentText"], result["fulfillmentMessages"]) == ("", [{"text": {"text": [""]}}])


def test_entities_are_parameters(speaker: TestClient, answers: Callable[..., None]) -> None:
    """Every slot is there: with its value, with all of them where there are several, empty where there is none."""
    answers(entities=(BERLIN, TWO, TWO))
    parameters = detected(speaker, "a train to Berlin")["queryResult"]["parameters"]
    assert parameters == {"city": "BER", "seats": [2, 2], "day": ""}


def test_what_is_missing_is_asked_for(speaker: TestClient, answers: Callable[..., None]) -> None:
    """The first question takes the place of the response; without one the response stays."""
    answers(missing=(Missing("seats", None), NO_DAY))
    result = detected(speaker, "a train to Berlin")["queryResult"]
    assert (result["allRequiredParamsPresent"], result["fulfillmentText"]) == (False, "On which day?")
    answers(missing=(Missing("seats", None),))
    result = detected(speaker, "a train to Berlin")["queryResult"]
    assert (result["allRequiredParamsPresent"], result["fulfillmentText"]) == (False, "A train it is.")


@pytest.mark.parametrize(
    "session",
    [
        "projects/shop/agent/sessions/123",
        "projects/shop/agent/environments/draft/users/-/sessions/a:b",
        "projects/shop/locations/europe-west1/agent/sessions/123",
        "projects/shop/locations/global/agent/environments/prod/users/me/sessions/123",
    ],
)
@pytest.mark.parametrize("version", ["v2", "v2beta1"])
def test_every_form_of_a_session_is_known(speaker: TestClient, session: str, version: str) -> None:
    """With and without a location and an environment; the intent is named below the same parent."""
    body = {"queryInput": {"text": {"text": "hello", "languageCode": "en-US"}}}
    result = speaker.post(f"/{version}/{session}:detectIntent", json=body).json()["queryResult"]
    assert result["intent"]["name"] == session.partition("/agent")[0] + "/agent/intents/greet"
    assert result["languageCode"] == "en-US"


def test_a_snake_is_a_camel_and_null_is_nothing(speaker: TestClient) -> None:
    """Protocol buffers in JSON may have their own names of fields, and null for a field that is not set."""
    body = {"query_input": {"text": {"text": "hello", "language_code": "de"}, "event": None}, "query_params": None}
    answer = speaker.post(f"/v2/{SESSION}:detectIntent", json=body)
    assert answer.json()["queryResult"]["fulfillmentText"] == "Hallo!"


def test_contexts_are_tags(speaker: TestClient) -> None:
    """An intent that waits for a tag answers where a context of that name is alive."""
    context = {"name": f"{SESSION}/contexts/checkout", "lifespanCount": "2"}
    assert detected(speaker, "let me pay")["queryResult"]["intent"].get("isFallback")
    assert detected(speaker, "let me pay", contexts=[context])["queryResult"]["intent"]["displayName"] == "pay"
    over = {**context, "lifespanCount": 0}
    assert detected(speaker, "let me pay", contexts=[over])["queryResult"]["intent"].get("isFallback")


@pytest.mark.parametrize(
    "query", [{}, {"text": {}}, {"text": {"text": ""}}, {"event": {"name": "WELCOME"}}, {"audioConfig": {}}]
)
def test_only_text_is_understood(speaker: TestClient, query: dict) -> None:
    """As Dialogflow says it where there is none."""
    answer = speaker.post(f"/v2/{SESSION}:detectIntent", json={"queryInput": query})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert error["message"].startswith("Input text not set")


def test_what_is_wrong_is_named(speaker: TestClient) -> None:
    """As violations of fields, which Google's clients show."""
    body = {"queryInput": {"text": {"text": 1}}, "queryParams": {"contexts": [{"lifespanCount": "x"}]}}
    error = speaker.post(f"/v2/{SESSION}:detectIntent", json=body).json()["error"]
    (detail,) = error["details"]
    assert detail["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert {violation["field"] for violation in detail["fieldViolations"]} == {
        "queryInput.text.text",
        "queryParams.contexts.0.name",
        "queryParams.contexts.0.lifespanCount",
    }


@pytest.mark.parametrize(
    ("query", "headers", "status"),
    [
        ("", {"x-goog-api-key": KEY}, 200),
        ("", {"authorization": f"Bearer {KEY}"}, 200),
        (f"?key={KEY}", {}, 200),
        ("", {}, 401),
        ("?key=wrong", {}, 401),
        ("", {"authorization": "Bearer wrong"}, 401),
    ],
)
def test_a_key_opens(guarded: TestClient, query: str, headers: dict, status: int) -> None:
    """An API key or a token, as Google's clients send them."""
    body = {"queryInput": {"text": {"text": "hello"}}}
    answer = guarded.post(f"/v2/{SESSION}:detectIntent{query}", json=body, headers=headers)
    assert answer.status_code == status
    if status != 200:
        assert answer.json()["error"]["status"] == "UNAUTHENTICATED"


def test_the_project_is_the_bot(speaker: TestClient, bot: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project that there is not is not found."""

    async def bot_named(only: Bot, request: Request, name: str | None) -> Bot:
        raise ProblemError(ProblemDetails.for_status(404, str(UnknownNameError("bot", str(name), ["store"]))))

    monkeypatch.setattr(Bot, "bot_named", bot_named)
    body = {"queryInput": {"text": {"text": "hello"}}}
    answer = client(bot).post(f"/v2/{SESSION}:detectIntent", json=body)
    assert (answer.status_code, answer.json()["error"]["status"]) == (404, "NOT_FOUND")
    assert "'shop'" in answer.json()["error"]["message"]


@contextmanager
def webhook(said: bytes, status: int = 200, seconds: float = 0.0) -> Iterator[tuple[str, list[dict]]]:
    """A server that says this to whoever posts to it; its URL, and what it was asked."""
    asked: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            asked.append({"path": self.path, **json.loads(self.rfile.read(length))})
            time.sleep(seconds)
            with suppress(BrokenPipeError):  # by a caller who does not wait
                self.send_response(status)
                self.send_header("location", self.path)
                self.send_header("content-length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/fulfil?a=b", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_webhook_fulfils_the_intent_that_asks_for_it(bot: Matcher) -> None:
    """It is asked in Dialogflow's words, and what it says takes the place of our own."""
    said = {
        "fulfillmentText": "The 10:04.",
        "source": "timetable",
        "payload": {"platform": 5},
        "outputContexts": [{"name": f"{SESSION}/contexts/booking", "lifespanCount": 5}],
    }
    with webhook(json.dumps(said).encode()) as (url, asked):
        speaking = client(bot, fulfillment=url)
        response = detected(speaking, "a train to Berlin", payload={"user": 7})
        detected(speaking, "hello")
    (request,) = asked
    assert request["path"] == "/fulfil?a=b"
    assert (request["session"], request["responseId"]) == (SESSION, response["responseId"])
    assert request["originalDetectIntentRequest"] == {"payload": {"user": 7}}
    assert request["queryResult"]["intent"]["displayName"] == "ride"
    assert request["queryResult"]["fulfillmentText"] == "A train it is."
    result = response["queryResult"]
    assert (result["fulfillmentText"], result["webhookSource"]) == ("The 10:04.", "timetable")
    assert result["fulfillmentMessages"] == [{"text": {"text": ["The 10:04."]}}]
    assert result["webhookPayload"] == {"platform": 5}
    assert result["outputContexts"] == said["outputContexts"]
    assert result["diagnosticInfo"].keys() == {"webhook_latency_ms"}
    assert response["webhookStatus"] == {"message": "Webhook execution successful"}


@pytest.mark.parametrize("said", ["{}", '{"fulfillmentText": "", "fulfillmentMessages": null, "payload": {}}'])
def test_what_a_webhook_leaves_empty_stays(bot: Matcher, said: str) -> None:
    """An empty answer is an answer: ours is kept."""
    with webhook(said.encode()) as (url, _):
        response = detected(client(bot, fulfillment=url), "a train to Berlin")
    assert response["queryResult"]["fulfillmentText"] == "A train it is."
    assert "code" not in response["webhookStatus"]


def test_a_webhook_waits_until_nothing_is_missing(bot: Matcher, answers: Callable[..., None]) -> None:
    """While a slot is asked for there is nothing to fulfil."""
    answers(missing=(NO_DAY,))
    with webhook(b"{}") as (url, asked):
        response = detected(client(bot, fulfillment=url), "a train to Berlin")
    assert (asked, response["queryResult"]["fulfillmentText"]) == ([], "On which day?")


@pytest.mark.parametrize(
    ("said", "status", "code", "told"),
    [
        (b'{"fulfillmentText": "x"}', 500, 14, "status 500"),
        (b'{"fulfillmentText": "x"}', 302, 14, "status 302"),
        (b"no JSON", 200, 3, "not a valid WebhookResponse"),
        (b"", 200, 3, "not a valid WebhookResponse"),
        (b"[" * 50_000, 200, 3, "not a valid WebhookResponse"),
        (b'{"fulfillmentText": 5}', 200, 3, "not a valid WebhookResponse"),
        (b'{"payload": {"n": 1e999}}', 200, 3, "not a valid WebhookResponse"),
        (b'{"payload": {"n": NaN}}', 200, 3, "not a valid WebhookResponse"),
        (b'{"fulfillmentText": "\\ud800"}', 200, 3, "not a valid WebhookResponse"),
        (b'{"followupEventInput": {"name": "E"}}', 200, 3, "not a valid WebhookResponse"),
        (b'{"source": "' + b"x" * 70_000 + b'"}', 200, 14, "65536 bytes"),
    ],
)
def test_a_webhook_that_fails_is_told_of_and_the_response_stays(
    bot: Matcher, caplog: pytest.LogCaptureFixture, said: bytes, status: int, code: int, told: str
) -> None:
    """Whatever it answers, the user gets an answer, and the log the reason without the message."""
    with webhook(said, status) as (url, asked), caplog.at_level(logging.WARNING):
        response = detected(client(bot, fulfillment=url), "a train to Berlin")
    assert len(asked) == 1
    assert response["queryResult"]["fulfillmentText"] == "A train it is."
    assert response["webhookStatus"]["code"] == code
    assert told in response["webhookStatus"]["message"]
    assert told in caplog.text
    assert "Berlin" not in caplog.text


def test_a_slow_webhook_is_not_waited_for(bot: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has its time, as in Dialogflow, and no more."""
    monkeypatch.setattr(dialogflow, "FULFILLMENT_SECONDS", 0.2)
    with webhook(b"{}", seconds=2.0) as (url, _):
        speaking = client(bot, fulfillment=url)
        start = time.perf_counter()
        response = detected(speaking, "a train to Berlin")
        took = time.perf_counter() - start
    assert response["webhookStatus"]["code"] == 4
    assert "within 0.2 seconds" in response["webhookStatus"]["message"]
    assert took < 2.0


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://nowhere.invalid/"])
def test_a_webhook_that_is_not_there_is_told_of(bot: Matcher, url: str) -> None:
    """A refused connection, and a name that nobody has."""
    response = detected(client(bot, fulfillment=url), "a train to Berlin")
    assert response["webhookStatus"]["code"] == 14
    assert response["queryResult"]["fulfillmentText"] == "A train it is."


@pytest.mark.parametrize(
    "url", ["", "bot.example", "file:///etc/passwd", "http://", "http://[", "http://a:99999/", "http://a:0/",
            "http://me:secret@bot.example/", "http://bot.example/a b", "http://bot.example/\r\nX: y", "http://bücher/"]
)  # fmt: skip
def test_only_a_url_of_the_web_can_be_called(bot: Matcher, url: str) -> None:
    """Another is refused at the start."""
    with pytest.raises(InputError, match="fulfillment must be a URL"):
        create_app(bot, protocols=["dialogflow"], fulfillment=url)


def test_fulfillment_goes_with_dialogflow(bot: Matcher) -> None:
    """Nobody else would call it."""
    with pytest.raises(InputError, match="goes with the protocol dialogflow"):
        create_app(bot, protocols=["rasa"], fulfillment="http://bot.example/")
