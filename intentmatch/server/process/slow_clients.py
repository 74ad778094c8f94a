"""The end of uvicorn's patience with clients that never finish what they ask.

It waits for ever for the rest of a request's head. Bodies have a bound of their own, in `gate`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from intentmatch.server.middleware.problems import MEDIA_TYPE
from intentmatch.server.routes.schemas import ProblemDetails


class Patience(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Uvicorn's protocol, but that the head of a request is to be whole `head_seconds` after it began.

    Or after the connection was made; a client that says nothing at all is hung up on without a word.
    """

    def __init__(self, *arguments: Any, head_seconds: float, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._head_seconds = head_seconds
        self._waiting: asyncio.TimerHandle | None = None
        self._began = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait no more for a head that is whole; of the next one, from its beginning."""
        super().data_received(data)
        self._began = self.cycle is None or self.cycle.response_complete
        if not self._began:
            self._wait_no_more()
        elif self._waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self._head_seconds, self._hang_up)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _hang_up(self) -> None:
        if self.transport.is_closing():
            return
        if self._began:
            details = ProblemDetails.of(408, f"The head was not complete after {self._head_seconds:g} seconds.")
            body = details.model_dump_json()
            head = f"HTTP/1.1 408 {details.title}\r\ncontent-type: {MEDIA_TYPE}\r\nconnection: close\r\n"
            self.transport.write(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode("ascii"))
        self.transport.close()
