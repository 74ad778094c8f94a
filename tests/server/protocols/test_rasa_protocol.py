"""Rasa's HTTP API, held against what its documentation and its clients say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from speaking import BERLIN, KEY, TWO
from starlette.testclient import TestClient

from intentmatch import Matcher


def parse(client: TestClient, text: str) -> dict:
    """What the server makes of a text."""
    answer = client.post("/model/parse", json={"text": text})
    assert answer.status_code == 200
    return answer.json()


def test_the_server_says_what_it_speaks(speaker: TestClient) -> None:
    """Clients look at these before the first message; opsdroid wants the minimum to be 2 or more."""
    hello = speaker.get("/")
    assert (hello.status_code, hello.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert hello.text.startswith("Hello from Rasa: 3.")
    version = speaker.get("/version").json()
    assert version.keys() == {"version", "minimum_compatible_version"}
    assert int(version["minimum_compatible_version"][0]) >= 2


def test_the_status_names_the_registry_as_the_model(speaker: TestClient, bot: Matcher) -> None:
    """The fingerprint stands for the model file; nothing is ever being trained."""
    status = speaker.get("/status").json()
    fingerprint = bot.registry.fingerprint
    assert status == {
        "model_file": f"{fingerprint}.intentmatch",
        "model_id": fingerprint,
        "fingerprint": {"registry": fingerprint},
        "num_active_training_jobs": 0,
    }


def test_a_message_is_parsed(speaker: TestClient, bot: Matcher) -> None:
    """The intent, the ranking that it leads, and a list of entities even where there are none."""
    parsed = parse(speaker, "hello")
    assert parsed.keys() == {"text", "intent", "entities", "intent_ranking"}
    assert (parsed["text"], parsed["entities"]) == ("hello", [])
    assert parsed["intent"] == parsed["intent_ranking"][0]
    assert parsed["intent"]["name"] == "greet"
    assert 0 < parsed["intent"]["confidence"] <= 1
    expected = [candidate.intent for candidate in bot.match("hello", top_k=10).candidates]
    assert [each["name"] for each in parsed["intent_ranking"]] == expected


def test_out_of_scope_is_the_fallback(speaker: TestClient, bot: Matcher) -> None:
    """The fallback leads, with the cut as its confidence, and what was refused comes after it."""
    result = bot.match("the price of tea in China", top_k=10)
    assert result.verdict == "out_of_scope"
    parsed = parse(speaker, result.message)
    assert parsed["intent"] == {"name": "nlu_fallback", "confidence": result.trace.threshold}
    assert parsed["intent_ranking"][0] == parsed["intent"]
    assert [each["name"] for each in parsed["intent_ranking"][1:]] == [each.intent for each in result.candidates]


def test_ambiguous_is_the_fallback_too(speaker: TestClient, bot: Matcher, answers: Callable[..., None]) -> None:
    """Rasa's classifier falls back where the two best are too close; both stand in the ranking."""
    answers(verdict="ambiguous", intent=None)
    parsed = parse(speaker, "hello")
    assert parsed["intent"]["name"] == parsed["intent_ranking"][0]["name"] == "nlu_fallback"
    assert parsed["intent_ranking"][1]["name"] == "greet"


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_text_has_no_intent(speaker: TestClient, text: str) -> None:
    """As a Rasa server answers it: an intent that is there and has no name."""
    parsed = parse(speaker, text)
    assert parsed == {
        "text": text,
        "intent": {"name": None, "confidence": 0.0},
        "entities": [],
        "intent_ranking": [],
    }


def test_a_text_without_words_is_the_fallback(speaker: TestClient, bot: Matcher) -> None:
    """Where there is nothing to score, nothing is surer than that it is no intent."""
    parsed = parse(speaker, "¿?")
    assert bot.match("¿?").trace.threshold is None
    assert parsed["intent"] == {"name": "nlu_fallback", "confidence": 1.0}


def test_entities_have_rasas_keys(speaker: TestClient, answers: Callable[..., None]) -> None:
    """Places count in characters; opsdroid wants a confidence or an extractor."""
    answers(entities=(BERLIN, TWO))
    city, seats = parse(speaker, "a train to Berlin two")["entities"]
    assert city == {
        "entity": "city",
        "value": "BER",
        "start": 11,
        "end": 17,
        "confidence_entity": 1.0,
        "extractor": "intentmatch",
    }
    assert seats["value"] == 2


def test_confidence_is_a_share_even_where_the_score_is_none(
    speaker: TestClient, bot: Matcher, answers: Callable[..., None]
) -> None:
    """A registry without calibration gives its scores, and no client is to see a negative one."""
    leading, *_ = bot.match("hello").candidates
    answers(candidates=(leading, replace(leading, intent="far", confidence=None, score=-0.3)))
    assert parse(speaker, "hello")["intent_ranking"][1] == {"name": "far", "confidence": 0.0}


@pytest.mark.parametrize("declared", [None, "text/plain; charset=utf-8", "application/json", "application/x-yaml"])
def test_json_is_read_whatever_it_is_called(speaker: TestClient, declared: str | None) -> None:
    """opsdroid posts JSON as text."""
    headers = {} if declared is None else {"content-type": declared}
    body = json.dumps({"text": "hello", "message_id": None, "token": None})
    answer = speaker.post("/model/parse", content=body, headers=headers)
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
def test_a_token_is_taken_wherever_it_stands(guarded: TestClient, query: str, headers: dict, body: dict) -> None:
    """opsdroid writes it into the address, Rasa into the body, others into a header."""
    answer = guarded.post(f"/model/parse{query}", json={"text": "hello", **body}, headers=headers)
    assert (answer.status_code, answer.json()["intent"]["name"]) == (200, "greet")


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", f"?token={KEY}x", "?token=%00%ff"])
def test_a_wrong_token_is_refused(guarded: TestClient, query: str) -> None:
    """In the words and the shape of a Rasa server, and without telling the token."""
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


def test_an_empty_body_is_a_bad_request(speaker: TestClient) -> None:
    """As Rasa says it."""
    answer = speaker.post("/model/parse")
    assert (answer.status_code, answer.json()["reason"], answer.json()["code"]) == (400, "BadRequest", 400)


def test_what_is_wrong_with_a_body_is_listed(speaker: TestClient) -> None:
    """The details name each key and what is wrong with it."""
    answer = speaker.post("/model/parse", json={"text": 5, "token": []})
    assert answer.status_code == 400
    assert answer.json()["details"].keys() == {"text", "token"}


def test_emulation_is_refused(speaker: TestClient) -> None:
    """Another shape than the caller counts on would be worse than none."""
    answer = speaker.post("/model/parse?emulation_mode=LUIS", json={"text": "hello"})
    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")
