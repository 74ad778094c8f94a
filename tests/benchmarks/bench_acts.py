"""Measure what the network of the dialogue acts tells of messages that it was not trained with.

    python tests/benchmarks/bench_acts.py                 # the kept lists of the package
    python tests/benchmarks/bench_acts.py --data FOLDER   # and development rows, which ask for something

README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench_accuracy import read_rows
from entry import add_json_option, option_parser, run_benchmark
from tables import print_table, write

from intentmatch.distill.acts import pieces_of
from intentmatch.distill.messages import LabelledMessage, joining_words, read_messages
from intentmatch.matching.message_parts import REFUSES, SETTLED
from intentmatch.reading.dialogue_acts import ACTS, Act, ReadActs, dialogue_acts

SETS = ("clinc150", "banking77", "massive")
_SEED, _MOST, _ROWS, _LONGEST_SHORT = 5, 1500, 3000, 8


class Flagged(NamedTuple):
    """Messages that do one thing, and the share that is read to do each; requests do none of them."""

    name: str
    messages: int
    refuses: float
    settled: float
    tale: float
    courtesy: float
    depends: float
    undecided: float
    surely_refuses: float
    """At least `REFUSES`."""
    surely_settled: float
    """At least `SETTLED`."""


class Joined(NamedTuple):
    """Two requests in one message."""

    messages: int
    found: float
    """Share whose second request is found to begin where it does."""
    others: float
    """Other places where a part is said to begin, for each message."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="a folder of sets, as bench_accuracy")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    return run_benchmark(lambda: [*_rows(options)], _show, options.json)


def _rows(options: argparse.Namespace) -> Iterator[Flagged | Joined]:
    draw = random.Random(_SEED)
    kept: dict[str, list[LabelledMessage]] = defaultdict(list)
    for message in read_messages("measure"):
        kept[message.act or "request"].append(message)
    for act, messages in sorted(kept.items()):
        some = draw.sample(messages, min(len(messages), _MOST))
        yield _flagged(f"kept, {act}", [message.text for message in some])
    yield _joined(kept["request"], draw)
    if options.data is not None:
        files = [options.data / name / "valid.jsonl" for name in SETS]
        texts = [row.text for file in files for row in read_rows(file) if row is not None]
        yield _flagged("development rows", draw.sample(texts, min(len(texts), _ROWS)))


def _flagged(name: str, texts: Sequence[str]) -> Flagged:
    read = [one.acts for one in _read([pieces_of(text) for text in texts])]

    def share(act: Act, least: float) -> float:
        return sum(acts[ACTS.index(act)] >= least for acts in read) / len(read)

    half = {act: share(act, 0.5) for act in ACTS}
    return Flagged(
        name, len(read), **half, surely_refuses=share("refuses", REFUSES), surely_settled=share("settled", SETTLED)
    )


def _joined(requests: Sequence[LabelledMessage], draw: random.Random) -> Joined:
    by_language: dict[str, list[str]] = defaultdict(list)
    for message in requests:
        if not message.frame and len(message.text) > _LONGEST_SHORT:
            by_language[message.language].append(message.text)
    pairs = []
    for _ in range(_MOST):
        language = draw.choice([*by_language])
        one, other = draw.sample(by_language[language], 2)
        words = joining_words().get(language, ())
        between = f" {draw.choice(words)}" if words and draw.random() < 0.6 else draw.choice((",", "", ".", "?"))
        pairs.append((pieces_of(one.rstrip(" .!?") + between), pieces_of(other[:1].lower() + other[1:])))
    found = others = 0
    read_pairs = _read([[*one, *other] for one, other in pairs])
    for read, (first, _) in zip(read_pairs, pairs, strict=True):
        begins = [place for place, logit in enumerate(read.begins) if place and logit >= 0]
        found += len(first) in begins
        others += len({*begins} - {len(first)})
    return Joined(len(pairs), found / len(pairs), others / len(pairs))


def _read(texts: Sequence[Sequence[int]]) -> list[ReadActs]:
    return dialogue_acts().read_many(texts)


def _show(rows: Sequence[Flagged | Joined]) -> None:
    percent = "{:.1%}".format
    flagged = [row for row in rows if isinstance(row, Flagged)]
    header = ["messages", "", *ACTS, f"refuses {REFUSES}", f"settled {SETTLED}"]
    print_table(header, [[row.name, str(row.messages), *map(percent, row[2:])] for row in flagged], left=1)
    for row in rows:
        if isinstance(row, Joined):
            found = f"{row.found:.1%} of {row.messages} places found"
            write(f"\nTwo kept requests joined: {found}, {row.others:.2f} others for each message")


if __name__ == "__main__":
    sys.exit(main())
