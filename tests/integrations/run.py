"""Test the adapters and examples with the real frameworks, each in an environment of its own.

The requirements of the frameworks conflict, so each NAME has its own virtual environment. `NAME.txt` lists the
requirements of `test_NAME.py`, the framework first; a first line such as `# Python 3.11` names the oldest Python
version, and a comment `# Unconstrained` says that our pins clash with its own. `NAME.package.json` lists requirements
from npm, which the test finds through the variable `NODE_PATH`. The extra NAME is installed if there is one.

    python tests/integrations/run.py [--keep FOLDER] [NAME ...]     # FOLDER keeps the environments for the next run
    python tests/integrations/run.py --keep FOLDER --install        # make the environments, and test nothing yet
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

from environments import WARNINGS, Ran, UnavailableError, call, install, not_installed, print_outcomes, run_pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
AT_ONCE = 2
NAMES = sorted(path.stem for path in HERE.glob("*.txt"))


def run(name: str, folder: Path, *, install_only: bool = False) -> Ran:
    """Make an environment and run its tests."""
    start = time.monotonic()
    try:
        python = installed(name, folder)
        modules = with_node(name, folder)
    except UnavailableError as reason:
        return Ran(name, "not run", str(reason))
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return not_installed(name, error)
    ready = time.monotonic()
    if install_only:
        return Ran(name, "installed", f"{ready - start:.0f} s")
    verdict, counts, log = tested(name, python, folder, modules)
    seconds = f"{ready - start:.0f} s to install, {time.monotonic() - ready:.0f} s to test"
    return Ran(name, verdict, f"{counts}, {seconds}: {versions(name)}", log)


def installed(name: str, folder: Path) -> Path:
    """Install what a test needs; return the Python of its environment."""
    file = HERE / f"{name}.txt"
    text = file.read_text(encoding="utf-8")
    oldest = re.match(r"#.*Python 3\.(\d+)", text)
    if oldest is not None and sys.version_info < (3, int(oldest[1])):
        raise UnavailableError(f"needs Python 3.{oldest[1]}")
    constrained = "# Unconstrained" not in text
    return install(folder / name, ["-e", f"{ROOT}[{name}]", "-r", file], constrained=constrained)


def with_node(name: str, folder: Path) -> Path | None:
    """Install what a test needs from npm; return the folder of the modules, None if it needs none."""
    manifest = HERE / f"{name}.package.json"
    if not manifest.exists():
        return None
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("needs npm")
    target = folder / name / "node"
    target.mkdir(exist_ok=True)
    shutil.copy(manifest, target / "package.json")
    call([npm, "install", "--prefix", target, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], seconds=900)
    return target / "node_modules"


def tested(name: str, python: Path, folder: Path, modules: Path | None) -> tuple[str, str, str]:
    """Run the tests of an environment; return the verdict, the counts and the output."""
    # Its own home folder, because some bots store files there.
    variables = {"HOME": str(folder / name), "NODE_PATH": str(modules or "")}
    shared = [HERE / f"test_{each}.py" for each in ("credentials", "extras", "snippets")]
    tests = ["-o", WARNINGS, HERE / f"test_{name}.py", *shared]
    return run_pytest(python, folder / f"{name}.xml", tests, variables)


def versions(name: str) -> str:
    """The pinned requirements of an environment."""
    lines = (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line.split(";")[0].strip().replace("==", " ") for line in lines if line.strip() and line[0] != "#"]
    manifest = HERE / f"{name}.package.json"
    if manifest.exists():
        pinned += [" ".join(pin) for pin in json.loads(manifest.read_text(encoding="utf-8"))["dependencies"].items()]
    return ", ".join(pinned)


def main() -> int:
    """Run the named environments and print the outcomes; return 1 if any of them failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"an environment, by default all: {', '.join(NAMES)}")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the environments here")
    parser.add_argument("--install", action="store_true", help="make the environments that `--keep` keeps, only")
    options = parser.parse_args()
    names = options.names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"unknown environment: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(AT_ONCE) as pool:
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)  # PostgreSQL runs as another user if this one is root
        return print_outcomes(list(pool.map(lambda name: run(name, folder, install_only=options.install), names)))


if __name__ == "__main__":
    sys.exit(main())
