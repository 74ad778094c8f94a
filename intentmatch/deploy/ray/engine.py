"""Ray itself: whether it is installed, and which of its errors mean that a replica is gone or busy."""

from __future__ import annotations

from typing import Any

from intentmatch.core import plugins

SECONDS_TO_RECOVER = 30.0
"""How long a call that lost its replica is tried again on others."""
SECONDS_BETWEEN_TRIES = 0.1


def require_serve() -> Any:
    """Return the module `ray.serve`. Raises `MissingExtraError` without the extra `ray`."""
    return plugins.require("ray.serve", what="Ray Serve", extra="ray")


def is_full(error: BaseException) -> bool:
    """Whether an error of a call means that too many calls wait for the replicas."""
    from ray.serve.exceptions import BackPressureError

    return isinstance(error, BackPressureError)


def is_lost(error: BaseException) -> bool:
    """Whether an error of a call means that its replica or node has died, or that no replica runs at the moment."""
    from ray.exceptions import NodeDiedError, ObjectLostError, RayActorError
    from ray.serve.exceptions import DeploymentUnavailableError

    return isinstance(error, (RayActorError, NodeDiedError, ObjectLostError, DeploymentUnavailableError))
