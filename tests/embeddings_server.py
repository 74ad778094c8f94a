"""Local embedding servers: a scripted fake, and our own server."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fakes import WordHashEncoder

from intentmatch import Matcher
from intentmatch.core.types import Encoder

HANG_UP = object()
"""Scripted in place of an answer: send half an answer and reset the connection."""

Answer = tuple[int, dict[str, str], Any]
"""Status, headers, and body: JSON values or raw bytes."""


class FakeServer:
    """Serves the OpenAI and TEI protocols with the vectors of an encoder, after the answers in `script`.

    An item of `script` is an answer or a function from the request body to an answer. `asked` holds the bodies of all
    requests, `headers` their headers.
    """

    def __init__(self, encoder: Encoder | None = None) -> None:
        self.encoder: Encoder = encoder or WordHashEncoder()
        self.script: list[Any] = []
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.host = ""

    @property
    def openai(self) -> str:
        return f"http://{self.host}/v1/embeddings"

    @property
    def tei(self) -> str:
        return f"http://{self.host}/embed"

    def rows(self, body: dict[str, Any]) -> list[list[float]]:
        """Return the vectors of the encoder, scaled so that they do not have unit length."""
        vectors = self.encoder.encode(body["input"] if "input" in body else body["inputs"]) * 3.0
        return [[float(number) for number in row] for row in vectors]

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        scripted = self.script.pop(0) if self.script else None
        if callable(scripted):
            scripted = scripted(body)
        if scripted is not None:
            return scripted
        rows = self.rows(body)
        return 200, {}, rows if path == "/embed" else openai_answer(rows)


def openai_answer(rows: list[Any]) -> dict[str, Any]:
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    return {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def slowly(seconds: float) -> Callable[[dict[str, Any]], None]:
    """Delay the normal answer."""
    return lambda body: time.sleep(seconds)


def when(event: threading.Event) -> Callable[[dict[str, Any]], None]:
    """Hold the normal answer back until an event; for a minute at most."""

    def wait(body: dict[str, Any]) -> None:
        event.wait(60)

    return wait


@contextmanager
def serving(server: FakeServer) -> Iterator[FakeServer]:
    """Run the server for the duration of the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            server.connections += 1

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.asked.append(body)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            answer = server.answer(self.path, body)
            if answer is HANG_UP:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
                self.wfile.flush()
                # With SO_LINGER 0, closing resets the connection.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                return
            status, headers, said = answer
            content = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            for name, value in {"content-length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    class Listening(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass  # a client that was tired of waiting

    with Listening(("127.0.0.1", 0), Handler) as listening:
        server.host = f"127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


@contextmanager
def serving_ours(matcher: Matcher, protocols: Sequence[str] = ("openai",), **options: Any) -> Iterator[str]:
    """The address of our own webhook with these protocols, as long as the block lasts."""
    import uvicorn

    from intentmatch.server import create_app

    # asyncio sends at once only on sockets that are said to be TCP.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        app = create_app(matcher, protocols=protocols, **options)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)
