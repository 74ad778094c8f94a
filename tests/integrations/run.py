"""The adapters and examples against the real frameworks, each in an environment of its own, for what they need clashes.

An environment is that of a file beside this one: `NAME.txt` has the requirements of `test_NAME.py`, with the framework
first, and perhaps a first line such as `# Python 3.11`, the oldest that will do. `NAME.package.json` is what the test
needs from npm; it finds that by the variable `NODE_PATH`. The extra NAME is installed where there is one.

    python tests/integrations/run.py [--keep FOLDER] [NAME ...]     # FOLDER keeps the environments for the next run
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
AT_ONCE = 2
NAMES = sorted(path.stem for path in HERE.glob("*.txt"))

# A framework's warnings are its own affair. Ours are errors, as they are everywhere.
WARNINGS = "filterwarnings=default\nerror:::(intentmatch|test_|contracts)"


@dataclass(frozen=True)
class Ran:
    """What became of an environment."""

    name: str
    verdict: str
    says: str
    log: str = ""

    def __str__(self) -> str:
        return f"{self.verdict:8} {self.name:14} {self.says}"


class UnavailableError(Exception):
    """An environment cannot be had here; the text says why."""


def run(name: str, folder: Path) -> Ran:
    """Make an environment and run its tests."""
    began = time.monotonic()
    try:
        python = installed(name, folder)
        modules = with_node(name, folder)
    except UnavailableError as why:
        return Ran(name, "not run", str(why))
    except subprocess.CalledProcessError as error:
        log = f"{error.stdout}\n{error.stderr}"
        return Ran(name, "FAILED", f"cannot be installed: {error.stderr.strip().rpartition(chr(10))[2]}", log)
    except subprocess.TimeoutExpired as error:
        return Ran(name, "FAILED", f"cannot be installed in {error.timeout:.0f} seconds")
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
    python = folder / name / "bin" / "python"
    if not python.exists():
        venv.create(folder / name)
    # Our own pip, and nothing compiled ahead of its use: most of a framework is not used in a test.
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-compile"]
    pip += ["--quiet", "--disable-pip-version-check"]
    wanted = ["-e", f"{ROOT}[{name}]", "-r", file, "pytest", "hypothesis"]
    try:
        called([*pip, "-c", ROOT / ".ci" / "constraints.txt", *wanted], seconds=900)
    except subprocess.CalledProcessError:
        # Some frameworks want older releases than we develop with.
        called([*pip, *wanted], seconds=900)
    return python


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
    called([npm, "install", "--prefix", place, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], seconds=900)
    return place / "node_modules"


def tested(name: str, python: Path, folder: Path, modules: Path | None) -> tuple[str, str, str]:
    """Run the tests of an environment: the verdict, how many there were, and all that was printed."""
    report = folder / f"{name}.xml"
    report.unlink(missing_ok=True)
    # A home of its own: bots keep things there.
    surroundings = {**os.environ, "HOME": str(folder / name), "NODE_PATH": str(modules or "")}
    surroundings.pop("PYTHONPATH", None)
    command = [python, "-I", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", WARNINGS]
    command += [f"--junitxml={report}", HERE / f"test_{name}.py", HERE / "test_snippets.py"]
    try:
        done = called(command, seconds=600, env=surroundings, check=False)
    except subprocess.TimeoutExpired as error:
        return "FAILED", f"no end after {error.timeout:.0f} seconds", str(error.stdout)
    log = done.stdout + done.stderr
    if not report.exists():
        return "FAILED", "no tests", log
    suite = ElementTree.parse(report).getroot()[0]
    total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    counts = f"{total - skipped - bad} passed, {skipped} skipped" + (f", {bad} failed" if bad else "")
    return "passed" if done.returncode == 0 and total > skipped else "FAILED", counts, log


def versions(name: str) -> str:
    """What an environment was made of, by its files."""
    lines = (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line.split(";")[0].strip().replace("==", " ") for line in lines if line.strip() and line[0] != "#"]
    manifest = HERE / f"{name}.package.json"
    if manifest.exists():
        pinned += [" ".join(pin) for pin in json.loads(manifest.read_text(encoding="utf-8"))["dependencies"].items()]
    return ", ".join(pinned)


def called(
    command: list[str | Path], *, seconds: float, env: dict[str, str] | None = None, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """What a program says."""
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=env, check=check, cwd=ROOT)


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
        all_ran = list(pool.map(lambda name: run(name, folder), names))
    for ran in all_ran:
        if ran.verdict == "FAILED":
            print(f"== {ran.name}", ran.log, sep="\n")
    print(*all_ran, sep="\n")
    return 1 if any(ran.verdict == "FAILED" for ran in all_ran) else 0


if __name__ == "__main__":
    sys.exit(main())
