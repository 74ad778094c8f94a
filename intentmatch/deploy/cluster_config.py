"""The configuration of a cluster, as values: what runs on it, and how many of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# A request to the encoder is a batch, and a replica of the matchers has one for each bot in progress. With two for each
# of its replicas, the encoder is busy all the time.
ONGOING_BATCHES = 2


@dataclass(frozen=True)
class Replicas:
    """How many replicas a deployment has. With `least < most` the engine adds and removes some."""

    least: int = 1
    most: int = 1
    ongoing: int = 8
    """Requests in progress per replica at which replicas are added."""

    @property
    def varies(self) -> bool:
        """Whether the number follows the load."""
        return self.least < self.most


@dataclass(frozen=True)
class Matchers:
    """The replicas that match messages."""

    replicas: Replicas = field(default_factory=Replicas)
    cpus: float = 1.0
    """Cores reserved for a replica."""
    bots: int = 100
    """Bots in the memory of a replica, if there are several; the least recently used are unloaded."""


@dataclass(frozen=True)
class SharedEncoder:
    """An encoder in replicas of its own, which all matchers share."""

    model: str
    """As the setting `encoder`, such as `sentence_transformer:MODEL`."""
    replicas: Replicas = field(default_factory=lambda: Replicas(ongoing=ONGOING_BATCHES))
    cpus: float = 1.0
    gpus: float = 0.0
    """GPUs of a replica; 0.25 lets four replicas share one."""
    batch: int = 32
    """Texts encoded in one call."""
    wait_ms: float = 2.0
    """Milliseconds that a batch waits for more texts."""


@dataclass(frozen=True)
class Gateway:
    """The replicas in front of the matchers: they send each request to a replica that has its bot."""

    replicas: Replicas = field(default_factory=Replicas)
    cpus: float = 0.5


@dataclass(frozen=True)
class Http:
    """Where the cluster takes requests."""

    host: str = "127.0.0.1"
    port: int = 8000


@dataclass(frozen=True)
class ClusterConfig:
    """What runs on a cluster, and how many of it."""

    source: str
    """A path that every node has, or an address of PostgreSQL."""
    several: bool = False
    """Whether the source holds several bots."""
    name: str = "intentmatch"
    """Name of the application."""
    route_prefix: str = "/"
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of every bot."""
    server: Mapping[str, Any] = field(default_factory=dict)
    """Options of the server by their names in `ServerOptions`."""
    store: str | None = None
    """Where conversations are kept; None reads INTENTMATCH_SERVE_STORE on each node."""
    matchers: Matchers = field(default_factory=Matchers)
    encoder: SharedEncoder | None = None
    gateway: Gateway | None = None
    """None for one bot: then requests go straight to its replicas, unless the file has a section `gateway`."""
    http: Http = field(default_factory=Http)
