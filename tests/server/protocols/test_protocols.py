"""What holds for every protocol: off by default, errors in its own shape, never a 500."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flaky import FlakyEncoder, answers_meanwhile
from hypothesis import example, given, settings
from hypothesis import strategies as st
from speaking import KEY, REGISTRY, client
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.cli.commands import cli
from intentmatch.core.errors import IntentMatchError, ModelUnavailableError, UnknownNameError
from intentmatch.server import create_app
from intentmatch.server.process import certificates
from intentmatch.server.protocols.load import PROTOCOLS


@dataclass(frozen=True)
class Dialect:
    """How to call a protocol, and what its errors look like."""

    path: str
    body: Callable[[Any], Any]
    """A request with this as its text."""
    header: tuple[str, str]
    """That the key goes into, and what stands before it."""
    code: Callable[[Any], Any]
    """The code in an error; fails where the error has another shape."""
    keys: tuple[str, ...]
    invalid: int = 400
    """Status of a request that is not valid."""


def _rasa_code(error: Any) -> int:
    assert error.keys() == {"version", "status", "message", "reason", "details", "help", "code"}
    assert error["status"] == "failure"
    assert error["message"]
    return error["code"]


def _clu_code(error: Any) -> int:
    assert error["error"].keys() - {"details"} == {"code", "message"}
    assert error["error"]["message"]
    statuses = {"Unauthorized": 401, "NotFound": 404, "ServiceUnavailable": 503, "InternalServerError": 500}
    return statuses.get(error["error"]["code"], 400)


def _dialogflow_code(error: Any) -> int:
    assert error["error"].keys() - {"details"} == {"code", "message", "status"}
    assert error["error"]["status"].isupper()
    return error["error"]["code"]


def _openai_code(error: Any) -> int | None:
    assert error["error"].keys() == {"message", "type", "param", "code"}
    return None


def _systemone_code(error: Any) -> int | None:
    detail = error["detail"]
    if isinstance(detail, list):
        assert all(each["loc"][0] == "body" and each["msg"] and each["type"] for each in detail)
        return 422
    assert detail.keys() == {"error_type", "message"}
    return None


SESSION = "/v2/projects/p/agent/sessions/s"
DIALECTS = {
    "rasa": Dialect(
        "/model/parse", lambda text: {"text": text}, ("authorization", "Bearer "), _rasa_code, ("text", "token")
    ),
    "clu": Dialect(
        "/language/:analyze-conversations",
        lambda text: {
            "kind": "Conversation",
            "analysisInput": {"conversationItem": {"text": text}},
            "parameters": {"projectName": "p"},
        },
        ("ocp-apim-subscription-key", ""),
        _clu_code,
        ("kind", "analysisInput", "conversationItem", "text", "language", "parameters", "projectName"),
    ),
    "dialogflow": Dialect(
        f"{SESSION}:detectIntent",
        lambda text: {"queryInput": {"text": {"text": text}}},
        ("x-goog-api-key", ""),
        _dialogflow_code,
        ("queryInput", "text", "languageCode", "queryParams", "contexts", "name", "lifespanCount", "payload"),
    ),
    "openai": Dialect(
        "/v1/embeddings",
        lambda text: {"model": "m", "input": text},
        ("authorization", "Bearer "),
        _openai_code,
        ("model", "input", "dimensions", "encoding_format"),
    ),
    "systemone": Dialect(
        "/v1/systemone",
        lambda text: {"model": "m", "state": text, "questions": {"q": {"type": "choice", "criteria": {"a": None}}}},
        ("authorization", "Bearer "),
        _systemone_code,
        ("model", "state", "questions", "q", "type", "instructions", "criteria", "true", "false"),
        invalid=422,
    ),
    "decisions": Dialect(
        "/v1/decisions",
        lambda text: {"model": "m", "input": text, "questions": [{"type": "choice", "instructions": ""}]},
        ("authorization", "Bearer "),
        _openai_code,
        ("model", "input", "questions", "name", "type", "instructions", "choices", "value", "levels", "label"),
    ),
}
every = pytest.mark.parametrize("name", DIALECTS)

UNREADABLE = {
    "nothing": b"",
    "broken JSON": b'{"text": "hello"',
    "no JSON at all": b"hello",
    "a byte that is not UTF-8": b'{"text": "\xff"}',
    "a character cut in two": '{"text": "ü"}'.encode()[:-3],
    "nested 100 000 deep": b"[" * 100_000 + b"]" * 100_000,
    "objects nested 100 000 deep": b'{"text":' * 100_000,
    "a list": b"[]",
    "a text": b'"hello"',
    "null": b"null",
    "an empty object": b"{}",
    "half a surrogate pair in a key": b'{"\\ud83d": 1}',
    "thousands of mistakes": json.dumps({"input": [[]] * 5000, "text": {}, "kind": 1}).encode(),
}


def refused(name: str, answer: Any, *statuses: int) -> None:
    """Assert that the response is an error in the protocol's shape, with one of these statuses."""
    assert answer.status_code in (statuses or (DIALECTS[name].invalid,))
    assert answer.headers["content-type"] == "application/json"
    assert DIALECTS[name].code(answer.json()) in (answer.status_code, DIALECTS[name].invalid, None)
    assert len(answer.content) < 20_000


