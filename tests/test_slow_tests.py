"""The list of slow tests names tests that exist, and is applied to them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import slow_tests

ENTRIES = sorted(slow_tests.read())
HINT = "rename or remove them in tests/slow_tests.txt"


@cache
def names_in(file: Path) -> set[str]:
    """The test functions of a file, those of classes as `Class::test`, and the classes."""
    names = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):  # a test that a contract makes
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.ClassDef):
            names.add(node.name)
            names |= {f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return names


def exists(entry: str) -> bool:
    path, _, name = entry.partition("::")
    file = slow_tests.TESTS / path
    return file.is_file() and (not name or name in names_in(file))


def test_listed_tests_exist():
    assert [entry for entry in ENTRIES if not exists(entry)] == [], HINT


def test_list_is_sorted_and_has_no_duplicates():
    """A test of a listed file needs no entry of its own."""
    lines = slow_tests.LIST.read_text(encoding="utf-8").splitlines()
    entries = [line for line in lines if not line.startswith("#")]

    assert entries == ENTRIES
    assert [entry for entry in entries if entry.partition("::")[0] in set(entries) - {entry}] == []


def test_entries_apply_to_files_functions_and_parameters():
    entries = {"a/test_one.py", "a/test_two.py::test_slow", "a/test_two.py::TestSlow"}

    assert slow_tests.is_listed("tests/a/test_one.py::test_any", entries)
    assert slow_tests.is_listed("tests/a/test_two.py::test_slow[1-x::y]", entries)
    assert slow_tests.is_listed("tests/a/test_two.py::TestSlow::test_any", entries)
    assert not slow_tests.is_listed("tests/a/test_two.py::test_slower", entries)
    assert not slow_tests.is_listed("tests/b/test_one.py::test_any", entries)


def test_slowest_functions_are_chosen_until_the_rest_is_fast_enough():
    """Parameters, set-up and calls of a function count together."""
    durations = [
        "12.00s call     tests/a/test_one.py::test_slow",
        "3.00s setup    tests/a/test_one.py::test_many[a b]",
        "2.50s call     tests/a/test_one.py::test_many[c]",
        "1.00s call     tests/b/test_two.py::TestIt::test_fast",
        "============ 4 passed in 20.00s ============",
    ]

    assert slow_tests.choose(durations, 10) == ["a/test_one.py::test_slow"]
    assert slow_tests.choose(durations, 2) == ["a/test_one.py::test_many", "a/test_one.py::test_slow"]
    assert slow_tests.choose(durations, 100) == []
