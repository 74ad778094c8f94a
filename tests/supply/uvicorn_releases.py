"""Run the tests of connections with the newest patch of each minor release of uvicorn that pyproject.toml allows.

    python tests/supply/uvicorn_releases.py [--keep FOLDER] [--minor 36]     # FOLDER keeps the environment

The server extends uvicorn's two implementations of HTTP and its supervisor of processes, which are no public interface.
The releases go from the lower bound to the one that the constraints name, one after the other in one environment.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from packaging.version import Version

sys.path.insert(0, str(Path(__file__).parents[1]))

from documents import extras_known
from environments import CONSTRAINTS, WARNINGS, Ran, call, install, not_installed, print_outcomes, run_pytest

TESTS = (
    "tests/server/process/test_connections.py",
    "tests/server/process/test_request_heads.py",
    "tests/server/process/test_websockets.py",
    "tests/server/process/test_certificates.py",
    "tests/server/process/test_handshakes.py",
    "tests/server/middleware/test_limits.py",
    "tests/hardening/test_slow_readers.py",
    "tests/cli/test_serve_workers.py",
)
WANTED = ("-e", ".[server,signing]", "httptools", "websockets", "httpx", "cryptography", "trustme", "psutil")
SECONDS = 600


def minors() -> list[str]:
    """Return the minor releases from the lower bound to the pinned one, such as 0.30."""
    (bound,) = [text for text in extras_known()["server"] if text.name == "uvicorn"]
    lowest = Version(next(iter(bound.specifier)).version)
    pinned = re.search(r"^uvicorn==(.+)$", CONSTRAINTS.read_text(encoding="utf-8"), re.MULTILINE)
    assert pinned is not None
    return [f"{lowest.major}.{minor}" for minor in range(lowest.minor, Version(pinned[1]).minor + 1)]


def run(folder: Path, chosen: list[str]) -> list[Ran]:
    """Make the environment, and run the tests once for each release."""
    try:
        python = install(folder / "uvicorn", [*WANTED])
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return [not_installed("uvicorn", error)]
    return [_ran(folder, python, minor) for minor in chosen]


def _ran(folder: Path, python: Path, minor: str) -> Ran:
    name = f"uvicorn {minor}"
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps"]
    try:
        call([*pip, "--disable-pip-version-check", f"uvicorn=={minor}.*"], seconds=SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return not_installed(name, error)
    report = folder / f"{minor}.xml"
    verdict, counts, log = run_pytest(python, report, ["-o", WARNINGS, *TESTS], {"OMP_NUM_THREADS": "1"}, SECONDS)
    return Ran(name, verdict, counts, log)


def main() -> int:
    """Print what ran; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the environment here for the next run")
    parser.add_argument("--minor", action="append", metavar="NUMBER", help="only this minor release; repeatable")
    options = parser.parse_args()
    known = minors()
    chosen = [minor for minor in known if not options.minor or minor.partition(".")[2] in options.minor]
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        return print_outcomes(run(folder, chosen))


if __name__ == "__main__":
    sys.exit(main())
