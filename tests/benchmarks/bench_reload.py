"""How long a saved edit takes to answer under `Matcher.watch`, and until its own thresholds are learned.

    python tests/benchmarks/bench_reload.py --intents 200
    python tests/benchmarks/bench_reload.py --registry intents

README.md beside this file says what is measured and how.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, sleep
from typing import Any

from metrics import plain_table, provenance

from intentmatch import IntentMatchError, Matcher

_SEED = 20240501
_WORDS = """
order parcel invoice refund cancel track ship address password login account card bill price stock size colour broken
late missing gift voucher coupon delivery store hours phone agent help complaint subscribe newsletter data
""".split()  # noqa: SIM905 - one word a line is no easier to read
_MEASURED = ("answers", "worked", "learned")
_PATIENCE = 600.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write; the exit code is 0, or that of the error."""
    options = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="intentmatch-") as temporary:
        folder = Path(temporary, "intents")
        if options.registry:
            shutil.copytree(options.registry, folder)
        else:
            made_up(folder, options.intents, options.each)
        try:
            numbers = _measure(folder, options.edits)
        except IntentMatchError as error:
            sys.stderr.write(f"error: {error}\n")
            return error.exit_code
    _print(numbers)
    if options.json:
        options.json.write_text(json.dumps(numbers, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--registry", metavar="FOLDER", help="YAML; otherwise one is made up")
    parser.add_argument("--intents", type=int, default=200, help="of the registry that is made up (200)")
    parser.add_argument("--each", type=int, default=10, help="utterances of an intent at most (10)")
    parser.add_argument("--edits", type=int, default=5, help="one after the other (5)")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write all numbers to this file")
    return parser


def made_up(folder: Path, count: int, each: int = 10) -> None:
    """Intents of half to all of so many utterances about three things each, twenty intents a file."""
    folder.mkdir()
    chance = random.Random(_SEED)
    lines: list[str] = []
    for number in range(count):
        things = chance.sample(_WORDS, 3)
        said = {
            " ".join(chance.sample([*things, *chance.sample(_WORDS, 3), f"topic {number}"], 5)) for _ in range(each)
        }
        lines += [f"  intent_{number}:", "    utterances:"]
        lines += [f"      - {text}" for text in sorted(said)[: chance.randint(each // 2, each)]]
        if number % 20 == 19 or number == count - 1:
            (folder / f"{number // 20}.yaml").write_text("\n".join(["intents:", *lines, ""]), encoding="utf-8")
            lines.clear()


def _measure(folder: Path, edits: int) -> dict[str, Any]:
    matcher = Matcher.load(folder, cache=folder.with_name("cache"))
    rows = [_edit(matcher, folder, number) for number in range(edits)]
    return provenance([Path(sys.executable).name, *sys.argv], matcher.encoder) | {
        "intents": len(matcher.registry),
        "utterances": len(matcher.registry.utterances),
        "edits": rows,
    }


def _edit(matcher: Matcher, folder: Path, number: int) -> dict[str, float]:
    """Save a file with a new line, and wait until it answers, and until what it teaches is learned."""
    answered = threading.Event()
    text = f"a line that was not there before, the number {number}"
    calibration = matcher.artefact.calibration
    with matcher.watch(on_reload=lambda registry: answered.set()):
        began, worked = perf_counter(), process_time()
        aside = folder / ".aside"
        aside.write_text(f"intents:\n  added:\n    utterances:\n      - {text}\n", encoding="utf-8")
        aside.replace(folder / f"added{number}.yaml")
        if not answered.wait(_PATIENCE) or matcher.match(text).intent != "added":
            raise IntentMatchError("an edit did not answer")
        row = {"answers": perf_counter() - began, "worked": process_time() - worked}
        while matcher.artefact.calibration is calibration and perf_counter() - began < _PATIENCE:
            sleep(0.01)
        return row | {"learned": perf_counter() - began}


def _print(numbers: dict[str, Any]) -> None:
    sys.stdout.write(f"{numbers['intents']} intents, {numbers['utterances']} utterances\n")
    rows = [{"edit": str(number), **edit} for number, edit in enumerate(numbers["edits"], 1)]
    rows.append({"edit": "median", **{key: median(edit[key] for edit in numbers["edits"]) for key in _MEASURED}})
    table = [[row["edit"], *(f"{row[key]:.2f}" for key in _MEASURED)] for row in rows]
    sys.stdout.write(plain_table(["edit", "answers after, s", "processor, s", "learned after, s"], table) + "\n")


if __name__ == "__main__":
    sys.exit(main())
