"""Limits on open connections."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import pytest
import uvicorn

from intentmatch import Matcher
from intentmatch.server import create_app
from intentmatch.server.process import connections
from intentmatch.server.process.connections import ConnectionLimits, LimitedProtocol, possible_connections

PATIENCE = 60.0
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: bot\r\n\r\n"
LOGGER = connections.__name__


def test_connections_are_counted_in_all_and_by_address() -> None:
    limits = ConnectionLimits(4, 2)
    assert [limits.enter("10.0.0.1") for _ in range(2)] == [None, None]
    assert "of one address" in (limits.enter("10.0.0.1") or "")
    assert [limits.enter(address) for address in ("10.0.0.2", None)] == [None, None]
    assert limits.enter("10.0.0.3") == "4 connections are open"
    limits.leave("10.0.0.1")
    assert limits.enter("10.0.0.1") is None


def test_addresses_without_connections_are_forgotten() -> None:
    limits = ConnectionLimits(1000, 10)
    for number in range(500):
        assert limits.enter(f"10.0.{number // 250}.{number % 250}") is None
        limits.leave(f"10.0.{number // 250}.{number % 250}")
    assert not limits._by_source


def test_trusted_proxies_have_no_limit_of_their_own() -> None:
    limits = ConnectionLimits(5, 1, ["10.0.0.0/24"])
    assert [limits.enter("10.0.0.9") for _ in range(5)] == [None] * 5
    assert limits.enter("10.0.0.9") == "5 connections are open"


def test_refusals_are_logged_once_a_minute(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    limits = ConnectionLimits(0, 1)
    monkeypatch.setattr(limits._warnings, "_clock", lambda: now)
    with caplog.at_level(logging.WARNING, LOGGER):
        for _ in range(300):
            limits.enter("10.0.0.1")
        assert caplog.messages == ["0 connections are open: 1 more refused"]
        now += 60
        limits.enter("10.0.0.1")
        assert caplog.messages[1:] == ["0 connections are open: 300 more refused"]


@contextmanager
def served(matcher: Matcher, limits: ConnectionLimits) -> Iterator[tuple[str, int]]:
    """The address of a real server."""
    listening = socket.create_server(("127.0.0.1", 0))
    protocol: Any = partial(LimitedProtocol, head_seconds=60.0, limits=limits)
    server = uvicorn.Server(uvicorn.Config(create_app(matcher), log_config=None, http=protocol, ws="none"))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield listening.getsockname()
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()


def answer_of(client: socket.socket) -> bytes:
    """Send a request, and return the head and the JSON of its answer."""
    client.sendall(REQUEST)
    received = b""
    while not received.endswith(b"}"):
        more = client.recv(65536)
        assert more
        received += more
    return received


def test_connection_too_many_gets_503_until_another_ends(matcher: Matcher) -> None:
    limits = ConnectionLimits(3, 3)
    with served(matcher, limits) as address, ExitStack() as stack:
        held = [stack.enter_context(socket.create_connection(address, timeout=PATIENCE)) for _ in range(3)]
        assert all(answer_of(client).startswith(b"HTTP/1.1 200 ") for client in held)
        with socket.create_connection(address, timeout=PATIENCE) as refused:
            refused.sendall(REQUEST)
            received = b"".join(iter(lambda: refused.recv(65536), b""))
        head, _, body = received.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1" in head.split(b"\r\n")
        assert json.loads(body)["type"] == "urn:intentmatch:busy"
        assert answer_of(held[0]).startswith(b"HTTP/1.1 200 ")
        held[1].close()
        deadline = time.monotonic() + PATIENCE
        while True:
            with socket.create_connection(address, timeout=PATIENCE) as again:
                if answer_of(again).startswith(b"HTTP/1.1 200 "):
                    break
            assert time.monotonic() < deadline


def test_refused_connections_that_stay_silent_are_closed(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are."""
    monkeypatch.setattr(connections, "_MAX_LINGERING", 5)
    limits = ConnectionLimits(1, 1)
    with served(matcher, limits) as address, ExitStack() as stack:
        held = stack.enter_context(socket.create_connection(address, timeout=PATIENCE))
        assert answer_of(held).startswith(b"HTTP/1.1 200 ")
        silent = [stack.enter_context(socket.create_connection(address, timeout=PATIENCE)) for _ in range(20)]
        for client in silent:
            assert b"".join(iter(partial(client.recv, 65536), b"")).startswith(b"HTTP/1.1 503 ")
        deadline = time.monotonic() + PATIENCE
        while limits.lingering:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert answer_of(held).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("soft", "hard", "wanted", "possible", "raised"),
    [
        (1024, 100_000, 2048, 2048, 2048 + 512 + 256),
        (1024, 2000, 2048, 2000 - 256, 2000),
        (100_000, 100_000, 2048, 2048, None),
        (100, 100, 2048, 50, 100),
        (1024, -1, 2048, 2048, 2048 + 512 + 256),
        (-1, -1, 2048, 2048, None),
    ],
)
def test_limit_of_open_files_is_raised_as_far_as_needed(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, wanted: int, possible: int, raised: int | None
) -> None:
    resource = pytest.importorskip("resource")
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: given.append(limits))
    assert possible_connections(wanted) == possible
    assert given == ([] if raised is None else [(raised, hard)])


def test_limit_of_open_files_that_cannot_be_raised_limits_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")

    def refuse(_kind: int, _limits: tuple[int, int]) -> None:
        raise ValueError("not permitted")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, -1))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert possible_connections(2048) == 1024 - 256
