"""The ids of rules as they stand in source code."""

from __future__ import annotations

import ast
from pathlib import Path

SEVERITIES = ("error", "warning", "info")
OF_METHODS = {"error": "error", "warn": "warning"}


def rules_in(folder: Path) -> set[tuple[str, str]]:
    """Id and severity of every problem that the files of a folder note."""
    found = set()
    for file in folder.rglob("*.py"):
        for call in (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)):
            constants = [node.value if isinstance(node, ast.Constant) else None for node in call.args]
            if constants[1:2] and constants[1] in SEVERITIES and isinstance(constants[2], str):
                found.add((constants[2], constants[1]))
            elif isinstance(call.func, ast.Attribute) and call.func.attr in OF_METHODS and len(constants) > 2:
                found.add((constants[1], OF_METHODS[call.func.attr]))
    return found
