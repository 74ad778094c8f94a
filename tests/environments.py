"""Virtual environments for tests that need other packages than development has, and pytest runs inside them."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / ".ci" / "constraints.txt"
RUNNER = ("pytest", "hypothesis")
"""What `tests/conftest.py` needs in every environment."""
SECONDS_TO_INSTALL = 1500
"""With other work on the machine; half a minute otherwise."""
# Warnings of other packages are allowed. Our own are errors, as in the default run.
WARNINGS = "filterwarnings=default\nerror:::(intentmatch|test_|contracts)"


@dataclass(frozen=True)
class Ran:
    """The outcome of one environment."""

    name: str
    verdict: str
    says: str
    log: str = ""

    def __str__(self) -> str:
        return f"{self.verdict:8} {self.name:14} {self.says}"


class UnavailableError(Exception):
    """An environment cannot be made here; the text says why."""


def install(folder: Path, wanted: Sequence[str | Path], *, constrained: bool = True) -> Path:
    """Make a virtual environment with these packages, with pinned releases if possible, and return its Python.

    With `constrained=False`, the pins of the constraints are ignored from the start. What an earlier run has installed
    there is not installed again.
    """
    python, done = folder / "bin" / "python", folder / "installed.txt"
    read = (*wanted, *([CONSTRAINTS] if constrained else []), ROOT / "pyproject.toml")
    content = "\n".join(Path(one).read_text(encoding="utf-8") if Path(one).is_file() else str(one) for one in read)
    if done.exists() and done.read_text(encoding="utf-8") == content:
        return python
    if not python.exists():
        venv.create(folder)
    # The pip of the caller, and no bytecode ahead of use: most of a framework is not used in a test.
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-compile"]
    pip += ["--quiet", "--disable-pip-version-check"]
    try:
        call([*pip, *(["-c", CONSTRAINTS] if constrained else []), *wanted, *RUNNER], seconds=SECONDS_TO_INSTALL)
    except subprocess.CalledProcessError:
        if not constrained:
            raise
        # Some frameworks need older releases than the constraints name.
        call([*pip, *wanted, *RUNNER], seconds=SECONDS_TO_INSTALL)
    done.write_text(content, encoding="utf-8")
    return python


def run_pytest(
    python: Path, report: Path, arguments: Iterable[str | Path], variables: dict[str, str], seconds: float = 600
) -> tuple[str, str, str]:
    """Run tests in an environment: the verdict, how many tests there were, and all that was printed."""
    report.unlink(missing_ok=True)
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    command = [python, "-I", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments]
    try:
        done = call(command, seconds=seconds, env=surroundings, check=False)
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


def call(
    command: list[str | Path], *, seconds: float, env: dict[str, str] | None = None, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a program in the root of the clone and return what it printed."""
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=env, check=check, cwd=ROOT)


def not_installed(name: str, error: subprocess.CalledProcessError | subprocess.TimeoutExpired) -> Ran:
    """The outcome of an environment that could not be made."""
    if isinstance(error, subprocess.TimeoutExpired):
        return Ran(name, "FAILED", f"cannot be installed in {error.timeout:.0f} seconds")
    log = f"{error.stdout}\n{error.stderr}"
    return Ran(name, "FAILED", f"cannot be installed: {error.stderr.strip().rpartition(chr(10))[2]}", log)


def print_outcomes(outcomes: list[Ran]) -> int:
    """Print logs of failures, then one line an environment; return 1 if any failed."""
    for ran in outcomes:
        if ran.verdict == "FAILED":
            print(f"== {ran.name}", ran.log, sep="\n")
    print(*outcomes, sep="\n")
    return 1 if any(ran.verdict == "FAILED" for ran in outcomes) else 0
