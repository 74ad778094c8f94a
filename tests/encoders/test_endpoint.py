"""The HTTP client of embedding servers: requests, retries, errors, keys and proxies."""

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
from embeddings_server import HANG_UP, FakeServer, openai_answer, when
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
    """The waiting times before retries, recorded instead of slept."""
    from urllib3.util import retry

    slept: list[float] = []
    monkeypatch.setattr(retry, "time", SimpleNamespace(sleep=slept.append, time=time.time))
    return slept


def test_openai_request_has_model_texts_and_bearer_token(server: FakeServer, openai: Endpoint) -> None:
    rows = openai.vectors(TEXTS)

    assert np.allclose(rows, server.encoder.encode(TEXTS) * 3.0)
    assert server.asked == [{"model": "some/model", "input": TEXTS, "encoding_format": "float"}]
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert server.headers[0]["content-type"] == "application/json"


def test_tei_request_truncates_and_omits_a_missing_key(server: FakeServer) -> None:
    rows = Endpoint(server.tei, "", key=None, seconds=10.0).vectors(TEXTS)

    assert np.allclose(rows, server.encoder.encode(TEXTS) * 3.0)
    assert server.asked == [{"inputs": TEXTS, "truncate": True}]
    assert "authorization" not in server.headers[0]


def test_answers_are_sorted_by_index(server: FakeServer, openai: Endpoint) -> None:
    def backwards(body: dict[str, Any]) -> Any:
        answer = openai_answer(server.rows(body))
        answer["data"].reverse()
        return 200, {}, answer

    expected = openai.vectors(TEXTS)
    server.script = [backwards]

    assert np.array_equal(openai.vectors(TEXTS), expected)


def test_base64_embeddings_are_read(server: FakeServer, openai: Endpoint) -> None:
    """Some servers send base64 whatever the client asks for."""

    def written(body: dict[str, Any]) -> Any:
        rows = [np.asarray(row, dtype="<f4").tobytes() for row in server.rows(body)]
        return 200, {}, openai_answer([base64.b64encode(row).decode() for row in rows])

    expected = openai.vectors(TEXTS)
    server.script = [written]

    assert np.allclose(openai.vectors(TEXTS), expected)


def test_connections_are_reused_and_limited(server: FakeServer, openai: Endpoint) -> None:
    """Sequential calls use one connection; forty threads share sixteen, and each gets its own answer."""
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


INVALID_ANSWERS: list[Any] = [
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


@pytest.mark.parametrize("answer", INVALID_ANSWERS, ids=lambda answer: json.dumps(answer, default=repr)[:40])
def test_invalid_answer_is_an_error_without_retry(server: FakeServer, openai: Endpoint, answer: Any) -> None:
    """Not JSON, not embeddings, too few, too many, bad indexes, or numbers that are not finite."""
    server.script = [(200, {}, answer)]

    with pytest.raises(ModelUnavailableError) as caught:
        openai.vectors(TEXTS)

    assert str(caught.value).startswith(f"the remote encoder at {server.openai} gives no vectors: it")
    assert len(server.asked) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["data", "index", "embedding", "error"]), inner),
)


@given(answer=json_values | st.lists(st.fixed_dictionaries({"index": json_values, "embedding": json_values})))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_answer_gives_vectors_or_model_unavailable(server: FakeServer, openai: Endpoint, answer: Any) -> None:
    """In both dialects."""
    tei = Endpoint(server.tei, "", key=None, seconds=10.0)
    for endpoint, content in ((openai, answer), (openai, {"data": answer}), (tei, answer)):
        server.script = [(200, {}, content)]
        try:
            rows = endpoint.vectors(TEXTS)
        except ModelUnavailableError:
            continue
        assert rows.shape[0] == 2
        assert np.isfinite(rows).all()


@pytest.mark.parametrize(
    ("status", "answer", "expected"),
    [
        (400, {"error": {"message": "too\nlong\x1b[31m"}}, "status 400 (too long [31m). Check the URL"),
        (404, {"error": {"message": "no such model"}}, "status 404 (no such model)"),
        (404, b"<h1>nothing here</h1>", "status 404. Check the URL and the model."),
        (413, {"error": "batch size 32 > 8", "error_type": "Validation"}, "(batch size 32 > 8)"),
        (422, {"detail": [{"msg": "no"}]}, "status 422 (no). "),
        (302, b"", "status 302"),
        (204, b"", "status 204"),
    ],
)
def test_client_error_is_not_retried_and_shows_the_servers_message(
    server: FakeServer, openai: Endpoint, status: int, answer: Any, expected: str
) -> None:
    server.script = [(status, {"location": server.tei}, answer)]

    with pytest.raises(ModelUnavailableError) as caught:
        openai.vectors(TEXTS)

    assert expected in str(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize(("key", "expected"), [(SECRET, "refuses the key"), (None, "asks for a key")])
@pytest.mark.parametrize("status", [401, 403])
def test_refused_or_missing_key_names_the_variable(
    server: FakeServer, status: int, key: str | None, expected: str
) -> None:
    """The server's message is not shown, because it may contain the key."""
    server.script = [(status, {}, {"error": {"message": f"Incorrect API key provided: {SECRET}"}})]

    with pytest.raises(ModelUnavailableError, match=f"{expected}.*INTENTMATCH_REMOTE_KEY") as caught:
        Endpoint(server.openai, "m", key=key, seconds=10.0).vectors(TEXTS)

    assert SECRET not in str(caught.value)


def test_key_is_in_no_error_log_or_repr(
    server: FakeServer, openai: Endpoint, waits: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.script = [(429, {}, b""), HANG_UP, (400, {}, {"error": f"{SECRET} may not do that"})]

    with pytest.raises(ModelUnavailableError) as caught:
        openai.vectors(TEXTS)

    assert "(... may not do that)" in str(caught.value)
    assert SECRET not in str(caught.value) + repr(caught.value) + repr(openai) + caplog.text
    assert waits != []


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_temporary_errors_are_retried_with_backoff(
    server: FakeServer, openai: Endpoint, waits: list[float], status: int
) -> None:
    server.script = [(status, {}, b"")] * 3

    assert openai.vectors(TEXTS).shape == (2, 64)
    assert len(server.asked) == 4
    assert len(waits) == 2
    assert 1.0 <= waits[0] <= 1.5 < 2.0 <= waits[1] <= 2.5


def test_retry_after_is_respected_up_to_the_limit(server: FakeServer, openai: Endpoint, waits: list[float]) -> None:
    """In seconds and as a date."""
    later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 8))
    server.script = [(429, {"retry-after": after}, b"") for after in ("7", later, "86400")]
    openai.vectors(TEXTS)

    assert waits[0] == 7
    assert 4 < waits[1] <= 8
    assert waits[2] == 10


