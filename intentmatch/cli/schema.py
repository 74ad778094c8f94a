"""`intentmatch schema`: what the YAML may look like, for editors."""

from __future__ import annotations

import json

import click

from intentmatch.cli.commands import cli


@cli.command()
def schema() -> None:
    """Print the JSON Schema of the YAML, by which editors complete and check it as it is written.

    \b
    Example:
      intentmatch schema > intents.schema.json
    and, as the first line of a file, for the YAML plugin of VS Code:
      # yaml-language-server: $schema=intents.schema.json
    """
    from intentmatch.registry.reading.schema import schema as of_files

    click.echo(json.dumps(of_files(), indent=2, ensure_ascii=False).encode())
