"""Whatever a client sends: never a 500, and always problem details."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.errors import IntentMatchError, ModelUnavailableError
from intentmatch.matching.snapshot import Snapshot
from intentmatch.server import create_app
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

JSON = {"content-type": "application/json"}
KEYS = st.sampled_from(["text", "texts", "language", "top_k", "allowed", "extra"])
WIRE_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WIRE_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WIRE_TEXT, inner, max_size=4),
    max_leaves=8,
)

UNREADABLE = {
    "broken JSON": (b'{"text": "hello"', 400),
    "no JSON at all": (b"hello", 400),
    "a byte that is not UTF-8": (b'{"text": "\xff"}', 400),
    "a character cut in two": ('{"text": "ü"}'.encode()[:-3], 400),
    "nested 100 000 deep": (b"[" * 100_000 + b"]" * 100_000, 400),
    "objects nested 100 000 deep": (b'{"text":' * 100_000, 400),
    "nested inside a good body": (b'{"text": "a", "allowed": ' + b"[" * 100_000, 400),
    "a number of 5 000 digits": (b'{"text": "a", "top_k": ' + b"9" * 5000 + b"}", 400),
    "nothing": (b"", 422),
    "a list": (b"[]", 422),
    "a text": (b'"hello"', 422),
    "null": (b"null", 422),
    "half a surrogate pair": (b'{"text": "\\ud83d"}', 422),
    "half a surrogate pair as bytes": (b'{"text": "\xed\xa0\xbd"}', 422),
    "half a surrogate pair in a key": (b'{"text": "a", "\\ud83d": 1}', 422),
    "half a surrogate pair in a name": (b'{"text": "a", "allowed": ["\\ud83d"]}', 422),
    "a huge text": (json.dumps({"text": "a" * 500_000}).encode(), 422),
    "a huge name": (json.dumps({"text": "a", "allowed": ["a" * 500_000]}).encode(), 422),
    "thousands of mistakes": (json.dumps({str(n): n for n in range(50_000)}).encode(), 422),
    "a body of two megabytes": (b" " * 2_000_000, 413),
}

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "text is a number": ({"text": 1}, "body.text"),
    "text is null": ({"text": None}, "body.text"),
    "text is missing": ({"message": "hello"}, "body.text"),
    "text is too long": ({"text": "a" * 2001}, "body.text"),
    "top_k is 0": ({"text": "a", "top_k": 0}, "body.top_k"),
    "top_k is 101": ({"text": "a", "top_k": 101}, "body.top_k"),
    "top_k is true": ({"text": "a", "top_k": True}, "body.top_k"),
    "top_k is 1.0": ({"text": "a", "top_k": 1.0}, "body.top_k"),
    "top_k is text": ({"text": "a", "top_k": "3"}, "body.top_k"),
    "a language that is none": ({"text": "a", "language": "deutsch"}, "body"),
    "allowed is a text": ({"text": "a", "allowed": "greet"}, "body.allowed"),
    "allowed is empty": ({"text": "a", "allowed": []}, "body.allowed"),
    "allowed holds a number": ({"text": "a", "allowed": ["greet", 1]}, "body.allowed.1"),
    "allowed names no intent": ({"text": "a", "allowed": ["gret"]}, "body.allowed"),
    "previous names no intent": ({"text": "a", "allowed": ["greet"], "previous": "gret"}, "body.previous"),
    "previous is a number": ({"text": "a", "previous": 5}, "body.previous"),
    "now is a number": ({"text": "a", "now": 5}, "body.now"),
    "now is no time": ({"text": "a", "now": "tomorrow"}, "body.now"),
    "an unknown key": ({"text": "a", "lang": "de"}, "body.lang"),
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("path", ["/match", "/match/batch"])
def test_unreadable_body_is_a_client_error(client: TestClient, path: str, name: str) -> None:
    body, status = UNREADABLE[name]
    problem = checked(client.post(path, content=body, headers=JSON))
    assert problem.status == status


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_value_is_located(client: TestClient, name: str) -> None:
    body, location = REFUSED[name]
    problem = checked(client.post("/match", json=body))
    assert problem.status == 422
    assert location in {error.location for error in problem.errors}


@pytest.mark.parametrize(
    ("more", "location"),
    [
        ({}, "body.intent"),
        ({"intent": "gret"}, "body.intent"),
        ({"intent": 5}, "body.intent"),
        ({"intent": "greet", "slots": ["day"]}, "body.slots"),
        ({"intent": "greet", "slots": []}, "body.slots"),
        ({"intent": "greet", "others": ["day"]}, "body.others"),
        ({"intent": "greet", "others": "day"}, "body.others"),
        ({"intent": "greet", "top_k": 3}, "body.top_k"),
    ],
)
def test_invalid_fill_request_is_located(client: TestClient, more: dict[str, Any], location: str) -> None:
    problem = checked(client.post("/fill", json={"text": "a", **more}))
    assert problem.status == 422
    assert location in {error.location for error in problem.errors}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            {"text": "a", "now": "tomorrow"},
            "now: Input should be a time in ISO 8601, such as 2026-11-21T10:00:00.",
        ),
        ({"text": "a", "language": "german"}, "'german' is not a language code; did you mean 'de'?"),
        ({"text": "a", "language": "klingon"}, "'klingon' is not a language code; use BCP-47, such as en,"),
    ],
)
def test_invalid_time_and_language_say_what_to_write(client: TestClient, body: dict[str, Any], words: str) -> None:
    assert words in checked(client.post("/match", json=body)).detail


def test_unknown_intent_gets_a_suggestion(client: TestClient) -> None:
    problem = checked(client.post("/match", json={"text": "a", "allowed": ["gret"]}))
    assert "Did you mean 'greet'?" in problem.detail


def test_mistakes_are_listed_up_to_a_limit(client: TestClient) -> None:
    problem = checked(client.post("/match", json={"text": 1, "top_k": 0, "x": 1}))
    assert {error.location for error in problem.errors} == {"body.text", "body.top_k", "body.x"}
    flood = client.post("/match", json={f"{n}-{'x' * 500}": n for n in range(1000)})
    assert len(checked(flood).errors) == 50
    assert len(flood.content) < 30_000


@pytest.mark.parametrize(
    ("texts", "status"),
    [([], 422), (["a"] * 257, 422), (["a"] * 256, 200), (["a" * 2001], 422), ("hello", 422), ([["a"]], 422)],
)
def test_batch_has_limits(client: TestClient, texts: Any, status: int) -> None:
    answer = client.post("/match/batch", json={"texts": texts})
    assert answer.status_code == status
    if status != 200:
        checked(answer)


def test_compressed_body_is_refused_as_such(client: TestClient) -> None:
    body = gzip.compress(b'{"text": "hello"}')
    answer = client.post("/match", content=body, headers={**JSON, "Content-Encoding": "gzip"})

    assert checked(answer).status == 415
    assert answer.json()["detail"] == "The body has the Content-Encoding 'gzip'; send it without compression."
    assert client.post("/match", json={"text": "hello"}, headers={"Content-Encoding": "identity"}).status_code == 200


def test_limits_are_per_app(matcher: Matcher) -> None:
    app = create_app(matcher, max_text=5, max_batch=1, max_body=40)
    client = TestClient(app)
    assert client.post("/match", json={"text": "hello"}).status_code == 200
    assert checked(client.post("/match", json={"text": "hello!"})).status == 422
    assert checked(client.post("/match/batch", json={"texts": ["a", "b"]})).status == 422
    body = b'{"text": "hello"}'
    assert client.post("/match", content=body.ljust(40), headers=JSON).status_code == 200
    assert checked(client.post("/match", content=body.ljust(41), headers=JSON)).status == 413


def test_endless_body_is_cut_off(matcher: Matcher) -> None:
    """The limit holds for received bytes, not only for announced ones."""
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b" " * 1000

    async def send() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=create_app(matcher, max_body=10_000))
        async with httpx2.AsyncClient(transport=transport, base_url="http://bot") as client:
            return await client.post("/match", content=endless(), headers=JSON)

    assert checked(asyncio.run(send())).status == 413
    assert taken <= 12


@pytest.mark.parametrize("length", ["-1", "many", "9" * 5000, "²"])
def test_invalid_content_length_is_ignored(client: TestClient, length: str) -> None:
    headers = {**JSON, "content-length": length.encode("latin-1")}
    assert client.post("/match", content=b'{"text": "hello"}', headers=headers).status_code == 200


@pytest.mark.parametrize("declared", [None, "text/plain", "application/x-www-form-urlencoded", "json", "\xff;;", ""])
def test_body_not_declared_as_json_gets_415(client: TestClient, declared: str | None) -> None:
    """The most common first mistake with curl; the answer names the header."""
    headers = {} if declared is None else {"content-type": declared.encode("latin-1")}
    problem = checked(client.post("/match", content=b'{"text": "hello"}', headers=headers))
    assert problem.status == 415
    assert "Content-Type: application/json" in problem.detail


@pytest.mark.parametrize("declared", ["application/json", "APPLICATION/JSON; charset=utf-8", "application/ld+json"])
def test_json_may_be_declared_in_several_ways(client: TestClient, declared: str) -> None:
    """Case, parameters and a byte order mark do not matter."""
    answer = client.post("/match", content=b'\xef\xbb\xbf{"text": "hello"}', headers={"content-type": declared})
    assert answer.json()["intent"] == "greet"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nowhere", 404), ("GET", "/match/", 404), ("GET", "/match", 405), ("DELETE", "/intents", 405)],
)
def test_wrong_path_or_method_is_a_problem(client: TestClient, method: str, path: str, status: int) -> None:
    """Whatever the Host header."""
    answer = client.request(method, path, headers={"host": "["})
    assert checked(answer).status == status
    assert ("allow" in answer.headers) == (status == 405)


@settings(max_examples=150, deadline=None)
@given(body=st.dictionaries(KEYS, VALUES, max_size=4) | VALUES)
@example(body={"text": "a\0b"})
@example(body={"texts": ["\ud800"]})
@example(body={"text": "a", "top_k": float("nan")})
def test_no_json_leads_to_a_500(client: TestClient, body: Any) -> None:
    for path in ("/match", "/match/batch"):
        answer = client.post(path, content=json.dumps(body).encode(), headers=JSON)
        if answer.status_code != 200:
            checked(answer)


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=60), top_k=st.integers(1, 100), language=st.sampled_from([None, "de", "zz", "pt_br"]))
def test_every_text_is_answered(client: TestClient, text: str, top_k: int, language: str | None) -> None:
    answer = client.post("/match", json={"text": text, "top_k": top_k, "language": language})
    assert (answer.status_code, answer.json()["message"]) == (200, text)


@settings(max_examples=100, deadline=None)
@given(
    body=st.binary(max_size=100), declared=st.sampled_from(["application/json", "text/plain", "multipart/form-data"])
)
def test_no_bytes_lead_to_a_500(client: TestClient, body: bytes, declared: str) -> None:
    answer = client.post("/match", content=body, headers={"content-type": declared})
    if answer.status_code != 200:
        checked(answer)


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (ModelUnavailableError("download it first"), 503, "download it first"),
        (IntentMatchError("the encoder broke its protocol"), 500, "the encoder broke its protocol"),
        (RuntimeError("secret"), 500, "the request is not at fault"),
    ],
)
def test_server_errors_are_problem_details(
    matcher: Matcher, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, message: str
) -> None:
    """Only errors meant for users show their text."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Snapshot, "match_each", fail)
    client = TestClient(create_app(matcher), raise_server_exceptions=False)
    answer = client.post("/match", json={"text": "hello"})
    details = ProblemDetails.model_validate(answer.json())
    assert (answer.status_code, details.status) == (status, status)
    assert message in details.detail
    assert "secret" not in answer.text


def test_file_name_that_is_not_utf8_is_escaped(tmp_path: Path, admin: dict[str, str]) -> None:
    file = Path(f"{tmp_path}/b\udcff.yaml")
    try:
        file.write_text("intents: {greet: {utterances: [hello]}}", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    client = TestClient(create_app(Matcher.load(tmp_path, cache="off")), raise_server_exceptions=False)
    answer = client.post("/match", json={"text": "hello"})
    assert answer.json()["candidates"][0]["location"].endswith("b\\udcff.yaml:1")
    file.write_text("intents: {greet: {}}", encoding="utf-8")
    assert checked(client.post("/reload", headers=admin)).errors[0].path == "b\\udcff.yaml"


def checked(answer: Any) -> ProblemDetails:
    """The problem in a 4xx response, which must have exactly the documented shape."""
    assert 400 <= answer.status_code < 500
    assert answer.headers["content-type"] == "application/problem+json"
    details = ProblemDetails.model_validate(answer.json())
    assert answer.json().keys() == ProblemDetails.model_fields.keys()
    assert (details.type, details.status) == ("about:blank", answer.status_code)
    assert details.title
    assert details.detail
    return details
