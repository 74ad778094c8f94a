"""TLS handshakes count as connections."""

from __future__ import annotations

import errno
import importlib.util
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from test_certificates import write_certificate
from uvicorn import Server

from intentmatch.server.process.certificates import CIPHERS, CertificateConfig
from intentmatch.server.process.connections import ConnectionLimits, LimitedProtocol

PATIENCE = 60.0
REQUEST = b"GET / HTTP/1.1\r\nHost: bot\r\nConnection: close\r\n\r\n"
MOST = 5

needs_uvloop = pytest.mark.skipif(importlib.util.find_spec("uvloop") is None, reason="needs uvloop")


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": scope["scheme"].encode()})


@pytest.fixture(params=["asyncio", pytest.param("uvloop", marks=needs_uvloop)])
def port(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """The port of an HTTPS server that takes `MOST` connections of an address, with handshakes of a second."""
    write_certificate(tmp_path, "bot")
    limits = ConnectionLimits(100, MOST)
    config = CertificateConfig(
        app,
        lifespan="off",
        loop=request.param,
        log_config=None,
        http=partial(LimitedProtocol, head_seconds=60.0, limits=limits),
        limits=limits,
        handshake_seconds=1.0,
        ssl_ciphers=CIPHERS,
        ssl_certfile=str(tmp_path / "cert.pem"),
        ssl_keyfile=str(tmp_path / "key.pem"),
    )
    server = Server(config)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(PATIENCE)
    assert not limits._open
    assert not limits._by_source


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def answer(port: int) -> bytes:
    """Return the answer to a request that comes together with the end of the handshake."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with connected(port) as plain, context.wrap_socket(plain) as secure:
        secure.sendall(REQUEST)
        return b"".join(iter(partial(secure.recv, 65536), b""))


def end(client: socket.socket) -> bytes:
    try:
        return client.recv(100)
    except ConnectionResetError:
        return b""


def test_handshakes_count_as_connections_and_end(port: int) -> None:
    for _ in range(2 * MOST):
        assert answer(port).endswith(b"https")
    silent = [connected(port) for _ in range(MOST)]
    try:
        with connected(port) as refused:
            began = time.monotonic()
            assert end(refused) == b""
            assert time.monotonic() - began < PATIENCE / 2
        with pytest.raises(OSError, match=r"."):
            answer(port)
        assert [end(client) for client in silent] == [b""] * MOST  # the time of a handshake is over
        assert answer(port).endswith(b"https")
    finally:
        for client in silent:
            client.close()


def test_what_is_no_handshake_ends_its_connection(port: int) -> None:
    for sent in (REQUEST, b"\x16\x03\x01\x40\x00" + b"a" * 0x4000, b"\x16\x03\x01"):
        with connected(port) as client:
            client.sendall(sent)
            client.shutdown(socket.SHUT_WR)
            end(client)
    assert answer(port).endswith(b"https")


def test_connections_without_a_file_descriptor_do_not_count_for_ever(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> socket.socket:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr("intentmatch.server.process.handshakes.socket.fromfd", refuse)
        for _ in range(2 * MOST):
            with connected(port) as client:
                assert end(client) == b""

    assert answer(port).endswith(b"https")
