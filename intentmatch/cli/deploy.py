"""The command `deploy`: put bots on an engine for many machines."""

from __future__ import annotations

from pathlib import Path

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import FILE
from intentmatch.cli.render import output
from intentmatch.core import plugins
from intentmatch.core.errors import counted


@cli.group()
def deploy() -> None:
    """Put bots on an engine for many machines.

    \b
    Example:
      intentmatch deploy ray --config cluster.yaml --check
    """


@deploy.command()
@click.option("--config", type=FILE, required=True, help="What to serve, and how many replicas: cluster.yaml.")
@click.option("--address", default="auto", show_default=True, help="The cluster, as for ray.init.")
@click.option("--check", is_flag=True, help="Only check the file; this takes neither Ray nor a cluster.")
def ray(config: Path, address: str, check: bool) -> None:
    """Serve bots on a Ray cluster.

    On a cluster that runs them already, new replicas start before the old ones stop, and no request is dropped. A file
    that adds or removes the gateway is refused, because Ray drops requests then. If the bots have errors, nothing
    changes.

    \b
    Examples:
      ray start --head
      intentmatch deploy ray --config cluster.yaml
      intentmatch deploy ray --config cluster.yaml --check
    """
    from intentmatch.deploy.cluster_file import read_cluster_config

    found = read_cluster_config(config)
    if check:
        output.say(f"{config} is valid.")
        return
    # After the check of the file, which must work where Ray is not installed.
    plugins.check_installed("ray", what="Ray Serve", extra="ray")
    from intentmatch.deploy.ray import deploy as deploy_on_ray

    fingerprints = deploy_on_ray(found, address)
    rows = sorted(fingerprints.items())
    output.table(["bot", "fingerprint"], [[name, fingerprint] for name, fingerprint in rows])
    place = f"http://{found.http.host}:{found.http.port}{found.route_prefix.rstrip('/')}/"
    output.say(f"{counted(len(rows), 'bot')} at {place}")
