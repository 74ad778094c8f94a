"""`intentmatch mcp`: offer a registry to agents as tools of the Model Context Protocol."""

from __future__ import annotations

from contextlib import ExitStack

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import confine_options, confined, load, set_option, takes_intents
from intentmatch.core.errors import InputError
from intentmatch.storage.postgres.address import Address


@cli.command()
@takes_intents(live=True)
@click.option("--allow-edits", is_flag=True, help="Allow agents to add utterances and intents to the YAML.")
@click.option("--watch", is_flag=True, help="Load changed files automatically.")
@confine_options
@set_option
def mcp(
    intents: str | Address,
    allow_edits: bool,
    watch: bool,
    confine: bool,
    allow: tuple[str, ...],
    settings: tuple[str, ...],
) -> None:
    """Serve the registry to agents over MCP.

    The Model Context Protocol runs on standard input and output; the agent's program starts this command. Agents can
    match messages, list the intents and inspect them. With --allow-edits they can also add utterances and intents: the
    agent sees the change first, a change that breaks the registry is not written, and the new files are loaded.

    \b
    Examples:
      intentmatch mcp intents/
      intentmatch mcp intents/ --allow-edits --watch
    """
    from intentmatch.registry import is_yaml

    if allow_edits and isinstance(intents, Address):
        raise InputError("agents edit files: --allow-edits does not go with a bot in PostgreSQL")
    if allow_edits and not is_yaml(str(intents)):
        raise InputError(f"{intents} is not YAML: --allow-edits needs the folder that the artefact was built from")
    from intentmatch.authoring.read_limits import named_on_disk
    from intentmatch.integrations.mcp import intent_server

    # Agents are authors: what they add may not name more files and servers than the operator allows.
    matcher = load(intents, confined(settings, confine=confine, allow=allow), named_on_disk(intents))
    server = intent_server(matcher, editable=str(intents) if allow_edits else None)
    with ExitStack() as open_watch:
        if watch:
            open_watch.enter_context(matcher.watch())
        server.run("stdio")
