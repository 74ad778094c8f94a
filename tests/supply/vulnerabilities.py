"""Check a bill of materials against a local copy of the OSV database; nothing is downloaded.

    python tests/supply/vulnerabilities.py full.json [--database all.zip]

The database is the archive of the ecosystem PyPI that https://osv.dev publishes (`PyPI/all.zip`), or a folder of its
JSON files. The variable `OSV_DATABASE` names it too. Without a database, the check is skipped with a line that says so.
The exit code is 1 if a listed package has a known vulnerability.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

VARIABLE = "OSV_DATABASE"


def advisories(database: Path) -> Iterator[dict[str, Any]]:
    """The entries of an archive or a folder, without those that were withdrawn."""
    if database.is_dir():
        texts = (file.read_bytes() for file in sorted(database.rglob("*.json")))
    else:
        archive = zipfile.ZipFile(database)
        texts = (archive.read(name) for name in archive.namelist() if name.endswith(".json"))
    for text in texts:
        entry = json.loads(text)
        if "withdrawn" not in entry:
            yield entry


def is_affected(affected: dict[str, Any], version: str) -> bool:
    """Whether a version is in the list or the ranges of an `affected` entry: https://ossf.github.io/osv-schema/."""
    if version in affected.get("versions", []):
        return True
    ranges = [each["events"] for each in affected.get("ranges", []) if each["type"] == "ECOSYSTEM"]
    return any(_is_within(events, Version(version)) for events in ranges)


def _is_within(events: list[dict[str, str]], version: Version) -> bool:
    """Whether the last event at or before a version leaves it vulnerable."""
    within = False
    for kind, at in sorted(
        ((kind, at) for event in events for kind, at in event.items()), key=lambda pair: _of(pair[1])
    ):
        if kind == "introduced" and version >= _of(at):
            within = True
        elif (kind == "fixed" and version >= _of(at)) or (kind == "last_affected" and version > _of(at)):
            within = False
    return within


def _of(text: str) -> Version:
    """A version of the database; one that is not valid in Python counts as the first."""
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0")


def check(document: dict[str, Any], database: Path) -> list[str]:
    """One line for each vulnerability of each package of a CycloneDX document."""
    versions = {canonicalize_name(entry["name"]): entry["version"] for entry in document["components"]}
    found = set()
    for advisory in advisories(database):
        for affected in advisory.get("affected", []):
            package = affected.get("package", {})
            name = canonicalize_name(package.get("name", ""))
            if package.get("ecosystem") == "PyPI" and name in versions and is_affected(affected, versions[name]):
                found.add(f"{name} {versions[name]}: {advisory['id']} {advisory.get('summary', '')}".rstrip())
    return sorted(found)


def main(arguments: list[str] | None = None) -> int:
    """Print what is known against the packages of a document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bill", type=Path, metavar="FILE")
    parser.add_argument("--database", default=os.environ.get(VARIABLE), metavar="ZIP_OR_FOLDER")
    options = parser.parse_args(arguments)
    if not options.database or not Path(options.database).exists():
        where = f"{options.database} does not exist" if options.database else f"{VARIABLE} is not set"
        print(f"known vulnerabilities: skipped, there is no local database ({where})")
        return 0
    document = json.loads(options.bill.read_text(encoding="utf-8"))
    found = check(document, Path(options.database))
    print(*found, f"known vulnerabilities: {len(found)} in {len(document['components'])} packages", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
