"""The adapters and examples against the real frameworks, each in an environment of its own, for what they need clashes.

An environment is that of a file beside this one: `NAME.txt` has the requirements of `test_NAME.py`, with the framework
first, and perhaps a first line such as `# Python 3.11`, the oldest that will do. `NAME.package.json` is what the test
needs from npm; it finds that by the variable `NODE_PATH`. The extra NAME is installed where there is one.

    python tests/integrations/run.py [--keep FOLDER] [NAME ...]     # FOLDER keeps the environments for the next run
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from environments import Ran, UnavailableError, call, install, not_installed, print_outcomes, run_pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
AT_ONCE = 2
NAMES = sorted(path.stem for path in HERE.glob("*.txt"))

# A framework's warnings are its own affair. Ours are errors, as they are everywhere.
WARNINGS = "filterwarnings=default\nerror:::(intentmatch|test_|contracts)"


def run(name: str, folder: Path) -> Ran:
    """Make an environment and run its tests."""
    began = time.monotonic()
    try:
        python = installed(name, folder)
        modules = with_node(name, folder)
    except UnavailableError as why:
        return Ran(name, "not run", str(why))
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return not_installed(name, error)
    ready = time.monotonic()
    verdict, counts, log = tested(name, python, folder, modules)
    seconds = f"{ready - began:.0f} s to install, {time.monotonic() - ready:.0f} s to test"
    return Ran(name, verdict, f"{counts}, {seconds}: {versions(name)}", log)


def installed(name: str, folder: Path) -> Path:
    """The Python of an environment with all that a test needs."""
    file = HERE / f"{name}.txt"
    oldest = re.match(r"#.*Python 3\.(\d+)", file.read_text(encoding="utf-8"))
    if oldest is not None and sys.version_info < (3, int(oldest[1])):
        raise UnavailableError(f"needs Python 3.{oldest[1]}")
    return install(folder / name, ["-e", f"{ROOT}[{name}]", "-r", file])


def with_node(name: str, folder: Path) -> Path | None:
    """The folder of the modules that a test needs from npm; None where it needs none."""
    manifest = HERE / f"{name}.package.json"
    if not manifest.exists():
        return None
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("needs npm")
    place = folder / name / "node"
    place.mkdir(exist_ok=True)
    shutil.copy(manifest, place / "package.json")
    call([npm, "install", "--prefix", place, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], seconds=900)
    return place / "node_modules"


def tested(name: str, python: Path, folder: Path, modules: Path | None) -> tuple[str, str, str]:
    """Run the tests of an environment: the verdict, how many there were, and all that was printed."""
    # A home of its own: bots keep things there.
    variables = {"HOME": str(folder / name), "NODE_PATH": str(modules or "")}
    tests = ["-o", WARNINGS, HERE / f"test_{name}.py", HERE / "test_snippets.py"]
    return run_pytest(python, folder / f"{name}.xml", tests, variables)


def versions(name: str) -> str:
    """What an environment was made of, by its files."""
    lines = (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line.split(";")[0].strip().replace("==", " ") for line in lines if line.strip() and line[0] != "#"]
    manifest = HERE / f"{name}.package.json"
    if manifest.exists():
        pinned += [" ".join(pin) for pin in json.loads(manifest.read_text(encoding="utf-8"))["dependencies"].items()]
    return ", ".join(pinned)


def main() -> int:
    """Run what is asked for, and say what ran; 1 if anything did not pass that could run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all of them if none is given")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    told = parser.parse_args()
    names = told.names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"no {', '.join(sorted(unknown))}.txt beside this file")
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(AT_ONCE) as pool:
        folder = (told.keep or Path(temporary)).resolve()
        return print_outcomes(list(pool.map(lambda name: run(name, folder), names)))


if __name__ == "__main__":
    sys.exit(main())
