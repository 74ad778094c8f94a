"""Write a software bill of materials (CycloneDX 1.6, JSON) of an installed intentmatch and what it depends on.

    python tests/supply/sbom.py -o light.json                    # the light install
    python tests/supply/sbom.py --extra all -o full.json         # with the extra `all`, as far as it is installed
    python tests/supply/sbom.py --path FOLDER -o light.json      # of another environment: FOLDER is its site-packages

Only packages that intentmatch depends on are listed, with version, licence and dependencies. The content depends on the
installed packages alone: two runs give the same bytes. The licences are summed up on standard error. The exit code is 1
if a package names no licence.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from importlib import metadata
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "intentmatch"
UNKNOWN = "unknown"
LONGEST_LICENCE = 60  # some packages put the whole text of their licence into the field


def environment(path: Path | None = None) -> dict[str, Distribution]:
    """The installed packages by normalised name: those of a site-packages folder, or of the running Python."""
    found = metadata.distributions() if path is None else metadata.distributions(path=[str(path)])
    installed: dict[str, Distribution] = {}
    for distribution in found:
        # The first one on the path is the one that is imported.
        installed.setdefault(canonicalize_name(distribution.metadata["Name"]), distribution)
    return installed


def collect(
    installed: dict[str, Distribution], extras: Iterable[str] = (), root: str = ROOT
) -> tuple[dict[str, list[str]], set[str]]:
    """Follow the requirements of a package and of some of its extras.

    Returns the names of the direct dependencies of each package that was reached, and the names of packages that are
    wanted but not installed. Raises `SystemExit` if the root is not installed or has no such extra.
    """
    if root not in installed:
        raise SystemExit(f"{root} is not installed there")
    if unknown := set(extras) - set(installed[root].metadata.get_all("Provides-Extra") or []):
        raise SystemExit(f"{root} {installed[root].version} has no extra {', '.join(sorted(unknown))}")
    depends: defaultdict[str, set[str]] = defaultdict(set)
    absent: set[str] = set()
    todo, seen = [(root, extra) for extra in ("", *extras)], set()
    while todo:
        name, extra = todo.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        depends[name] |= set()
        for line in installed[name].requires or []:
            wanted = Requirement(line)
            if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
                continue
            other = canonicalize_name(wanted.name)
            if other not in installed:
                absent.add(other)
                continue
            todo += [(other, inner) for inner in ("", *wanted.extras)]
            if other != name:
                depends[name].add(other)
    return {name: sorted(depends[name]) for name in sorted(depends)}, absent


def licences(distribution: Distribution) -> list[str]:
    """The licences that a package declares: its SPDX expression, else its classifiers, else its field `License`."""
    fields = distribution.metadata
    if expression := fields.get("License-Expression"):
        return [expression]
    classified = [
        line.rpartition(" :: ")[2] for line in fields.get_all("Classifier") or [] if line.startswith("License ::")
    ]
    if named := [name for name in classified if name != "OSI Approved"]:
        return sorted(set(named))
    first = (fields.get("License") or "").strip().partition("\n")[0].strip()
    return [first[:LONGEST_LICENCE]] if first else []


def bill(installed: dict[str, Distribution], depends: dict[str, list[str]], root: str = ROOT) -> dict[str, Any]:
    """The document, as CycloneDX 1.6 has it: https://cyclonedx.org/docs/1.6/json/."""
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": component(root, installed[root]) | {"type": "application"}},
        "components": [component(name, installed[name]) for name in depends if name != root],
        "dependencies": [
            {"ref": reference(installed[name], name), "dependsOn": [reference(installed[to], to) for to in others]}
            for name, others in depends.items()
        ],
    }


def component(name: str, distribution: Distribution) -> dict[str, Any]:
    """The entry of one package."""
    fields = distribution.metadata
    named = licences(distribution)
    entry: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference(distribution, name),
        "name": fields["Name"],
        "version": distribution.version,
        "purl": reference(distribution, name),
    }
    if summary := (fields.get("Summary") or "").strip():
        entry["description"] = summary
    if fields.get("License-Expression"):
        entry["licenses"] = [{"expression": named[0]}]
    elif named:
        entry["licenses"] = [{"license": {"name": licence}} for licence in named]
    return entry


def reference(distribution: Distribution, name: str) -> str:
    """The package URL; a local version such as `+cpu` is encoded."""
    return f"pkg:pypi/{name}@{distribution.version.replace('+', '%2B')}"


def by_licence(document: dict[str, Any]) -> dict[str, list[str]]:
    """The names of the packages of a document, by licence; `UNKNOWN` without one."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for entry in document["components"]:
        for choice in entry.get("licenses") or [{"expression": UNKNOWN}]:
            groups[choice.get("expression") or choice["license"]["name"]].append(entry["name"])
    return dict(sorted(groups.items()))


def main(arguments: list[str] | None = None) -> int:
    """Write the document and sum up what is in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extra", action="append", default=[], metavar="NAME", help="an extra; may be repeated")
    parser.add_argument("--path", type=Path, metavar="FOLDER", help="site-packages of another environment")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    options = parser.parse_args(arguments)
    installed = environment(options.path)
    depends, absent = collect(installed, options.extra)
    document = bill(installed, depends)
    options.output.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    groups = by_licence(document)
    print(f"{len(document['components'])} packages", file=sys.stderr)
    for licence, names in groups.items():
        print(f"  {licence}: {', '.join(names)}", file=sys.stderr)
    if absent:
        print(f"not installed, and so not listed: {', '.join(sorted(absent))}", file=sys.stderr)
    return 1 if UNKNOWN in groups else 0


if __name__ == "__main__":
    sys.exit(main())
