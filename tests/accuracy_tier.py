"""Whether the accuracy tier is due: what it measures has changed since its last green run.

    python tests/accuracy_tier.py            # says whether it is due; exit code 0 if it is, 1 if not
    python tests/accuracy_tier.py --run      # runs it, and records a green run in tests/accuracy_tier.txt

`.ci/run` runs the tier if it is due. Commit the record together with the change that it belongs to.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).with_suffix(".txt")
ROOMS = ("encoders", "languages", "learning", "matching", "pieces", "reading", "slots", "text")
"""Folders of the package whose code decides how messages are read."""
TESTS = ("pytest", "-n", "auto", "--dist", "worksteal", "--accuracy", "-m", "accuracy or corpus")


def digest(package: Path, rooms: Iterable[str] = ROOMS) -> str:
    """A digest of the names and contents of all files in these folders that decide, so not of what Python compiled."""
    found = hashlib.sha256()
    for room in sorted(rooms):
        for file in sorted((package / room).rglob("*")):
            # Cards tell of numbers and change none.
            if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".md":
                content = hashlib.sha256(file.read_bytes()).hexdigest()
                found.update(f"{file.relative_to(package).as_posix()}\0{content}\n".encode())
    return found.hexdigest()[:32]


def recorded() -> str:
    """The digest of the last green run; empty without one."""
    return RECORD.read_text(encoding="utf-8").split()[0] if RECORD.exists() else ""


def run() -> int:
    """Run the tier from the root of the clone; record it if it is green. Returns the exit code of pytest."""
    before, start = digest(ROOT / "intentmatch"), time.monotonic()
    code = subprocess.run([sys.executable, "-m", *TESTS], cwd=ROOT, check=False).returncode
    if code == 0 and digest(ROOT / "intentmatch") == before:
        day = time.strftime("%Y-%m-%d", time.gmtime())
        RECORD.write_text(f"{before} green on {day} in {time.monotonic() - start:.0f} s\n", encoding="utf-8")
    return code


def main() -> int:
    """Run, or print whether the tier is due."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="run the tier and record a green run")
    if parser.parse_args().run:
        return run()
    due = digest(ROOT / "intentmatch") != recorded()
    print(f"the accuracy tier is {'due' if due else 'not due'}: last green run {recorded() or 'never'}")
    return 0 if due else 1


if __name__ == "__main__":
    sys.exit(main())
