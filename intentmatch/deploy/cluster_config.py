"""The configuration of a cluster: `cluster.yaml`, or the same as a mapping.

This module imports no engine, so that a file can be checked without one.
"""

from __future__ import annotations

import os
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from intentmatch.core.errors import InputError, Location, Problem, RegistryError, suggest
from intentmatch.core.settings import parse
from intentmatch.registry.reading import nodes
from intentmatch.server.config import ServerConfig, ServerOptions
from intentmatch.storage.postgres.address import Address, is_address

_Value = TypeVar("_Value")

SECRETS: Mapping[str, str] = {
    "keys": "INTENTMATCH_KEYS",
    "admin_keys": "INTENTMATCH_ADMIN_KEYS",
    "author_keys": "INTENTMATCH_AUTHOR_KEYS",
}
"""Server options that only the environment of the nodes may set, and the variables."""

_ONE_PROCESS = ("authoring", "studio", "open_studio")
_LOCAL_ENCODER = "static"
# A request to the encoder is a batch, and a replica of the matchers has one for each bot in progress. With two for each
# of its replicas, the encoder is busy all the time.
_ONGOING_BATCHES = 2


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
    replicas: Replicas = field(default_factory=lambda: Replicas(ongoing=_ONGOING_BATCHES))
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


def read_cluster_config(file: Path) -> ClusterConfig:
    """Read a `cluster.yaml`. A relative path in it begins at its folder.

    Raises `RegistryError` with every problem and its place.
    """
    try:
        root = nodes.parse(file.read_text(encoding="utf-8"), str(file))
    except nodes.NodeError as error:
        raise RegistryError([error.problem]) from None
    except (OSError, ValueError) as error:
        raise RegistryError([Problem(Location(str(file)), "error", "unreadable", str(error))]) from None
    places: dict[tuple[str, ...], Location] = {}
    problems: list[Problem] = []
    values = _plain(root, (), places, problems)
    return _config(values, Location(str(file)), places, file.parent.absolute(), problems)


def cluster_config(values: Mapping[str, Any]) -> ClusterConfig:
    """Return the configuration that a mapping with the keys of a `cluster.yaml` describes.

    Raises `RegistryError` with every problem.
    """
    return _config(values, Location("arguments"), {}, None, [])


def _plain(
    node: nodes.Node | None, path: tuple[str, ...], places: dict[tuple[str, ...], Location], problems: list[Problem]
) -> Any:
    """Return a node as mappings, lists and texts, and note where each key stands."""
    if isinstance(node, nodes.Mapping):
        found: dict[str, Any] = {}
        for key, value in node.entries:
            name = key.text if isinstance(key, nodes.Scalar) else "?"
            here = (*path, _named(name))
            if here in places:
                hint = f"the first is at {places[here].short}"
                problems.append(Problem(key.location, "error", "duplicate-key", f"`{name}` is there twice", hint))
            places[here] = key.location
            found[name] = _plain(value, here, places, problems)
        return found
    if isinstance(node, nodes.Sequence):
        return [_plain(item, path, places, problems) for item in node.items]
    return {} if node is None else None if node.plain and not node.text else node.text


def _named(key: str) -> str:
    return key.replace("-", "_")


