"""Hosts, origins, headers, and time limits for requests."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.errors import InputError
from intentmatch.matching.snapshot import Snapshot
from intentmatch.server import create_app
from intentmatch.server.middleware.limits import BodyLimit
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.process.connections import ConnectionLimits, LimitedProtocol
from intentmatch.server.protocols.load import PROTOCOLS

ORIGIN = "https://shop.example"


def test_every_response_has_security_headers(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors too, expected or not."""
    client = TestClient(create_app(matcher), raise_server_exceptions=False)
    answers = [client.get("/healthz"), client.get("/nowhere"), client.post("/match", content=b"{")]
    monkeypatch.setattr(Snapshot, "match_each", None)
    answers.append(client.post("/match", json={"text": "a"}))
    assert [answer.status_code for answer in answers] == [200, 404, 415, 500]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; frame-ancestors 'none'")
        assert "strict-transport-security" not in answer.headers


def test_https_responses_have_hsts(matcher: Matcher) -> None:
    with TestClient(create_app(matcher), base_url="https://bot") as client:
        assert "max-age" in client.get("/healthz").headers["strict-transport-security"]


@pytest.mark.parametrize("host", ["", "*", "http://bot.example", "bot.example:8080", "bot.example/x", "a b", "\u2013"])
def test_host_that_no_request_can_have_is_an_error(matcher: Matcher, host: str) -> None:
    with pytest.raises(InputError, match="an allowed host must be a name"):
        create_app(matcher, allowed_hosts=["bot.example", host])


@pytest.mark.parametrize(
    ("host", "status"),
    [("bot.example", 200), ("BOT.example:8080", 200), ("[::1]:8080", 200), ("[::2]", 200),
     ("evil.example", 421), ("", 421),
     ("bot.example.evil.example", 421), ("bot.example:x", 421)],
)  # fmt: skip
def test_only_allowed_hosts_are_answered(matcher: Matcher, host: str, status: int) -> None:
    """With any port, in any case."""
    client = TestClient(create_app(matcher, allowed_hosts=["Bot.example", "[::1]", "::2"]))
    answer = client.get("/healthz", headers={"host": host})
    assert answer.status_code == status
    if status != 200:
        assert answer.json()["title"] == "Misdirected Request"


def test_only_allowed_origins_pass_cors(matcher: Matcher) -> None:
    """With a key in a header."""
    preflight = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    client = TestClient(create_app(matcher, keys=["one"], cors_origins=[ORIGIN]))
    allowed = client.options("/match", headers={"origin": ORIGIN, **preflight})
    assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, ORIGIN)
    refused = client.post("/match", json={"text": "a"}, headers={"origin": ORIGIN})
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, ORIGIN)
    assert "access-control-allow-credentials" not in refused.headers
    other = client.options("/match", headers={"origin": "https://evil.example", **preflight})
    assert "access-control-allow-origin" not in other.headers
    closed = TestClient(create_app(matcher)).get("/healthz", headers={"origin": ORIGIN})
    assert "access-control-allow-origin" not in closed.headers


@pytest.mark.parametrize("origin", ["shop.example", "https://shop.example/", "https://", "ftp://shop.example", ""])
def test_invalid_cors_origin_is_refused(matcher: Matcher, origin: str) -> None:
    with pytest.raises(InputError, match="a CORS origin must look like"):
        create_app(matcher, cors_origins=[origin])


@contextmanager
def served(matcher: Matcher, **options: Any) -> Iterator[Callable[[bytes], bytes]]:
    """A real server, and a function that sends it bytes and returns all it sends until it closes the connection."""
    listening = socket.create_server(("127.0.0.1", 0))
    limits = ConnectionLimits(100, 100)
    patience: Any = partial(LimitedProtocol, head_seconds=options.get("body_seconds", 60.0), limits=limits)
    config = uvicorn.Config(create_app(matcher, **options), log_config=None, timeout_keep_alive=1, http=patience)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()

    def send(sent: bytes) -> bytes:
        with socket.create_connection(listening.getsockname(), timeout=60) as client:
            client.sendall(sent)
            return b"".join(iter(lambda: client.recv(65536), b""))

    send.address = listening.getsockname()  # type: ignore[attr-defined]
    try:
        yield send
    finally:
        server.should_exit = True
        thread.join(60)
        listening.close()


