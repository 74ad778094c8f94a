"""`build_app`: puts the deployments together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from intentmatch.core.errors import InputError
from intentmatch.deploy.cluster_config import ClusterConfig, Replicas, SharedEncoder
from intentmatch.deploy.cluster_file import cluster_config, read_cluster_config
from intentmatch.deploy.ray.engine import require_serve
from intentmatch.server import require_extra
from intentmatch.server.config import ServerConfig

GATEWAY = "Gateway"
"""Name of the deployment of the gateway, which takes the requests if there is one."""
_CONFIG = "config"
# A replica of the matchers has a queue of its own, which refuses what is too much. Each proxy and gateway has one, too.
_MOST_ONGOING = 256


def build_app(args: Mapping[str, Any] | ClusterConfig) -> Any:
    """Return the application for Ray Serve, a `ray.serve.Application`.

    `args` has the keys of `cluster.yaml`, or one key `config` with the path of such a file:

        serve run intentmatch.deploy.ray:build_app config=cluster.yaml

    Raises `RegistryError` with every problem of the configuration, and `MissingExtraError` without the extra `ray`.
    """
    serve = require_serve()
    require_extra()
    from intentmatch.deploy.ray.encoders import EncoderReplica
    from intentmatch.deploy.ray.gateway import Gateway
    from intentmatch.deploy.ray.matchers import Matchers

    config = args if isinstance(args, ClusterConfig) else _config(args)
    handle, model = None, ""
    if (encoder := config.encoder) is not None:
        model = encoder.model
        handle = serve.deployment(EncoderReplica).options(
            name="Encoder",
            # So many that the next batch fills while one is encoded.
            max_ongoing_requests=max(2 * encoder.batch, Replicas.ongoing),
            ray_actor_options={"num_cpus": encoder.cpus, "num_gpus": encoder.gpus},
            **_scale(encoder.replicas),
        )
        handle = handle.bind(_encoder_settings(config, encoder), encoder.batch, encoder.wait_ms)
    gateway = config.gateway
    options = ServerConfig().with_options(**config.server)
    limits = {"max_ongoing_requests": _MOST_ONGOING, "max_queued_requests": options.batching.max_queue}
    matchers = serve.deployment(Matchers if gateway is not None else serve.ingress()(Matchers)).options(
        name="Matchers",
        **limits,
        ray_actor_options={"num_cpus": config.matchers.cpus},
        # Ray hands a changed `user_config` to running replicas, which load it beside the old one without a restart.
        user_config=served(config),
        **_scale(config.matchers.replicas),
    )
    app = matchers.bind(handle, model, config.matchers.bots if config.several else None)
    if gateway is None:
        return app
    front = serve.deployment(serve.ingress()(Gateway)).options(
        name=GATEWAY,
        **limits,
        ray_actor_options={"num_cpus": gateway.cpus},
        **_scale(gateway.replicas),
    )
    return front.bind(app, options.limits.max_body, options.limits.body_seconds)


def served(config: ClusterConfig) -> dict[str, Any]:
    """Return what the matchers serve, as JSON values: the `user_config` of their deployment."""
    return {
        "source": config.source,
        "several": config.several,
        "settings": dict(config.settings),
        "server": {name: list(value) if isinstance(value, tuple) else value for name, value in config.server.items()},
        "store": config.store,
    }


def _config(args: Mapping[str, Any]) -> ClusterConfig:
    if _CONFIG not in args:
        return cluster_config(args)
    if more := sorted(args.keys() - {_CONFIG}):
        raise InputError(f"`config` names a file with everything: leave out {', '.join(more)}")
    return read_cluster_config(Path(args[_CONFIG]))


def _encoder_settings(config: ClusterConfig, encoder: SharedEncoder) -> dict[str, Any]:
    """Return the settings that load the shared encoder."""
    # What changes vectors, or how they are computed; the rest belongs to the matchers.
    names = ("device", "precision", "threads", "prompts")
    return {"encoder": encoder.model, **{name: config.settings[name] for name in names if name in config.settings}}


def _scale(replicas: Replicas) -> dict[str, Any]:
    scale = {
        "min_replicas": replicas.least,
        "max_replicas": replicas.most,
        "target_ongoing_requests": replicas.ongoing,
    }
    return {
        # When replicas are replaced, all new ones start before the old ones stop.
        "max_surge_percent": 100,
        **({"autoscaling_config": scale} if replicas.varies else {"num_replicas": replicas.least}),
    }