def test_retries_end_with_the_servers_message(server: FakeServer, openai: Endpoint, waits: list[float]) -> None:
    server.script = [(503, {}, {"error": {"message": "Loading model"}})] * 9

    with pytest.raises(ModelUnavailableError, match=r"status 503 \(Loading model\)\. Try again later\."):
        openai.vectors(TEXTS)
    assert len(server.asked) == 4


def test_invalid_retry_after_is_an_error(server: FakeServer, openai: Endpoint) -> None:
    server.script = [(429, {"retry-after": "soon"}, b"")]

    with pytest.raises(ModelUnavailableError, match="Retry-After header: soon"):
        openai.vectors(TEXTS)


def test_dropped_connection_is_retried_once(server: FakeServer, openai: Endpoint, waits: list[float]) -> None:
    server.script = [HANG_UP]
    assert openai.vectors(TEXTS).shape == (2, 64)

    server.script = [HANG_UP, HANG_UP]
    with pytest.raises(ModelUnavailableError, match="Check that it runs"):
        openai.vectors(TEXTS)
    assert len(server.asked) == 4


def test_read_timeout_is_retried_once(server: FakeServer) -> None:
    given_up = threading.Event()
    server.script = [when(given_up)]
    assert Endpoint(server.openai, "m", key=None, seconds=1.0).vectors(TEXTS).shape == (2, 64)

    server.script = [when(given_up), when(given_up)]
    with pytest.raises(ModelUnavailableError, match=r"Read timed out\. \(read timeout=0\.2\)"):
        Endpoint(server.openai, "m", key=None, seconds=0.2).vectors(TEXTS)
    given_up.set()


def test_refused_connection_names_url_and_reason(server: FakeServer, waits: list[float]) -> None:
    away = "http://127.0.0.1:1/v1/embeddings"
    with pytest.raises(ModelUnavailableError) as caught:
        Endpoint(away, "m", key=SECRET, seconds=10.0).vectors(TEXTS)

    assert all(part in str(caught.value) for part in (away, "Connection refused", "Check that it runs"))
    assert SECRET not in str(caught.value)
    assert len(waits) == 2


def test_unknown_host_is_named(server: FakeServer, waits: list[float]) -> None:
    with pytest.raises(ModelUnavailableError, match=r"nowhere\.invalid"):
        Endpoint("http://nowhere.invalid/embed", "", key=None, seconds=10.0).vectors(TEXTS)


def test_tls_failure_is_reported(server: FakeServer, waits: list[float]) -> None:
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
def test_invalid_url_is_refused_without_showing_it(server: FakeServer, url: str) -> None:
    """It may contain a password."""
    with pytest.raises(SettingsError, match="write remote:https://HOST/v1/embeddings#MODEL") as caught:
        Endpoint(url, "m", key=None, seconds=10.0)

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/embeddings/", "/embeds", "/v1/chat/completions"])
def test_url_with_another_path_is_refused(server: FakeServer, path: str) -> None:
    with pytest.raises(SettingsError, match="must end in /embeddings or /embed"):
        Endpoint(f"http://host{path}", "m", key=None, seconds=10.0)


def test_openai_url_needs_a_model_name(server: FakeServer) -> None:
    with pytest.raises(SettingsError, match="needs the name of a model after a #"):
        Endpoint(server.openai, "", key=None, seconds=10.0)


@pytest.mark.parametrize("key", ["", "two\nlines", "schlüssel", "a\x00b"])
def test_key_that_is_not_printable_ascii_is_refused_without_showing_it(server: FakeServer, key: str) -> None:
    with pytest.raises(SettingsError, match="printable ASCII") as caught:
        Endpoint(server.tei, "", key=key, seconds=10.0)

    assert not key or key not in str(caught.value)


def test_proxy_of_the_environment_is_used_unless_excluded(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_invalid_proxy_is_refused_without_showing_its_password(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("http_proxy", proxy)

    with pytest.raises(SettingsError, match="the environment names an invalid proxy for http") as caught:
        Endpoint(server.tei, "", key=None, seconds=10.0)
    assert "hunter2" not in str(caught.value)


def test_missing_extra_names_the_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "urllib3", None)

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[remote\]"'):
        Endpoint("http://host/embed", "", key=None, seconds=10.0)
