"""Measure what `several_intents` gains on messages with several requests, and what it costs on other messages.

    python tests/benchmarks/bench_several.py --data FOLDER

README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench_accuracy import Choice, registry_of
from bench_accuracy import read_rows as read_single
from entry import option_parser, run_benchmark
from jsonl import read_jsonl
from rich.console import Console
from tables import print_table, write

from intentmatch import Matcher, MatchResult
from intentmatch.core.settings import resolve
from intentmatch.core.types import Encoder
from intentmatch.encoders import load_encoder

MIXED = "mixsnips"
SINGLE = (Choice("clinc150", "train_10"), Choice("banking77", "train_10"), Choice("massive"), Choice("rasa_financial"))


class Asked(NamedTuple):
    """A message and the set of its intents."""

    text: str
    intents: frozenset[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="a folder of sets of jsonl files")
    parser.add_argument("--encoder", metavar="KIND[:MODEL]", help="the setting `encoder`")
    parser.add_argument("--mixed", default=MIXED, metavar="SET", help="a set with messages of several intents")
    parser.add_argument("--single", nargs="*", metavar="SET[:TRAIN]", help="sets with one intent for each message")
    options = parser.parse_args(arguments)
    return run_benchmark(
        lambda: _rows(options),
        lambda rows: print_table(
            ("set", "train", "intents a message", "messages", "off", "on", "divided"), rows, left=2
        ),
    )


def _rows(options: argparse.Namespace) -> list[list[str]]:
    singles = SINGLE if options.single is None else [Choice(*name.split(":")) for name in options.single]
    encoder = load_encoder(resolve({"encoder": options.encoder} if options.encoder else {}))
    write(f"encoder {encoder.name} @ {encoder.fingerprint}")
    rows = []
    for choice in (Choice(options.mixed), *singles):
        rows += _measured(options.data / choice.name, choice, encoder)
        Console(stderr=True, highlight=False, markup=False).print(f"{choice.name} is done")
    return rows


def _measured(folder: Path, choice: Choice, encoder: Encoder) -> list[list[str]]:
    registry, _ = registry_of(read_single(folder / f"{choice.train}.jsonl"))
    known = {intent.name for intent in registry}
    asked = list(read_jsonl(folder / f"{choice.valid}.jsonl", "text and intent", _asked))
    asked = [one for one in asked if one.intents and one.intents <= known]
    texts = [one.text for one in asked]
    options: dict[str, Any] = {"encoder": encoder, "cache": "off"}
    off = Matcher.load(registry, **options).match_many(texts)
    on = Matcher.load(registry, **options, several_intents=True).match_many(texts)
    rows = []
    for count in sorted({len(one.intents) for one in asked}):
        some = [number for number, one in enumerate(asked) if len(one.intents) == count]
        right = [100 * sum(_found(of[n]) == asked[n].intents for n in some) / len(some) for of in (off, on)]
        divided = 100 * sum(bool(on[n].parts) for n in some) / len(some)
        figures = [str(count), str(len(some)), *(f"{share:.1f}" for share in (*right, divided))]
        rows.append([choice.name, choice.train, *figures])
    return rows


def _asked(row: dict[str, Any]) -> Asked:
    intents = row.get("intents") or ([row["intent"]] if row.get("intent") else [])
    return Asked(row["text"], frozenset(intents))


def _found(result: MatchResult) -> frozenset[str]:
    parts = frozenset(part.intent for part in result.parts)
    return parts or frozenset([result.intent] if result.intent else [])


if __name__ == "__main__":
    sys.exit(main())
