"""A server of embeddings that answers, refuses, hangs, hangs up and talks nonsense."""

from __future__ import annotations

import base64
import json
import logging
import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from embeddings_server import HANG_UP, FakeServer, openai_answer, slowly
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intentmatch.core.errors import MissingExtraError, ModelUnavailableError, SettingsError
from intentmatch.encoders.endpoint import Endpoint

SECRET = "sk-not-for-anyone's-eyes"
TEXTS = ["where is my package", "cancel it"]


@pytest.fixture
def openai(server: FakeServer) -> Endpoint:
    return Endpoint(server.openai, "some/model", key=SECRET, seconds=10.0)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited before each retry, in place of the waiting."""
    from urllib3.util import retry

    slept: list[float] = []
    monkeypatch.setattr(retry, "time", SimpleNamespace(sleep=slept.append, time=time.time))
    return slept


def test_openai_is_asked_as_it_wants_to_be(server: FakeServer, openai: Endpoint) -> None:
    """Model, texts, and the key as a bearer token."""
    rows = openai.vectors(TEXTS)

    assert np.allclose(rows, server.encoder.encode(TEXTS) * 3.0)
    assert server.asked == [{"model": "some/model", "input": TEXTS, "encoding_format": "float"}]
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert server.headers[0]["content-type"] == "application/json"


def test_text_embeddings_inference_is_asked_as_it_wants_to_be(server: FakeServer) -> None:
    """Long texts are cut there; no key where there is none."""
    rows = Endpoint(server.tei, "", key=None, seconds=10.0).vectors(TEXTS)

    assert np.allclose(rows, server.encoder.encode(TEXTS) * 3.0)
    assert server.asked == [{"inputs": TEXTS, "truncate": True}]
    assert "authorization" not in server.headers[0]


def test_answers_come_in_any_order(server: FakeServer, openai: Endpoint) -> None:
    """What counts is the index."""

    def backwards(body: dict[str, Any]) -> Any:
        answer = openai_answer(server.rows(body))
        answer["data"].reverse()
        return 200, {}, answer

    expected = openai.vectors(TEXTS)
    server.script = [backwards]

    assert np.array_equal(openai.vectors(TEXTS), expected)


def test_base64_is_read_too(server: FakeServer, openai: Endpoint) -> None:
    """Some servers write it whatever they are asked for."""

    def written(body: dict[str, Any]) -> Any:
        rows = [np.asarray(row, dtype="<f4").tobytes() for row in server.rows(body)]
        return 200, {}, openai_answer([base64.b64encode(row).decode() for row in rows])

    expected = openai.vectors(TEXTS)
    server.script = [written]

    assert np.allclose(openai.vectors(TEXTS), expected)


def test_connections_are_kept_and_few(server: FakeServer, openai: Endpoint) -> None:
    """One for calls after one another; forty threads at once share sixteen, and each gets its own answer."""
    for _ in range(5):
        openai.vectors(TEXTS)
    assert server.connections == 1

    wrong: list[str] = []

    def work(text: str) -> None:
        if not np.allclose(openai.vectors([text]), server.encoder.encode([text]) * 3.0):
            wrong.append(text)

    threads = [threading.Thread(target=work, args=(f"text {number}",)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []
    assert server.connections <= 16


NONSENSE: list[Any] = [
    b"",
    b"<html>It works!</html>",
    b"\xff\xfe",
    b"[" * 100_000,
    b"1" * 10_000,
    [],
    None,
    "ok",
    {"data": None},
    {"data": {}},
    {"data": [1, 2]},
    {"embeddings": [[1.0], [2.0]]},
    openai_answer([[1.0, 2.0]]),
    openai_answer([[1.0, 2.0]] * 3),
    openai_answer([[1.0, 2.0], [1.0]]),
    openai_answer([[], []]),
    openai_answer([1.0, 2.0]),
    openai_answer([[[1.0]], [[2.0]]]),
    openai_answer(["not base64!", "AAAA"]),
    openai_answer(["AAAA", "AAAA"]),
    openai_answer([[float("nan"), 1.0], [1.0, 2.0]]),
    openai_answer([[1.0, 2.0], [1.0, None]]),
    openai_answer([[1.0, float("inf")], [1.0, 2.0]]),
    openai_answer([[10**400, 1], [1, 2]]),
    openai_answer([[1e200, 1.0], [1.0, 2.0]]),
    openai_answer([["a", "b"], ["c", "d"]]),
    {"data": [{"embedding": [1.0]}, {"embedding": [2.0]}]},
    {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]},
    {"data": [{"index": 1, "embedding": [1.0]}, {"index": 2, "embedding": [2.0]}]},
    {"data": [{"index": "0", "embedding": [1.0]}, {"index": "1", "embedding": [2.0]}]},
]


@pytest.mark.parametrize("said", NONSENSE, ids=lambda said: json.dumps(said, default=repr)[:40])
def test_an_answer_that_is_none_is_told(server: FakeServer, openai: Endpoint, said: Any) -> None:
    """Not JSON, not embeddings, too few, too many, none to be told apart, or no numbers: never a wrong vector."""
    server.script = [(200, {}, said)]

    with pytest.raises(ModelUnavailableError) as caught:
        openai.vectors(TEXTS)

    assert str(caught.value).startswith(f"the remote encoder at {server.openai} gives no vectors: it")
    assert len(server.asked) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["data", "index", "embedding", "error"]), inner),
)


@given(said=json_values | st.lists(st.fixed_dictionaries({"index": json_values, "embedding": json_values})))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_answered_there_are_vectors_or_one_error(server: FakeServer, openai: Endpoint, said: Any) -> None:
    """Any JSON, in either dialect."""
    tei = Endpoint(server.tei, "", key=None, seconds=10.0)
    for endpoint, answer in ((openai, said), (openai, {"data": said}), (tei, said)):
        server.script = [(200, {}, answer)]
        try:
            rows = endpoint.vectors(TEXTS)
        except ModelUnavailableError:
            continue
        assert rows.shape[0] == 2
        assert np.isfinite(rows).all()


@pytest.mark.parametrize(
    ("status", "said", "told"),
    [
        (400, {"error": {"message": "too\nlong\x1b[31m"}}, "the status 400 (too long [31m). See that the URL"),
        (404, {"error": {"message": "no such model"}}, "the status 404 (no such model)"),
        (404, b"<h1>nothing here</h1>", "the status 404. See that the URL and the model are right."),
        (413, {"error": "batch size 32 > 8", "error_type": "Validation"}, "(batch size 32 > 8)"),
        (422, {"detail": [{"msg": "no"}]}, "the status 422. "),
        (302, b"", "the status 302"),
        (204, b"", "the status 204"),
    ],
)
def test_a_refusal_is_told_at_once(server: FakeServer, openai: Endpoint, status: int, said: Any, told: str) -> None:
    """With what the server says of it, on one line; asking again would not help."""
    server.script = [(status, {"location": server.tei}, said)]

    with pytest.raises(ModelUnavailableError) as caught:
        openai.vectors(TEXTS)

    assert told in str(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize(("key", "told"), [(SECRET, "refuses the key"), (None, "asks for a key")])
@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_or_missing(server: FakeServer, status: int, key: str | None, told: str) -> None:
    """The variable to set is named, and not what the server says, which may hold the key."""
    server.script = [(status, {}, {"error": {"message": f"Incorrect API key provided: {SECRET}"}})]

    with pytest.raises(ModelUnavailableError, match=f"{told}.*INTENTMATCH_REMOTE_KEY") as caught:
        Endpoint(server.openai, "m", key=key, seconds=10.0).vectors(TEXTS)

    assert SECRET not in str(caught.value)


def test_the_key_is_never_told(
    server: FakeServer, openai: Endpoint, waits: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    """Neither in errors, nor in the log, nor in what the objects are shown as."""
    caplog.set_level(logging.DEBUG)
    server.script = [(429, {}, b""), HANG_UP, (400, {}, {"error": f"{SECRET} may not do that"})]

    with pytest.raises(ModelUnavailableError) as caught:
        openai.vectors(TEXTS)

    assert "(... may not do that)" in str(caught.value)
    assert SECRET not in str(caught.value) + repr(caught.value) + repr(openai) + caplog.text
    assert waits != []


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_passes_is_asked_again(server: FakeServer, openai: Endpoint, waits: list[float], status: int) -> None:
    """Later each time."""
    server.script = [(status, {}, b"")] * 3

    assert openai.vectors(TEXTS).shape == (2, 64)
    assert len(server.asked) == 4
    assert len(waits) == 2
    assert 1.0 <= waits[0] <= 1.5 < 2.0 <= waits[1] <= 2.5


def test_the_server_says_when(server: FakeServer, openai: Endpoint, waits: list[float]) -> None:
    """Retry-After is heeded, in seconds and as a date, up to what one is ready to wait."""
    later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 8))
    server.script = [(429, {"retry-after": after}, b"") for after in ("7", later, "86400")]
    openai.vectors(TEXTS)

    assert waits[0] == 7
    assert 4 < waits[1] <= 8
    assert waits[2] == 10


def test_but_not_for_ever(server: FakeServer, openai: Endpoint, waits: list[float]) -> None:
    """Four times, and then the error says why."""
    server.script = [(503, {}, {"error": {"message": "Loading model"}})] * 9

    with pytest.raises(ModelUnavailableError, match=r"the status 503 \(Loading model\)\. Try again later\."):
        openai.vectors(TEXTS)
    assert len(server.asked) == 4


def test_a_time_to_wait_that_is_none_is_told(server: FakeServer, openai: Endpoint) -> None:
    """As any answer that cannot be understood."""
    server.script = [(429, {"retry-after": "soon"}, b"")]

    with pytest.raises(ModelUnavailableError, match="Retry-After header: soon"):
        openai.vectors(TEXTS)


def test_one_that_hangs_up_is_asked_once_more(server: FakeServer, openai: Endpoint, waits: list[float]) -> None:
    """A connection that is reset in the middle of an answer."""
    server.script = [HANG_UP]
    assert openai.vectors(TEXTS).shape == (2, 64)

    server.script = [HANG_UP, HANG_UP]
    with pytest.raises(ModelUnavailableError, match="See that it runs"):
        openai.vectors(TEXTS)
    assert len(server.asked) == 4


def test_one_that_is_too_slow_is_asked_once_more(server: FakeServer) -> None:
    """Then it is too slow."""
    hasty = Endpoint(server.openai, "m", key=None, seconds=0.5)
    server.script = [slowly(3.0)]
    assert hasty.vectors(TEXTS).shape == (2, 64)

    server.script = [slowly(3.0), slowly(3.0)]
    start = time.monotonic()
    with pytest.raises(ModelUnavailableError, match=r"Read timed out\. \(read timeout=0\.5\)"):
        hasty.vectors(TEXTS)
    assert time.monotonic() - start < 3.0


def test_one_that_is_away_is_told(server: FakeServer, waits: list[float]) -> None:
    """The address, the reason and the way out."""
    away = "http://127.0.0.1:1/v1/embeddings"
    with pytest.raises(ModelUnavailableError) as caught:
        Endpoint(away, "m", key=SECRET, seconds=10.0).vectors(TEXTS)

    assert all(part in str(caught.value) for part in (away, "Connection refused", "See that it runs"))
    assert SECRET not in str(caught.value)
    assert len(waits) == 2


def test_a_host_that_is_not_there_is_told(server: FakeServer, waits: list[float]) -> None:
    """Nor any port of it."""
    with pytest.raises(ModelUnavailableError, match=r"nowhere\.invalid"):
        Endpoint("http://nowhere.invalid/embed", "", key=None, seconds=10.0).vectors(TEXTS)


def test_one_without_the_s_of_https_is_told(server: FakeServer, waits: list[float]) -> None:
    """And so is any certificate that is not trusted."""
    with pytest.raises(ModelUnavailableError, match="SSL"):
        Endpoint(server.tei.replace("http", "https"), "", key=SECRET, seconds=10.0).vectors(TEXTS)

    assert server.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8080/embed",
        "ftp://host/embed",
        "file:///embed",
        "http:///embed",
        "http://host:0/embed",
        "http://host:99999/embed",
        "http://[::1/embed",
        "http://user:hunter2@host/embed",
        "http://hunter2@host/embed",
        "http://host/embed?key=hunter2",
        "http://host/embed#m",
        "http://host/embed\r\nhunter2: 1",
        "http://host/ embed",
        "http://höst/embed",
    ],
)
def test_a_url_that_cannot_be_is_refused(server: FakeServer, url: str) -> None:
    """Without being shown: a password would be in the error."""
    with pytest.raises(SettingsError, match="write remote:https://HOST/v1/embeddings#MODEL") as caught:
        Endpoint(url, "m", key=None, seconds=10.0)

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/embeddings/", "/embeds", "/v1/chat/completions"])
def test_a_path_that_is_neither_is_refused(server: FakeServer, path: str) -> None:
    """What it must end in is told."""
    with pytest.raises(SettingsError, match="ends neither in /embeddings nor in /embed"):
        Endpoint(f"http://host{path}", "m", key=None, seconds=10.0)


def test_openai_needs_the_name_of_a_model(server: FakeServer) -> None:
    """Text-embeddings-inference has only one."""
    with pytest.raises(SettingsError, match="name the model of"):
        Endpoint(server.openai, "", key=None, seconds=10.0)


@pytest.mark.parametrize("key", ["", "two\nlines", "schlüssel", "a\x00b"])
def test_a_key_that_no_header_could_carry_is_refused(server: FakeServer, key: str) -> None:
    """Without being shown."""
    with pytest.raises(SettingsError, match="printable ASCII") as caught:
        Endpoint(server.tei, "", key=key, seconds=10.0)

    assert not key or key not in str(caught.value)


def test_a_proxy_of_the_environment_is_used(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its user, unless the host is one that is asked directly."""
    monkeypatch.setenv("http_proxy", f"http://me:p%40ss@{server.host}")
    seen: list[str] = []
    server.answer, plain = (lambda path, body: (seen.append(path), plain("/embed", body))[1]), server.answer  # type: ignore[method-assign]
    Endpoint("http://models.example/embed", "", key=None, seconds=10.0).vectors(TEXTS)

    assert seen == ["http://models.example/embed"]
    assert server.headers[0]["proxy-authorization"] == f"Basic {base64.b64encode(b'me:p@ss').decode()}"
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    Endpoint(server.tei, "", key=None, seconds=10.0).vectors(TEXTS)
    assert seen[1:] == ["/embed"]


@pytest.mark.parametrize("proxy", ["socks5://me:hunter2@host", "me:hunter2", "http://me:hunter2@[::1"])
def test_a_proxy_that_is_none_is_told(server: FakeServer, monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    """Without its password."""
    monkeypatch.setenv("http_proxy", proxy)

    with pytest.raises(SettingsError, match="the proxy that the environment names for http") as caught:
        Endpoint(server.tei, "", key=None, seconds=10.0)
    assert "hunter2" not in str(caught.value)


def test_without_the_extra_the_pip_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package is an error that says what to install."""
    monkeypatch.setitem(sys.modules, "urllib3", None)

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[remote\]"'):
        Endpoint("http://host/embed", "", key=None, seconds=10.0)
