"""Read the configuration of a cluster: `cluster.yaml`, or the same as a mapping.

This module imports no engine, so that a file can be checked without one.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from intentmatch.core.errors import InputError, Location, Problem, RegistryError
from intentmatch.core.settings import parse
from intentmatch.deploy.cluster_config import (
    ONGOING_BATCHES,
    ClusterConfig,
    Gateway,
    Http,
    Matchers,
    Replicas,
    SharedEncoder,
)
from intentmatch.deploy.config_section import ConfigProblems, ConfigSection
from intentmatch.deploy.config_values import (
    read_gpus,
    read_model,
    read_number,
    read_positive,
    read_replicas,
    read_route_prefix,
    read_switch,
    read_text,
    read_texts,
    read_without_password,
    source_reader,
    whole_number_reader,
)
from intentmatch.registry.reading import nodes
from intentmatch.server.config import ServerConfig, ServerOptions

SECRETS: Mapping[str, str] = {
    "keys": "INTENTMATCH_KEYS",
    "admin_keys": "INTENTMATCH_ADMIN_KEYS",
    "author_keys": "INTENTMATCH_AUTHOR_KEYS",
}
"""Server options that only the environment of the nodes may set, and the variables."""

# Behind Ray, each request may reach another replica: the studio has its pages in one process, and an edit of files on
# one node is not on the others.
_ONE_PROCESS = ("authoring", "studio", "open_studio")


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
    problems = ConfigProblems(Location(str(file)))
    return _config(problems.plain(root), problems, file.parent.absolute())


def cluster_config(values: Mapping[str, Any]) -> ClusterConfig:
    """Return the configuration that a mapping with the keys of a `cluster.yaml` describes.

    Raises `RegistryError` with every problem.
    """
    return _config(values, ConfigProblems(Location("arguments")), None)


def _config(values: Any, problems: ConfigProblems, folder: Path | None) -> ClusterConfig:
    top = ConfigSection(values, problems)
    sources = [key for key in ("intents", "bots") if top.has(key)]
    # Both are taken, so that a second one is not told as an unknown key.
    found = {key: top.take(key, source_reader(folder), "") for key in ("intents", "bots")}
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
        name=top.take("name", read_text, "intentmatch"),
        route_prefix=top.take("route_prefix", read_route_prefix, "/"),
        settings=settings,
        server=_server(top.section("server")),
        store=top.take("store", read_without_password, None),
        matchers=matchers,
        encoder=encoder,
        gateway=gateway,
        http=Http(http.take("host", read_text, Http.host), http.take("port", whole_number_reader(0, 65535), Http.port)),
    )
    http.end()
    top.end()
    problems.check()
    return config


def _matchers(section: ConfigSection, *, several: bool) -> Matchers:
    found = Matchers(
        section.take("replicas", read_replicas, Replicas()),
        section.take("cpus", read_positive, Matchers.cpus),
        section.take("bots", whole_number_reader(1), Matchers.bots),
    )
    # Without an effect, it would look as if the memory were limited.
    if section.has("bots") and not several:
        section.report(("bots",), "this goes with `bots`; the file names one bot")
    section.end()
    return found


def _encoder(section: ConfigSection) -> SharedEncoder:
    if not section.has("model"):
        section.report((), "name the `model`, such as sentence_transformer:NAME")
    found = SharedEncoder(
        section.take("model", read_model, ""),
        section.take("replicas", partial(read_replicas, ongoing=ONGOING_BATCHES), Replicas(ongoing=ONGOING_BATCHES)),
        section.take("cpus", read_number, SharedEncoder.cpus),
        section.take("gpus", read_gpus, SharedEncoder.gpus),
        section.take("batch", whole_number_reader(1), SharedEncoder.batch),
        section.take("wait_ms", read_number, SharedEncoder.wait_ms),
    )
    section.end()
    return found


def _gateway(section: ConfigSection) -> Gateway:
    found = Gateway(
        section.take("replicas", read_replicas, Replicas()), section.take("cpus", read_number, Gateway.cpus)
    )
    section.end()
    return found


def _settings(section: ConfigSection) -> dict[str, Any]:
    settings = dict(section.rest())
    for name, value in settings.items():
        try:
            parse(name, value)
        except InputError as error:
            section.report((name,), str(error))
    return settings


def _server(section: ConfigSection) -> dict[str, Any]:
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
        # Known to `end`, although it may not stand here or was read above.
        section.take(name, lambda value: value, None)
    section.end()
    return found


def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return what reads an option of this type."""
    if kind is bool:
        return read_switch
    if kind is int:
        return whole_number_reader(1)
    if kind is float:
        return read_positive
    return read_texts if typing.get_origin(kind) is Collection else read_text
