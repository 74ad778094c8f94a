"""What holds for every protocol: off unless asked for, its own shape for every error, never a 500."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
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
from intentmatch.server.protocols.load import PROTOCOLS


@dataclass(frozen=True)
class Dialect:
    """How a protocol is asked, and how it says that something is wrong."""

    path: str
    body: Callable[[Any], Any]
    """A request with this as its text."""
    header: tuple[str, str]
    """That the key goes into, and what stands before it."""
    code: Callable[[Any], Any]
    """The code in an error; fails where the error has another shape."""
    keys: tuple[str, ...]


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
    """The answer is an error in the protocol's shape, with one of these statuses."""
    assert answer.status_code in (statuses or (400,))
    assert answer.headers["content-type"] == "application/json"
    assert DIALECTS[name].code(answer.json()) in (answer.status_code, 400, None)
    assert len(answer.content) < 20_000


def test_every_protocol_is_held_to_this() -> None:
    """A new one needs a dialect here, and a real client that asks it."""
    assert DIALECTS.keys() == PROTOCOLS.keys()
    clients = Path(__file__).parents[2] / "clients"
    assert {file.stem for file in clients.glob("ask_*.py")} == {f"ask_{name}" for name in PROTOCOLS}


@every
def test_a_protocol_is_off_unless_asked_for(bot: Matcher, name: str) -> None:
    """Each is there alone, and without it its paths are nothing, told in our own shape."""
    dialect = DIALECTS[name]
    asked = dialect.body("hello")
    assert client(bot, protocols=[name]).post(dialect.path, json=asked).status_code == 200
    others = client(bot, protocols=[other for other in DIALECTS if other != name])
    answer = others.post(dialect.path, json=asked)
    assert answer.status_code in (404, 405)
    without = client(bot, protocols=()).post(dialect.path, json=asked)
    assert (without.status_code, without.headers["content-type"]) == (404, "application/problem+json")


def test_an_unknown_protocol_is_refused_at_the_start(bot: Matcher) -> None:
    """With the known ones."""
    with pytest.raises(UnknownNameError, match="Did you mean 'rasa'"):
        create_app(bot, protocols=["raza"])


def test_a_protocol_named_twice_is_one(bot: Matcher) -> None:
    """Asking again changes nothing."""
    assert client(bot, protocols=["rasa", "rasa"]).get("/version").status_code == 200


def test_the_command_line_speaks_what_it_is_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`serve --protocol`, several times, and the URL of fulfillment; what cannot be is one sentence and exit code 2."""
    (tmp_path / "bot.yaml").write_text("intents: {greet: {utterances: [hello]}}", encoding="utf-8")
    served = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **_: served.append(app))
    options = ["--protocol", "rasa", "--protocol", "dialogflow", "--fulfillment", "http://127.0.0.1:1/"]

    assert CliRunner().invoke(cli, ["serve", str(tmp_path), *options]).exit_code == 0
    speaking = TestClient(served[0])
    assert speaking.get("/version").status_code == 200
    assert speaking.post("/v1/embeddings").status_code == 404

    for wrong in (["--protocol", "luis"], ["--protocol", "rasa", "--fulfillment", "http://127.0.0.1:1/"]):
        done = CliRunner().invoke(cli, ["serve", str(tmp_path), *wrong])
        assert done.exit_code == 2
        assert len(served) == 1


def test_our_own_routes_stay_as_they_are(speaker: TestClient) -> None:
    """With every protocol there, our routes answer, err in our shape, and are all that is documented."""
    assert speaker.post("/match", json={"text": "hello"}).json()["intent"] == "greet"
    answer = speaker.post("/match", json={"text": 5})
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert "/model/parse" not in speaker.get("/openapi.json").json()["paths"]


@every
@pytest.mark.parametrize("body", UNREADABLE)
def test_an_unreadable_body_is_the_callers_fault(speaker: TestClient, name: str, body: str) -> None:
    """Bytes that are no request are a 400 in the protocol's own shape."""
    refused(name, speaker.post(DIALECTS[name].path, content=UNREADABLE[body]))


@every
@pytest.mark.parametrize("declared", [None, "text/plain", "application/json", "multipart/form-data", "\xff;;", ""])
def test_the_content_type_does_not_matter(speaker: TestClient, name: str, declared: str | None) -> None:
    """Clients of these protocols call JSON what they like."""
    headers = {} if declared is None else {"content-type": declared.encode("latin-1")}
    body = json.dumps(DIALECTS[name].body("hello"))
    assert speaker.post(DIALECTS[name].path, content=body, headers=headers).status_code == 200


