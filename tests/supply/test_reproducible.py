"""Two builds of the same files give the same bytes, wherever and whenever they are made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from documents import ROOT

pytestmark = pytest.mark.end_to_end

BUILD = "import hatchling.build as b, sys; print(b.build_wheel(sys.argv[1])); print(b.build_sdist(sys.argv[1]))"
PARTS = (
    ".ci",
    "intentmatch",
    "intents",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CITATION.cff",
    "LICENSE",
)


def build(tree, out, **variables):
    """Build wheel and source distribution of a tree; return their bytes by name."""
    out.mkdir()
    surroundings = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"} | variables
    command = [sys.executable, "-c", BUILD, str(out)]
    subprocess.run(command, cwd=tree, env=surroundings, check=True, capture_output=True, timeout=120)
    return {file.name: file.read_bytes() for file in out.iterdir()}


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """Two copies of the project with other times and permissions of files; the tests are left out to save time."""
    made = []
    for name, time, mode in (("one", 1_000_000_000, 0o644), ("two", 1_700_000_000, 0o600)):
        tree = tmp_path_factory.mktemp(name) / "clone"
        tree.mkdir()
        for part in PARTS:
            source = ROOT / part
            copy = shutil.copytree if source.is_dir() else shutil.copyfile
            options = {"ignore": shutil.ignore_patterns("__pycache__")} if source.is_dir() else {}
            copy(source, tree / part, **options)
        for file in tree.rglob("*"):
            if file.is_file():
                file.chmod(mode)
                os.utime(file, (time, time))
        made.append(tree)
    return made


@pytest.mark.parametrize(
    "variables",
    [
        pytest.param({}, id="default"),
        pytest.param({"SOURCE_DATE_EPOCH": "1750000000"}, id="SOURCE_DATE_EPOCH", marks=pytest.mark.full_length),
    ],
)
def test_two_builds_give_the_same_bytes(variables, trees, tmp_path):
    one = build(trees[0], tmp_path / "one", **variables)
    two = build(trees[1], tmp_path / "two", **variables)

    assert sorted(name[-4:] for name in one) == [".whl", "r.gz"]
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


def test_a_changed_file_changes_both(trees, tmp_path):
    before = build(trees[0], tmp_path / "before")
    (trees[0] / "README.md").write_text("# Another", encoding="utf-8")

    after = build(trees[0], tmp_path / "after")

    assert [name for name in before if before[name] == after[name]] == []
