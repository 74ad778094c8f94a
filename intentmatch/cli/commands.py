"""The command group: which commands exist, under which heading of `--help`, and in which file."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

import intentmatch
from intentmatch.cli.render import output
from intentmatch.cli.render.legacy_streams import escape_unencodable
from intentmatch.core.errors import IntentMatchError
from intentmatch.text.printable import shown

# The modules are imported when a command is needed, so that `match` starts quickly.
HEADINGS: Mapping[str, Mapping[str, str]] = {
    "Match": {"match": "match", "chat": "chat"},
    "Author": {
        "init": "init",
        "validate": "check",
        "lint": "check",
        "format": "edit",
        "add": "edit",
        "move": "edit",
        "rename": "edit",
        "remove": "edit",
        "revisions": "revisions",
        "restore": "revisions",
        "inbox": "inbox",
        "grow": "grow",
        "review": "review",
        "studio": "studio",
        "push": "database",
        "pull": "database",
        "log": "database",
        "schema": "check",
        "languages": "languages",
        "guide": "guide",
    },
    "Measure": {
        "eval": "evaluate",
        "diff": "diff",
        "replay": "replay",
        "drift": "drift",
        "tune": "tune",
        "explain-thresholds": "thresholds",
    },
    "Operate": {
        "build": "build",
        "serve": "serve",
        "deploy": "deploy",
        "mcp": "mcp",
        "migrate": "database",
        "keys": "keys",
        "encoders": "encoders",
        "adapt": "adapt",
        "export-onnx": "encoders",
        "distill": "distill",
        "distill-acts": "distill",
        "distill-answers": "distill",
        "distill-context": "distill",
        "distill-values": "distill",
        "measure-languages": "distill",
    },
    "Convert": {"import": "convert", "export": "convert", "formats": "convert"},
}
"""Heading of `intentmatch --help` -> command -> module in `intentmatch.cli` that defines the command."""

_MODULES = {name: module for commands in HEADINGS.values() for name, module in commands.items()}
_OBJECTS_BETWEEN_COLLECTIONS = 200_000


class Command(click.Command):
    """A command whose registry Tab completes in its positional form too, which click does not know."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete options; for a word that is none, files and folders if the registry may stand here."""
        from intentmatch.cli.options import PositionalOption

        takes_registry = any(isinstance(parameter, PositionalOption) for parameter in self.params)
        if incomplete.startswith("-") or not takes_registry:
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(incomplete, type="file")]


class CommandGroup(click.Group):
    """A group that lists its commands under headings and turns errors of intentmatch into exit codes."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order of `--help`."""
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command, which registers the command, and return the command."""
        # Importing all commands takes longer than matching a message.
        if cmd_name not in self.commands and cmd_name in _MODULES:
            importlib.import_module(f"intentmatch.cli.{_MODULES[cmd_name]}")
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per heading, each command with the whole first sentence of its help."""
        # One width for all headings, so that the descriptions stand below each other.
        width = max(map(len, _MODULES))
        for heading, names in HEADINGS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name.ljust(width), first_sentence(command)) for name, command in commands if command]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; print an IntentMatchError and exit with its code."""
        try:
            return super().invoke(ctx)
        except IntentMatchError as raised:
            output.error(raised)
            ctx.exit(raised.exit_code)
        except click.ClickException as raised:  # click prints it: it may name a file
            raised.message = shown(raised.message)  # type: ignore[misc]
            raise


def first_sentence(command: click.Command) -> str:
    """Return the first sentence of a command's help, without the full stop."""
    # Click cuts at 45 letters by default, in the middle of a sentence.
    return command.get_short_help_str(limit=1_000)


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(intentmatch.__version__, prog_name="intentmatch")
def cli() -> None:
    """Match messages to intents written in YAML: one intent, several close ones, or out of scope.

    `intentmatch COMMAND --help` explains a command and shows examples.

    \b
    Exit codes:
      0  done
      1  a check failed (eval, lint, diff, format --check), or any other error
      2  the input is wrong: a command, a setting or a file
      5  something has to be installed or downloaded first
    `match` with a single message: 0 matched, 3 ambiguous, 4 out of scope.
    """


def main() -> None:
    """Run the command line."""
    # A command is short-lived: it creates hundreds of thousands of objects and little garbage. With Python's default
    # threshold of 700 objects, garbage collection takes a sixth of the time of `match`.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    escape_unencodable()
    try:
        cli.main()
    finally:
        # Spares the interpreter a last collection over everything that is freed at exit anyway.
        gc.freeze()