class _Section:
    """A mapping of the file, from which each known key is taken once; `end` reports the others."""

    def __init__(
        self,
        values: Any,
        path: tuple[str, ...],
        file: Location,
        places: Mapping[tuple[str, ...], Location],
        problems: list[Problem],
    ) -> None:
        self._path, self._file, self._places, self._problems = path, file, places, problems
        self._known: list[str] = []
        if values is None:
            values = {}
        if not isinstance(values, Mapping):
            self.report((), "this must be a mapping of names to values")
            values = {}
        self._values = {_named(str(name)): value for name, value in values.items()}

    def report(self, key: tuple[str, ...], message: str, hint: str = "") -> None:
        """Note a problem at a key of this section."""
        path = (*self._path, *key)
        known = (self._places[path[:length]] for length in range(len(path), 0, -1) if path[:length] in self._places)
        name = ".".join(path).replace("_", "-")
        self._problems.append(
            Problem(next(known, self._file), "error", "cluster", f"{name}: {message}" if name else message, hint)
        )

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self._values

    def take(self, key: str, read: Callable[[Any], _Value], default: _Value) -> _Value:
        """Return the value of a key. A `ValueError` or `InputError` of `read` is noted as a problem."""
        self._known.append(key)
        if key not in self._values:
            return default
        try:
            return read(self._values[key])
        except (ValueError, TypeError, InputError) as error:
            self.report((key,), str(error))
            return default

    def section(self, key: str) -> _Section:
        """Return the section below a key, empty if it is not there."""
        self._known.append(key)
        return _Section(self._values.get(key), (*self._path, key), self._file, self._places, self._problems)

    def rest(self) -> Mapping[str, Any]:
        """Return all keys, which the caller checks."""
        self._known += self._values
        return self._values

    def end(self) -> None:
        """Report keys that nobody took."""
        for key in self._values.keys() - set(self._known):
            nearest = suggest(key, self._known)
            names = ", ".join(sorted(known.replace("_", "-") for known in self._known))
            hint = f"did you mean `{nearest.replace('_', '-')}`?" if nearest else f"known are {names}"
            self.report((key,), "there is no such key", hint)


def _config(
    values: Any,
    file: Location,
    places: Mapping[tuple[str, ...], Location],
    folder: Path | None,
    problems: list[Problem],
) -> ClusterConfig:
    top = _Section(values, (), file, places, problems)
    sources = [key for key in ("intents", "bots") if top.has(key)]
    read = _source(folder)
    found = {key: top.take(key, read, "") for key in ("intents", "bots")}
    if len(sources) != 1:
        top.report((), "name what to serve: either `intents`, for one bot, or `bots`")
    several = found["bots"] != "" or sources == ["bots"]
    settings = _settings(top.section("settings"))
    matchers = _matchers(top.section("matchers"), several=several)
    encoder = _encoder(top.section("encoder")) if top.has("encoder") else None
    gateway = _gateway(top.section("gateway")) if several or top.has("gateway") else None
    http = top.section("http")
    config = ClusterConfig(
        source=found["bots"] or found["intents"],
        several=several,
        name=top.take("name", _text, "intentmatch"),
        route_prefix=top.take("route_prefix", _prefix, "/"),
        settings=settings,
        server=_server(top.section("server")),
        store=top.take("store", _without_password, None),
        matchers=matchers,
        encoder=encoder,
        gateway=gateway,
        http=Http(http.take("host", _text, Http.host), http.take("port", _whole(0, 65535), Http.port)),
    )
    http.end()
    top.end()
    if problems:
        raise RegistryError(problems)
    return config


def _matchers(section: _Section, *, several: bool) -> Matchers:
    found = Matchers(
        section.take("replicas", _replicas, Replicas()),
        section.take("cpus", _positive, Matchers.cpus),
        section.take("bots", _whole(1), Matchers.bots),
    )
    if section.has("bots") and not several:
        section.report(("bots",), "this goes with `bots`; the file names one bot")
    section.end()
    return found


def _encoder(section: _Section) -> SharedEncoder:
    if not section.has("model"):
        section.report((), "name the `model`, such as sentence_transformer:NAME")
    found = SharedEncoder(
        section.take("model", _model, ""),
        section.take("replicas", partial(_replicas, ongoing=_ONGOING_BATCHES), Replicas(ongoing=_ONGOING_BATCHES)),
        section.take("cpus", _number, SharedEncoder.cpus),
        section.take("gpus", _gpus, SharedEncoder.gpus),
        section.take("batch", _whole(1), SharedEncoder.batch),
        section.take("wait_ms", _number, SharedEncoder.wait_ms),
    )
    section.end()
    return found


def _gateway(section: _Section) -> Gateway:
    found = Gateway(section.take("replicas", _replicas, Replicas()), section.take("cpus", _number, Gateway.cpus))
    section.end()
    return found


def _settings(section: _Section) -> dict[str, Any]:
    settings = dict(section.rest())
    for name, value in settings.items():
        try:
            parse(name, value)
        except InputError as error:
            section.report((name,), str(error))
    return settings


