"""Every option of the server with its one default.

`intentmatch serve` fills a `ServerConfig` from flags, environment and file; `create_app` takes one, or single options
by name. This module imports neither FastAPI nor pydantic, so that `serve --help` works without the extra `server`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypedDict

from intentmatch.core.errors import InputError, UnknownNameError

LogFormat = Literal["text", "json"]


@dataclass(frozen=True)
class Limits:
    """Bounds of one request."""

    max_text: int = 2000
    """Characters of a message."""
    max_batch: int = 256
    """Messages of a batch."""
    max_body: int = 1_000_000
    """Bytes of a request body."""
    body_seconds: float = 10.0
    """Seconds for the body to arrive, and for the request head before it."""


@dataclass(frozen=True)
class Batching:
    """How many messages wait, how long, and how many are matched in one call."""

    max_together: int = 32
    """Messages encoded in one call, where the encoder gains from batches."""
    max_queue: int = 1024
    """Messages waiting, all bots together."""
    max_wait: float = 10.0
    """Seconds that a message may wait for its batch to start."""


@dataclass(frozen=True)
class Auth:
    """Who may call, and how often."""

    keys: Collection[str] | None = field(default=None, repr=False)
    """API keys; None reads `INTENTMATCH_KEYS`, an empty collection asks for no key."""
    admin_keys: Collection[str] | None = field(default=None, repr=False)
    """Keys for admin calls; None reads `INTENTMATCH_ADMIN_KEYS`. Without any, admin calls are off."""
    author_keys: Collection[str] | None = field(default=None, repr=False)
    """Keys for authors, each with a name: `anna=KEY`; None reads `INTENTMATCH_AUTHOR_KEYS`."""
    database_keys: bool = False
    """Also accept the keys in the database that the bot is in, as long as they are not revoked."""
    rate_limit: str | None = None
    """Requests per key, or per address without keys, such as `600/minute`."""
    cors_origins: Collection[str] = ()
    """Origins whose pages may call from a browser; `*` allows every origin."""
    allowed_hosts: Collection[str] = ()
    """Host names to answer for; without any, every host is accepted."""


@dataclass(frozen=True)
class Interfaces:
    """Protocols that the server speaks beside its own API."""

    protocols: Collection[str] = ()
    """Names among `rasa`, `clu`, `dialogflow`, `openai`."""
    fulfillment: str | None = None
    """URL of the Dialogflow webhook for intents with `metadata: {webhook: true}`."""
    authoring: bool = False
    """Let authors change the intents; takes admin keys or author keys."""
    studio: bool = False
    """Serve the studio at /studio, and what `authoring` turns on."""
    open_studio: bool = False
    """Let everyone who reaches the server into the studio without a key; for servers that only one person reaches."""


@dataclass(frozen=True)
class Process:
    """What the process does beside answering."""

    watch: bool = False
    """Reload files when they change."""
    telemetry: bool = False
    """Emit one OpenTelemetry span per match."""


@dataclass(frozen=True)
class Listener:
    """How `intentmatch serve` listens and logs; an app from `create_app` leaves this to its ASGI server."""

    # Until there are keys, everybody who reaches the server may call it.
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 8080
    """Port to listen on; 0 picks a free one."""
    workers: int = 1
    """Processes that answer."""
    # Without a limit, 1,300 idle sockets used up the open files of a process, which then accepted nobody.
    max_connections: int = 2048
    """Open connections of a process; fewer if its limit of open files cannot be raised that far."""
    max_connections_per_address: int = 512
    """Open connections of an address that is no trusted proxy."""
    trusted_proxies: Collection[str] = ()
    """Addresses whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are believed."""
    tls_cert: Path | None = None
    """PEM file with the certificate chain; turns on HTTPS."""
    tls_key: Path | None = None
    """PEM file with the private key, if it is not in `tls_cert`."""
    log_format: LogFormat = "text"
    """`text` for people, `json` for machines."""
    log_messages: bool = False
    """Log messages and verdicts."""
    # examples/deploy stays above this: an orchestrator that kills the process sooner cuts off answers.
    shutdown_seconds: int = 30
    """Seconds for accepted requests to finish after the server is told to stop."""


# Spelled out for type checkers; a test compares it with the groups.
class ServerOptions(TypedDict, total=False):
    """The options that `create_app` takes by name; `ServerConfig` says what they mean."""

    max_text: int
    max_batch: int
    max_body: int
    body_seconds: float
    max_together: int
    max_queue: int
    max_wait: float
    keys: Collection[str] | None
    admin_keys: Collection[str] | None
    author_keys: Collection[str] | None
    database_keys: bool
    rate_limit: str | None
    cors_origins: Collection[str]
    allowed_hosts: Collection[str]
    protocols: Collection[str]
    fulfillment: str | None
    authoring: bool
    studio: bool
    open_studio: bool
    watch: bool
    telemetry: bool


@dataclass(frozen=True)
class ServerConfig:
    """All options of the server, in groups. Option names are unique across groups."""

    limits: Limits = field(default_factory=Limits)
    batching: Batching = field(default_factory=Batching)
    auth: Auth = field(default_factory=Auth)
    interfaces: Interfaces = field(default_factory=Interfaces)
    process: Process = field(default_factory=Process)
    listener: Listener = field(default_factory=Listener)

    def with_options(self, **options: Any) -> ServerConfig:
        """Return a copy with these options set, each in its group.

        Raises `UnknownNameError`, an `InputError` that suggests the nearest name.
        """
        changes: dict[str, dict[str, Any]] = {}
        for name, value in options.items():
            if name not in _GROUP_OF:
                raise UnknownNameError("server option", name, list(_GROUP_OF))
            changes.setdefault(_GROUP_OF[name], {})[name] = value
        return replace(self, **{group: replace(getattr(self, group), **values) for group, values in changes.items()})

    def option(self, name: str) -> Any:
        """Return the value of one option."""
        return getattr(getattr(self, _GROUP_OF[name]), name)


def app_config(config: ServerConfig | None, options: Mapping[str, Any]) -> ServerConfig:
    """Return the config of an app, with single options over it.

    Raises `InputError` for an unknown option, and for one that only `intentmatch serve` can honour.
    """
    for name in options:
        # Taken silently, `tls_cert` would let a program believe that it serves HTTPS.
        if _GROUP_OF.get(name) == "listener":
            raise InputError(f"{name} is an option of `intentmatch serve`; set it in the ASGI server that runs the app")
        if name not in ServerOptions.__annotations__:
            raise UnknownNameError("server option", name, list(ServerOptions.__annotations__))
    return (config or ServerConfig()).with_options(**options)


_GROUP_OF: Mapping[str, str] = {
    option.name: group.name for group in fields(ServerConfig) for option in fields(getattr(ServerConfig(), group.name))
}
