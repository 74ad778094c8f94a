"""Each extra installs all that is imported for it.

An environment of a framework holds more than the extra, such as a web server for the tests. Here the adapter is
imported as if nothing else were installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from documents import extras_known
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from supply.extras import USES

ADAPTERS = {
    "agents365": "agents365",
    "aiogram": "aiogram",
    "botbuilder": "botbuilder",
    "discord": "discord",
    "langchain": "langchain",
    "mcp": "mcp",
    "ovos": "ovos",
    "pydantic-ai": "pydantic_ai",
    "rasa": "rasa",
    "redis": "redis",
    "slack": "slack",
    "telegram": "telegram",
}

HEAVY = {
    "torch": ["sentence_transformers", "intentmatch.adaptation"],
    "onnx-export": ["torch", "onnx", "onnxscript", "onnxruntime", "intentmatch.encoders.onnx_export"],
    "distill": ["torch", "tokenizers", "intentmatch.distill.run"],
}
"""Extras that take minutes to install, and what they are for. `tests/supply/extras.py` installs the other ones."""

IMPORT = """
import json, sys

hidden = set(json.loads(sys.argv[2]))

class WithoutHidden:
    def __init__(self, finder):
        self.finder, self.find_distributions = finder, getattr(finder, "find_distributions", lambda *_: [])

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(WithoutHidden, sys.meta_path)
for module in sys.argv[1].split():
    __import__(module)
"""


def installed_by(extra: str) -> set[str]:
    """Names of all distributions that an extra installs.

    Raises `PackageNotFoundError` if one of its own is missing, or is another release than the extra allows.
    """
    core = distribution("intentmatch").requires or []
    pending = [Requirement(line) for line in core if "extra ==" not in line]
    for wanted in extras_known()[extra]:
        pending.append(wanted)
        if not wanted.specifier.contains(distribution(wanted.name).version, prereleases=True):
            raise PackageNotFoundError(wanted)
    names: set[str] = set()
    seen: set[str] = set()
    while pending:
        wanted = pending.pop()
        if str(wanted) in seen:
            continue
        seen.add(str(wanted))
        if wanted.name == "intentmatch":
            pending += [each for inner in wanted.extras for each in extras_known()[inner]]
            continue
        try:
            requires = distribution(wanted.name).requires or []
        except PackageNotFoundError:
            continue
        names.add(canonicalize_name(wanted.name))
        inner = (Requirement(line) for line in requires)
        pending += [each for each in inner if _is_wanted(each, [*wanted.extras, ""])]
    return names


def _is_wanted(requirement: Requirement, extras: list[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


@pytest.mark.parametrize(
    "extra", [*sorted(ADAPTERS), *(pytest.param(name, marks=pytest.mark.end_to_end) for name in HEAVY)]
)
def test_extra_installs_what_is_imported(extra):
    try:
        wanted = installed_by(extra) | {"intentmatch"}
    except PackageNotFoundError as missing:
        pytest.skip(f"needs the package {missing}")
    hidden = [
        module for module, names in packages_distributions().items() if not wanted & set(map(canonicalize_name, names))
    ]

    modules = HEAVY.get(extra) or [f"intentmatch.integrations.{ADAPTERS[extra]}"]
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, " ".join(modules), json.dumps(hidden)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_every_extra_is_installed_alone_somewhere():
    """Here, in an environment of its own, or by `tests/supply/extras.py`."""
    together = {"all", "dev"}
    of_a_cluster = {"ray"}  # tests/integrations/test_ray.py, which has nothing but this extra

    assert set(extras_known()) == {*ADAPTERS, *HEAVY, *USES, *together, *of_a_cluster}
