"""Whatever a client sends: never a 500, and always the one documented shape of an error."""

from __future__ import annotations

import asyncio
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
    "now is a number": ({"text": "a", "now": 5}, "body.now"),
    "now is no time": ({"text": "a", "now": "tomorrow"}, "body.now"),
    "an unknown key": ({"text": "a", "lang": "de"}, "body.lang"),
}


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("path", ["/match", "/match/batch"])
def test_an_unreadable_body_is_the_callers_fault(client: TestClient, path: str, name: str) -> None:
    """Bytes that are no request get the status that says so."""
    body, status = UNREADABLE[name]
    problem = checked(client.post(path, content=body, headers=JSON))
    assert problem.status == status


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_value_is_named(client: TestClient, name: str) -> None:
    """A value that cannot be is refused, not bent, and the problem says where it stands."""
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
        ({"intent": "greet", "top_k": 3}, "body.top_k"),
    ],
)
def test_what_cannot_be_filled_is_named(client: TestClient, more: dict[str, Any], location: str) -> None:
    """An intent or a slot that is not there, and what `/fill` has no use for."""
    problem = checked(client.post("/fill", json={"text": "a", **more}))
    assert problem.status == 422
    assert location in {error.location for error in problem.errors}


def test_an_unknown_intent_lists_the_known(client: TestClient) -> None:
    """A misspelt name in `allowed` is answered with what it could have been."""
    problem = checked(client.post("/match", json={"text": "a", "allowed": ["gret"]}))
    assert "Did you mean 'greet'?" in problem.detail


def test_all_mistakes_are_listed_up_to_a_bound(client: TestClient) -> None:
    """Several mistakes are told at once; a body full of them does not come back in full."""
    problem = checked(client.post("/match", json={"text": 1, "top_k": 0, "x": 1}))
    assert {error.location for error in problem.errors} == {"body.text", "body.top_k", "body.x"}
    flood = client.post("/match", json={f"{n}-{'x' * 500}": n for n in range(1000)})
    assert len(checked(flood).errors) == 50
    assert len(flood.content) < 30_000


@pytest.mark.parametrize(
    ("texts", "status"),
    [([], 422), (["a"] * 257, 422), (["a"] * 256, 200), (["a" * 2001], 422), ("hello", 422), ([["a"]], 422)],
)
def test_a_batch_has_bounds(client: TestClient, texts: Any, status: int) -> None:
    """A batch holds from 1 to `max_batch` texts, none longer than `max_text`."""
    answer = client.post("/match/batch", json={"texts": texts})
    assert answer.status_code == status
    if status != 200:
        checked(answer)


def test_the_bounds_are_the_apps_own(matcher: Matcher) -> None:
    """Each app keeps its own limits, down to the last character and byte."""
    app = create_app(matcher, max_text=5, max_batch=1, max_body=40)
    client = TestClient(app)
    assert client.post("/match", json={"text": "hello"}).status_code == 200
    assert checked(client.post("/match", json={"text": "hello!"})).status == 422
    assert checked(client.post("/match/batch", json={"texts": ["a", "b"]})).status == 422
    body = b'{"text": "hello"}'
    assert client.post("/match", content=body.ljust(40), headers=JSON).status_code == 200
    assert checked(client.post("/match", content=body.ljust(41), headers=JSON)).status == 413


def test_a_stream_without_end_is_cut(matcher: Matcher) -> None:
    """The limit holds for what arrives and not just for what was announced."""
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
def test_a_content_length_that_is_none_does_no_harm(client: TestClient, length: str) -> None:
    """The header is a claim; the answer is about what came."""
    headers = {**JSON, "content-length": length.encode("latin-1")}
    assert client.post("/match", content=b'{"text": "hello"}', headers=headers).status_code == 200


@pytest.mark.parametrize("declared", [None, "text/plain", "application/x-www-form-urlencoded", "json", "\xff;;", ""])
def test_a_body_not_declared_as_json_is_told_how(client: TestClient, declared: str | None) -> None:
    """What curl sends without a header is the commonest first mistake; the answer names the header."""
    headers = {} if declared is None else {"content-type": declared.encode("latin-1")}
    problem = checked(client.post("/match", content=b'{"text": "hello"}', headers=headers))
    assert problem.status == 415
    assert "Content-Type: application/json" in problem.detail


