"""Messages from speech over HTTP: hypotheses in place of a text, for one message and for many."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from sent import as_sent
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import create_app
from intentmatch.server.process.logs import messages_log

HELLO = [{"text": "xkqzw vvbrt", "weight": 0.4}, {"text": "hello", "weight": 0.6}]
BYE = [{"text": "goodbye", "weight": 3}, {"text": "good buy", "weight": 1}]


def pairs(hypotheses: list[dict[str, Any]]) -> list[tuple[str, float]]:
    return [(one["text"], one["weight"]) for one in hypotheses]


def without_trace(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key != "trace"}


@pytest.mark.parametrize("heard", [HELLO, BYE, HELLO[1:], [{"text": "", "weight": 1}]])
def test_hypotheses_are_answered_as_the_matcher_does(client: TestClient, matcher: Matcher, heard: Any) -> None:
    answer = client.post("/match", json={"hypotheses": heard, "text": None, "top_k": 2})

    assert answer.status_code == 200, answer.text
    assert without_trace(answer.json()) == without_trace(as_sent(matcher.match(pairs(heard), top_k=2), matcher))


def test_same_text_alone_is_answered_by_itself(client: TestClient) -> None:
    """Nothing that is kept for a text is used for hypotheses, or the other way round."""
    alone, heard = {"text": "hello"}, {"hypotheses": HELLO}
    first, mixed, second = (client.post("/match", json=body).json() for body in (alone, heard, alone))

    assert without_trace(first) == without_trace(second)
    assert first["confidence"] == second["confidence"] != mixed["confidence"]
    assert mixed["message"] == "hello"


def test_batch_of_hypotheses_is_answered_in_order(client: TestClient, matcher: Matcher) -> None:
    results = client.post("/match/batch", json={"hypotheses": [BYE, HELLO, BYE]}).json()["results"]

    expected = [as_sent(matcher.match(pairs(heard)), matcher) for heard in (BYE, HELLO, BYE)]
    assert list(map(without_trace, results)) == list(map(without_trace, expected))


def test_previous_counts_in_a_batch(client: TestClient) -> None:
    asked = {"text": "a", "previous": "gret"}, {"texts": ["a"], "previous": "gret"}
    answers = [client.post(path, json=body) for path, body in zip(("/match", "/match/batch"), asked, strict=True)]

    assert [answer.json()["errors"][0]["location"] for answer in answers] == ["body.previous"] * 2


@pytest.mark.parametrize(
    ("body", "location", "says"),
    [
        ({}, "body.text", "Field required, or `hypotheses` in place of `text`"),
        ({"text": None, "hypotheses": None}, "body.text", "Field required, or `hypotheses`"),
        ({"text": "hello", "hypotheses": HELLO}, "body.text", "Give `text` or `hypotheses`, not both"),
        ({"hypotheses": []}, "body.hypotheses", "at least 1 item"),
        ({"hypotheses": HELLO * 11}, "body.hypotheses", "at most 20 items"),
        ({"hypotheses": [["hello", 0.6]]}, "body.hypotheses.0", "JSON object"),
        ({"hypotheses": [{"text": "hello"}]}, "body.hypotheses.0.weight", "Field required"),
        ({"hypotheses": [{"text": "hello", "weight": -2.5}]}, "body.hypotheses.0.weight", "give the exponential"),
        ({"hypotheses": [{"text": "hello", "weight": 0}]}, "body.hypotheses.0.weight", "greater than 0"),
        ({"hypotheses": [{"text": "hello", "weight": "1"}]}, "body.hypotheses.0.weight", "valid number"),
        ({"hypotheses": [{"text": "hello", "weight": True}]}, "body.hypotheses.0.weight", "valid number"),
        ({"hypotheses": [{"text": "a" * 2001, "weight": 1}]}, "body.hypotheses.0.text", "at most 2000 characters"),
        ({"hypotheses": [{"text": "a", "weight": 1e308}, {"text": "b", "weight": 1e308}]}, "body", "too large"),
    ],
)
def test_invalid_hypotheses_are_a_problem(client: TestClient, body: Any, location: str, says: str) -> None:
    answer = client.post("/match", json=body)

    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["location"] == location
    assert says in error["message"]


@pytest.mark.parametrize(
    ("body", "location", "says"),
    [
        ({}, "body.texts", "Field required, or `hypotheses` in place of `texts`"),
        ({"texts": ["hello"], "hypotheses": [HELLO]}, "body.texts", "Give `texts` or `hypotheses`, not both"),
        ({"hypotheses": [HELLO, []]}, "body.hypotheses.1", "at least 1 item"),
        ({"hypotheses": []}, "body.hypotheses", "at least 1 item"),
        ({"hypotheses": [HELLO] * 3}, "body.hypotheses", "At most 5 hypotheses in all, not 6; keep the heaviest"),
        ({"hypotheses": [[{"text": "a" * 8, "weight": 1}]]}, "body.hypotheses.0.0.text", "at most 7 characters"),
        ({"hypotheses": [HELLO[1:]] * 6}, "body.hypotheses", "at most 5 items"),
    ],
)
def test_invalid_batch_of_hypotheses_is_a_problem(matcher: Matcher, body: Any, location: str, says: str) -> None:
    short = [{**one, "text": one["text"][:7]} for one in HELLO]
    if body.get("hypotheses"):
        body = {**body, "hypotheses": [short if each is HELLO else each for each in body["hypotheses"]]}
    with TestClient(create_app(matcher, max_text=7, max_batch=5)) as client:
        answer = client.post("/match/batch", json=body)

    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["location"] == location
    assert says in error["message"]


def test_limits_of_hypotheses_are_documented(matcher: Matcher) -> None:
    models = create_app(matcher, max_text=7, max_batch=3).openapi()["components"]["schemas"]

    assert models["Hypothesis"]["properties"]["text"]["maxLength"] == 7
    assert models["Hypothesis"]["properties"]["weight"]["exclusiveMinimum"] == 0
    one = models["MatchRequest"]["properties"]["hypotheses"]["anyOf"][0]
    many = models["BatchRequest"]["properties"]["hypotheses"]["anyOf"][0]
    assert (one["maxItems"], many["maxItems"], many["items"]["maxItems"]) == (20, 3, 20)


def test_log_and_metrics_have_the_hypothesis_that_says_most(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, messages_log.name):
        client.post("/match", json={"hypotheses": HELLO})

    (record,) = [record for record in caplog.records if record.name == messages_log.name]
    assert record.fields["text"] == "hello"  # type: ignore[attr-defined]
