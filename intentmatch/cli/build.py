"""`intentmatch build`: write a registry as one artefact file."""

from __future__ import annotations

import time
from pathlib import Path

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import load, set_option, takes_intents
from intentmatch.cli.render import output
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core.errors import counted
from intentmatch.storage.postgres.address import Address


@cli.command()
@takes_intents(live=True)
@click.option(
    "--output", "-o", "target", required=True, type=click.Path(dir_okay=False), help="Artefact file to write."
)
@click.option(
    "--sign", "key", metavar="KEY", type=click.Path(dir_okay=False),
    help="PEM file of an ed25519 private key that signs the artefact.",
)  # fmt: skip
@set_option
@quiet_option
def build(intents: str | Address, target: str, key: str | None, settings: tuple[str, ...]) -> None:
    """Build a registry into one artefact file.

    The file holds vectors, trained head and thresholds. It needs no YAML and can be copied to another machine.

    \b
    Examples:
      intentmatch build -o a.intentmatch && intentmatch match -i a.intentmatch hi
    """
    from intentmatch.artefact.store import save_artefact

    start = time.perf_counter()
    matcher = load(intents, settings)
    artefact = matcher.artefact
    save_artefact(artefact, target, key=key)
    size = Path(target).stat().st_size / 1e6
    registry = artefact.registry
    contents = f"{counted(len(registry), 'intent')}, {counted(registry.utterance_count, 'utterance')}"
    output.say(f"{target}: {contents}, {size:.1f} MB")
    if key is not None:
        output.say(f"  signed with {key}")
    output.say(f"  encoder {artefact.encoder_name}, fingerprint {artefact.fingerprint}")
    output.say(f"  in {time.perf_counter() - start:.1f} s")
    # Last, where warnings are seen.
    output.problems(matcher.problems, "human")
