"""Rule ids found in the source code."""

from __future__ import annotations

import ast
from pathlib import Path

SEVERITIES = ("error", "warning", "info")
SEVERITY_BY_METHOD = {"error": "error", "warn": "warning"}


def rules_in(folder: Path) -> set[tuple[str, str]]:
    """Return the id and severity of every problem that the code in a folder reports."""
    found = set()
    for file in folder.rglob("*.py"):
        for call in (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)):
            constants = [node.value if isinstance(node, ast.Constant) else None for node in call.args]
            if constants[1:2] and constants[1] in SEVERITIES and isinstance(constants[2], str):
                found.add((constants[2], constants[1]))
            elif (
                isinstance(call.func, ast.Attribute)
                and call.func.attr in SEVERITY_BY_METHOD
                and len(constants) > 2
                and isinstance(constants[1], str)  # a rule in a variable is named where the variable is set
            ):
                found.add((constants[1], SEVERITY_BY_METHOD[call.func.attr]))
    return found
