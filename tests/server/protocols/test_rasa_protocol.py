"""Rasa's HTTP API, checked against its documentation and its clients."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from speaking import BERLIN, KEY, TWO, client
from starlette.testclient import TestClient

from intentmatch import Matcher


def parse(client: TestClient, text: str) -> dict:
    """The parsed result of a text."""
    answer = client.post("/model/parse", json={"text": text})
    assert answer.status_code == 200
    return answer.json()


def test_version_is_reported(protocol_client: TestClient) -> None:
    """Clients check it first; opsdroid needs a minimum of 2."""
    hello = protocol_client.get("/")
    assert (hello.status_code, hello.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert hello.text.startswith("Hello from Rasa: 3.")
    version = protocol_client.get("/version").json()
    assert version.keys() == {"version", "minimum_compatible_version"}
    assert int(version["minimum_compatible_version"][0]) >= 2


def test_status_names_the_registry_as_the_model(protocol_client: TestClient, bot: Matcher) -> None:
    status = protocol_client.get("/status").json()
    fingerprint = bot.registry.fingerprint
    assert status == {
        "model_file": f"{fingerprint}.intentmatch",
        "model_id": fingerprint,
        "fingerprint": {"registry": fingerprint},
        "num_active_training_jobs": 0,
    }


def test_message_is_parsed(protocol_client: TestClient, bot: Matcher) -> None:
    """Intent, ranking, and a list of entities, even an empty one."""
    parsed = parse(protocol_client, "hello")
    assert parsed.keys() == {"text", "intent", "entities", "intent_ranking"}
    assert (parsed["text"], parsed["entities"]) == ("hello", [])
    assert parsed["intent"] == parsed["intent_ranking"][0]
    assert parsed["intent"]["name"] == "greet"
    assert 0 < parsed["intent"]["confidence"] <= 1
    expected = [candidate.intent for candidate in bot.match("hello", top_k=10).candidates]
    assert [each["name"] for each in parsed["intent_ranking"]] == expected


def test_out_of_scope_is_the_fallback(protocol_client: TestClient, bot: Matcher) -> None:
    """With the threshold as its confidence, before the refused intents."""
    result = bot.match("the price of tea in China", top_k=10)
    assert result.verdict == "out_of_scope"
    parsed = parse(protocol_client, result.message)
    assert parsed["intent"] == {"name": "nlu_fallback", "confidence": result.trace.threshold}
    assert parsed["intent_ranking"][0] == parsed["intent"]
    assert [each["name"] for each in parsed["intent_ranking"][1:]] == [each.intent for each in result.candidates]


def test_ambiguous_is_the_fallback(protocol_client: TestClient, bot: Matcher, answers: Callable[..., None]) -> None:
    answers(verdict="ambiguous", intent=None)
    parsed = parse(protocol_client, "hello")
    assert parsed["intent"]["name"] == parsed["intent_ranking"][0]["name"] == "nlu_fallback"
    assert parsed["intent_ranking"][1]["name"] == "greet"


@pytest.mark.parametrize("text", ["", "  \n"])
def test_empty_text_has_an_intent_without_name(protocol_client: TestClient, text: str) -> None:
    parsed = parse(protocol_client, text)
    assert parsed == {
        "text": text,
        "intent": {"name": None, "confidence": 0.0},
        "entities": [],
        "intent_ranking": [],
    }


def test_text_without_words_is_the_fallback(protocol_client: TestClient, bot: Matcher) -> None:
    """With confidence 1."""
    parsed = parse(protocol_client, "¿?")
    assert bot.match("¿?").trace.threshold is None
    assert parsed["intent"] == {"name": "nlu_fallback", "confidence": 1.0}


def test_entities_have_rasas_keys(protocol_client: TestClient, answers: Callable[..., None]) -> None:
    answers(entities=(BERLIN, TWO))
    city, seats = parse(protocol_client, "a train to Berlin two")["entities"]
    assert city == {
        "entity": "city",
        "value": "BER",
        "start": 11,
        "end": 17,
        "confidence_entity": 1.0,
        "extractor": "intentmatch",
    }
    assert seats["value"] == 2


def test_confidence_is_within_0_and_1(protocol_client: TestClient, bot: Matcher, answers: Callable[..., None]) -> None:
    """Even of a score, in a registry without calibration."""
    leading, *_ = bot.match("hello").candidates
    answers(candidates=(leading, replace(leading, intent="far", confidence=None, score=-0.3)))
    assert parse(protocol_client, "hello")["intent_ranking"][1] == {"name": "far", "confidence": 0.0}


@pytest.mark.parametrize("declared", [None, "text/plain; charset=utf-8", "application/json", "application/x-yaml"])
def test_json_is_read_whatever_the_content_type(protocol_client: TestClient, declared: str | None) -> None:
    """opsdroid posts JSON as text."""
    headers = {} if declared is None else {"content-type": declared}
    body = json.dumps({"text": "hello", "message_id": None, "token": None})
    answer = protocol_client.post("/model/parse", content=body, headers=headers)
    assert answer.json()["intent"]["name"] == "greet"


@pytest.mark.parametrize(
    ("query", "headers", "body"),
    [
        (f"?token={KEY}", {}, {}),
        (f"?&token={KEY}", {}, {}),
        ("", {"authorization": f"Bearer {KEY}"}, {}),
        ("", {"authorization": f"bearer {KEY}"}, {}),
        ("", {}, {"token": KEY}),
    ],
)
def test_token_is_read_from_query_body_or_header(guarded: TestClient, query: str, headers: dict, body: dict) -> None:
    answer = guarded.post(f"/model/parse{query}", json={"text": "hello", **body}, headers=headers)
    assert (answer.status_code, answer.json()["intent"]["name"]) == (200, "greet")


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", f"?token={KEY}x", "?token=%00%ff"])
def test_wrong_token_is_refused(guarded: TestClient, query: str) -> None:
    """The answer does not show it."""
    for answer in (guarded.post(f"/model/parse{query}", json={"text": "hello"}), guarded.get(f"/status{query}")):
        assert answer.status_code == 401
        assert answer.json() == {
            "version": "3.6.21",
            "status": "failure",
            "message": "User is not authenticated.",
            "reason": "NotAuthenticated",
            "details": {},
            "help": None,
            "code": 401,
        }
    assert guarded.get("/version").status_code == guarded.get("/").status_code == 200


def test_empty_body_is_a_bad_request(protocol_client: TestClient) -> None:
    answer = protocol_client.post("/model/parse")
    assert (answer.status_code, answer.json()["reason"], answer.json()["code"]) == (400, "BadRequest", 400)


def test_mistakes_are_listed_by_key(protocol_client: TestClient) -> None:
    answer = protocol_client.post("/model/parse", json={"text": 5, "token": []})
    assert answer.status_code == 400
    assert answer.json()["details"].keys() == {"text", "token"}


def test_emulation_mode_is_refused(protocol_client: TestClient) -> None:
    answer = protocol_client.post("/model/parse?emulation_mode=LUIS", json={"text": "hello"})
    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")


def test_token_in_the_body_is_accepted_for_the_longest_message(bot: Matcher) -> None:
    """Rasa's own client sends its token there, and escapes all but ASCII."""
    caller = client(bot, keys=[KEY], max_text=500)
    for text in ("hello", "\U0001f600" * 500):
        assert caller.post("/model/parse", json={"text": text, "token": KEY}).status_code == 200
    assert caller.post("/model/parse", json={"text": "hello", "token": "wrong"}).status_code == 401
