"""The command `mcp`: the registry as tools of agents."""

from __future__ import annotations

from contextlib import ExitStack

import click

from intentmatch.cli.commands import cli, intents_argument, load, set_option
from intentmatch.core.errors import InputError


@cli.command()
@intents_argument
@click.option("--allow-edits", is_flag=True, help="Agents may add utterances and intents to the YAML.")
@click.option("--watch", is_flag=True, help="Take up files that change by themselves.")
@set_option
def mcp(intents: str, allow_edits: bool, watch: bool, settings: tuple[str, ...]) -> None:
    """Let an agent match messages with INTENTS, list them and look into them, over the Model Context Protocol.

    It speaks on standard input and output; the agent's program starts it. With --allow-edits the agent may add
    utterances and intents: it gets to see the change first, and nothing is written that the registry would not load
    with. The matcher then answers from the new files.

    \b
    Examples:
      intentmatch mcp intents/
      intentmatch mcp intents/ --allow-edits --watch
    """
    from intentmatch.registry import is_yaml

    if allow_edits and not is_yaml(intents):
        raise InputError(f"{intents} is no YAML: --allow-edits goes with the folder that it was built from")
    from intentmatch.integrations.mcp import intent_server

    matcher = load(intents, settings)
    server = intent_server(matcher, editable=intents if allow_edits else None)
    with ExitStack() as open_watch:
        if watch:
            open_watch.enter_context(matcher.watch())
        server.run("stdio")