@pytest.mark.parametrize("declared", ["application/json", "APPLICATION/JSON; charset=utf-8", "application/ld+json"])
def test_every_way_to_say_json_will_do(client: TestClient, declared: str) -> None:
    """Case and parameters of the content type do not matter, nor does a byte order mark."""
    answer = client.post("/match", content=b'\xef\xbb\xbf{"text": "hello"}', headers={"content-type": declared})
    assert answer.json()["intent"] == "greet"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nowhere", 404), ("GET", "/match/", 404), ("GET", "/match", 405), ("DELETE", "/intents", 405)],
)
def test_a_wrong_address_is_a_problem_too(client: TestClient, method: str, path: str, status: int) -> None:
    """Errors that the framework answers by itself have the same shape, whatever the Host header holds."""
    answer = client.request(method, path, headers={"host": "["})
    assert checked(answer).status == status
    assert ("allow" in answer.headers) == (status == 405)


@settings(max_examples=150, deadline=None)
@given(body=st.dictionaries(KEYS, VALUES, max_size=4) | VALUES)
@example(body={"text": "a\0b"})
@example(body={"texts": ["\ud800"]})
@example(body={"text": "a", "top_k": float("nan")})
def test_no_json_leads_to_a_500(client: TestClient, body: Any) -> None:
    """Any JSON value is answered, or refused in the one shape."""
    for path in ("/match", "/match/batch"):
        answer = client.post(path, content=json.dumps(body).encode(), headers=JSON)
        if answer.status_code != 200:
            checked(answer)


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=60), top_k=st.integers(1, 100), language=st.sampled_from([None, "de", "zz", "pt_br"]))
def test_every_text_is_answered(client: TestClient, text: str, top_k: int, language: str | None) -> None:
    """A well-formed request is answered with its own text, whatever the text is."""
    answer = client.post("/match", json={"text": text, "top_k": top_k, "language": language})
    assert (answer.status_code, answer.json()["message"]) == (200, text)


@settings(max_examples=100, deadline=None)
@given(
    body=st.binary(max_size=100), declared=st.sampled_from(["application/json", "text/plain", "multipart/form-data"])
)
def test_no_bytes_lead_to_a_500(client: TestClient, body: bytes, declared: str) -> None:
    """Any bytes under any name are answered, or refused in the one shape."""
    answer = client.post("/match", content=body, headers={"content-type": declared})
    if answer.status_code != 200:
        checked(answer)


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (ModelUnavailableError("download it first"), 503, "download it first"),
        (IntentMatchError("the encoder broke its protocol"), 500, "the encoder broke its protocol"),
        (RuntimeError("secret"), 500, "the request is not at fault"),
    ],
)
def test_our_own_faults_have_the_shape_too(
    matcher: Matcher, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, told: str
) -> None:
    """What a client is not to blame for is a 5xx; errors meant for users are told, others are kept inside."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Snapshot, "match_each", fail)
    client = TestClient(create_app(matcher), raise_server_exceptions=False)
    answer = client.post("/match", json={"text": "hello"})
    details = ProblemDetails.model_validate(answer.json())
    assert (answer.status_code, details.status) == (status, status)
    assert told in details.detail
    assert "secret" not in answer.text


def test_a_file_name_that_is_no_text_is_shown_escaped(tmp_path: Path, admin: dict[str, str]) -> None:
    """A path need not be UTF-8; answers and problems that mention it still are."""
    file = Path(f"{tmp_path}/b\udcff.yaml")
    try:
        file.write_text("intents: {greet: {utterances: [hello]}}", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    client = TestClient(create_app(Matcher.load(tmp_path, cache="off")), raise_server_exceptions=False)
    answer = client.post("/match", json={"text": "hello"})
    assert answer.json()["candidates"][0]["location"].endswith("b\\udcff.yaml:1")
    file.write_text("intents: {greet: {}}", encoding="utf-8")
    assert checked(client.post("/reload", headers=admin)).errors[0].path == f"{tmp_path}/b\\udcff.yaml"


def checked(answer: Any) -> ProblemDetails:
    """The problem in a 4xx answer, which must have the documented shape and nothing else."""
    assert 400 <= answer.status_code < 500
    assert answer.headers["content-type"] == "application/problem+json"
    details = ProblemDetails.model_validate(answer.json())
    assert answer.json().keys() == ProblemDetails.model_fields.keys()
    assert (details.type, details.status) == ("about:blank", answer.status_code)
    assert details.title
    assert details.detail
    return details
