"""Measure what the description of an intent says in place of lines, and beside one and three of them.

    python tests/benchmarks/bench_descriptions.py --data FOLDER
    python tests/benchmarks/bench_descriptions.py --data FOLDER --encoder onnx:FOLDER

`descriptions.yaml` describes the intents of three sets. `FOLDER/NAME` holds `train.jsonl` and `valid.jsonl` of a set,
as for `bench_accuracy.py`. The same 500 messages in scope and up to 100 out of scope are matched each time.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from bench_accuracy import read_rows
from entry import add_json_option, option_parser, run_benchmark
from metrics import Outcome, summarise
from tables import print_table

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.registry.descriptions import MOST_LINES, described
from intentmatch.text.normalize import fold

DESCRIPTIONS = Path(__file__).with_name("descriptions.yaml")
LINES = (0, 1, 3, 5)
_MESSAGES, _STRANGERS = 500, 100
_SHOWN = ("first", "right", "wrong", "refused", "ece", "mean_confidence")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER", required=True, help="of sets, as bench_accuracy")
    parser.add_argument("--encoder", metavar="SPEC", default="static", help="the encoder; static")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    return run_benchmark(lambda: list(_measured(options)), _show, options.json)


def _measured(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for name, descriptions in yaml.safe_load(DESCRIPTIONS.read_text(encoding="utf-8")).items():
        if not (options.data / name).is_dir():
            continue
        train: dict[str | None, list[str]] = defaultdict(list)
        for row in _english(options.data / name / "train.jsonl", seed=0):
            train[row.intent].append(row.text)
        messages = _english(options.data / name / "valid.jsonl", seed=1)
        known = [(row.text, row.intent) for row in messages if row.intent is not None][:_MESSAGES]
        strange = [(row.text, None) for row in messages if row.intent is None][:_STRANGERS]
        for lines in LINES:
            for with_description in (False, True) if 0 < lines <= MOST_LINES else (not lines,):
                registry = _registry(train, descriptions if with_description else {}, lines)
                matcher = Matcher.load(registry, encoder=options.encoder)
                answers = matcher.match_many([text for text, _ in (*known, *strange)])
                truths = [intent for _, intent in (*known, *strange)]
                found = [Outcome.from_result(*pair) for pair in zip(answers, truths, strict=True)]
                yield {"set": name, "lines": lines, "described": with_description, **summarise(found)}


def _english(file: Path, seed: int) -> list[Any]:
    rows = [row for row in read_rows(file) if row is not None and (row.language or "en").startswith("en")]
    random.Random(seed).shuffle(rows)
    return rows


def _registry(train: Mapping[str | None, Sequence[str]], descriptions: Mapping[str, str], lines: int) -> Registry:
    """Return a registry with so many lines for each intent, each of them of one intent only."""
    intents, taken = [], set()
    for name, texts in train.items():
        if name is not None:
            new = [text for text in texts if (key := fold(text)) and not (key in taken or taken.add(key))]
            own = tuple(Utterance(text, "en") for text in new[:lines])
            intents.append(Intent(name, own, description=descriptions.get(name)))
    return described(Registry(tuple(intents)))


def _show(rows: Sequence[Mapping[str, Any]]) -> None:
    shown = [
        [
            row["set"],
            f"{row['lines']}" + (", description" if row["described"] else ""),
            *("-" if row[name] is None else f"{100 * row[name]:.1f}" for name in _SHOWN),
        ]
        for row in rows
    ]
    print_table(["set", "lines", *_SHOWN], shown, left=2)


if __name__ == "__main__":
    sys.exit(main())
