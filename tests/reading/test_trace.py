"""The names in a trace: the types in `core.result` list the stages that the pipeline emits, and no others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import intentmatch
from intentmatch.core.result import DecidedBy, StageName

PACKAGE = Path(intentmatch.__file__).parent
SOURCES = sorted(source for room in ("reading", "matching") for source in (PACKAGE / room).glob("*.py"))


def nodes() -> Iterator[ast.AST]:
    for source in SOURCES:
        yield from ast.walk(ast.parse(source.read_text(encoding="utf-8")))


def texts(node: ast.AST) -> set[str]:
    """The string constants that an expression may evaluate to."""
    if isinstance(node, ast.IfExp):
        return texts(node.body) | texts(node.orelse)
    if isinstance(node, ast.Tuple):
        return set().union(*map(texts, node.elts))
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def emitted_stages() -> set[str]:
    """First arguments of `stages.add(...)` and `Stage(...)`, and the checks, which add a stage themselves."""
    found = checks()
    for node in nodes():
        if not isinstance(node, ast.Call) or not node.args:
            continue
        adds = isinstance(node.func, ast.Attribute) and node.func.attr == "add" and ast.unparse(node.func.value)
        if adds == "stages" or (isinstance(node.func, ast.Name) and node.func.id == "Stage"):
            found |= texts(node.args[0])
    return found


def checks() -> set[str]:
    """First arguments of `.after(...)`."""
    calls = (node for node in nodes() if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
    return set().union(*(texts(node.args[0]) for node in calls if node.func.attr == "after"))


def emitted_deciders() -> set[str]:
    """Values of `decided_by`, of the variables of type `DecidedBy`, and the checks."""
    arguments = [node.value for node in nodes() if isinstance(node, ast.keyword) and node.arg == "decided_by"]
    annotated = [n.value for n in nodes() if isinstance(n, ast.AnnAssign) and ast.unparse(n.annotation) == "DecidedBy"]
    assigned = [n.value for n in nodes() if isinstance(n, ast.Assign) and "decided_by" in ast.unparse(n.targets[0])]
    return checks().union(*(texts(value) for value in [*arguments, *annotated, *assigned] if value))


def test_type_lists_every_stage_that_the_pipeline_emits() -> None:
    assert emitted_stages() == set(get_args(StageName))


def test_type_lists_every_stage_that_decides() -> None:
    assert emitted_deciders() == set(get_args(DecidedBy))


def test_documentation_of_decided_by_names_every_stage_that_decides() -> None:
    source = Path(intentmatch.__file__).parent / "core" / "result.py"
    documented = source.read_text(encoding="utf-8").partition("decided_by: DecidedBy\n")[2].partition('."""')[0]

    assert {name for name in get_args(DecidedBy) if f'"{name}"' in documented} == set(get_args(DecidedBy))
