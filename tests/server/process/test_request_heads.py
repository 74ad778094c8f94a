"""Limits on request heads, trailers and pipelining, with both of uvicorn's implementations of HTTP."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from http_protocols import IMPLEMENTATIONS, PATIENCE, served

from intentmatch.server.process.request_heads import MOST_BYTES, MOST_LINES, MOST_PIPELINED

START = b"GET / HTTP/1.1\r\nhost: bot\r\n"
CLOSE = b"connection: close\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nhost: bot\r\n" + CLOSE + b"transfer-encoding: chunked\r\n\r\n"
# More than the limit, and than what the parsers and buffers on the way may take before it shows.
ENDLESS = 4 * MOST_BYTES


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the number of header lines and of bytes; /early answers without reading the body."""
    size, complete = 0, scope["path"] == "/early"
    while not complete:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size += len(message["body"])
        complete = not message["more_body"]
    names = [name.decode() for name, _ in scope["headers"]]
    body = json.dumps({"lines": len(names), "names": names[:4], "bytes": size}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module", params=IMPLEMENTATIONS)
def address(request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    with served(app, request.param) as found:
        yield found


def answers(address: tuple[str, int], *parts: bytes) -> bytes:
    """Send parts one after the other, and return what the server sends until it ends the connection."""
    with socket.create_connection(address, timeout=PATIENCE) as client:
        received = b""
        with suppress(OSError):  # the server may close while the client still sends
            for part in parts:
                client.sendall(part)
        with suppress(ConnectionResetError):
            while more := client.recv(1 << 16):
                received += more
    return received


def refusal(address: tuple[str, int], start: bytes, filler: bytes, before: bytes = b"") -> dict[str, Any]:
    """Send an endless request in small parts until the server refuses it; return the problem.

    A request `before` it is answered first.
    """
    sent = 0
    part = (filler * 4096)[: 4096 // len(filler) * len(filler)]
    with socket.create_connection(address, timeout=PATIENCE) as client:
        if before:
            client.sendall(before)
            first = b""
            while not first.endswith(b"}"):
                first += client.recv(1 << 16)
            assert first.startswith(b"HTTP/1.1 200 ")
        client.sendall(start)
        client.settimeout(0.005)
        received = b""
        while b"}" not in received and sent <= ENDLESS:
            with suppress(TimeoutError):
                received += client.recv(1 << 16)
            if not received:
                client.sendall(part)
                sent += len(part)
    assert received.startswith(b"HTTP/1.1 431 "), received[:200] or f"no answer after {sent} bytes"
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    assert b"connection: close" in head
    problem: dict[str, Any] = json.loads(body)
    return problem


@pytest.mark.parametrize(
    ("start", "filler"),
    [
        (START + b"x-long: ", b"a"),
        (START, b"x-some: " + b"a" * 1000 + b"\r\n"),
        (START, b"a:\r\n"),
        (START + b"long-", b"a"),
        (b"GET /", b"a"),
        (CHUNKED + b"1\r\nx\r\n0\r\nx-long: ", b"a"),
        (CHUNKED + b"1\r\nx\r\n0\r\n", b"x-some: " + b"a" * 1000 + b"\r\n"),
        (CHUNKED + b"1;x=", b"a"),
    ],
    ids=["value", "lines", "short lines", "name", "path", "trailer", "trailers", "extension of a chunk"],
)
def test_endless_head_gets_431(address: tuple[str, int], start: bytes, filler: bytes) -> None:
    assert refusal(address, start, filler)["detail"] == (
        f"The request head has more than {MOST_BYTES:,} bytes or {MOST_LINES} lines."
    )


def test_endless_head_after_an_answer_gets_431(address: tuple[str, int]) -> None:
    assert refusal(address, START + b"x-long: ", b"a", before=START + b"\r\n")["status"] == 431


def test_large_head_within_the_limit_is_read(address: tuple[str, int]) -> None:
    lines = b"".join(b"x-%d: %s\r\n" % (number, b"a" * 280) for number in range(200))
    assert MOST_BYTES - 10_000 < len(START + lines) < MOST_BYTES
    answer = answers(address, START + CLOSE + lines + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b'"lines": 202' in answer


@pytest.mark.parametrize("more", [1, 5_000, 12_000])
def test_head_that_ends_behind_the_limit_gets_431(address: tuple[str, int], more: int) -> None:
    """Also if its end arrives together with the byte that is too much."""
    end = b"\r\n\r\n"
    filler = b"x" * (MOST_BYTES - len(START) - len(b"a: ") - len(end) + more)
    assert answers(address, START + b"a: " + filler + end).startswith(b"HTTP/1.1 431 ")


def test_too_many_header_lines_get_431(address: tuple[str, int]) -> None:
    few, many = (b"x: y\r\n" * (MOST_LINES + more) for more in (-10, 10))
    assert b'"lines": 248' in answers(address, START + CLOSE + few + b"\r\n")
    answer = answers(address, START + many + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b" 200 " not in answer


def test_trailers_are_no_headers(address: tuple[str, int]) -> None:
    answer = answers(address, CHUNKED, b"3\r\nabc\r\n0\r\nauthorization: Bearer x\r\n", b"x-api-key: y\r\n\r\n")
    assert b'"names": ["host", "connection", "transfer-encoding"], "bytes": 3' in answer


def test_body_in_tiny_chunks_is_read(address: tuple[str, int]) -> None:
    """Its framing is several times the limit of a head."""
    chunk = b"1\r\nx\r\n" * 1000
    answer = answers(address, CHUNKED, *[chunk] * 40, b"0\r\n\r\n")
    assert b'"bytes": 40000' in answer


def test_body_after_an_early_answer_is_no_head(address: tuple[str, int]) -> None:
    with socket.create_connection(address, timeout=PATIENCE) as client:
        client.sendall(b"POST /early HTTP/1.1\r\nhost: bot\r\ncontent-length: %d\r\n\r\n" % ENDLESS)
        first = b""
        while not first.endswith(b"}"):
            first += client.recv(1 << 16)
        client.sendall(b"x" * ENDLESS + START + CLOSE + b"\r\n")
        received = b"".join(iter(lambda: client.recv(1 << 16), b""))
    assert received.startswith(b"HTTP/1.1 200 ")
    assert b" 431 " not in received


def test_pipelined_requests_are_answered_in_order(address: tuple[str, int]) -> None:
    requests = b"".join(START + b"x: y\r\n" * more + b"\r\n" for more in range(MOST_PIPELINED // 2))
    received = answers(address, requests + START + CLOSE + b"\r\n")
    lines = [int(part.partition(b",")[0]) for part in received.split(b'"lines": ')[1:]]
    assert lines == [*range(1, MOST_PIPELINED // 2 + 1), 2]


def test_endless_pipelining_ends_and_others_are_answered(address: tuple[str, int]) -> None:
    many = (START + b"\r\n") * 10_000
    assert answers(address, many).count(b"HTTP/1.1 200 ") <= 10_000
    assert b" 200 " in answers(address, START + CLOSE + b"\r\n")
