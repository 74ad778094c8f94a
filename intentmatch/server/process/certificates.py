"""HTTPS whose certificate is read again when its files change, without a restart.

TLS 1.2 and 1.3 are served, the former with forward secrecy and authenticated encryption only (RFC 9325).
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

from uvicorn import Config, Server

from intentmatch.server.process.connections import ConnectionLimits
from intentmatch.server.process.handshakes import Handshake

CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""OpenSSL's names of the ciphers for TLS 1.2; those of TLS 1.3 are all good."""
SECONDS_BETWEEN_LOOKS = 5.0
# As uvicorn's own command exits.
_EXIT_OF_A_FAILED_START = 3
_NOT_NOW = (9, 10)  # OpenSSL's X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED
_log = logging.getLogger(__name__)


class CertificateConfig(Config):
    """Uvicorn's configuration, whose TLS context follows the files of its certificate."""

    def __init__(
        self, *arguments: Any, limits: ConnectionLimits | None = None, handshake_seconds: float = 10.0, **options: Any
    ) -> None:
        """With `limits`, a connection counts before its handshake, which may take `handshake_seconds`."""
        super().__init__(*arguments, **options)
        self._limits, self._handshake_seconds = limits, handshake_seconds
        self.context: ssl.SSLContext | None = None
        """The TLS context, if handshakes are limited."""

    def load(self) -> None:
        """Load the app and the certificate, and start to look for changes of its files. Call it in the event loop."""
        super().load()
        if self.ssl is not None and self.ssl_certfile is not None:
            self.ssl.minimum_version = ssl.TLSVersion.TLSv1_2
            cert = Path(self.ssl_certfile)
            _warn_if_invalid_now(self.ssl, cert)
            files = _CertificateFiles(cert, Path(self.ssl_keyfile or cert), self.ssl_ciphers or CIPHERS)
            self.ssl.sni_callback = files.show
            loop = asyncio.get_running_loop()
            threading.Thread(target=files.follow, args=(loop,), name="certificates", daemon=True).start()
            if self._limits is not None:
                make = cast("Any", self.http_protocol_class)
                handshake = partial(Handshake, make, self.ssl, self._limits, self._handshake_seconds)
                self.http_protocol_class = cast("Any", handshake)
                # The event loop would make handshakes before anything counts them.
                self.context, self.ssl = self.ssl, None


def serve_alone(app: Any, **options: Any) -> None:
    """Serve with one process until told to stop. `options` are those of `CertificateConfig`."""
    server = _Server(CertificateConfig(app, **options))
    # Uvicorn raises the signal again once it has stopped in order; a traceback would look like a failure.
    with suppress(KeyboardInterrupt):
        # At `::`, asyncio listens to IPv6 alone, and a socket of ours to IPv4 too, as several workers do.
        server.run(sockets=[server.config.bind_socket()] if server.config.host == "::" else None)
    if not server.started:
        sys.exit(_EXIT_OF_A_FAILED_START)


class _Server(Server):
    """Uvicorn's server, which says that it serves HTTPS although it makes no handshakes itself."""

    def _log_started_message(self, listeners: Any) -> None:
        self.config.ssl = self.config.ssl or getattr(self.config, "context", None)
        super()._log_started_message(listeners)


class _CertificateFiles:
    """The files of a certificate, and the context with which new connections show it."""

    def __init__(self, cert: Path, key: Path, ciphers: str = CIPHERS) -> None:
        """Raises `OSError` or `ValueError` if no certificate can be read."""
        self._cert, self._key, self._ciphers = cert, key, ciphers
        self._seen = self._refused = self._state()
        self._context = self._read()

    def show(self, connection: ssl.SSLObject | ssl.SSLSocket, *_: object) -> None:
        """Let a connection whose handshake begins show the certificate: `SSLContext.sni_callback`."""
        connection.context = self._context

    def follow(self, loop: asyncio.AbstractEventLoop) -> None:
        """Look for changes of the files until the event loop is closed."""
        pause = threading.Event()
        while not pause.wait(SECONDS_BETWEEN_LOOKS) and not loop.is_closed():
            self.look()

    def look(self) -> None:
        """Show new connections the certificate of the files, if these have changed.

        Files that do not fit, as in the middle of a renewal, are refused and read again at the next look: the last
        certificate is served on.
        """
        state = self._state()
        if state is None or state == self._seen:
            return
        try:
            self._context = self._read()
        except (OSError, ValueError) as error:
            if state != self._refused:
                _log.warning("the new certificate in %s is not served: %s", self._cert, error)
            self._refused = state
            return
        self._seen = state
        _log.info("the certificate in %s was read again", self._cert)
        _warn_if_invalid_now(self._context, self._cert)

    def _read(self) -> ssl.SSLContext:
        # A new one each time: a context keeps one certificate for each kind of key, and would show the old one on.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(self._ciphers)
        context.load_cert_chain(self._cert, self._key, password="")
        return context

    def _state(self) -> tuple[tuple[int, int, int], ...] | None:
        try:
            stats = [file.stat() for file in (self._cert, self._key)]
        except OSError:
            return None
        # The inode too: tools for renewal replace a file or move a link, and may keep its times.
        return tuple((stat.st_mtime_ns, stat.st_size, stat.st_ino) for stat in stats)


def _warn_if_invalid_now(context: ssl.SSLContext, cert: Path) -> None:
    """Log a certificate that has expired or is not valid yet: a client tells by a handshake in memory."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        client.load_verify_locations(cert)
        sides = (client.wrap_bio(to_client, to_server), context.wrap_bio(to_server, to_client, server_side=True))
        for side in sides * 2:
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in _NOT_NOW:
            _log.warning("clients will refuse the certificate in %s: %s", cert, error.verify_message)
    except OSError:
        return  # the context has its own opinion of the files
