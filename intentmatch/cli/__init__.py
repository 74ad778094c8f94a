"""The command line: prints and exits; every command is a thin call into the rooms below."""

from intentmatch.cli import evaluate
from intentmatch.cli.chat import chat
from intentmatch.cli.commands import main
from intentmatch.cli.diff import diff
from intentmatch.cli.edit import add, format_, move, remove, rename
from intentmatch.cli.encoders import encoders_, export_onnx
from intentmatch.cli.formats import export, formats_, import_
from intentmatch.cli.inbox import inbox
from intentmatch.cli.lint import lint
from intentmatch.cli.mcp import mcp
from intentmatch.cli.schema import schema
from intentmatch.cli.serve import serve
from intentmatch.cli.thresholds import explain_thresholds
from intentmatch.cli.tune import tune

__all__ = [
    "add",
    "chat",
    "diff",
    "encoders_",
    "evaluate",
    "explain_thresholds",
    "export",
    "export_onnx",
    "format_",
    "formats_",
    "import_",
    "inbox",
    "lint",
    "main",
    "mcp",
    "move",
    "remove",
    "rename",
    "schema",
    "serve",
    "tune",
]
