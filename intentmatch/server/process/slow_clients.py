"""Time limits for request heads and for reading answers: uvicorn waits for ever. `middleware.limits` limits bodies."""

from __future__ import annotations

import asyncio
from typing import Any

from intentmatch.server.process.raw_response import raw_response
from intentmatch.server.process.request_heads import RequestHeads
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

SECONDS_TO_READ = 60.0
"""In which a client must take an answer: until then the answer is kept in memory."""
SECONDS_OF_A_HANDSHAKE = 60.0
"""In which a WebSocket must open."""


class SlowClients(RequestHeads):
    """Uvicorn's HTTP protocol, which closes a connection whose request head takes longer than `head_seconds`.

    The time counts from the first byte of the head, or from the connection. A client that has sent part of a head gets
    the status 408; one that has sent nothing gets no response. A client that takes longer than `read_seconds` to take
    an answer is cut off, and so is one whose WebSocket is not open after `handshake_seconds`.
    """

    def __init__(
        self,
        *arguments: Any,
        head_seconds: float,
        read_seconds: float = SECONDS_TO_READ,
        handshake_seconds: float = SECONDS_OF_A_HANDSHAKE,
        **keywords: Any,
    ) -> None:
        super().__init__(*arguments, **keywords)
        self._head_seconds, self._read_seconds = head_seconds, read_seconds
        self._handshake_seconds = handshake_seconds
        self._reading: asyncio.TimerHandle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._in_head = False
        self._upgraded = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timer."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Stop the timer when the head is complete; start it when the next one begins."""
        super().data_received(data)
        if self._upgraded:
            return
        self._in_head = self.cycle is None or self.cycle.response_complete
        if not self._in_head:
            self._stop_timer()
        elif self._timer is None:
            self._start_timer()

    def handle_websocket_upgrade(self, *event: Any) -> None:
        """Stop the timer: the head is complete, and uvicorn's WebSocket protocol has the connection from now on."""
        self._upgraded = True
        self._stop_timer()
        super().handle_websocket_upgrade(*event)
        # Uvicorn waits for ever for some handshakes that its library refuses, such as ones with a header above 8 KB.
        self.loop.call_later(self._handshake_seconds, _end_handshake, self.transport)

    def send_400_response(self, msg: str) -> None:
        """Refuse a malformed request. An app that has its head already gets a disconnect, and its response is dropped.

        Without that, the response of the app would fail in h11, with a traceback in the log for each such request.
        """
        self.abandon_request()
        super().send_400_response(msg)

    def pause_writing(self) -> None:
        """Give the client its time to take what waits for it."""
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        """Go on: what still waits, after the answer, is looked at in `on_response_complete`."""
        self._stop_reading()
        super().resume_writing()

    def on_response_complete(self) -> None:
        """Give the client its time to take the rest of the answer."""
        if self.transport.get_write_buffer_size():
            self._stop_reading()
            self._expect_reading()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._stop_timer()
        self._stop_reading()
        super().connection_lost(exc)

    def _expect_reading(self) -> None:
        if self._reading is None:
            self._reading = self.loop.call_later(self._read_seconds, self._cut_off)

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _cut_off(self) -> None:
        """Drop what the client has not taken. A client that closes late, or took everything, loses nothing."""
        self._reading = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(self._head_seconds, self._close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        if self.transport.is_closing():
            return
        if self._in_head:
            details = ProblemDetails.for_status(
                408, f"The request head was not complete after {self._head_seconds:g} seconds."
            )
            self.transport.write(raw_response(details))
        self.transport.close()


def _end_handshake(transport: asyncio.Transport) -> None:
    """Cut off a client whose WebSocket has not opened."""
    protocol: Any = transport.get_protocol()
    done = getattr(protocol, "handshake_completed_event", None)  # of one of uvicorn's implementations
    opened = getattr(protocol, "handshake_complete", True) if done is None else done.is_set()
    if not opened and not transport.is_closing():
        transport.abort()
