"""Say which tests notice small faults in the product: each fault of `mutations.yaml` alone, in a copy of the tree.

    python tests/supply/mutations.py --only 0-9           # the first ten
    python tests/supply/mutations.py --stages own,folder  # only tests of the same module and folder: some seconds each
    python tests/supply/mutations.py                      # all stages, for faults that no stage has noticed yet

A fault goes through the stages until one notices it: the test file of the module, the tests of its folder, all other
tests of the default run, the tests of the other tiers. The first three are the default tier. A test
counts if it fails with the fault and passes without it. Results are written after each stage to `--results`, so that a
run that was stopped goes on where it was, and faults that were changed run again.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

TREE = Path(__file__).parents[2]
LIST = Path(__file__).with_suffix(".yaml")
TESTS = TREE / "tests"

TIERS: dict[str, list[str]] = {
    "default": [],
    "end_to_end": ["--end-to-end", "-m", "end_to_end"],
    "accuracy": ["--accuracy", "-m", "accuracy or corpus"],
    "full_length": ["--full-length", "-m", "full_length or rounds"],
}
"""Arguments of pytest that select a tier."""

STAGES = {
    "own": "default",
    "folder": "default",
    "default": "default",
    "end": "end_to_end",
    "accuracy": "accuracy",
    "full": "full_length",
}
"""Stages in their order, with the tier that each belongs to."""

_NONE_RAN, _USAGE = 5, 4
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?(?:::.*?)?)(?: - .*)?$", re.MULTILINE)
_MOST_RETRIES = 3


@dataclass(frozen=True)
class Mutation:
    """One fault."""

    file: str
    """Below `intentmatch/`."""
    old: str
    new: str
    breaks: str
    """What does not hold any more."""

    @property
    def room(self) -> str:
        """The folder of the package that has the file; `.` for the package itself."""
        return Path(self.file).parent.as_posix()

    @property
    def key(self) -> str:
        """Names the fault in the results."""
        return hashlib.sha256("\0".join((self.file, self.old, self.new)).encode()).hexdigest()[:12]

    def applied(self, text: str) -> str:
        """Return the text of the file with the fault. Raises `ValueError` unless `old` is there exactly once."""
        if (found := text.count(self.old)) != 1 or self.old == self.new:
            raise ValueError(f"{self.file} has {found} times {self.old!r}, which must be there once and change")
        return text.replace(self.old, self.new)


class Run(NamedTuple):
    """What pytest said."""

    noticed: bool
    test: str | None
    """A test that fails."""
    timed_out: bool = False


def read() -> list[Mutation]:
    """Return the list."""
    return [Mutation(**each) for each in yaml.safe_load(LIST.read_text(encoding="utf-8"))]


def own_tests(mutation: Mutation) -> list[str]:
    """Return the test files of the module that has the fault, as `tests/test_mirror.py` knows them."""
    sys.path[:0] = [path for path in (str(TESTS),) if path not in sys.path]
    from test_mirror import TESTED_IN, own_test_files  # type: ignore[import-not-found]

    folders = [key for key in TESTED_IN if key.endswith("/") and mutation.file.startswith(key)]
    listed = [TESTED_IN[key] for key in (mutation.file, *folders) if key in TESTED_IN]
    listed += {"guide": ["test_guide.py"], ".": ["test_public_api.py"]}.get(mutation.room, [])
    found = [file.relative_to(TREE).as_posix() for file in own_test_files(mutation.file)]
    return sorted({*found, *(f"tests/{name}" for name in listed)})


def folder_tests(mutation: Mutation) -> list[str]:
    """Return the folder of tests for the room, or for the nearest room around it that has one."""
    room = Path(mutation.file).parent
    while not (TESTS / room).is_dir():
        room = room.parent
    return [] if room == Path() else [f"tests/{room.as_posix()}"]


def targets(mutation: Mutation, stage: str) -> list[str]:
    """Return what pytest runs in a stage; nothing if there is nothing to run."""
    if stage == "own":
        return own_tests(mutation)
    return folder_tests(mutation) if stage == "folder" else ["tests"]


class Copy:
    """A copy of the tree, in which one file at a time is changed."""

    def __init__(self, folder: Path, arguments: Sequence[str], seconds: float) -> None:
        self.folder, self._arguments, self._seconds = folder, arguments, seconds
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=TREE, check=True, capture_output=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TREE / name, target)
        # Some tests ask git which files belong to the project.
        who = ["-c", "user.name=mutations", "-c", "user.email=mutations@example.org"]
        for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "Copy"]):
            subprocess.run(["git", *command], cwd=folder, check=True)

    @contextmanager
    def mutated(self, mutation: Mutation) -> Iterator[None]:
        """Have the fault in the copy for the block."""
        file = self.folder / "intentmatch" / mutation.file
        text = file.read_text(encoding="utf-8")
        self._write(file, mutation.applied(text))
        try:
            yield
        finally:
            self._write(file, text)

    def _write(self, file: Path, text: str) -> None:
        file.write_text(text, encoding="utf-8")
        if file.suffix == ".py":  # Python may take compiled code of the same second and size for new
            Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)

    def run(self, tier: str, targets: Sequence[str], more: Sequence[str] = ()) -> Run:
        """Run tests until one fails. Raises `RuntimeError` if pytest cannot run."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-rfE", "--tb=no", "-p", "no:cacheprovider"]
        command += [*TIERS[tier], *self._arguments, *more, *targets]
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, timeout=self._seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return Run(noticed=False, test=None, timed_out=True)
        said = done.stdout.decode(errors="replace")
        if done.returncode == _USAGE:
            raise RuntimeError(said + done.stderr.decode(errors="replace"))
        failed = _FAILED.search(said)
        noticed = done.returncode not in (0, _NONE_RAN)
        return Run(noticed, (failed[1] if failed else "pytest did not end") if noticed else None)


