"""The command line. Each command parses its options, makes one call into a room below, prints the result and exits."""

from intentmatch.cli.commands import main

__all__ = ["main"]