def request(body: bytes, length: int, *more: str) -> bytes:
    lines = ["POST /match HTTP/1.1", "Host: bot", "Content-Type: application/json", f"Content-Length: {length}", *more]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def test_incomplete_body_gets_408(matcher: Matcher) -> None:
    with served(matcher, body_seconds=0.5) as send:
        start = time.monotonic()
        answer = send(request(b'{"text": ', 100))
        assert time.monotonic() - start >= 0.5
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"application/problem+json" in head
    assert json.loads(body)["detail"] == "The body was not complete after 0.5 seconds."


def test_other_clients_are_answered_while_a_body_is_incomplete(matcher: Matcher) -> None:
    with served(matcher, body_seconds=600.0) as send, socket.create_connection(send.address) as slow:  # type: ignore[attr-defined]
        slow.sendall(request(b'{"text": ', 100))
        assert b" 200 OK" in send(request(b'{"text": "hello"}', 17, "Connection: close"))


@pytest.mark.parametrize("before", [b"", request(b'{"text": "hello"}', 17)], ids=["first", "second"])
def test_endless_request_head_gets_408(matcher: Matcher, before: bytes) -> None:
    """Even if bytes keep arriving, and on a kept-alive connection."""
    with served(matcher, body_seconds=2.0) as send:
        assert b" 200 OK" in send(request(b'{"text": "hello"}', 17, "Connection: close"))
        start = time.monotonic()
        with socket.create_connection(send.address, timeout=60) as client:  # type: ignore[attr-defined]
            client.sendall(before + b"POST /match HTTP/1.1\r\nX-Drip: ")
            for _ in range(3):
                time.sleep(0.2)
                client.sendall(b"x")
            received = b"".join(iter(lambda: client.recv(65536), b""))
        assert time.monotonic() - start >= 2.0
    answers = received.split(b"HTTP/1.1 ")[1:]
    assert [answer[:3] for answer in answers] == [b"200"] * bool(before) + [b"408"]
    head, _, body = answers[-1].partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    assert json.loads(body)["detail"] == "The request head was not complete after 2 seconds."


def test_silent_connection_is_closed(matcher: Matcher) -> None:
    with served(matcher, body_seconds=0.5) as send:
        assert send(b"") == b""


def test_request_without_key_is_refused_before_its_body(matcher: Matcher) -> None:
    with served(matcher, keys=["one"], body_seconds=600.0) as send:
        assert send(request(b"", 100)).startswith(b"HTTP/1.1 401 ")


def test_every_call_asks_for_a_key_before_its_body(matcher: Matcher) -> None:
    paths = ["/match", "/match/batch", "/chat", "/fill", "/feedback", "/reload", "/model/parse", "/v1/embeddings"]
    paths += [
        "/v1/systemone",
        "/v1/decisions",
        "/language/:analyze-conversations",
        "/v2/projects/p/agent/sessions/s:detectIntent",
    ]
    options = {"keys": ["one"], "admin_keys": ["boss"], "protocols": list(PROTOCOLS)}
    with served(matcher, body_seconds=600.0, **options) as send:
        framings = ("Content-Length: 900000", "Transfer-Encoding: chunked")
        heads = [
            f"POST {path} HTTP/1.1\r\nHost: bot\r\nContent-Type: application/json\r\n{framing}\r\n\r\n"
            for path in paths
            for framing in framings
        ]
        with ThreadPoolExecutor(len(heads)) as clients:  # the server closes each connection after a second
            answers = clients.map(lambda head: send(head.encode()), heads)
    assert [head for head, answer in zip(heads, answers, strict=True) if not answer.startswith(b"HTTP/1.1 401 ")] == []


