"""API keys: which callers may call what."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.errors import InputError
from intentmatch.server import create_app
from intentmatch.server.auth.access import Access
from intentmatch.server.auth.api_keys import checked, environment_keys, file_keys
from intentmatch.server.auth.authorisation import authorised, bearer

ORDINARY = {
    ("POST", "/match"): {"text": "hello"},
    ("POST", "/match/batch"): {"texts": ["hello"]},
    ("POST", "/fill"): {"text": "hello", "intent": "greet"},
    ("POST", "/chat"): {"text": "hello", "conversation": "anna"},
    ("POST", "/feedback"): {"text": "hello", "intent": "greet"},
    ("GET", "/intents"): None,
}


def request(*keys: str, **headers: str) -> Request:
    """A request to an app with these keys."""
    app = FastAPI()
    app.state.access = Access(keys)
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    return Request({"type": "http", "app": app, "headers": raw})


@pytest.mark.parametrize("presented", [None, "", "anything", "\ud800"])
def test_app_without_keys_is_open(presented: str | None) -> None:
    assert authorised(request(), presented)


@pytest.mark.parametrize(
    ("presented", "may"),
    [("one", True), ("two", True), (None, False), ("", False), ("on", False), ("onetwo", False), ("öne", False),
     ("\ud800", False), ("one\0", False)],
)  # fmt: skip
def test_app_with_keys_needs_one_of_them(presented: str | None, may: bool) -> None:
    """Keys match exactly; anything else is refused."""
    assert authorised(request("one", "two"), presented) is may


@pytest.mark.parametrize("keys", ["secret", [""], ["ö"], ["a\nb"], ["good", "\0"]])
def test_key_that_no_header_can_carry_is_refused(keys: object) -> None:
    """At the start, and the message does not show the key."""
    with pytest.raises(InputError) as caught:
        checked(keys)
    assert "ö" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "token"),
    [("Bearer one", "one"), ("bearer  one ", "one"), ("Bearer", ""), ("Basic one", None), ("one", None), ("", None)],
)
def test_bearer_token_is_found(header: str, token: str | None) -> None:
    """The scheme in any case, and no other scheme."""
    assert bearer(request(authorization=header)) == token


@pytest.fixture
def served(matcher: Matcher) -> Callable[..., Callable[..., Any]]:
    """Serve a bot with these options, and return what calls it with a key."""

    def serve(**options: Any) -> Callable[..., Any]:
        client = TestClient(create_app(matcher, **options), raise_server_exceptions=False)

        def ask(method: str, path: str, key: str | None = None, **more: Any) -> Any:
            headers = {} if key is None else {"authorization": f"Bearer {key}"}
            answer = client.request(method, path, headers={**headers, **more.pop("headers", {})}, **more)
            if answer.is_error:
                assert answer.headers["content-type"] == "application/problem+json"
                assert answer.json()["status"] == answer.status_code
            return answer

        return ask

    return serve


@pytest.mark.parametrize(("method", "path"), ORDINARY)
def test_every_call_needs_a_key(served: Callable[..., Callable[..., Any]], method: str, path: str) -> None:
    """One of several, or an admin key, in either header; checked before the body is read."""
    ask = served(keys=["one", "two"], admin_keys=["boss"])
    body = ORDINARY[method, path]
    for key in (None, "", "three", "onetwo", "one two"):
        answer = ask(method, path, key, json=body)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert ask(method, path, key, content=b"{broken").status_code == 401
    for key in ("one", "two", "boss"):
        assert ask(method, path, key, json=body).status_code not in (401, 403)
        assert ask(method, path, headers={"x-api-key": key}, json=body).status_code not in (401, 403)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/docs", "/openapi.json"])
def test_probes_and_docs_need_no_key(served: Callable[..., Callable[..., Any]], path: str) -> None:
    assert served(keys=["one"])("GET", path).status_code == 200


def test_new_route_is_guarded_by_default(matcher: Matcher) -> None:
    app = create_app(matcher, keys=["one"])

    @app.get("/new")
    async def new() -> str:
        return "new"

    assert TestClient(app).get("/new").status_code == 401
    assert TestClient(app).get("/new", headers={"x-api-key": "one"}).json() == "new"


@pytest.mark.parametrize(
    ("keys", "admin_keys", "presented", "status"),
    [
        ([], [], None, 403),
        ([], [], "one", 403),
        (["one"], [], "one", 403),
        (["one"], ["boss"], None, 401),
        (["one"], ["boss"], "three", 401),
        (["one"], ["boss"], "one", 403),
        (["one"], ["boss"], "boss", 200),
        ([], ["boss"], None, 401),
        ([], ["boss"], "three", 401),
        ([], ["boss"], "boss", 200),
    ],
)
def test_admin_calls_need_an_admin_key(
    folder: Path, keys: list[str], admin_keys: list[str], presented: str | None, status: int
) -> None:
    """Without any they are off; with one, other calls stay open."""
    with TestClient(create_app(folder, keys=keys, admin_keys=admin_keys)) as client:
        headers = {"x-api-key": presented} if presented else {}
        answer = client.post("/reload", headers=headers)
        assert answer.status_code == status
        assert ("such as INTENTMATCH_ADMIN_KEYS=KEY" in answer.text) == (not admin_keys)
        assert client.get("/intents").status_code == (401 if keys else 200)


def test_admin_key_must_differ_from_other_keys() -> None:
    with pytest.raises(InputError, match="must differ"):
        Access(["one", "two"], ["two"])


def test_keys_come_from_the_environment(matcher: Matcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From variables, separated by comma or space, and from files; arguments win."""
    (tmp_path / "keys").write_text("# of the shop\n\n  three  \nfour\n", encoding="utf-8")
    monkeypatch.setenv("INTENTMATCH_KEYS", "one, two")
    monkeypatch.setenv("INTENTMATCH_KEYS_FILE", str(tmp_path / "keys"))
    assert environment_keys("INTENTMATCH_KEYS") == ("one", "two", "three", "four")
    client = TestClient(create_app(matcher))
    assert [client.get("/intents", headers={"x-api-key": key}).status_code for key in ("four", "five")] == [200, 401]
    assert TestClient(create_app(matcher, keys=[])).get("/intents").status_code == 200


