"""The list of faults for `mutations.py` fits the tree."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import mutations

PACKAGE = mutations.TREE / "intentmatch"
WITHOUT_FAULTS = {"encoders/multilingual-static", "guide/studio"}
"""Folders that hold a model or pictures alone."""


def test_each_fault_applies_once_and_leaves_python_that_compiles() -> None:
    """Change a fault together with the line that it is about."""
    for mutation in mutations.read():
        text = mutation.applied((PACKAGE / mutation.file).read_text(encoding="utf-8"))
        if mutation.file.endswith(".py"):
            ast.parse(text)


def test_every_folder_of_the_package_has_a_fault() -> None:
    files = [file.relative_to(PACKAGE) for file in PACKAGE.rglob("*.*") if "__pycache__" not in file.parts]
    folders = {file.parent.as_posix() for file in files if (PACKAGE / file).is_file()}

    assert folders - WITHOUT_FAULTS - {mutation.room for mutation in mutations.read()} == set()


def test_faults_are_many_and_different() -> None:
    found = mutations.read()

    assert len(found) >= 60
    assert len({mutation.key for mutation in found}) == len(found)
    assert all(mutation.breaks for mutation in found)


def test_each_fault_has_tests_of_its_own_room() -> None:
    for mutation in mutations.read():
        wanted = mutations.own_tests(mutation) + mutations.folder_tests(mutation)
        assert wanted or mutation.room in (".", "guide"), mutation.file
        assert all((mutations.TREE / name).exists() for name in wanted), wanted
