"""Measure how long a saved edit takes to be answered under `Matcher.watch`, and until thresholds are trained for it.

    python tests/benchmarks/bench_reload.py --size 100000x500
    python tests/benchmarks/bench_reload.py --registry intents

README.md beside this file explains the method.
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

from bench_growth import made_up  # limits numpy to one thread, so it comes before the import of numpy
from entry import add_json_option, option_parser, run_benchmark
from metrics import plain_table, provenance

from intentmatch import IntentMatchError, Matcher
from intentmatch.core.types import Intent
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.edits import AddUtterance
from intentmatch.registry.editing.folder import Folder

_MEASURED = ("answers", "worked", "learned")
_TIMEOUT = 3600.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
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
    parser.add_argument("--registry", metavar="FOLDER", help="a registry in YAML; the default is a synthetic one")
    parser.add_argument(
        "--size", default="100000x500", metavar="UTTERANCESxINTENTS", help="size of the synthetic registry (100000x500)"
    )
    parser.add_argument("--edits", type=int, default=5, help="number of edits (5)")
    add_json_option(parser)
    return parser


def _measure(folder: Path, edits: int) -> dict[str, Any]:
    matcher = Matcher.load(folder, cache=folder.with_name("cache"))
    intents = matcher.registry.intents
    size = {"intents": len(intents), "utterances": len(matcher.registry.utterances)}
    rows = [_edit(matcher, intents[number * len(intents) // edits]) for number in range(edits)]
    return provenance([Path(sys.executable).name, *sys.argv], matcher.encoder) | size | {"edits": rows}


def _edit(matcher: Matcher, intent: Intent) -> dict[str, float]:
    """Save a file with one more utterance; wait until it is answered, and until training for it is finished."""
    answered = threading.Event()
    first = intent.utterances[0]
    line = AddUtterance(intent.name, f"{first.text} that was not there before", first.language)
    file = Path(first.location.path)
    aside = file.with_name(".aside")
    aside.write_text(_edited(file, line), encoding="utf-8")
    calibration = matcher.artefact.calibration
    with matcher.watch(on_reload=lambda registry: answered.set()):
        start, worked = perf_counter(), process_time()
        aside.replace(file)
        if not answered.wait(_TIMEOUT) or matcher.match(line.text).intent != intent.name:
            raise IntentMatchError("an edit did not answer")
        row = {"answers": perf_counter() - start, "worked": process_time() - worked}
        while matcher.artefact.calibration is calibration and perf_counter() - start < _TIMEOUT:
            sleep(0.01)
        return row | {"learned": perf_counter() - start}


def _edited(file: Path, line: AddUtterance) -> str:
    """Return the text of a file with one more utterance."""
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