def test_every_protocol_has_a_dialect_and_a_real_client() -> None:
    assert DIALECTS.keys() == PROTOCOLS.keys()
    clients = Path(__file__).parents[2] / "clients"
    asked = {file.stem.partition("_by_")[0] for file in clients.glob("ask_*.py")}
    assert asked == {f"ask_{name}" for name in PROTOCOLS}


@every
def test_protocol_is_off_by_default(bot: Matcher, name: str) -> None:
    """Each works alone; without it its paths are 404 in our own shape."""
    dialect = DIALECTS[name]
    called = dialect.body("hello")
    assert client(bot, protocols=[name]).post(dialect.path, json=called).status_code == 200
    others = client(bot, protocols=[other for other in DIALECTS if other != name])
    answer = others.post(dialect.path, json=called)
    assert answer.status_code in (404, 405)
    without = client(bot, protocols=()).post(dialect.path, json=called)
    assert (without.status_code, without.headers["content-type"]) == (404, "application/problem+json")


def test_unknown_protocol_is_refused_at_the_start(bot: Matcher) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'rasa'"):
        create_app(bot, protocols=["raza"])


def test_protocol_named_twice_is_loaded_once(bot: Matcher) -> None:
    assert client(bot, protocols=["rasa", "rasa"]).get("/version").status_code == 200


def test_serve_takes_protocols_and_fulfillment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.yaml").write_text("intents: {greet: {utterances: [hello]}}", encoding="utf-8")
    served = []
    monkeypatch.setattr(certificates, "serve_alone", lambda app, **_: served.append(app))
    options = ["--protocol", "rasa", "--protocol", "dialogflow", "--fulfillment", "http://127.0.0.1:1/"]

    assert CliRunner().invoke(cli, ["serve", str(tmp_path), *options]).exit_code == 0
    caller = TestClient(served[0])
    assert caller.get("/version").status_code == 200
    assert caller.post("/v1/embeddings").status_code == 404

    for wrong in (["--protocol", "luis"], ["--protocol", "rasa", "--fulfillment", "http://127.0.0.1:1/"]):
        done = CliRunner().invoke(cli, ["serve", str(tmp_path), *wrong])
        assert done.exit_code == 2
        assert len(served) == 1


def test_own_routes_are_unaffected_by_protocols(protocol_client: TestClient) -> None:
    assert protocol_client.post("/match", json={"text": "hello"}).json()["intent"] == "greet"
    answer = protocol_client.post("/match", json={"text": 5})
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert "/model/parse" not in protocol_client.get("/openapi.json").json()["paths"]


@every
@pytest.mark.parametrize("body", UNREADABLE)
def test_unreadable_body_gets_400(protocol_client: TestClient, name: str, body: str) -> None:
    refused(name, protocol_client.post(DIALECTS[name].path, content=UNREADABLE[body]))


@every
@pytest.mark.parametrize("declared", [None, "text/plain", "application/json", "multipart/form-data", "\xff;;", ""])
def test_content_type_does_not_matter(protocol_client: TestClient, name: str, declared: str | None) -> None:
    headers = {} if declared is None else {"content-type": declared.encode("latin-1")}
    body = json.dumps(DIALECTS[name].body("hello"))
    assert protocol_client.post(DIALECTS[name].path, content=body, headers=headers).status_code == 200


@every
def test_half_a_surrogate_pair_is_refused(protocol_client: TestClient, name: str) -> None:
    body = json.dumps(DIALECTS[name].body("\ud83d"))
    refused(name, protocol_client.post(DIALECTS[name].path, content=body))


@every
@pytest.mark.parametrize("text", ["a\0b", "\0", " ", "👩\u200d👩", "\u202e", "a" * 2000])
def test_every_text_is_answered(protocol_client: TestClient, name: str, text: str) -> None:
    assert protocol_client.post(DIALECTS[name].path, json=DIALECTS[name].body(text)).status_code == 200


