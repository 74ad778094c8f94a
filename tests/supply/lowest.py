"""Run the fast tests with the lowest releases that pyproject.toml allows.

    python tests/supply/lowest.py [--keep FOLDER]     # FOLDER keeps the environment for the next run

Each direct requirement of the light install and of `EXTRAS` is installed at its lower bound; their own dependencies are
as new as they allow. The lowest numpy has wheels for Python 3.10 and 3.11 only; under other versions nothing runs.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from packaging.requirements import Requirement

sys.path.insert(0, str(Path(__file__).parents[1]))

from documents import extras_known
from environments import ROOT, WARNINGS, Ran, install, not_installed, print_outcomes, run_pytest

EXTRAS = ("dates", "redis", "server", "signing", "spreadsheets", "telemetry", "tokenizers")
FOLDERS = ("artefact", "core", "matching", "registry", "server", "slots", "storage", "text")
# What these tests need besides, as new as possible. The test client of the lowest Starlette needs httpx.
TOOLS = ("fakeredis", "httpx", "httpx2", "jsonschema", "opentelemetry-sdk")
LEFT_OUT = "tests/server/test_server_schemathesis.py"  # schemathesis needs a newer rich
PYTHONS = ((3, 10), (3, 11))
SECONDS = 1800  # beside other work; about 300 otherwise


def lower_bounds() -> list[str]:
    """`NAME==LOWEST` for each direct requirement, sorted. Raises `ValueError` if a requirement has no lower bound."""
    pins, todo, seen = set(), list(EXTRAS), set()
    wanted = [*core_requirements()]
    known = extras_known()
    while todo:
        extra = todo.pop()
        if extra not in seen:
            seen.add(extra)
            wanted += known[extra]
    while wanted:
        requirement = wanted.pop()
        if requirement.name == "intentmatch":
            wanted += [inner for extra in requirement.extras for inner in known[extra]]
        else:
            pins.add(lowest(requirement))
    return sorted(pins, key=str.lower)


def core_requirements() -> list[Requirement]:
    """What the light install depends on."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = re.search(r"^dependencies = \[(.*?)^\]", text, re.DOTALL | re.MULTILINE)
    assert section is not None
    return [Requirement(line) for line in re.findall(r'"([^"]+)"', section[1])]


def lowest(requirement: Requirement) -> str:
    """The pin of a requirement's lower bound."""
    bounds = [each.version for each in requirement.specifier if each.operator in (">=", "==")]
    if len(bounds) != 1:
        raise ValueError(f"{requirement} has no lower bound")
    return f"{requirement.name}=={bounds[0]}"


def run(folder: Path) -> Ran:
    """Make the environment and run the tests."""
    name = "lowest"
    if sys.version_info[:2] not in PYTHONS:
        return Ran(name, "not run", "the lowest numpy has wheels for Python 3.10 and 3.11 only")
    start = time.monotonic()
    try:
        wanted = ["--only-binary", ":all:", "-e", f"{ROOT}[{','.join(EXTRAS)}]", *lower_bounds(), *TOOLS]
        python = install(folder / name, wanted, constrained=False)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return not_installed(name, error)
    ready = time.monotonic()
    tests = ["-o", WARNINGS, "-m", "not slow", f"--ignore={LEFT_OUT}", *(f"tests/{each}" for each in FOLDERS)]
    variables = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    verdict, counts, log = run_pytest(python, folder / f"{name}.xml", tests, variables, seconds=SECONDS)
    seconds = f"{ready - start:.0f} s to install, {time.monotonic() - ready:.0f} s to test"
    return Ran(name, verdict, f"{counts}, {seconds}: {', '.join(lower_bounds())}", log)


def main() -> int:
    """Print what ran; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the environment here for the next run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        return print_outcomes([run(folder)])


if __name__ == "__main__":
    sys.exit(main())
