"""The client against a real server that is slow, silent, wrong or refusing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any

import pytest
from embeddings_server import HANG_UP, when
from opinion_server import OpinionServer

from intentmatch.core.errors import MissingExtraError, ModelUnavailableError, SettingsError
from intentmatch.matching.opinions.client import KEY, OpinionClient

BODY = {"query": "a", "texts": ["a", "b"]}
_DRIPS_SECONDS = 20.0


@contextmanager
def dripping(beginning: bytes) -> Iterator[str]:
    """Run a server that sends the beginning of an answer, and then a byte every 0.05 s until the block ends."""
    over = threading.Event()

    def drip() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            try:
                connection.sendall(beginning)
                for _ in range(int(_DRIPS_SECONDS / 0.05)):
                    connection.sendall(b"1")
                    if over.wait(0.05):
                        return
            except OSError:
                pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        over.set()
        thread.join()


@pytest.fixture
def client(server: OpinionServer) -> Callable[..., OpinionClient]:
    def make(**changes: Any) -> OpinionClient:
        options = {"seconds": 5.0, "budget": {"minute": 100, "day": 100}, "by_operator": True, **changes}
        return OpinionClient(server.url("/rerank"), what="the test", paths=("/rerank",), **options)

    return make


def ask(client: OpinionClient, body: dict[str, Any] | None = None) -> Any:
    return client.ask(body or BODY, lambda answer: answer[0]["index"])


def test_answer_is_cached_by_request(client: Callable[..., OpinionClient], server: OpinionServer) -> None:
    asking = client()

    assert ask(asking) == ask(asking) == 0
    assert len(server.asked) == 1
    ask(asking, {**BODY, "query": "b"})
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ((500, {}, {"error": "out of memory"}), r"status 500 \(out of memory\)"),
        ((401, {}, {"error": {"message": "no s3cret for you"}}), r"status 401 \(no \.\.\. for you\)"),
        ((302, {"location": "http://127.0.0.1:1/rerank"}, b""), "status 302"),
        ((200, {}, b"<html>"), "its answer has another form"),
        ((200, {}, {"results": 5}), "its answer has another form"),
        ((200, {}, b"[" * 100_000), "its answer has another form"),
        ((200, {}, b" " * 2_000_000), "more than 1,048,576 bytes"),
        (HANG_UP, "cannot be reached"),
    ],
)
def test_fault_is_one_request_and_one_error(
    client: Callable[..., OpinionClient],
    server: OpinionServer,
    monkeypatch: pytest.MonkeyPatch,
    fault: Any,
    message: str,
) -> None:
    """No retries: the user waits for the message. The server's words are shown without the key."""
    monkeypatch.setenv(KEY, "s3cret")
    server.script.append(fault)

    with pytest.raises(ModelUnavailableError, match=message):
        ask(client())
    assert len(server.asked) == 1


def test_refused_connection_is_not_called_slow() -> None:
    pytest.importorskip("urllib3", reason="needs the extra [remote]")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/rerank"

    with pytest.raises(ModelUnavailableError, match=r"cannot be reached \(NewConnectionError\)"):
        ask(OpinionClient(url, what="the test", seconds=30.0, budget={}, paths=("/rerank",)))


def test_slow_server_is_left_after_the_time_limit(client: Callable[..., OpinionClient], server: OpinionServer) -> None:
    given_up = threading.Event()
    server.script.append(when(given_up))

    with pytest.raises(ModelUnavailableError, match=r"took more than 0\.2 s"):
        ask(client(seconds=0.2))
    given_up.set()


