"""`deploy`: puts an application on a running cluster, and says what it serves."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from intentmatch.core.errors import InputError, UnavailableError
from intentmatch.core.settings import resolve
from intentmatch.deploy.cluster_config import ClusterConfig
from intentmatch.deploy.ray.application import GATEWAY, build_app
from intentmatch.deploy.ray.engine import require_serve
from intentmatch.storage.postgres.address import Address, address_of, is_address

Fingerprints = Mapping[str, str]
"""Name of a bot to the fingerprint of its registry."""


def deploy(config: ClusterConfig, address: str = "auto") -> Fingerprints:
    """Check the bots on the cluster, deploy them, and wait until they answer. Returns their fingerprints.

    `address` is that of the cluster, as for `ray.init`. If the bots have errors, nothing is changed.

    Raises `RegistryError` with the problems of the bots, `InputError` if the application runs with a gateway and would
    lose it, or the other way round, `UnavailableError` if there is no cluster or the application does not start, and
    `MissingExtraError`.
    """
    serve = require_serve()
    import ray
    from ray.exceptions import RayError

    # A program that runs on Ray is connected to its cluster already.
    if not ray.is_initialized():
        try:
            # The logs of all replicas would bury what the command says.
            ray.init(address=address, log_to_driver=False, logging_level="WARNING")
        except (ConnectionError, ValueError) as error:
            raise UnavailableError(f"no Ray cluster runs at {address}: start one with `ray start --head`") from error
    # On a node of the cluster: this machine may have neither the files nor the database.
    found: Fingerprints = ray.get(ray.remote(fingerprints).options(num_cpus=0).remote(config))
    if (application := serve.status().applications.get(config.name)) is not None:
        check_ingress(config, {name for name, one in application.deployments.items() if running_replicas(one)})
    application = build_app(config)
    http = {"host": config.http.host, "port": config.http.port}
    try:
        # A load balancer in front may send a request to any node.
        serve.start(proxy_location="EveryNode", http_options=http)
        serve.run(application, name=config.name, route_prefix=config.route_prefix)
    except (RuntimeError, RayError) as error:
        raise UnavailableError(f"the application does not start: {error}") from error
    return found


def running_replicas(deployment: Any) -> int:
    """Return how many replicas of a deployment run, by its status."""
    return int(deployment.replica_states.get("RUNNING", 0))


def check_ingress(config: ClusterConfig, running: Collection[str]) -> None:
    """Compare a configuration with the deployments that run. Raises `InputError` if others would take the requests.

    Ray routes requests to the new deployment before it has replicas, and stops the old one at once.
    """
    if not running or (GATEWAY in running) == (config.gateway is not None):
        return
    there, wanted = ("with", "without") if GATEWAY in running else ("without", "with")
    raise InputError(
        f"the application {config.name!r} runs {there} a gateway, and this file describes it {wanted} one: Ray cannot "
        "change that without dropping requests. Deploy the file with another `name` and `route-prefix`, send the "
        f'callers there, then delete the old application: `python -c "from ray import serve; '
        f"serve.delete('{config.name}')\"`"
    )


def fingerprints(config: ClusterConfig) -> Fingerprints:
    """Read all bots, and return their fingerprints. Raises what reading them raises."""
    from intentmatch.server.bots.folder import BotFolder

    source: Any = address_of(config.source) if is_address(config.source) else config.source
    if not config.several:
        return {config.name: _fingerprint(source, config)}
    return {name: _fingerprint(path, config) for name, path in BotFolder(source).bots().items()}


def _fingerprint(path: Any, config: ClusterConfig) -> str:
    from intentmatch.artefact.store import load_artefact
    from intentmatch.registry import is_yaml, read_registry

    if isinstance(path, Address):
        from intentmatch.matching.replica import Replica  # needs psycopg

        return Replica(path).read(resolve(config.settings), {})[0].fingerprint
    return (read_registry(path) if is_yaml(path) else load_artefact(path).registry).fingerprint
