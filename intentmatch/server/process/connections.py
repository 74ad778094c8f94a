"""Limits on open connections: uvicorn itself accepts until the process has no file descriptors left.

Each process counts its own connections. One too many gets the status 503, and is closed without reading its request.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from typing import Any, cast

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from intentmatch.server.addresses import Networks, source_of
from intentmatch.server.process.logs import OncePerMinute
from intentmatch.server.process.raw_response import raw_response
from intentmatch.server.process.slow_clients import SlowClients
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

BACKLOG = 512
"""Connections that the operating system keeps until the event loop accepts them, all at once."""

_OTHER_FILES = 256
"""File descriptors kept for registries, caches, logs and calls of other servers; at most half of what there is."""
_RETRY_SECONDS = 1
# A client that is still sending when the connection is closed loses the answer: a few are given time to finish.
_MAX_LINGERING = 64
_LINGER_SECONDS = 1.0

_log = logging.getLogger(__name__)


class ConnectionLimits:
    """Counts open connections, in all and by address. For use in one event loop."""

    def __init__(self, most: int, most_of_address: int, trusted_proxies: Collection[str] = ()) -> None:
        """Connections of `trusted_proxies` count in all, but not by address: these stand for many clients."""
        self.most, self.most_of_address = most, most_of_address
        self._proxies = Networks(trusted_proxies)
        self._open = 0
        self._by_source: Counter[str] = Counter()
        self._warnings = OncePerMinute()
        self.lingering = 0
        """Refused connections that are not closed yet."""

    def enter(self, address: str | None) -> str | None:
        """Count a new connection. Returns None, or why it must be refused.

        `address` is None for a connection that has no address, such as that of a Unix socket.
        """
        source = self._source(address)
        if self._open >= self.most:
            return self._refusal(f"{self.most} connections are open")
        if source and self._by_source[source] >= self.most_of_address:
            return self._refusal(f"{self.most_of_address} connections of one address are open")
        self._open += 1
        if source:
            self._by_source[source] += 1
        return None

    def leave(self, address: str | None) -> None:
        """Stop counting a connection that `enter` has let in."""
        self._open -= 1
        if source := self._source(address):
            self._by_source[source] -= 1
            if not self._by_source[source]:
                del self._by_source[source]

    def _source(self, address: str | None) -> str:
        """Return what is counted as the address; nothing for a proxy."""
        return "" if not address or address in self._proxies else source_of(address)

    def _refusal(self, why: str) -> str:
        if count := self._warnings.due():
            _log.warning("%s: %d more refused", why, count)
        return why


class LimitedConnections(SlowClients):
    """Uvicorn's HTTP protocol within `ConnectionLimits`, and within the limits of `SlowClients` and `RequestHeads`."""

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._limits = limits
        self._address: str | None = None
        self._refused: asyncio.Transport | None = None
        self._linger: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection, or refuse it."""
        peer = transport.get_extra_info("peername")
        self._address = str(peer[0]) if isinstance(peer, (tuple, list)) and peer else None
        why = self._limits.enter(self._address)
        if why is None:
            super().connection_made(transport)
        else:
            self._refuse(cast("asyncio.Transport", transport), why)

    def data_received(self, data: bytes) -> None:
        """Read a request, or close a refused connection now that its client has sent something."""
        if self._refused is None:
            super().data_received(data)
        else:
            self._refused.close()

    def eof_received(self) -> None:
        """Close a refused connection."""
        if self._refused is None:
            super().eof_received()

    def pause_writing(self) -> None:
        """Let a slow client catch up."""
        if self._refused is None:
            super().pause_writing()

    def resume_writing(self) -> None:
        """Go on writing."""
        if self._refused is None:
            super().resume_writing()

    def handle_websocket_upgrade(self, *event: Any) -> None:
        """Hand the connection to uvicorn's WebSocket protocol, and go on counting it until that loses it."""
        super().handle_websocket_upgrade(*event)
        protocol = self.transport.get_protocol()
        lost = protocol.connection_lost

        def connection_lost(exc: Exception | None) -> None:
            self._limits.leave(self._address)
            lost(exc)

        protocol.connection_lost = connection_lost

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        if self._refused is None:
            self._limits.leave(self._address)
            super().connection_lost(exc)
        elif self._linger is not None:
            self._linger.cancel()
            self._limits.lingering -= 1

    def _refuse(self, transport: asyncio.Transport, why: str) -> None:
        self._refused = transport
        details = ProblemDetails.for_status(
            503, f"The server is busy: {why}. Try again in {_RETRY_SECONDS} s.", kind="urn:intentmatch:busy"
        )
        transport.write(raw_response(details, f"retry-after: {_RETRY_SECONDS}"))
        if self._limits.lingering >= _MAX_LINGERING:
            transport.close()
            return
        self._limits.lingering += 1
        self._linger = asyncio.get_running_loop().call_later(_LINGER_SECONDS, transport.close)
        if transport.can_write_eof():
            transport.write_eof()


class LimitedProtocol(LimitedConnections, AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """The implementation that uvicorn chooses: httptools if it is installed, h11 otherwise."""


def possible_connections(wanted: int) -> int:
    """Raise the limit of open files of this process for `wanted` connections; return how many of them it allows."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    files = wanted + BACKLOG + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < files:
        raised = files if hard == resource.RLIM_INFINITY else min(files, hard)
        with suppress(ValueError, OSError):  # macOS has a further limit that nothing tells
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
            soft = raised
    if soft == resource.RLIM_INFINITY:
        return wanted
    return max(1, min(wanted, soft - min(_OTHER_FILES, soft // 2)))