@pytest.mark.parametrize(
    "beginning", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n["]
)
def test_server_that_sends_a_byte_at_a_time_is_left_after_the_time_limit(beginning: bytes) -> None:
    """Each byte comes sooner than a time limit of the socket, which starts anew with it."""
    pytest.importorskip("urllib3", reason="needs the extra [remote]")
    with dripping(beginning) as host:
        asking = OpinionClient(
            f"http://{host}/rerank", what="the test", paths=("/rerank",), seconds=0.5, budget={"day": 9}
        )
        began = monotonic()
        with pytest.raises(ModelUnavailableError, match=r"took more than 0\.5 s"):
            ask(asking)
        assert monotonic() - began < _DRIPS_SECONDS / 2


def test_requests_that_nobody_waits_for_are_limited(
    client: Callable[..., OpinionClient], server: OpinionServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("intentmatch.matching.opinions.client._MOST_REQUESTS", 1)
    given_up = threading.Event()
    server.script.append(when(given_up))
    asking = client(seconds=30.0)
    waiting = threading.Thread(target=ask, args=(asking,))
    waiting.start()
    while not server.asked:
        sleep(0.01)

    with pytest.raises(ModelUnavailableError, match="1 requests are still without an answer"):
        ask(asking, {**BODY, "query": "other"})
    given_up.set()
    waiting.join()
    assert ask(asking, {**BODY, "query": "b"}) == 1


def test_server_that_fails_is_left_alone(client: Callable[..., OpinionClient], server: OpinionServer) -> None:
    now = [0.0]
    asking = client(clock=lambda: now[0])
    server.script += [(500, {}, {})] * 3
    for _ in range(3):
        with pytest.raises(ModelUnavailableError, match="status 500"):
            ask(asking)
    with pytest.raises(ModelUnavailableError, match="not asked for 10 s"):
        ask(asking)
    assert len(server.asked) == 3
    now[0] += 11.0

    assert ask(asking) == 0


def test_budget_stops_requests_but_not_cached_answers(
    client: Callable[..., OpinionClient], server: OpinionServer
) -> None:
    """A used-up budget is no failure of the server."""
    asking = client(budget={"minute": 1, "day": 5})
    ask(asking)
    for _ in range(4):
        with pytest.raises(ModelUnavailableError, match="budget of 1 requests a minute"):
            ask(asking, {**BODY, "query": "other"})

    assert ask(asking) == 0
    assert len(server.asked) == 1


def test_key_goes_into_the_header(
    client: Callable[..., OpinionClient], server: OpinionServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    ask(client())
    monkeypatch.setenv(KEY, "s3cret")
    ask(client())
    monkeypatch.delenv(KEY)
    (tmp_path / "key").write_text("from-file\n", encoding="utf-8")
    monkeypatch.setenv(f"{KEY}_FILE", str(tmp_path / "key"))
    ask(client())

    keys = [headers.get("authorization") for headers in server.headers]
    assert keys == [None, "Bearer s3cret", "Bearer from-file"]


@pytest.mark.parametrize(
    "url", ["ftp://h/rerank", "http:///rerank", "http://me:pw@h/rerank", "http://h/rerank?a=b", "h"]
)
def test_invalid_url_is_refused_and_not_shown(url: str) -> None:
    pytest.importorskip("urllib3")
    with pytest.raises(SettingsError, match="the URL of the test is invalid: begin it with http") as caught:
        OpinionClient(url, what="the test", seconds=1.0, budget={}, paths=("/rerank",))
    assert "pw" not in str(caught.value)


def test_path_and_key_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("urllib3")
    with pytest.raises(SettingsError, match="must end in /rerank or /score"):
        OpinionClient("http://h/embed", what="x", seconds=1.0, budget={}, paths=("/rerank", "/score"))
    monkeypatch.setenv(KEY, "two\nlines")
    with pytest.raises(SettingsError, match="printable ASCII"):
        OpinionClient("http://h/rerank", what="x", seconds=1.0, budget={}, paths=("/rerank",))


def test_missing_urllib3_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "urllib3", None)

    with pytest.raises(MissingExtraError, match=r"intentmatch\[remote\]"):
        OpinionClient("http://h/rerank", what="x", seconds=1.0, budget={}, paths=("/rerank",))