@pytest.mark.parametrize("path", ["/match", "/healthz", "/nowhere"])
def test_body_with_two_lengths_gets_400_and_ends_the_connection(matcher: Matcher, path: str) -> None:
    """The second request, which a proxy would take for the end of the body, is not answered."""
    body = b'11\r\n{"text": "hello"}\r\n0\r\n\r\n'
    first = request(body, len(body), "Transfer-Encoding: chunked").replace(b"/match", path.encode())
    with served(matcher, cors_origins=[ORIGIN], allowed_hosts=["bot"]) as send:
        answer = send(first + request(b'{"text": "hello"}', 17))
    assert answer.count(b"HTTP/1.1 ") == 1
    head, _, content = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in head.lower()
    # httptools refuses such a request by itself, in its own words.
    assert b"both Content-Length and Transfer-Encoding" in content or b"Invalid HTTP request" in content


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/healthz", "Host: bot\r\nHost: evil"), ("/match", "Host: bot\r\nhost: bot"), ("/docs%00", "Host: bot"),
     ("/intents/a%00b", "Host: bot"), ("/studio/_nicegui/%00", "Host: bot")],
)  # fmt: skip
def test_request_that_can_be_read_in_two_ways_gets_400_and_ends_the_connection(
    matcher: Matcher, path: str, headers: str
) -> None:
    with served(matcher, allowed_hosts=["bot"]) as send:
        answer = send(f"GET {path} HTTP/1.1\r\n{headers}\r\n\r\n".encode())

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in answer.lower()


def test_batch_of_a_closed_connection_stops(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, parts = threading.Event(), []
    original = Snapshot.match_many

    def slow(snapshot: Snapshot, texts: list[str], **options: Any) -> Any:
        parts.append(len(texts))
        begun.set()
        time.sleep(0.5)
        return original(snapshot, texts, **options)

    monkeypatch.setattr(Snapshot, "match_many", slow)
    body = json.dumps({"texts": [f"hello {number}" for number in range(100)]}).encode()
    with served(matcher, max_together=4) as send:
        with socket.create_connection(send.address) as client:  # type: ignore[attr-defined]
            client.sendall(request(body, len(body)).replace(b"/match", b"/match/batch"))
            assert begun.wait(60)
        time.sleep(2.0)
        assert 4 <= sum(parts) <= 12
        assert b"intentmatch_queue_messages 0.0" in send(b"GET /metrics HTTP/1.0\r\nHost: bot\r\n\r\n")


def test_invalid_header_bytes_get_an_answer(matcher: Matcher) -> None:
    with served(matcher, keys=["one"], cors_origins=[ORIGIN], allowed_hosts=["bot"]) as send:
        for header in ("X-API-Key", "Authorization", "Origin", "Content-Type", "Transfer-Encoding", "Content-Encoding"):
            for value in ("\xff\xfe", "Bearer \xff", "a" * 10_000, "%00", "\t"):
                answer = send(request(b'{"text": "hello"}', 17, f"{header}: {value}", "Connection: close"))
                assert answer[9:10] == b"4", (header, value, answer)


@pytest.mark.parametrize(("size", "refused"), [(10, False), (11, True)])
def test_body_without_a_length_is_counted_to_the_byte(size: int, refused: bool) -> None:
    parts = [
        {"type": "http.request", "body": b"x" * 5, "more_body": True},
        {"type": "http.request", "body": b"x" * (size - 5)},
    ]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass

    async def receive() -> Any:
        return parts.pop(0)

    async def send(message: Any) -> None:
        """Answer nobody."""

    async def call() -> None:
        await BodyLimit(app, 10, 60.0)({"type": "http", "headers": [], "method": "POST", "path": "/"}, receive, send)

    if refused:
        with pytest.raises(ProblemError, match="larger than 10 bytes"):
            asyncio.run(call())
    else:
        asyncio.run(call())
