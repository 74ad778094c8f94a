"""Count right, missing and wrong values of slots in cases of one value each, by kind and language.

    python tests/benchmarks/bench_slot_cases.py
    python tests/benchmarks/bench_slot_cases.py --half kept
    python tests/benchmarks/bench_slot_cases.py --cases FILE --wrong

README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from entry import add_json_option, option_parser, run_benchmark
from tables import print_table, write

from intentmatch.core.types import Intent, Registry, Slot, Utterance
from intentmatch.slots import SlotReader, slot_readers

CASES = Path(__file__).parents[1] / "slots" / "messages" / "cases.jsonl"
NOW = datetime(2026, 11, 27, 10)
_HALVES = {"all": slice(None), "development": slice(0, None, 2), "kept": slice(1, None, 2)}


@dataclass(frozen=True)
class Counts:
    """How many values are right, missing and wrong."""

    right: int = 0
    nothing: int = 0
    wrong: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Add the counts of two groups of cases."""
        return Counts(self.right + other.right, self.nothing + other.nothing, self.wrong + other.wrong)

    def __str__(self) -> str:
        """Return the three counts as in the table, without zeros at the end: "12/1/2"."""
        return f"{self.right}/{self.nothing}/{self.wrong}"


@dataclass(frozen=True)
class Numbers:
    """What one run has measured: the counts by kind and language."""

    cells: Mapping[str, Mapping[str, Counts]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--cases", type=Path, default=CASES, help="lines of JSON: type, language, text, expected")
    parser.add_argument("--half", choices=_HALVES, default="all", help="the cases to read, every second one")
    parser.add_argument("--wrong", action="store_true", help="print the cases with other values than expected")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    return run_benchmark(lambda: _measured(options), _show, options.json)


def _measured(options: argparse.Namespace) -> Numbers:
    lines = options.cases.read_text(encoding="utf-8").splitlines()
    cells: dict[str, dict[str, Counts]] = {}
    for case in map(json.loads, lines[_HALVES[options.half]]):
        found = [one.value for one in _reader(case["type"]).fill(case["text"], ["v"], case["language"], NOW)]
        value = json.loads(json.dumps(found[0] if len(found) == 1 else found or None))
        expected = case["expected"]
        is_right = value == expected or (isinstance(expected, list) and value in expected)
        if options.wrong and not is_right:
            write(f"{case['type']} {case['language']} {case['text']!r}: {value}, expected {expected}")
        of_kind = cells.setdefault(case["type"], {})
        more = Counts(int(is_right), int(not is_right and value is None), int(not is_right and value is not None))
        of_kind[case["language"]] = of_kind.get(case["language"], Counts()) + more
    return Numbers(cells)


@lru_cache
def _reader(kind: Any) -> SlotReader:
    intent = Intent("x", (Utterance("value please", "en"),), slots=(Slot("v", kind),))
    return slot_readers(Registry((intent,)))["x"]


def _show(numbers: Numbers) -> None:
    languages = sorted({language for of_kind in numbers.cells.values() for language in of_kind})
    rows = []
    for kind, of_kind in sorted(numbers.cells.items()):
        rows.append([kind, str(sum(of_kind.values(), Counts())), *(str(of_kind.get(one, "-")) for one in languages)])
    by_language = [sum((of.get(one, Counts()) for of in numbers.cells.values()), Counts()) for one in languages]
    rows.append(["all", str(sum(by_language, Counts())), *map(str, by_language)])
    print_table(["kind", "all", *languages], rows, left=1)


if __name__ == "__main__":
    sys.exit(main())
