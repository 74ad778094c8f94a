"""The command line: prints and exits; every command is a thin call into the rooms below."""

from intentmatch.cli.commands import main

__all__ = ["main"]
