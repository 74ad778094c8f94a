"""Measure how messages with several requests are answered, and what `several_intents` gains and costs.

    python tests/benchmarks/bench_several.py --data FOLDER

README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import random
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
from intentmatch.distill.messages import joining_words
from intentmatch.encoders import load_encoder

MIXED = "mixsnips"
SINGLE = (Choice("clinc150", "train_10"), Choice("banking77", "train_10"), Choice("massive"), Choice("rasa_financial"))


SIGNS = (" {word} ", " {word} ", ", {word} ", ". ", ", ")
"""How two requests are joined: with a word such as "and", as people do most often, or without one."""
SEED, MOST_PAIRS = 1, 1000


class Asked(NamedTuple):
    """A message and the set of its intents."""

    text: str
    intents: frozenset[str]
    language: str


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
            ("set", "train", "intents a message", "messages", "off", "offered", "on", "divided"), rows, left=3
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
    options: dict[str, Any] = {"encoder": encoder, "cache": "off"}
    off, on = Matcher.load(registry, **options), Matcher.load(registry, **options, several_intents=True)
    rows = []
    for count in sorted({len(one.intents) for one in asked}):
        some = [one for one in asked if len(one.intents) == count]
        rows.append([choice.name, choice.train, str(count), *_figures(some, off, on)])
    if pairs := _joined([one for one in asked if len(one.intents) == 1], off):
        rows.append([choice.name, choice.train, "2, joined", *_figures(pairs, off, on)])
    return rows


def _figures(asked: Sequence[Asked], off: Matcher, on: Matcher) -> list[str]:
    texts = [one.text for one in asked]
    alone, divided = off.match_many(texts), on.match_many(texts)
    shares = (
        [_found(result) == one.intents for result, one in zip(alone, asked, strict=True)],
        [one.intents <= {rival.intent for rival in result.rivals} for result, one in zip(alone, asked, strict=True)],
        [_found(result) == one.intents for result, one in zip(divided, asked, strict=True)],
        [bool(result.parts) for result in divided],
    )
    return [str(len(asked)), *(f"{100 * sum(share) / len(asked):.1f}" for share in shares)]


def _joined(asked: Sequence[Asked], matcher: Matcher) -> list[Asked]:
    """Return pairs of messages that are answered rightly alone: of two intents, in one language."""
    draw = random.Random(SEED)
    results = matcher.match_many([one.text for one in asked])
    by: dict[str, list[Asked]] = {}
    for one, result in zip(asked, results, strict=True):
        if result.intent in one.intents:
            by.setdefault(one.language, []).append(one)
    pairs = [(one, draw.choice(some)) for some in by.values() for one in some]
    pairs = [(one, other) for one, other in pairs if one.intents != other.intents]
    return [_pair(*pair, draw) for pair in draw.sample(pairs, min(MOST_PAIRS, len(pairs)))]


def _pair(one: Asked, other: Asked, draw: random.Random) -> Asked:
    word = draw.choice(joining_words().get(one.language, ("and",)))
    first, second = one.text.rstrip(" .!?,;。？！"), other.text[:1].lower() + other.text[1:]
    return Asked(first + draw.choice(SIGNS).format(word=word) + second, one.intents | other.intents, one.language)


def _asked(row: dict[str, Any]) -> Asked:
    intents = row.get("intents") or ([row["intent"]] if row.get("intent") else [])
    return Asked(row["text"], frozenset(intents), row.get("lang") or "en")


def _found(result: MatchResult) -> frozenset[str]:
    parts = frozenset(part.intent for part in result.parts)
    return parts or frozenset([result.intent] if result.intent else [])


if __name__ == "__main__":
    sys.exit(main())
