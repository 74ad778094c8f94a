"""The command line: prints and exits; every command is a thin call into the rooms below."""

from intentmatch.cli import evaluate
from intentmatch.cli.commands import main
from intentmatch.cli.lint import lint
from intentmatch.cli.thresholds import explain_thresholds

__all__ = ["evaluate", "explain_thresholds", "lint", "main"]
