"""The server's connections over each of uvicorn's two implementations of HTTP."""

from __future__ import annotations

import importlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import uvicorn

from intentmatch.server.process.connections import ConnectionLimits, LimitedConnections
from intentmatch.server.process.request_heads import PARSER_BYTES

IMPLEMENTATIONS = {"h11": "H11Protocol", "httptools": "HttpToolsProtocol"}
PATIENCE = 60.0


def limited_protocol(name: str) -> Any:
    """Return the limited protocol of an implementation, whichever uvicorn would choose; skip if it is not installed."""
    pytest.importorskip(name)
    module = importlib.import_module(f"uvicorn.protocols.http.{name}_impl")
    return type("Limited", (LimitedConnections, getattr(module, IMPLEMENTATIONS[name])), {})


@contextmanager
def served(app: Any, name: str, **options: Any) -> Iterator[tuple[str, int]]:
    """The address of a real server."""
    listening = socket.create_server(("127.0.0.1", 0))
    protocol = partial(limited_protocol(name), head_seconds=PATIENCE, limits=ConnectionLimits(100, 100))
    options = {"log_config": None, "ws": "none", "lifespan": "off", **options}
    config = uvicorn.Config(app, http=protocol, h11_max_incomplete_event_size=PARSER_BYTES, **options)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield listening.getsockname()
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()
