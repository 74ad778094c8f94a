"""Hostile requests over real sockets: no 500, no traceback, no answer without a key, and the server goes on."""

from __future__ import annotations

import json
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from intentmatch.server.protocols.load import PROTOCOLS

SEED = 21
KEY = "the-right-key"
PATIENCE = 60.0
PATHS = (
    "/match", "/match/batch", "/chat", "/reload", "/intents", "/model/parse", "/v1/chat/completions", "/webhook",
    "/status", "/language/:analyze-conversations", "/metrics", "/openapi.json", "//match", "/match%00", "/",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, "", "hello", "\0", "\ud800", "x" * 20_000, [], ["hello"], [[]], {}, {"text": {}}, 10**400,
)  # fmt: skip
FIELDS = (
    "text",
    "texts",
    "language",
    "top_k",
    "allowed",
    "context",
    "conversation",
    "messages",
    "model",
    "message_id",
    "now",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """The port of a server that wants a key, with its log."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "bot.yaml").write_text("intents:\n  greet:\n    utterances: [hello, hi there]\n", encoding="utf-8")
    (folder / "keys.txt").write_text(f"{KEY}\n", encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    words = ["serve", folder / "bot.yaml", "--port", str(port), "--keys-file", folder / "keys.txt"]
    words += [part for name in PROTOCOLS for part in ("--protocol", name)]
    log = folder / "log.txt"
    with log.open("w") as out:
        process = subprocess.Popen([sys.executable, "-m", "intentmatch", *words], stdout=out, stderr=out)
    try:
        deadline = time.monotonic() + PATIENCE
        while b"200 OK" not in send(port, request("POST", "/match", b'{"text": "hello"}', KEY)):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield port, log
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


def request(method: str, path: str, body: bytes, key: str | None = None, more: str = "") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n{more}"
    head += f"x-api-key: {key}\r\n" if key else ""
    return f"{head}content-length: {len(body)}\r\n\r\n".encode("latin-1", "replace") + body


def send(port: int, content: bytes) -> bytes:
    """Return what the server sends until it closes the connection or is silent for a moment."""
    answer = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
            connection.sendall(content)
            connection.settimeout(0.3 if b"connection: close" not in content else 5.0)
            while part := connection.recv(65536):
                answer += part
    except OSError:
        pass
    return answer


def hostile(chosen: random.Random, key: str | None) -> bytes:
    """Return a request of any kind; with the right key, or without one."""
    path = chosen.choice(PATHS)
    fields = {chosen.choice(FIELDS): chosen.choice(VALUES) for _ in range(chosen.randint(0, 4))}
    body = json.dumps(chosen.choice([fields, {"text": "hello", **fields}, chosen.choice(VALUES)])).encode()
    method = chosen.choice(["POST", "POST", "POST", "GET", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "X" * 99])
    whole = request(method, path, body, key)
    match chosen.randrange(8):
        case 0:
            place = chosen.randrange(len(whole))
            return whole[:place] + chosen.randbytes(chosen.randint(1, 20)) + whole[place:]
        case 1:
            return whole.replace(b"content-length", b"transfer-encoding: chunked\r\ncontent-length", 1)
        case 2:
            more = f"x-{'a' * chosen.choice([10, 70_000])}: {'b' * chosen.choice([10, 70_000])}\r\n"
            return request(method, path, body, key, more)
        case 3:
            smuggled = request("POST", "/match", b'{"text": "hello"}')
            return request(
                method, path, smuggled, key, chosen.choice(["content-length: 0\r\n", "expect: 100-continue\r\n"])
            )
        case 4:
            return whole.replace(b"\r\n", chosen.choice([b"\n", b"\r", b"\r\n ", b"\0\r\n"]), chosen.randint(1, 3))
        case 5:
            return request(
                method, path, chosen.choice([b"[" * 50_000, b'{"text":', b"\xff\xfe", b"NaN", b'"' + b"\\u" * 99]), key
            )
        case _:
            return whole


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.rounds(150, 5000)
def test_hostile_requests_get_no_500_and_no_answer_without_a_key(
    server: tuple[int, Path], rounds: int, key: str | None
) -> None:
    port, log = server
    chosen = random.Random(SEED)
    for _ in range(rounds):
        content = hostile(chosen, key)
        answer = send(port, content)
        assert b"HTTP/1.1 500" not in answer, content[:500]
        assert key is not None or b'"greet"' not in answer, content[:500]
    assert b'"greet"' in send(port, request("POST", "/match", b'{"text": "hello"}', KEY))
    assert "Traceback" not in log.read_text(encoding="utf-8", errors="replace")