@every
def test_limits_hold(bot: Matcher, name: str) -> None:
    caller = client(bot, max_text=5, max_body=300)
    dialect = DIALECTS[name]
    assert caller.post(dialect.path, json=dialect.body("hello")).status_code == 200
    refused(name, caller.post(dialect.path, json=dialect.body("hello!")))
    refused(name, caller.post(dialect.path, json=dialect.body("a" * 1000)), 413)
    refused(name, caller.post(dialect.path, content=iter([b" " * 200] * 5)), 413)


@every
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_wrong_method_is_refused_in_the_shape(protocol_client: TestClient, name: str, method: str) -> None:
    answer = protocol_client.request(method, DIALECTS[name].path, headers={"host": "["})
    refused(name, answer, 405)
    assert answer.headers["allow"] == "POST"


@every
def test_unknown_path_is_refused_in_the_shape(protocol_client: TestClient, name: str) -> None:
    refused(name, protocol_client.get(f"{DIALECTS[name].path}/nothing"), 404)


@every
@pytest.mark.parametrize("key", [KEY, "another"])
def test_any_key_is_accepted(guarded: TestClient, name: str, key: str) -> None:
    """In the header that the protocol's clients use."""
    dialect = DIALECTS[name]
    header, before = dialect.header
    answer = guarded.post(dialect.path, json=dialect.body("hello"), headers={header: before + key})
    assert answer.status_code == 200


@every
@pytest.mark.parametrize("key", [None, "", "wrong", KEY[:-1], KEY + "x", "\xff", KEY.upper()])
def test_wrong_key_is_refused(guarded: TestClient, name: str, key: str | None) -> None:
    """The answer does not show it."""
    dialect = DIALECTS[name]
    header, before = dialect.header
    headers = {} if key is None else {header: (before + key).encode("latin-1")}
    answer = guarded.post(dialect.path, json=dialect.body("hello"), headers=headers)
    refused(name, answer, 401)
    assert KEY not in answer.text


@every
def test_bot_that_is_not_loaded_gets_503(name: str) -> None:
    answer = client("intents").post(DIALECTS[name].path, json=DIALECTS[name].body("hello"))  # type: ignore[arg-type]
    refused(name, answer, 503)


@every
@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (ModelUnavailableError("download it first"), 503, "download it first"),
        (IntentMatchError("the encoder broke its protocol"), 500, "the encoder broke its protocol"),
        (RuntimeError("secret"), 500, "the request is not at fault"),
    ],
)
def test_server_errors_have_the_shape(name: str, error: Exception, status: int, message: str) -> None:
    """Only errors meant for users show their text."""
    encoder = FlakyEncoder()
    caller = client(Matcher.load(REGISTRY, encoder=encoder, cache="off"))
    encoder.error = error
    answer = caller.post(DIALECTS[name].path, json=DIALECTS[name].body("the price of tea"))
    refused(name, answer, status)
    assert message in answer.text
    assert "secret" not in answer.text


@pytest.mark.parametrize("name", DIALECTS)
def test_slow_encoder_does_not_block_the_event_loop(name: str) -> None:
    encoder = FlakyEncoder()
    app = create_app(Matcher.load(REGISTRY, encoder=encoder, cache="off"), protocols=list(DIALECTS))
    dialect = DIALECTS[name]
    answers_meanwhile(app, encoder, ["/version", "/status"], dialect.path, json=dialect.body("the price of tea"))


WIRE_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | WIRE_TEXT
KEYS = st.sampled_from(sorted({key for dialect in DIALECTS.values() for key in dialect.keys})) | WIRE_TEXT
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@every
@settings(max_examples=100)
@given(value=VALUES)
@example(value=float("nan"))
@example(value=[float("inf")])
@example(value=["\ud800"])
def test_no_json_leads_to_a_500(protocol_client: TestClient, name: str, value: Any) -> None:
    dialect = DIALECTS[name]
    for body in (value, dialect.body(value), *({**dialect.body("hello"), key: value} for key in dialect.keys)):
        answer = protocol_client.post(dialect.path, content=json.dumps(body).encode())
        if answer.status_code != 200:
            refused(name, answer)


@every
@settings(max_examples=60)
@given(body=st.binary(max_size=80))
def test_no_bytes_lead_to_a_500(protocol_client: TestClient, name: str, body: bytes) -> None:
    refused(name, protocol_client.post(DIALECTS[name].path, content=body))
