"""Limits on request heads, trailers and pipelining: httptools itself keeps whatever a client sends.

h11 has a limit of its own, which answers with the status 400; the smaller one here comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from intentmatch.server.process.raw_response import raw_response
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

if TYPE_CHECKING:
    Protocol: Any = object
else:
    Protocol = object

MOST_BYTES = 65_536
"""Bytes of a request head, and of the trailers of a request."""
MOST_LINES = 256
"""Header lines of a request."""
MOST_PIPELINED = 32
"""Requests that may wait for the answer to an earlier one on their connection."""
PARSER_BYTES = 2 * MOST_BYTES
"""Limit of h11, for uvicorn's option `h11_max_incomplete_event_size`."""
# A parser that is fed more at once could keep more than the limits before they are checked.
_BLOCK = 16_384


class RequestHeads(Protocol):  # type: ignore[misc]
    """Uvicorn's HTTP protocol, in either implementation, within the limits above.

    A larger head gets the status 431 and ends its connection. Trailers are read and dropped: the app has decided by
    then. A client that pipelines too many requests is cut off.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._unread = 0
        self._progress = False
        self._headers_complete = False

    def data_received(self, data: bytes) -> None:
        """Feed the parser, and stop as soon as it holds too much."""
        start = 0
        while start < len(data):
            block = data[start : start + min(_BLOCK, MOST_BYTES - self._unread)]
            start += len(block)
            self._progress = False
            super().data_received(block)
            if self.transport.is_closing() or self.transport.get_protocol() is not self:
                return  # refused, or handed to the protocol of WebSockets
            # httptools alone has a pipeline; h11 stops reading while a request is answered.
            if len(getattr(self, "pipeline", ())) > MOST_PIPELINED:
                self.abandon_request()
                self.transport.abort()
                return
            self._count(len(block))
            if self._unread >= MOST_BYTES or len(self.headers or ()) > MOST_LINES:
                self._refuse_head()
                return

    def abandon_request(self) -> None:
        """Tell the app that its client is gone: its response is dropped."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _count(self, received: int) -> None:
        """Count the bytes from which the parser has made nothing yet."""
        connection = getattr(self, "conn", None)
        if connection is not None:  # h11 keeps them; while a request is answered, it reads no further
            waiting, paused = connection.trailing_data
            self._unread = 0 if paused else len(waiting)
        else:
            self._unread = 0 if self._progress else self._unread + received

    def _refuse_head(self) -> None:
        self.abandon_request()
        detail = f"The request head has more than {MOST_BYTES:,} bytes or {MOST_LINES} lines."
        self.transport.write(raw_response(ProblemDetails.for_status(431, detail)))
        self.transport.close()

    # The callbacks of httptools; h11 calls none of them.

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._headers_complete = False
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header, but no trailer: uvicorn would add it to the headers of a request that is being answered."""
        if not self._headers_complete:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin the request."""
        self._progress = self._headers_complete = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body, which has limits of its own."""
        self._progress = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request."""
        self._progress = True
        super().on_message_complete()
