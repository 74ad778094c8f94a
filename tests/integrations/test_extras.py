"""Each extra installs all that its adapter imports.

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

IMPORT = """
import json, sys

hidden = set(json.loads(sys.argv[2]))

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
__import__(sys.argv[1])
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


@pytest.mark.parametrize("extra", sorted(ADAPTERS))
def test_adapter_is_imported_with_its_extra_alone(extra):
    try:
        wanted = installed_by(extra) | {"intentmatch"}
    except PackageNotFoundError as missing:
        pytest.skip(f"needs the package {missing}")
    hidden = [
        module for module, names in packages_distributions().items() if not wanted & set(map(canonicalize_name, names))
    ]

    module = f"intentmatch.integrations.{ADAPTERS[extra]}"
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, module, json.dumps(hidden)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
