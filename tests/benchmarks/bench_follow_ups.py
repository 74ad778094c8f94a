"""Measure messages that do not stand alone, and what the turn before costs messages that do.

    python tests/benchmarks/bench_follow_ups.py
    python tests/benchmarks/bench_follow_ups.py --data FOLDER --set clinc150:train_10

README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from bench_accuracy import named_choices, read_rows, registry_of
from entry import add_json_option, option_parser, run_benchmark
from tables import print_table, write

from intentmatch import Matcher

FOLDER = Path(__file__).parents[1] / "matching" / "follow_ups"
SEED = 25


@dataclass(frozen=True)
class Row:
    """How many messages got the right intent."""

    name: str
    kind: str
    messages: int
    without: int
    """Right without the turn before."""
    right: int
    """Right with it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="sets of messages that stand alone")
    parser.add_argument("--set", action="append", default=[], metavar="NAME[:TRAIN[@LANGUAGE][:VALID]]")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    return run_benchmark(lambda: [*_table(), *_sets(options)], _show, options.json)


def _table() -> Iterator[Row]:
    matcher = Matcher.load(FOLDER / "intents.yaml")
    table = yaml.safe_load((FOLDER / "messages.yaml").read_text(encoding="utf-8"))
    for half, kinds in table.items():
        for kind, languages in kinds.items():
            for language, rows in languages.items():
                wanted = [row[0] if kind == "follow" else row[2] for row in rows]
                yield _measured(f"{half}, {language}", kind, matcher, [(row[0], row[1]) for row in rows], wanted)


def _sets(options: argparse.Namespace) -> Iterator[Row]:
    """Yield how many messages of a set are answered rightly after a random other turn. Those have to stand alone."""
    for choice in named_choices(options.set):
        folder = options.data / choice.name
        registry, _ = registry_of(read_rows(folder / f"{choice.train}.jsonl"), choice.language)
        messages = [row for row in read_rows(folder / f"{choice.valid}.jsonl") if row is not None]
        names = [intent.name for intent in registry.intents]
        before = random.Random(SEED)
        after = [(before.choice(names), row.text) for row in messages]
        yield _measured(
            f"{choice.name}:{choice.train_label}",
            "alone",
            Matcher.load(registry),
            after,
            [row.intent for row in messages],
        )


def _measured(
    name: str, kind: str, matcher: Matcher, messages: Sequence[tuple[str, str]], wanted: Sequence[str | None]
) -> Row:
    without = [matcher.match(text).intent for _, text in messages]
    answers = [matcher.match(text, previous=previous).intent for previous, text in messages]
    right = [sum(one == two for one, two in zip(found, wanted, strict=True)) for found in (without, answers)]
    return Row(name, kind, len(messages), *right)


def _show(rows: Sequence[Row]) -> None:
    lines = [[row.name, row.kind, str(row.messages), _share(row.without, row), _share(row.right, row)] for row in rows]
    print_table(["messages", "kind", "number", "without", "with"], lines, left=2)
    for half in ("development", "kept"):
        for kind in ("follow", "alone"):
            some = [row for row in rows if row.kind == kind and row.name.startswith(f"{half},")]
            right, number = sum(row.right for row in some), sum(row.messages for row in some)
            write(f"{half}, {kind}: {right} of {number}, {100 * right / number:.1f}%")


def _share(right: int, row: Row) -> str:
    return f"{100 * right / row.messages:.2f}"


if __name__ == "__main__":
    sys.exit(main())
