"""Measure the time from a saved edit to its first match under `Matcher.watch`, and to its calibration.

    python tests/benchmarks/bench_reload.py --size 100000x500
    python tests/benchmarks/bench_reload.py --registry intents

README.md beside this file says what is measured and how.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, sleep
from typing import Any

from bench_growth import made_up  # limits numpy to one thread, and so comes before it
from entry import add_json_option, option_parser, run_benchmark
from metrics import plain_table, provenance

from intentmatch import IntentMatchError, Matcher
from intentmatch.core.types import Intent
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.edits import AddUtterance
from intentmatch.registry.editing.folder import Folder

_MEASURED = ("answers", "worked", "learned")
_PATIENCE = 3600.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write; the exit code is 0, or that of the error."""
    options = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="intentmatch-") as temporary:
        folder = Path(temporary, "intents")
        if options.registry:
            shutil.copytree(options.registry, folder)
        else:
            utterances, _, intents = options.size.partition("x")
            made_up(folder, int(utterances), int(intents), 0)
        return run_benchmark(lambda: _measure(folder, options.edits), _print, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument("--registry", metavar="FOLDER", help="YAML; otherwise generated")
    parser.add_argument(
        "--size", default="100000x500", metavar="UTTERANCESxINTENTS", help="size of the generated registry (100000x500)"
    )
    parser.add_argument("--edits", type=int, default=5, help="number of edits, one after the other (5)")
    add_json_option(parser)
    return parser


def _measure(folder: Path, edits: int) -> dict[str, Any]:
    matcher = Matcher.load(folder, cache=folder.with_name("cache"))
    intents = matcher.registry.intents
    size = {"intents": len(intents), "utterances": len(matcher.registry.utterances)}
    rows = [_edit(matcher, intents[number * len(intents) // edits]) for number in range(edits)]
    return provenance([Path(sys.executable).name, *sys.argv], matcher.encoder) | size | {"edits": rows}


def _edit(matcher: Matcher, intent: Intent) -> dict[str, float]:
    """Save a file with one more line of an intent; wait until it answers, and until what it teaches is learned."""
    answered = threading.Event()
    first = intent.utterances[0]
    line = AddUtterance(intent.name, f"{first.text} that was not there before", first.language)
    file = Path(first.location.path)
    aside = file.with_name(".aside")
    aside.write_text(_edited(file, line), encoding="utf-8")
    calibration = matcher.artefact.calibration
    with matcher.watch(on_reload=lambda registry: answered.set()):
        began, worked = perf_counter(), process_time()
        aside.replace(file)
        if not answered.wait(_PATIENCE) or matcher.match(line.text).intent != intent.name:
            raise IntentMatchError("an edit did not answer")
        row = {"answers": perf_counter() - began, "worked": process_time() - worked}
        while matcher.artefact.calibration is calibration and perf_counter() - began < _PATIENCE:
            sleep(0.01)
        return row | {"learned": perf_counter() - began}


def _edited(file: Path, line: AddUtterance) -> str:
    """What a file holds with one line more."""
    documents = {file: Document(str(file), file.read_text(encoding="utf-8"))}
    return line.apply(Folder(file, documents)).documents[file].text


def _print(numbers: dict[str, Any]) -> None:
    sys.stdout.write(f"{numbers['intents']} intents, {numbers['utterances']} utterances\n")
    table = [_row(str(number), edit) for number, edit in enumerate(numbers["edits"], 1)]
    for name, of in (("median", median), ("least", min), ("most", max)):
        table.append(_row(name, {key: of(edit[key] for edit in numbers["edits"]) for key in _MEASURED}))
    sys.stdout.write(plain_table(["edit", "answers after, s", "processor, s", "learned after, s"], table) + "\n")


def _row(name: str, edit: dict[str, float]) -> list[str]:
    return [name, *(f"{edit[key]:.2f}" for key in _MEASURED)]


if __name__ == "__main__":
    sys.exit(main())
