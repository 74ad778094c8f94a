"""The command `serve`: the webhook under uvicorn, with our log beside its."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import click

from intentmatch import plugins
from intentmatch.cli.commands import cli, intents_argument, load, set_option


@cli.command()
@intents_argument
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", "-p", default=8080, show_default=True, type=click.IntRange(0, 65535))
@click.option("--watch", is_flag=True, help="Take up files that change by themselves; broken ones are told in the log.")
@click.option("--max-text", default=2000, show_default=True, type=click.IntRange(1), help="Characters of a message.")
@click.option("--max-batch", default=256, show_default=True, type=click.IntRange(1), help="Messages of a batch.")
@click.option("--max-body", default=1_000_000, show_default=True, type=click.IntRange(1), help="Bytes of a request.")
@click.option(
    "--protocol", "protocols", multiple=True, metavar="NAME", help="Also speak rasa, clu, dialogflow or openai."
)
@click.option(
    "--fulfillment", metavar="URL", help="Dialogflow's webhook, for intents with `metadata: {webhook: true}`."
)
@set_option
def serve(
    intents: str,
    host: str,
    port: int,
    watch: bool,
    max_text: int,
    max_batch: int,
    max_body: int,
    protocols: tuple[str, ...],
    fulfillment: str | None,
    settings: tuple[str, ...],
) -> None:
    """Serve INTENTS over HTTP; the interface is described at /docs.

    \b
    Examples:
      intentmatch serve intents/ --port 8080 --watch &
      curl -s localhost:8080/match -H 'content-type: application/json' -d '{"text": "wo ist mein Paket?"}'
      intentmatch serve intents/ --protocol rasa --port 5005
      intentmatch serve intents/ --set inbox=misses.sqlite
    """
    uvicorn = plugins.require("uvicorn", what="The webhook", extra="server")
    from intentmatch.server import create_app

    app = create_app(
        load(intents, settings),
        watch=watch,
        max_text=max_text,
        max_batch=max_batch,
        max_body=max_body,
        protocols=protocols,
        fulfillment=fulfillment,
    )
    uvicorn.run(app, host=host, port=port, log_config=_log_config(uvicorn.config.LOGGING_CONFIG))


def _log_config(uvicorns: dict[str, Any]) -> dict[str, Any]:
    """uvicorn's, which would otherwise keep what we say to itself."""
    config = deepcopy(uvicorns)
    config["loggers"]["intentmatch"] = {"handlers": ["default"], "level": "INFO", "propagate": False}
    return config