@pytest.mark.parametrize("value", ["", " , "])
def test_empty_variable_is_an_error(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """A secret that was not filled in keeps the server from starting."""
    monkeypatch.setenv("INTENTMATCH_KEYS", value)
    with pytest.raises(InputError, match="INTENTMATCH_KEYS is set but holds no key"):
        environment_keys("INTENTMATCH_KEYS")


@pytest.mark.parametrize("content", [b"", b"# none\n", b"\xff\xfe", None])
def test_empty_or_unreadable_key_file_is_an_error(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "keys").write_bytes(content)
    with pytest.raises(InputError, match="keys"):
        file_keys(tmp_path / "keys")


def test_each_key_has_its_own_rate(served: Callable[..., Callable[..., Any]]) -> None:
    """A caller over the limit is told when to retry; other keys and probes are not affected."""
    ask = served(keys=["one", "two"], rate_limit="2/hour", protocols=["rasa"])
    assert [ask("GET", "/intents", "one").status_code for _ in range(2)] == [200, 200]
    late = ask("POST", "/match", "one", content=b"{broken")
    assert (late.status_code, int(late.headers["retry-after"]) in range(1700, 1801)) == (429, True)
    assert ask("GET", "/intents", "two").status_code == 200
    assert ask("GET", "/healthz").status_code == 200
    assert [ask("GET", "/intents", "three").status_code for _ in range(5)] == [401] * 5


def test_rate_limit_holds_for_protocols_in_their_shape(matcher: Matcher) -> None:
    """Without keys, per address."""
    client = TestClient(create_app(matcher, rate_limit="1/hour", protocols=["rasa"]))
    assert client.post("/model/parse", json={"text": "hello"}).status_code == 200
    late = client.post("/model/parse", json={"text": "hello"})
    assert (late.status_code, late.json()["code"], "retry-after" in late.headers) == (429, 429, True)


def test_keys_and_messages_are_neither_logged_nor_sent_back(matcher: Matcher, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    app = create_app(matcher, keys=["the-key"], admin_keys=["the-admin-key"], rate_limit="9/hour")
    client = TestClient(app, raise_server_exceptions=False)
    for key in ("the-key", "the-wrong-key", "the-admin-key"):
        for body in ({"text": "my secret"}, {"text": 1, "my secret": 1}, {"text": "my secret", "language": "no code"}):
            client.post("/match", json=body, headers={"x-api-key": key})
        client.post("/reload", headers={"x-api-key": key})
    # The test client has a logger of its own.
    said = "".join(record.getMessage() for record in caplog.records if not record.name.startswith("http"))
    assert not [secret for secret in ("-key", "secret") if secret in said]
    assert "-key" not in repr(vars(app.state.access))
