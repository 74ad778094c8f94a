"""Test the adapters and examples with the real frameworks, each in an environment of its own.

The requirements of the frameworks conflict, so each NAME has its own virtual environment. `NAME.txt` lists the
requirements of `test_NAME.py`, the framework first; a first line such as `# Python 3.11` names the oldest Python
version. `NAME.package.json` lists requirements from npm, which the test finds through the variable `NODE_PATH`. The
extra NAME is installed if there is one.

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

# Warnings of the frameworks are allowed. Our own are errors, as in the default run.
WARNINGS = "filterwarnings=default\nerror:::(intentmatch|test_|contracts)"


@dataclass(frozen=True)
class Outcome:
    """The outcome of one environment."""

    name: str
    verdict: str
    summary: str
    log: str = ""

    def __str__(self) -> str:
        return f"{self.verdict:8} {self.name:14} {self.summary}"


class UnavailableError(Exception):
    """An environment cannot be made on this machine; the text says why."""


def run(name: str, folder: Path) -> Outcome:
    """Make an environment and run its tests."""
    start = time.monotonic()
    try:
        python = installed(name, folder)
        modules = with_node(name, folder)
    except UnavailableError as reason:
        return Outcome(name, "not run", str(reason))
    except subprocess.CalledProcessError as error:
        log = f"{error.stdout}\n{error.stderr}"
        return Outcome(name, "FAILED", f"installation failed: {error.stderr.strip().rpartition(chr(10))[2]}", log)
    except subprocess.TimeoutExpired as error:
        return Outcome(name, "FAILED", f"installation took more than {error.timeout:.0f} seconds")
    ready = time.monotonic()
    verdict, counts, log = tested(name, python, folder, modules)
    seconds = f"{ready - start:.0f} s to install, {time.monotonic() - ready:.0f} s to test"
    return Outcome(name, verdict, f"{counts}, {seconds}: {versions(name)}", log)


def installed(name: str, folder: Path) -> Path:
    """Install what a test needs; return the Python of its environment."""
    file = HERE / f"{name}.txt"
    oldest = re.match(r"#.*Python 3\.(\d+)", file.read_text(encoding="utf-8"))
    if oldest is not None and sys.version_info < (3, int(oldest[1])):
        raise UnavailableError(f"needs Python 3.{oldest[1]}")
    python = folder / name / "bin" / "python"
    if not python.exists():
        venv.create(folder / name)
    # The pip that runs this script, without compiling modules: tests use only a small part of a framework.
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-compile"]
    pip += ["--quiet", "--disable-pip-version-check"]
    packages = ["-e", f"{ROOT}[{name}]", "-r", file, "pytest", "hypothesis"]
    try:
        run_command([*pip, "-c", ROOT / ".ci" / "constraints.txt", *packages], seconds=900)
    except subprocess.CalledProcessError:
        # Some frameworks need older releases than the pinned ones.
        run_command([*pip, *packages], seconds=900)
    return python


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
    run_command(
        [npm, "install", "--prefix", target, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], seconds=900
    )
    return target / "node_modules"


def tested(name: str, python: Path, folder: Path, modules: Path | None) -> tuple[str, str, str]:
    """Run the tests of an environment; return the verdict, the counts and the output."""
    report = folder / f"{name}.xml"
    report.unlink(missing_ok=True)
    # Its own home folder, because some bots store files there.
    environment = {**os.environ, "HOME": str(folder / name), "NODE_PATH": str(modules or "")}
    environment.pop("PYTHONPATH", None)
    command = [python, "-I", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", WARNINGS]
    command += [f"--junitxml={report}", HERE / f"test_{name}.py", HERE / "test_snippets.py"]
    try:
        done = run_command(command, seconds=600, env=environment, check=False)
    except subprocess.TimeoutExpired as error:
        return "FAILED", f"not finished after {error.timeout:.0f} seconds", str(error.stdout)
    log = done.stdout + done.stderr
    if not report.exists():
        return "FAILED", "no report of the tests", log
    suite = ElementTree.parse(report).getroot()[0]
    total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    counts = f"{total - skipped - bad} passed, {skipped} skipped" + (f", {bad} failed" if bad else "")
    return "passed" if done.returncode == 0 and total > skipped else "FAILED", counts, log


def versions(name: str) -> str:
    """The pinned requirements of an environment."""
    lines = (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line.split(";")[0].strip().replace("==", " ") for line in lines if line.strip() and line[0] != "#"]
    manifest = HERE / f"{name}.package.json"
    if manifest.exists():
        pinned += [" ".join(pin) for pin in json.loads(manifest.read_text(encoding="utf-8"))["dependencies"].items()]
    return ", ".join(pinned)


def run_command(
    command: list[str | Path], *, seconds: float, env: dict[str, str] | None = None, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a program and capture its output."""
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=env, check=check, cwd=ROOT)


def main() -> int:
    """Run the named environments and print the outcomes; return 1 if any of them failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"an environment, by default all: {', '.join(NAMES)}")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the environments here")
    options = parser.parse_args()
    names = options.names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"unknown environment: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(AT_ONCE) as pool:
        folder = (options.keep or Path(temporary)).resolve()
        outcomes = list(pool.map(lambda name: run(name, folder), names))
    for outcome in outcomes:
        if outcome.verdict == "FAILED":
            print(f"== {outcome.name}", outcome.log, sep="\n")
    print(*outcomes, sep="\n")
    return 1 if any(outcome.verdict == "FAILED" for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
