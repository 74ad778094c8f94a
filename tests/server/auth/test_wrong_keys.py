"""Addresses that present wrong keys."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.server import create_app
from intentmatch.server.auth import wrong_keys
from intentmatch.server.auth.wrong_keys import LIMIT, WrongKeys

MOST = int(LIMIT.partition("/")[0])
KEY, OTHER = "the-right-key", "another-right-key"
TASK = {
    "kind": "Conversation",
    "analysisInput": {"conversationItem": {"text": "hello"}},
    "parameters": {"projectName": "p"},
}
CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "own": ("/match", {"text": "hello"}, "authorization"),
    "rasa": ("/model/parse", {"text": "hello"}, "authorization"),
    "clu": ("/language/:analyze-conversations", TASK, "ocp-apim-subscription-key"),
    "dialogflow": (
        "/v2/projects/p/agent/sessions/s:detectIntent",
        {"queryInput": {"text": {"text": "hello"}}},
        "x-goog-api-key",
    ),
    "openai": ("/v1/embeddings", {"model": "m", "input": "hello"}, "authorization"),
    "systemone": (
        "/v1/systemone",
        {"model": "m", "state": "hello", "questions": {"q": {"type": "noul", "instructions": "a greeting"}}},
        "authorization",
    ),
    "decisions": (
        "/v1/decisions",
        {"model": "m", "input": "hello", "questions": [{"type": "predicate", "instructions": "a greeting"}]},
        "authorization",
    ),
}


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_locked_address_learns_nothing_about_new_keys() -> None:
    """A right key that it has not used before gets the same answer as a wrong one."""
    clock = Clock()
    keys = WrongKeys(clock=clock)
    assert keys.note(b"here", b"used", right=True) == 0
    assert {keys.note(b"here", b"wrong %d" % number, right=False) for number in range(MOST)} == {0}
    assert keys.note(b"here", b"wrong", right=False) == keys.note(b"here", b"new", right=True) > 0
    assert keys.note(b"here", b"used", right=True) == 0
    assert keys.note(b"there", b"new", right=True) == 0
    clock.now += 60
    assert keys.note(b"here", b"new", right=True) == 0


def test_right_keys_cost_nothing() -> None:
    keys = WrongKeys(clock=Clock())
    assert {keys.note(b"here", b"key %d" % number, right=True) for number in range(10 * MOST)} == {0}
    assert keys.note(b"here", b"wrong", right=False) == 0


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong_keys, "_MAX_USES", 3)
    keys = WrongKeys(clock=Clock())
    for number in range(10):
        keys.note(b"here", b"key %d" % number, right=True)
    assert len(keys._used) == 3


@pytest.mark.parametrize("name", CALLS)
def test_wrong_keys_get_429_in_every_protocol(matcher: Matcher, name: str) -> None:
    path, body, header = CALLS[name]
    prefix = "Bearer " if header == "authorization" else ""
    protocols = [] if name == "own" else [name]
    client = TestClient(create_app(matcher, keys=[KEY, OTHER], protocols=protocols))

    def status(key: str) -> int:
        answer = client.post(path, json=body, headers={header: prefix + key})
        assert (answer.status_code == 429) == ("retry-after" in answer.headers)
        return answer.status_code

    assert status(KEY) == 200
    assert [status(f"wrong{number}") for number in range(MOST)] == [401] * MOST
    assert (status("wrong"), status(OTHER), status(KEY)) == (429, 429, 200)


def test_missing_keys_and_open_calls_are_not_counted(matcher: Matcher) -> None:
    client = TestClient(create_app(matcher, keys=[KEY]))
    for _ in range(2 * MOST):
        assert client.post("/match", json={"text": "hello"}).status_code == 401
        assert client.get("/healthz", headers={"x-api-key": "wrong"}).status_code == 200
    assert client.post("/match", json={"text": "hello"}, headers={"x-api-key": KEY}).status_code == 200


def test_app_without_keys_ignores_them(matcher: Matcher) -> None:
    """Some clients cannot do without one."""
    client = TestClient(create_app(matcher, keys=[], admin_keys=["boss"]))
    for number in range(2 * MOST):
        answer = client.post("/match", json={"text": "hello"}, headers={"x-api-key": f"any {number}"})
        assert answer.status_code == 200


def test_wrong_admin_keys_are_counted(matcher: Matcher) -> None:
    client = TestClient(create_app(matcher, keys=[], admin_keys=["boss"]))
    statuses = [client.post("/reload", headers={"x-api-key": f"guess {n}"}).status_code for n in range(MOST + 1)]
    assert statuses == [401] * MOST + [429]
    assert client.post("/reload", headers={"x-api-key": "boss"}).status_code == 429


def test_readiness_tells_a_locked_address_no_reason(matcher: Matcher) -> None:
    client = TestClient(create_app(matcher, keys=[KEY]))
    for number in range(2 * MOST):
        assert client.get("/readyz", headers={"x-api-key": f"guess {number}"}).status_code in (200, 503)
    assert client.post("/match", json={"text": "hello"}, headers={"x-api-key": KEY}).status_code == 429
