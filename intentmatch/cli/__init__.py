"""The command line: prints and exits; every command is a thin call into the rooms below."""

from intentmatch.cli import evaluate
from intentmatch.cli.chat import chat
from intentmatch.cli.commands import main
from intentmatch.cli.diff import diff
from intentmatch.cli.edit import add, format_, move, remove, rename
from intentmatch.cli.formats import export, formats_, import_
from intentmatch.cli.inbox import inbox
from intentmatch.cli.lint import lint
from intentmatch.cli.schema import schema
from intentmatch.cli.serve import serve
from intentmatch.cli.thresholds import explain_thresholds
from intentmatch.cli.tune import tune

__all__ = [
    "add",
    "chat",
    "diff",
    "evaluate",
    "explain_thresholds",
    "export",
    "format_",
    "formats_",
    "import_",
    "inbox",
    "lint",
    "main",
    "move",
    "remove",
    "rename",
    "schema",
    "serve",
    "tune",
]
