"""Measure which messages are still carried out when they are put in the negative or the state is reversed.

    python tests/benchmarks/bench_negations.py --data FOLDER

README.md beside this file explains the columns.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench_accuracy import read_rows, registry_of
from entry import add_json_option, option_parser, run_benchmark
from jsonl import read_jsonl
from tables import print_table

from intentmatch import Matcher, MatchResult

SETS = ("clinc150", "banking77")
"""Data sets whose messages Amazon put in the negative, in `FOLDER/messages/negation_NAME.jsonl`."""
_WORD = re.compile(r"\b(\w+n['’]t|dont|not|never|no|nobody|nothing|none|neither|nor|without|cannot)\b", re.IGNORECASE)
_PARTS = 3


class Negation(NamedTuple):
    """A message, and the same in the negative or with the state reversed."""

    message: str
    negated: str
    intent: str

    @property
    def has_new_word(self) -> bool:
        """Whether the negative has a word of negation and the message has none."""
        return self.was_positive and _WORD.search(self.negated) is not None

    @property
    def was_positive(self) -> bool:
        """Whether the message has no word of negation."""
        return _WORD.search(self.message) is None

    @property
    def is_kept(self) -> bool:
        """Whether the network of the dialogue acts was not trained with it: a third, told by its letters."""
        return zlib.crc32(self.message.encode()) % _PARTS == _PARTS - 1


@dataclass(frozen=True)
class Row:
    """What became of the negatives of messages that were answered rightly."""

    name: str
    messages: int
    carried_out: int
    new_word: int
    """Messages whose negative has a new word of negation."""
    new_word_carried_out: int
    with_negation: int
    """Different messages with a word of negation of their own, whether answered rightly or not."""
    asked: int
    """Of these, asked about for it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with `intents/dev/` and `messages/`")
    parser.add_argument("--set", choices=SETS, action="append", help="measure only this data set")
    parser.add_argument("--train", default="train_10", help="examples of the bot")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    names = options.set or SETS
    return run_benchmark(
        lambda: [row for name in names for row in _rows_of(options.data, name, options.train)], _show, options.json
    )


def read_negations(data: Path, name: str) -> list[Negation]:
    """Read the messages of a data set with their negatives. Raises `InputError` with file and line."""
    return [*read_jsonl(data / "messages" / f"negation_{name}.jsonl", "message, negated and intent", _negation)]


def _negation(values: Any) -> Negation:
    return Negation(values["message"], values["negated"], values["intent"])


def _rows_of(data: Path, name: str, train: str) -> Iterator[Row]:
    registry, _ = registry_of(read_rows(data / "intents" / "dev" / name / f"{train}.jsonl"))
    matcher = Matcher.load(registry)
    found = read_negations(data, name)
    before = matcher.match_many([one.message for one in found], top_k=1)
    after = matcher.match_many([one.negated for one in found], top_k=1)
    measured = [*zip(found, before, after, strict=True)]
    yield _row(name, measured, lambda _: True)
    yield _row(f"{name}, not trained with", measured, lambda one: one.is_kept)


def _row(
    name: str, measured: Sequence[tuple[Negation, MatchResult, MatchResult]], chosen: Callable[[Negation], bool]
) -> Row:
    right = [
        (one, after.verdict == "matched" and after.intent == one.intent)
        for one, before, after in measured
        if chosen(one) and before.verdict == "matched" and before.intent == one.intent
    ]
    asked = {
        one.message: before.verdict == "ambiguous" and len(before.rivals) == 1
        for one, before, _ in measured
        if chosen(one) and not one.was_positive
    }
    new = [carried_out for one, carried_out in right if one.has_new_word]
    return Row(name, len(right), sum(out for _, out in right), len(new), sum(new), len(asked), sum(asked.values()))


def _show(rows: Sequence[Row]) -> None:
    header = ["set", "messages", "carried out", "with a new word", "carried out", "originals with one", "asked"]
    print_table(header, [_cells(row) for row in rows], left=1)


def _cells(row: Row) -> list[str]:
    counts = ((row.messages, row.carried_out), (row.new_word, row.new_word_carried_out), (row.with_negation, row.asked))
    return [row.name, *(cell for of, some in counts for cell in (str(of), f"{some / of:.1%}" if of else "-"))]


if __name__ == "__main__":
    sys.exit(main())
