"""TLS handshakes within the limits on connections: an event loop hands over only those whose handshake is complete."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any, cast

from intentmatch.server.process.connections import ConnectionLimits


class Handshake(asyncio.Protocol):
    """Counts a connection as soon as it is open, makes its handshake, and hands it to the protocol of HTTP.

    One connection too many is closed at once, without an answer: whoever has no handshake yet could not read it. One
    whose handshake takes longer than `seconds` is cut off.
    """

    def __init__(
        self,
        make_protocol: Callable[..., Any],
        context: ssl.SSLContext,
        limits: ConnectionLimits,
        seconds: float,
        **keywords: Any,
    ) -> None:
        """`make_protocol` gets the `keywords` of uvicorn."""
        self._make_protocol, self._keywords = make_protocol, keywords
        self._context, self._limits, self._seconds = context, limits, seconds
        self._making: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection and begin its handshake, or close it."""
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if isinstance(peer, (tuple, list)) and peer else None
        if self._limits.enter(address) is not None:
            cast("asyncio.Transport", transport).abort()
            return
        # A socket of its own, from which nothing is read before the handshake begins.
        plain = transport.get_extra_info("socket")
        try:
            own = socket.fromfd(plain.fileno(), plain.family, plain.type)
        except OSError:  # the process has no file descriptor left
            self._limits.leave(address)
            return
        finally:
            cast("asyncio.Transport", transport).abort()
        own.setblocking(False)
        self._making = asyncio.get_running_loop().create_task(self._make(own, address))

    async def _make(self, own: socket.socket, address: str | None) -> None:
        protocol = self._make_protocol(**self._keywords)
        made = protocol.connection_made
        counted = True

        def connection_made(transport: asyncio.BaseTransport) -> None:
            nonlocal counted
            counted = False
            self._limits.leave(address)  # the protocol counts it again
            made(transport)

        protocol.connection_made = connection_made
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: protocol, own, ssl=self._context, ssl_handshake_timeout=self._seconds
            )
        except OSError:  # among them those of TLS and of the time limit
            own.close()
        finally:
            if counted:
                self._limits.leave(address)
