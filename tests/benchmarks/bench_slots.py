"""Measure how exactly the values of slots are found in labelled messages, by kind and language.

    python tests/benchmarks/bench_slots.py
    python tests/benchmarks/bench_slots.py --half kept
    python tests/benchmarks/bench_slots.py --table moments

README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from entry import add_json_option, option_parser, run_benchmark
from tables import print_table, write

sys.path.insert(0, str(Path(__file__).parents[1] / "slots"))

from slot_messages import HALVES, TABLES, Score, measure, summed


@dataclass(frozen=True)
class Numbers:
    """What one run has measured."""

    table: str
    half: str
    by_kind: Mapping[str, Score]
    by_language: Mapping[str, Score]
    cells: Mapping[str, Mapping[str, Score]]
    """Scores by kind and language."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--half", choices=HALVES, default="development", help="the messages to measure")
    parser.add_argument("--table", choices=TABLES, default="messages", help="all kinds of slots, or days and times")
    parser.add_argument("--wrong", action="store_true", help="print the messages with other values than expected")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    return run_benchmark(lambda: _measured(options), _show, options.json)


def _measured(options: argparse.Namespace) -> Numbers:
    cells, wrong = measure(options.half, options.table)
    for line in wrong if options.wrong else ():
        write(line)
    by_kind: dict[str, dict[str, Score]] = {}
    for (kind, language), score in cells.items():
        by_kind.setdefault(kind, {})[language] = score
    return Numbers(options.table, options.half, summed(cells, 0), summed(cells, 1), by_kind)


def _show(numbers: Numbers) -> None:
    languages = list(numbers.by_language)
    header = ["kind", "values", "F1", "right", *languages]
    rows = [
        [kind, str(score.expected), _f1(score), f"{100 * score.values_right:.1f}"]
        + [_f1(numbers.cells[kind].get(language)) for language in languages]
        for kind, score in numbers.by_kind.items()
    ]
    rows.append(["all", "", "", "", *(_f1(score) for score in numbers.by_language.values())])
    write(f"{numbers.table}, {numbers.half} half")
    print_table(header, rows, left=1)


def _f1(score: Score | None) -> str:
    return "-" if score is None else f"{100 * score.f1:.1f}"


if __name__ == "__main__":
    sys.exit(main())
