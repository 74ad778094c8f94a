"""Dialogflow's detectIntent and its fulfillment webhook, checked against their documentation."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Event, Thread
from typing import Any

import pytest
from fastapi import Request
from speaking import BERLIN, KEY, NO_DAY, TWO, client
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.core.result import Entity, Missing
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


def test_response_has_the_documented_shape(protocol_client: TestClient) -> None:
    response = detected(protocol_client, "hello")
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
    assert response["responseId"] != detected(protocol_client, "hello")["responseId"]


def test_action_comes_from_the_metadata(protocol_client: TestClient) -> None:
    assert detected(protocol_client, "goodbye")["queryResult"]["action"] == "smalltalk.bye"


@pytest.mark.parametrize("verdict", ["out_of_scope", "ambiguous"])
def test_undecided_message_is_the_fallback(
    protocol_client: TestClient, answers: Callable[..., None], verdict: str
) -> None:
    """With confidence 1."""
    answers(verdict=verdict, intent=None, response=None)
    result = detected(protocol_client, "hello")["queryResult"]
    assert result["intent"] == {
        "name": "projects/shop/agent/intents/Default%20Fallback%20Intent",
        "displayName": "Default Fallback Intent",
        "isFallback": True,
    }
    assert (result["action"], result["intentDetectionConfidence"]) == ("input.unknown", 1.0)
    assert (result["fulfillmentText"], result["fulfillmentMessages"]) == ("", [{"text": {"text": [""]}}])


def test_entities_are_parameters(protocol_client: TestClient, answers: Callable[..., None]) -> None:
    """Each slot has its value, a list of values, or ""."""
    answers(entities=(BERLIN, TWO, TWO))
    parameters = detected(protocol_client, "a train to Berlin")["queryResult"]["parameters"]
    assert parameters == {"city": "BER", "seats": [2, 2], "day": ""}


def test_values_are_filled_into_the_response(protocol_client: TestClient, answers: Callable[..., None]) -> None:
    """Several values with commas, those of several parts as the user wrote them; the others stay."""
    price = Entity("price", {"amount": 5, "currency": "EUR"}, "5 euros", 0, 7)
    answers(entities=(BERLIN, TWO, TWO, price), response="{city}: {seats} for {price} on {day}")
    result = detected(protocol_client, "a train to Berlin")["queryResult"]
    assert result["fulfillmentText"] == "BER: 2, 2 for 5 euros on {day}"
    assert result["parameters"]["price"] == {"amount": 5, "currency": "EUR"}


def test_missing_slot_is_asked_for(protocol_client: TestClient, answers: Callable[..., None]) -> None:
    """The first question replaces the response."""
    answers(missing=(Missing("seats", None), NO_DAY))
    result = detected(protocol_client, "a train to Berlin", f"{SESSION}-asked")["queryResult"]
    assert (result["allRequiredParamsPresent"], result["fulfillmentText"]) == (False, "On which day?")
    answers(missing=(Missing("seats", None),))
    result = detected(protocol_client, "a train to Berlin", f"{SESSION}-not-asked")["queryResult"]
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
def test_every_form_of_a_session_path_is_accepted(protocol_client: TestClient, session: str, version: str) -> None:
    body = {"queryInput": {"text": {"text": "hello", "languageCode": "en-US"}}}
    result = protocol_client.post(f"/{version}/{session}:detectIntent", json=body).json()["queryResult"]
    assert result["intent"]["name"] == session.partition("/agent")[0] + "/agent/intents/greet"
    assert result["languageCode"] == "en-US"


def test_snake_case_and_null_are_accepted(protocol_client: TestClient) -> None:
    """As protocol buffers in JSON allow."""
    body = {"query_input": {"text": {"text": "hello", "language_code": "de"}, "event": None}, "query_params": None}
    answer = protocol_client.post(f"/v2/{SESSION}:detectIntent", json=body)
    assert answer.json()["queryResult"]["fulfillmentText"] == "Hallo!"


def test_contexts_are_tags(protocol_client: TestClient) -> None:
    context = {"name": f"{SESSION}/contexts/checkout", "lifespanCount": "2"}
    assert detected(protocol_client, "let me pay")["queryResult"]["intent"].get("isFallback")
    assert detected(protocol_client, "let me pay", contexts=[context])["queryResult"]["intent"]["displayName"] == "pay"
    over = {**context, "lifespanCount": 0}
    assert detected(protocol_client, "let me pay", contexts=[over])["queryResult"]["intent"].get("isFallback")


@pytest.mark.parametrize(
    "query", [{}, {"text": {}}, {"text": {"text": ""}}, {"event": {"name": "WELCOME"}}, {"audioConfig": {}}]
)
def test_only_text_is_supported(protocol_client: TestClient, query: dict) -> None:
    answer = protocol_client.post(f"/v2/{SESSION}:detectIntent", json={"queryInput": query})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert error["message"].startswith("Input text not set")


def test_mistakes_are_field_violations(protocol_client: TestClient) -> None:
    body = {"queryInput": {"text": {"text": 1}}, "queryParams": {"contexts": [{"lifespanCount": "x"}]}}
    error = protocol_client.post(f"/v2/{SESSION}:detectIntent", json=body).json()["error"]
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
def test_valid_key_is_accepted(guarded: TestClient, query: str, headers: dict, status: int) -> None:
    """As API key or token, as Google's clients send them."""
    body = {"queryInput": {"text": {"text": "hello"}}}
    answer = guarded.post(f"/v2/{SESSION}:detectIntent{query}", json=body, headers=headers)
    assert answer.status_code == status
    if status != 200:
        assert answer.json()["error"]["status"] == "UNAUTHENTICATED"


