"""Clients that read a byte at a time, or nothing: their answers do not stay in memory, and others are answered."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
import uvicorn
from fakes import WordHashEncoder

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.server import create_app
from intentmatch.server.process.connections import ConnectionLimits, LimitedProtocol

pytestmark = pytest.mark.end_to_end

PATIENCE = 60.0
SECONDS = 0.5
"""That the server gives a client for reading."""
BATCH = json.dumps({"texts": ["where is my order", "something else"] * 100}).encode()


@pytest.fixture(scope="module")
def limits() -> ConnectionLimits:
    return ConnectionLimits(200, 200)


@pytest.fixture(scope="module")
def port(limits: ConnectionLimits) -> Iterator[int]:
    """A real server whose operating system keeps little of an answer."""
    registry = Registry((Intent("order", (Utterance("where is my order"),)),))
    matcher = Matcher.load(registry, encoder=WordHashEncoder(), cache="off")
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    protocol: Any = partial(LimitedProtocol, head_seconds=60.0, read_seconds=SECONDS, limits=limits)
    app = create_app(matcher, max_batch=200)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, http=protocol, ws="none", timeout_keep_alive=3))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(PATIENCE)
    listening.close()


def asked(port: int, *headers: str) -> socket.socket:
    """Return a connection that has sent a batch and has room for few bytes of the answer."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.settimeout(PATIENCE)
    client.connect(("127.0.0.1", port))
    head = ["POST /match/batch HTTP/1.1", "host: bot", "content-type: application/json", *headers]
    client.sendall("\r\n".join([*head, f"content-length: {len(BATCH)}", "", ""]).encode() + BATCH)
    return client


def is_cut_off(client: socket.socket, pause: float) -> bool:
    """Read a byte at a time until the server ends the connection; False if the whole answer came before."""
    received = bytearray()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        time.sleep(pause)
        try:
            byte = client.recv(1)
        except ConnectionError:
            return True
        if not byte:
            break
        received += byte
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
    return len(body) < length


def until_none_is_open(limits: ConnectionLimits) -> None:
    deadline = time.monotonic() + PATIENCE
    while limits._open:
        assert time.monotonic() < deadline, f"{limits._open} connections are still open"
        time.sleep(0.02)


@pytest.mark.parametrize("headers", [(), ("connection: close",)], ids=["keep-alive", "close"])
def test_client_that_reads_a_byte_at_a_time_is_cut_off(
    port: int, limits: ConnectionLimits, headers: tuple[str, ...]
) -> None:
    with asked(port, *headers) as client:
        time.sleep(3 * SECONDS)
        until_none_is_open(limits)
        assert is_cut_off(client, 0.0)


@pytest.mark.rounds(30, 150)
def test_clients_that_read_nothing_do_not_hold_up_others(port: int, limits: ConnectionLimits, rounds: int) -> None:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/match", b'{"text": "where is my order"}', {"content-type": "application/json"}
    )
    with ExitStack() as idle:
        for _ in range(rounds):
            idle.enter_context(asked(port))
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            assert json.load(answer)["intent"] == "order"
        until_none_is_open(limits)


def test_client_that_reads_the_answer_keeps_its_connection(port: int) -> None:
    with asked(port) as client:
        for _ in range(2):
            with client.makefile("rb") as reader:
                length = 0
                while (line := reader.readline()) != b"\r\n":
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                assert len(json.loads(reader.read(length))["results"]) == 200
            time.sleep(2 * SECONDS)
            head = "POST /match/batch HTTP/1.1\r\nhost: bot\r\ncontent-type: application/json\r\n"
            client.sendall(f"{head}content-length: {len(BATCH)}\r\n\r\n".encode() + BATCH)