@every
def test_half_a_surrogate_pair_is_no_text(speaker: TestClient, name: str) -> None:
    """It could not be sent back."""
    body = json.dumps(DIALECTS[name].body("\ud83d"))
    refused(name, speaker.post(DIALECTS[name].path, content=body))


@every
@pytest.mark.parametrize("text", ["a\0b", "\0", " ", "👩\u200d👩", "\u202e", "a" * 2000])
def test_every_text_is_answered(speaker: TestClient, name: str, text: str) -> None:
    """Whatever can be sent."""
    assert speaker.post(DIALECTS[name].path, json=DIALECTS[name].body(text)).status_code == 200


@every
def test_the_limits_hold(bot: Matcher, name: str) -> None:
    """Of a text and of a body, announced or not."""
    speaking = client(bot, max_text=5, max_body=300)
    dialect = DIALECTS[name]
    assert speaking.post(dialect.path, json=dialect.body("hello")).status_code == 200
    refused(name, speaking.post(dialect.path, json=dialect.body("hello!")))
    refused(name, speaking.post(dialect.path, json=dialect.body("a" * 1000)), 413)
    refused(name, speaking.post(dialect.path, content=iter([b" " * 200] * 5)), 413)


@every
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_another_method_is_refused_in_the_shape(speaker: TestClient, name: str, method: str) -> None:
    """Whatever the Host header holds."""
    answer = speaker.request(method, DIALECTS[name].path, headers={"host": "["})
    refused(name, answer, 405)
    assert answer.headers["allow"] == "POST"


@every
def test_what_is_not_there_is_told_in_the_shape(speaker: TestClient, name: str) -> None:
    """A path below the protocol's that has nothing is still its own."""
    refused(name, speaker.get(f"{DIALECTS[name].path}/nothing"), 404)


@every
@pytest.mark.parametrize("key", [KEY, "another"])
def test_any_of_the_keys_opens(guarded: TestClient, name: str, key: str) -> None:
    """Where the protocol's clients put it."""
    dialect = DIALECTS[name]
    header, before = dialect.header
    answer = guarded.post(dialect.path, json=dialect.body("hello"), headers={header: before + key})
    assert answer.status_code == 200


@every
@pytest.mark.parametrize("key", [None, "", "wrong", KEY[:-1], KEY + "x", "\xff", KEY.upper()])
def test_a_wrong_key_is_refused(guarded: TestClient, name: str, key: str | None) -> None:
    """In the protocol's shape, and without a word of the key."""
    dialect = DIALECTS[name]
    header, before = dialect.header
    headers = {} if key is None else {header: (before + key).encode("latin-1")}
    answer = guarded.post(dialect.path, json=dialect.body("hello"), headers=headers)
    refused(name, answer, 401)
    assert KEY not in answer.text


@every
def test_before_the_bot_is_loaded_it_is_not_there(name: str) -> None:
    """An app without its lifespan has no bot yet, and says so."""
    answer = client("intents").post(DIALECTS[name].path, json=DIALECTS[name].body("hello"))  # type: ignore[arg-type]
    refused(name, answer, 503)


@every
@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (ModelUnavailableError("download it first"), 503, "download it first"),
        (IntentMatchError("the encoder broke its protocol"), 500, "the encoder broke its protocol"),
        (RuntimeError("secret"), 500, "the request is not at fault"),
    ],
)
def test_our_own_faults_have_the_shape_too(name: str, error: Exception, status: int, told: str) -> None:
    """Errors meant for users are told, others are kept inside."""
    encoder = FlakyEncoder()
    speaking = client(Matcher.load(REGISTRY, encoder=encoder, cache="off"))
    encoder.error = error
    answer = speaking.post(DIALECTS[name].path, json=DIALECTS[name].body("the price of tea"))
    refused(name, answer, status)
    assert told in answer.text
    assert "secret" not in answer.text


@pytest.mark.parametrize("name", DIALECTS)
def test_a_slow_encoder_does_not_hold_up_the_others(name: str) -> None:
    """While a protocol waits for the encoder, the event loop goes on answering."""
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
def test_no_json_leads_to_a_500(speaker: TestClient, name: str, value: Any) -> None:
    """Any JSON value, as the body or in the place of a text or of another key, is answered or refused in the shape."""
    dialect = DIALECTS[name]
    for body in (value, dialect.body(value), *({**dialect.body("hello"), key: value} for key in dialect.keys)):
        answer = speaker.post(dialect.path, content=json.dumps(body).encode())
        if answer.status_code != 200:
            refused(name, answer)


@every
@settings(max_examples=60)
@given(body=st.binary(max_size=80))
def test_no_bytes_lead_to_a_500(speaker: TestClient, name: str, body: bytes) -> None:
    """Nor do any bytes."""
    refused(name, speaker.post(DIALECTS[name].path, content=body))
