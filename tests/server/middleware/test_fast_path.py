"""The short way to calls answers only what is plainly right, and as FastAPI would."""

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
from intentmatch.server.middleware import fast_path as direct

JSON = {"content-type": "application/json"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Read by FastAPI's parser only."""

OPTIONS = st.fixed_dictionaries(
    {"text": st.text(max_size=40)},
    optional={
        "language": st.sampled_from(["de", "en", "xx", "deutsch", None]),
        "now": st.sampled_from(["2026-11-21T10:00:00", "2026-11-21T10:00:00Z", "noon", None]),
        "top_k": st.integers(-1, 200) | st.none(),
        "allowed": st.lists(st.sampled_from(["greet", "bye", "gret"]), max_size=2) | st.none(),
        "context": st.lists(st.text(max_size=3), max_size=2),
    },
)


@pytest.fixture
def handed_on(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of requests that FastAPI is asked to answer."""
    paths: list[str] = []
    init = direct.Direct.__init__

    def listening(self: direct.Direct, app: Any, routes: Any) -> None:
        async def noted(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                paths.append(scope["path"])
            await app(scope, receive, send)

        init(self, noted, routes)

    monkeypatch.setattr(direct.Direct, "__init__", listening)
    return paths


def without_times(answer: Any) -> Any:
    """An answer as it would be again."""
    told = answer.json()
    for result in told.get("results", [told]):
        for stage in result.get("trace", {}).get("stages", ()):
            del stage["microseconds"]
    return answer.status_code, told


def test_what_is_plainly_right_goes_no_further(matcher: Matcher, handed_on: list[str]) -> None:
    """One message or many, and however it says that it is JSON."""
    client = TestClient(create_app(matcher))
    assert client.post("/match", json={"text": "hello"}).json()["intent"] == "greet"
    assert client.post("/match/batch", json={"texts": ["hello"]}).status_code == 200
    declared = {"content-type": "application/json; charset=utf-8"}
    assert client.post("/match", content=b'{"text": "hello"}', headers=declared).status_code == 200
    assert not handed_on


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b'{"text": 5}', JSON, 422),
        (b'{"text": "hello"', JSON, 400),
        (b"", JSON, 422),
        (b'{"text": "hello"}', {"content-type": "text/plain"}, 415),
        (b'{"text": "hello"}', {}, 415),
        (BYTE_ORDER_MARK + b'{"text": "hello"}', JSON, 200),
    ],
)
def test_all_else_is_fastapis(matcher: Matcher, handed_on: list[str], body: bytes, headers: Any, status: int) -> None:
    """It has the whole body, and says what is wrong with it."""
    answer = TestClient(create_app(matcher)).post("/match", content=body, headers=headers)
    assert (answer.status_code, handed_on) == (status, ["/match"])


def test_another_method_is_fastapis(matcher: Matcher, handed_on: list[str]) -> None:
    """Which says which there are."""
    answer = TestClient(create_app(matcher)).get("/match")
    assert (answer.status_code, answer.headers["allow"], handed_on) == (405, "POST", ["/match"])


@given(OPTIONS)
@settings(max_examples=60, deadline=None)
def test_both_ways_answer_the_same(client: TestClient, body: dict[str, Any]) -> None:
    """Whatever a body says, right or wrong."""
    content = json.dumps(body).encode()
    short = client.post("/match", content=content, headers=JSON)
    long = client.post("/match", content=BYTE_ORDER_MARK + content, headers=JSON)
    assert without_times(short) == without_times(long)


def test_a_request_that_is_handed_on_counts_once(matcher: Matcher) -> None:
    """For the rate of its caller."""
    client = TestClient(create_app(matcher, rate_limit="2/hour"))
    answers = [client.post("/match", json=body) for body in ({"words": "hello"}, {"text": "hello"}, {"text": "hello"})]
    assert [answer.status_code for answer in answers] == [422, 200, 429]


def test_a_key_is_asked_for_before_the_body_is_read(matcher: Matcher, handed_on: list[str]) -> None:
    """And its lack is told in the documented shape, with the route in the counts."""
    client = TestClient(create_app(matcher, keys=["one"]))
    answer = client.post("/match", content=b"{", headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
    assert not handed_on
    told = client.get("/metrics", headers={"x-api-key": "one"}).text
    assert 'intentmatch_requests_total{path="/match",status="401"} 1.0' in told


def test_each_of_several_bots_is_asked_directly(several: Path, handed_on: list[str]) -> None:
    """The bot that the path names; one that is not there is a problem."""
    with several_bots.served(several) as client:
        assert several_bots.match(client, "pizza").json()["intent"] == "pizza"
        assert several_bots.match(client, "sushi").status_code == 404
        assert not handed_on
        told = client.get("/metrics").text
        assert 'intentmatch_requests_total{path="/bots/{bot}/match",status="200"} 1.0' in told