def test_project_names_the_bot(protocol_client: TestClient, bot: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    async def bot_named(only: Bot, request: Request, name: str | None) -> Bot:
        raise ProblemError(ProblemDetails.for_status(404, str(UnknownNameError("bot", str(name), ["store"]))))

    monkeypatch.setattr(Bot, "bot_named", bot_named)
    body = {"queryInput": {"text": {"text": "hello"}}}
    answer = client(bot).post(f"/v2/{SESSION}:detectIntent", json=body)
    assert (answer.status_code, answer.json()["error"]["status"]) == (404, "NOT_FOUND")
    assert "'shop'" in answer.json()["error"]["message"]


@contextmanager
def webhook(reply: bytes, status: int = 200, held: Event | None = None) -> Iterator[tuple[str, list[dict]]]:
    """A server with this reply, given when `held` is set: its URL, and the requests it gets."""
    requests: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            requests.append({"path": self.path, **json.loads(self.rfile.read(length))})
            if held is not None:
                held.wait(60)
            with suppress(BrokenPipeError):  # by a client that has gone
                self.send_response(status)
                self.send_header("location", self.path)
                self.send_header("content-length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/fulfil?a=b", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_webhook_fulfils_the_intent_that_asks_for_it(bot: Matcher) -> None:
    reply = {
        "fulfillmentText": "The 10:04.",
        "source": "timetable",
        "payload": {"platform": 5},
        "outputContexts": [{"name": f"{SESSION}/contexts/booking", "lifespanCount": 5}],
    }
    with webhook(json.dumps(reply).encode()) as (url, requests):
        caller = client(bot, fulfillment=url)
        response = detected(caller, "a train to Berlin", payload={"user": 7})
        detected(caller, "hello")
    (request,) = requests
    assert request["path"] == "/fulfil?a=b"
    assert (request["session"], request["responseId"]) == (SESSION, response["responseId"])
    assert request["originalDetectIntentRequest"] == {"payload": {"user": 7}}
    assert request["queryResult"]["intent"]["displayName"] == "ride"
    assert request["queryResult"]["fulfillmentText"] == "A train it is."
    result = response["queryResult"]
    assert (result["fulfillmentText"], result["webhookSource"]) == ("The 10:04.", "timetable")
    assert result["fulfillmentMessages"] == [{"text": {"text": ["The 10:04."]}}]
    assert result["webhookPayload"] == {"platform": 5}
    assert result["outputContexts"] == reply["outputContexts"]
    assert result["diagnosticInfo"].keys() == {"webhook_latency_ms"}
    assert response["webhookStatus"] == {"message": "Webhook execution successful"}


@pytest.mark.parametrize("reply", ["{}", '{"fulfillmentText": "", "fulfillmentMessages": null, "payload": {}}'])
def test_empty_webhook_fields_keep_our_values(bot: Matcher, reply: str) -> None:
    with webhook(reply.encode()) as (url, _):
        response = detected(client(bot, fulfillment=url), "a train to Berlin")
    assert response["queryResult"]["fulfillmentText"] == "A train it is."
    assert "code" not in response["webhookStatus"]


def test_webhook_is_called_once_no_slot_is_missing(bot: Matcher, answers: Callable[..., None]) -> None:
    answers(missing=(NO_DAY,))
    with webhook(b"{}") as (url, requests):
        response = detected(client(bot, fulfillment=url), "a train to Berlin")
    assert (requests, response["queryResult"]["fulfillmentText"]) == ([], "On which day?")


@pytest.mark.parametrize(
    ("reply", "status", "code", "message"),
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
def test_failed_webhook_keeps_the_response_and_is_reported(
    bot: Matcher, caplog: pytest.LogCaptureFixture, reply: bytes, status: int, code: int, message: str
) -> None:
    """The log shows the reason without the message."""
    with webhook(reply, status) as (url, requests), caplog.at_level(logging.WARNING):
        response = detected(client(bot, fulfillment=url), "a train to Berlin")
    assert len(requests) == 1
    assert response["queryResult"]["fulfillmentText"] == "A train it is."
    assert response["webhookStatus"]["code"] == code
    assert message in response["webhookStatus"]["message"]
    assert message in caplog.text
    assert "Berlin" not in caplog.text


def test_slow_webhook_times_out(bot: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialogflow, "FULFILLMENT_SECONDS", 0.2)
    held = Event()
    with webhook(b"{}", held=held) as (url, _):
        response = detected(client(bot, fulfillment=url), "a train to Berlin")
        held.set()
    assert response["webhookStatus"]["code"] == 4
    assert "within 0.2 seconds" in response["webhookStatus"]["message"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://nowhere.invalid/"])
def test_unreachable_webhook_is_reported(bot: Matcher, url: str) -> None:
    response = detected(client(bot, fulfillment=url), "a train to Berlin")
    assert response["webhookStatus"]["code"] == 14
    assert response["queryResult"]["fulfillmentText"] == "A train it is."


@pytest.mark.parametrize(
    "url", ["", "bot.example", "file:///etc/passwd", "http://", "http://[", "http://a:99999/", "http://a:0/",
            "http://me:secret@bot.example/", "http://bot.example/a b", "http://bot.example/\r\nX: y", "http://bücher/"]
)  # fmt: skip
def test_fulfillment_must_be_an_http_url(bot: Matcher, url: str) -> None:
    with pytest.raises(InputError, match="fulfillment must be a URL"):
        create_app(bot, protocols=["dialogflow"], fulfillment=url)


def test_fulfillment_needs_the_protocol_dialogflow(bot: Matcher) -> None:
    with pytest.raises(InputError, match="goes with the protocol dialogflow"):
        create_app(bot, protocols=["rasa"], fulfillment="http://bot.example/")
