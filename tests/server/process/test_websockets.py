"""WebSockets stay counted while they are open, and outlive the time limit of a request's head."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from functools import partial
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
import uvicorn
from http_protocols import IMPLEMENTATIONS, limited_protocol
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from intentmatch.server.middleware.limits import AllowedHosts
from intentmatch.server.process.connections import ConnectionLimits
from intentmatch.server.process.logs import log_config

client = pytest.importorskip("websockets.sync.client", reason="the extra studio is not installed")
HEAD_SECONDS = 0.3
HANDSHAKE_SECONDS = 1.0
PATIENCE = 60.0


async def echo(found: WebSocket) -> None:
    await found.accept()
    try:
        while True:
            await found.send_text(await found.receive_text())
    except WebSocketDisconnect:
        pass


APP = Starlette(routes=[WebSocketRoute("/", echo)])


@pytest.fixture(params=IMPLEMENTATIONS)
def serving(request, monkeypatch) -> Iterator[tuple[str, ConnectionLimits]]:
    """A server with each of uvicorn's HTTP protocols, and the limits that it counts in."""
    limited = limited_protocol(request.param)
    limits = ConnectionLimits(100, 2)
    listening = socket.create_server(("127.0.0.1", 0))
    protocol = partial(limited, head_seconds=HEAD_SECONDS, handshake_seconds=HANDSHAKE_SECONDS, limits=limits)
    server = uvicorn.Server(uvicorn.Config(APP, log_config=None, http=protocol, ws="auto"))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    yield f"ws://127.0.0.1:{listening.getsockname()[1]}/", limits
    server.should_exit = True
    thread.join(PATIENCE)
    listening.close()


def test_open_websocket_counts_until_it_is_closed_and_outlives_the_head(serving):
    url, limits = serving
    with client.connect(url) as first:
        first.send("one")
        assert first.recv(PATIENCE) == "one"
        assert limits._by_source == {"127.0.0.1": 1}
        time.sleep(2 * HEAD_SECONDS)
        first.send("two")
        assert first.recv(PATIENCE) == "two"
        with client.connect(url):
            with pytest.raises(HTTPError) as refused:
                urlopen(url.replace("ws:", "http:"))
            assert refused.value.code == 503
            refused.value.close()
    end = time.monotonic() + PATIENCE
    while limits._by_source and time.monotonic() < end:
        time.sleep(0.01)
    assert not limits._by_source


def test_handshake_that_is_refused_within_uvicorn_ends_the_connection(serving):
    url, limits = serving
    port = int(url.rstrip("/").rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(
            b"GET / HTTP/1.1\r\nHost: bot\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX: " + b"a" * 60_000 + b"\r\n\r\n"
        )
        try:
            while connection.recv(4096):
                pass
        except ConnectionResetError:
            pass
    end = time.monotonic() + PATIENCE
    while limits._by_source and time.monotonic() < end:
        time.sleep(0.01)
    assert not limits._by_source


@pytest.mark.parametrize(("host", "opens"), [("bot", True), ("evil.test", False)])
def test_websocket_is_refused_for_other_hosts(host, opens):
    app = Starlette(routes=APP.routes, middleware=[Middleware(AllowedHosts, hosts=["bot"])])
    try:
        with TestClient(app).websocket_connect("/", headers={"host": host}) as found:
            found.send_text("one")
            assert found.receive_text() == "one"
    except WebSocketDisconnect:
        assert not opens
    else:
        assert opens


def test_log_holds_no_query_of_a_websocket():
    config = log_config(uvicorn.config.LOGGING_CONFIG, "text", messages=False)
    filters = [config["filters"][name]["()"]() for name in config["loggers"]["uvicorn.error"]["filters"]]
    lines = []
    for message, words in (
        ('%s - "WebSocket %s" [accepted]', ("10.0.0.1:1", "/socket.io/?client_id=secret")),
        ("is it? %s", ("yes? no",)),
    ):
        record = logging.LogRecord("uvicorn.error", logging.INFO, "", 0, message, words, None)
        assert all(one.filter(record) for one in filters)
        lines.append(record.getMessage())

    assert lines == ['10.0.0.1:1 - "WebSocket /socket.io/" [accepted]', "is it? yes? no"]
