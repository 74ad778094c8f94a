"""POST calls with a JSON body: what they read, in which order they check, and how they are counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import several_bots
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import create_app

JSON = {"content-type": "application/json"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""pydantic's parser refuses it; Python's does not."""

BODIES = st.fixed_dictionaries(
    {"text": st.text(max_size=40)},
    optional={
        "language": st.sampled_from(["de", "en", "xx", "deutsch", None]),
        "now": st.sampled_from(["2026-11-21T10:00:00", "2026-11-21T10:00:00Z", "noon", None]),
        "top_k": st.integers(-1, 200) | st.none(),
        "allowed": st.lists(st.sampled_from(["greet", "bye", "gret"]), max_size=2) | st.none(),
        "context": st.lists(st.text(max_size=3), max_size=2),
    },
)


def without_times(answer: Any) -> Any:
    """Status and body, without what changes from run to run."""
    body = answer.json()
    for result in body.get("results", [body]):
        for stage in result.get("trace", {}).get("stages", ()):
            del stage["microseconds"]
    return answer.status_code, body


@pytest.mark.parametrize(
    ("body", "headers", "status", "detail"),
    [
        (b'{"text": "hello"}', JSON, 200, ""),
        (b'{"text": "hello"}', {"content-type": "application/json; charset=utf-8"}, 200, ""),
        (BYTE_ORDER_MARK + b'{"text": "hello"}', JSON, 200, ""),
        (b'{"text": 5}', JSON, 422, "1 mistake in the request, first body.text: Input should be a valid string."),
        (b'{"text": "hello"', JSON, 400, "The body is not JSON: Expecting ',' delimiter, at character 16."),
        (b'{"text": "\xff"}', JSON, 400, "The body is not UTF-8: byte 10 cannot be part of a character."),
        (b"[" * 100_000, JSON, 400, "The body is nested too deeply."),
        (b"", JSON, 422, "1 mistake in the request, first body: Field required."),
        (b"", {}, 422, "1 mistake in the request, first body: Field required."),
        (b'{"text": "hello"}', {"content-type": "text/plain"}, 415, "The body is declared as text/plain."),
        (b'{"text": "hello"}', {}, 415, "The body is not declared as anything."),
    ],
)
def test_body_is_read_or_refused(matcher: Matcher, body: bytes, headers: Any, status: int, detail: str) -> None:
    answer = TestClient(create_app(matcher)).post("/match", content=body, headers=headers)
    assert (answer.status_code, detail in answer.json().get("detail", "")) == (status, True), answer.text


def test_other_methods_are_refused(matcher: Matcher) -> None:
    answer = TestClient(create_app(matcher)).get("/match")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.headers["content-type"] == "application/problem+json"


@given(BODIES)
@settings(max_examples=60, deadline=None)
def test_both_parsers_lead_to_the_same_answer(client: TestClient, body: dict[str, Any]) -> None:
    """Valid or not, a body gets the same answer from pydantic's parser and from Python's."""
    content = json.dumps(body).encode()
    direct = client.post("/match", content=content, headers=JSON)
    lenient = client.post("/match", content=BYTE_ORDER_MARK + content, headers=JSON)
    assert without_times(direct) == without_times(lenient)


def test_invalid_request_counts_once_for_the_rate_limit(matcher: Matcher) -> None:
    client = TestClient(create_app(matcher, rate_limit="2/hour"))
    answers = [client.post("/match", json=body) for body in ({"words": "hello"}, {"text": "hello"}, {"text": "hello"})]
    assert [answer.status_code for answer in answers] == [422, 200, 429]


@pytest.mark.parametrize("path", ["/match", "/match/batch", "/fill", "/chat", "/feedback"])
def test_key_is_checked_before_the_body(matcher: Matcher, path: str) -> None:
    """The refusal has the documented shape, and the metrics count it under the route."""
    client = TestClient(create_app(matcher, keys=["one"]))
    answer = client.post(path, content=b"{", headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
    metrics = client.get("/metrics", headers={"x-api-key": "one"}).text
    assert f'intentmatch_requests_total{{path="{path}",status="401"}} 1.0' in metrics


def test_path_names_one_of_several_bots(several: Path) -> None:
    with several_bots.served(several) as client:
        assert several_bots.match(client, "pizza").json()["intent"] == "pizza"
        assert several_bots.match(client, "sushi").status_code == 404
        metrics = client.get("/metrics").text
        assert 'intentmatch_requests_total{path="/bots/{bot}/match",status="200"} 1.0' in metrics
        assert 'intentmatch_requests_total{path="/bots/{bot}/match",status="404"} 1.0' in metrics