def notice(copy: Copy, mutation: Mutation, stage: str) -> dict[str, Any]:
    """Run a stage for a fault; return the test that notices it, or None, and whether time was over."""
    wanted = targets(mutation, stage)
    skipped: list[str] = []
    for _ in range(_MOST_RETRIES if wanted else 0):
        with copy.mutated(mutation):
            found = copy.run(STAGES[stage], wanted, [f"--deselect={test}" for test in skipped])
        if found.timed_out or not found.noticed or found.test is None:
            return {"test": None, "timed_out": found.timed_out}
        if "::" not in found.test or not copy.run(STAGES[stage], [found.test]).noticed:
            return {"test": found.test, "timed_out": False}
        skipped.append(found.test)  # fails without the fault, too
    return {"test": None, "timed_out": False}


def examine(copy: Copy, mutation: Mutation, stages: Sequence[str], known: dict[str, Any]) -> dict[str, Any]:
    """Run the stages that are not known until one notices the fault; return all that is known then."""
    result: dict[str, Any] = {"file": mutation.file, "breaks": mutation.breaks, "stages": dict(known.get("stages", {}))}
    for stage in stages:
        if any(each["test"] for each in result["stages"].values()):
            break
        if stage not in result["stages"] or result["stages"][stage]["timed_out"]:
            begun = time.monotonic()
            found = notice(copy, mutation, stage)
            result["stages"][stage] = {**found, "seconds": round(time.monotonic() - begun, 1)}
    noticed = [stage for stage, each in result["stages"].items() if each["test"]]
    return {**result, "tier": STAGES[noticed[0]] if noticed else None}


def table(mutations: Sequence[Mutation], results: dict[str, Any]) -> str:
    """Return the results as a table, with the number of faults by tier below it."""
    lines, tiers = [], Counter[str]()
    for number, mutation in enumerate(mutations):
        result = results.get(mutation.key)
        if result is None:
            continue
        noticed = next((f"{stage}: {e['test']}" for stage, e in result["stages"].items() if e["test"]), "nothing")
        tiers[result["tier"] or "nothing"] += 1
        lines.append(f"{number:4} {mutation.file}: {mutation.breaks}\n       {noticed}")
    counts = ", ".join(f"{name} {count}" for name, count in sorted(tiers.items()))
    return "\n".join([*lines, f"{sum(tiers.values())} of {len(mutations)} faults examined; noticed by {counts}"])


def _numbers(text: str) -> set[int]:
    parts = [part.partition("-") for part in text.split(",")]
    return {number for first, _, last in parts for number in range(int(first), int(last or first) + 1)}


def main() -> None:
    """Examine the faults, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=TREE / "mutations.json", metavar="FILE")
    parser.add_argument("--stages", default=",".join(STAGES), help=f"of {', '.join(STAGES)}")
    parser.add_argument("--only", type=_numbers, metavar="NUMBERS", help="places in the list, such as 0-9,17")
    parser.add_argument("--seconds", type=float, default=1800.0, help="the most that one stage of one fault may take")
    parser.add_argument("--table", action="store_true", help="print the results without running anything")
    parser.add_argument("pytest", nargs="*", default=["-n", "0"], help="more arguments of pytest, after --")
    options = parser.parse_args()
    mutations = read()
    results = json.loads(options.results.read_text("utf-8")) if options.results.is_file() else {}
    if not options.table:
        with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
            copy = Copy(Path(folder), options.pytest, options.seconds)
            for number, mutation in enumerate(mutations):
                if options.only is not None and number not in options.only:
                    continue
                known = results.get(mutation.key, {})
                results[mutation.key] = examine(copy, mutation, options.stages.split(","), known)
                options.results.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
                print(number, mutation.file, results[mutation.key]["tier"], flush=True)
    print(table(mutations, results))


if __name__ == "__main__":
    main()