def _server(section: _Section) -> dict[str, Any]:
    """Read options of the server. Keys, and what takes a process of its own, do not go with a cluster."""
    found: dict[str, Any] = {}
    kinds = typing.get_type_hints(ServerOptions)
    for name, variable in SECRETS.items():
        if section.has(name):
            section.report((name,), f"Ray shows this file to everyone: set {variable} on the nodes")
    for name in _ONE_PROCESS:
        if section.has(name):
            section.report((name,), "this takes one process: run `intentmatch serve` beside the cluster for authors")
    for name in (name for name in kinds if section.has(name) and name not in (*SECRETS, *_ONE_PROCESS)):
        found[name] = section.take(name, _reader(kinds[name]), ServerConfig().option(name))
    for name in kinds:
        section.take(name, lambda value: value, None)
    section.end()
    return found


def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return what reads an option of this type."""
    if kind is bool:
        return _switch
    if kind is int:
        return _whole(1)
    if kind is float:
        return _positive
    return _texts if typing.get_origin(kind) is Collection else _text


def _source(folder: Path | None) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        text = _text(value)
        if is_address(text):
            return str(_without_password(text))
        path = Path(text)
        if not path.is_absolute():
            if folder is None:
                raise ValueError(f"{text!r} must be an absolute path, which every node has, or an address")
            path = folder / path
        return os.path.normpath(path)

    return read


def _without_password(value: Any) -> str | None:
    """Read an address that holds no password. Ray shows the file in its dashboard and its logs."""
    from urllib.parse import urlsplit

    if value is None:
        return None
    text = _text(value)
    if is_address(text):
        hidden, instead = bool(Address.parse(text).secrets), "set PGPASSWORD on the nodes"
    else:
        hidden, instead = urlsplit(text).password is not None, "set INTENTMATCH_SERVE_STORE on the nodes"
    if hidden:
        raise ValueError(f"the address has a password, and Ray shows this file to everyone: {instead}")
    return text


def _model(value: Any) -> str:
    text = _text(value)
    if text.partition(":")[0] == _LOCAL_ENCODER:
        raise ValueError("static encoders are so fast that each replica has its own: leave this section out")
    return text


def _replicas(value: Any, *, ongoing: int = Replicas.ongoing) -> Replicas:
    """Read a number, or a mapping with `min`, `max` and `ongoing`, whose default is given."""
    if not isinstance(value, Mapping):
        number = _whole(1)(value)
        return Replicas(number, number, ongoing)
    unknown = value.keys() - {"min", "max", "ongoing"}
    if unknown:
        raise ValueError(f"there is no {', '.join(sorted(map(str, unknown)))} here: known are min, max, ongoing")
    least = _whole(1)(value.get("min", 1))
    most = _whole(1)(value.get("max", least))
    if most < least:
        raise ValueError(f"max is {most}, and min is {least}")
    return Replicas(least, most, _whole(1)(value.get("ongoing", ongoing)))


def _whole(least: int, most: int | None = None) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        try:
            number = int(str(value))
        except ValueError:
            raise ValueError(f"{value!r} is not a whole number") from None
        if number < least or (most is not None and number > most):
            raise ValueError(f"{number} is not {f'at least {least}' if most is None else f'from {least} to {most}'}")
        return number

    return read


def _number(value: Any) -> float:
    try:
        number = float(str(value))
    except ValueError:
        raise ValueError(f"{value!r} is not a number") from None
    if not 0.0 <= number < float("inf"):
        raise ValueError(f"{value} is not a number from 0 on")
    return number


def _positive(value: Any) -> float:
    number = _number(value)
    if number == 0.0:
        raise ValueError("0 is too small")
    return number


def _gpus(value: Any) -> float:
    number = _number(value)
    if number > 1.0 and not number.is_integer():
        raise ValueError(f"{value} GPUs: write a whole number, or a part of one GPU such as 0.25")
    return number


def _switch(value: Any) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise ValueError(f"{value!r} is not true or false")
    return str(value).lower() == "true"


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("this must be a text")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(_text, value)) if isinstance(value, (list, tuple)) else (_text(value),)


def _prefix(value: Any) -> str:
    text = _text(value)
    if not text.startswith("/") or (text.endswith("/") and text != "/"):
        raise ValueError(f"{text!r} must begin with a slash and not end with one")
    return text
