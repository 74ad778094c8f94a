"""Ray Serve: matchers, gateway and encoder as deployments that Ray spreads over the nodes of a cluster.

`build_app` makes the application for `serve run`, for the configuration file of Serve and for KubeRay; `deploy` puts it
on a running cluster. Ray is imported in this package only, and only when one of the two is called.

```text
              one bot                                     several bots
request -> proxy of Serve -> matchers           request -> proxy of Serve -> gateway -> matchers
                                |                                                         |
                             encoder                                                   encoder
```

Each replica of the matchers runs the app of `server.create_app`. The static encoder is a part of it; a transformer is a
deployment of its own, which all of them share.
"""

from __future__ import annotations

from intentmatch.deploy.ray.application import build_app
from intentmatch.deploy.ray.rollout import deploy

__all__ = ["build_app", "deploy"]
