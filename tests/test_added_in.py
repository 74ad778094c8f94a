"""What a public name says about the version that added it: users of 0.2 see what they cannot count on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

import intentmatch

PACKAGE = Path(intentmatch.__file__).parent
BASES = {"Matcher": "matching.snapshot:BaseMatcher"}
DEEP = {
    "BotFolder": "server.bots.folder",
    "Format": "formats.kit.format",
    "Inbox": "inbox",
    "create_app": "server.app",
    "evaluate": "evaluation",
    "hmac_sha256": "server.auth.signatures",
    "read_report": "evaluation",
    "slack": "server.auth.signatures",
}
"""The deep imports of the guide page `python-api`, without the adapters."""
HOMES = {**intentmatch._HOMES, **DEEP}
OLD = yaml.safe_load((Path(__file__).parent / "public_api_0.2.yaml").read_text(encoding="utf-8"))
"""Public name -> its members in 0.2.0, each function with its parameters."""
ADDED = re.compile(r"[Aa]dded\s+in\s+\d+\.\d+\.\d+")


class Member(NamedTuple):
    """A function, property or field; a public function is a member of its own with the name ""."""

    name: str
    parameters: frozenset[str]
    doc: str


@cache
def tree_of(module: str) -> ast.Module:
    file = PACKAGE / f"{module.replace('.', '/')}.py"
    return ast.parse((file if file.exists() else file.with_suffix("") / "__init__.py").read_text(encoding="utf-8"))


def definition(module: str, name: str) -> ast.ClassDef | ast.FunctionDef:
    """Return where a name is defined, through the imports of a package."""
    tree = tree_of(module)
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return definition(str(node.module).removeprefix("intentmatch."), name)
    raise LookupError(f"{module} has no {name}")


def function(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Member:
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return Member(name, frozenset(each.arg for each in every) - {"self", "cls"}, ast.get_docstring(node) or "")


def members(node: ast.ClassDef | ast.FunctionDef) -> Iterator[Member]:
    if isinstance(node, ast.FunctionDef):
        yield function(node, "")
        return
    for each, behind in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            if each.name == "__init__" or not each.name.startswith("_"):
                yield function(each, each.name)
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.target.id[0] != "_":
            said = behind.value if isinstance(behind, ast.Expr) else None
            doc = said.value if isinstance(said, ast.Constant) and isinstance(said.value, str) else ""
            yield Member(each.target.id, frozenset(), doc)


def old_members(written: str) -> dict[str, frozenset[str]]:
    found = re.findall(r"(\w*)(?:\(([^)]*)\))?(?:\s+|$)", written)
    return {name: frozenset(parameters.split()) for name, parameters in found if name or parameters}


@pytest.mark.parametrize("name", sorted(HOMES))
def test_members_later_than_0_2_say_since_when(name: str) -> None:
    """A new class says it once; of a class that was there, each new member and parameter does."""
    node = definition(HOMES[name], name)
    about = ast.get_docstring(node) or ""
    if name not in OLD:
        assert ADDED.search(about)
        return
    old = old_members(OLD[name] or "")
    current = list(members(node))
    if name in BASES:
        module, base = BASES[name].split(":")
        current += members(definition(module, base))
    silent = []
    for member in current:
        new = {member.name} if member.name not in old else member.parameters - old[member.name]
        says_itself = ADDED.search(member.doc) and (
            member.name in new or all(f"`{each}`" in member.doc for each in new)
        )
        # What concerns the class as a whole, such as its arguments, may stand in the docstring of the class.
        class_says = ADDED.search(about) and all(f"`{each}`" in about for each in new)
        if new and not (says_itself or class_says):
            silent.append((member.name, sorted(new)))

    assert silent == []
