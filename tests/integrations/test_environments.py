"""The environments of adapters and examples that `run.py` makes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NAMES = sorted(path.stem for path in HERE.glob("*.txt"))
SHARED = {"activities", "credentials", "deliveries", "routes", "tools"}
ADAPTERS = sorted(path.stem for path in (ROOT / "intentmatch" / "integrations").glob("[!_]*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_environment_has_tests_and_exact_versions(name):
    lines = (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    manifest = HERE / f"{name}.package.json"
    packages = json.loads(manifest.read_text(encoding="utf-8"))["dependencies"] if manifest.exists() else {}

    assert (HERE / f"test_{name}.py").exists()
    assert [line for line in lines if not re.match(r"#|[\w.\[\],-]+==[\w.+!]+( ;.*)?$", line)] == []
    assert [version for version in packages.values() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []


@pytest.mark.parametrize("name", [name for name in ADAPTERS if name not in SHARED])
def test_adapter_has_an_environment(name):
    """Only modules that adapters share have none."""
    assert name in NAMES


@pytest.mark.parametrize("readme", sorted((ROOT / "examples").glob("*/README.md")), ids=lambda path: path.parent.name)
def test_readme_of_example_is_short(readme):
    """At most fifteen lines, so that a newcomer reads it to the end."""
    lines = [line for line in readme.read_text(encoding="utf-8").splitlines() if line.strip()]

    assert lines[0].startswith("# ")
    assert len(lines) <= 15
