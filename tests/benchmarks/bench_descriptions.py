"""Measure what the description of an intent says in place of lines, and beside one to eight of them.

    python tests/benchmarks/bench_descriptions.py --data FOLDER
    python tests/benchmarks/bench_descriptions.py --data FOLDER --encoder onnx:FOLDER
    python tests/benchmarks/bench_descriptions.py --data FOLDER --excluding

`descriptions.yaml` describes the intents of three sets. `FOLDER/NAME` holds `train.jsonl` and `valid.jsonl` of a set,
as for `bench_accuracy.py`. The same 500 messages in scope and up to 100 out of scope are matched each time.

With `--excluding`, a third of the intents exclude what the most similar intent describes, which the registry lacks:
"refunds, but not pricing questions". Without the comma, this is one text.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
import yaml
from bench_accuracy import read_rows
from entry import add_json_option, option_parser, run_benchmark
from metrics import Outcome, summarise
from tables import print_table

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.core.settings import resolve
from intentmatch.core.types import Vectors
from intentmatch.encoders import load_encoder
from intentmatch.registry.descriptions import MOST_LINES, described
from intentmatch.text.normalize import fold

DESCRIPTIONS = Path(__file__).with_name("descriptions.yaml")
LINES = (0, 1, 3, 5, 8)
_MESSAGES, _STRANGERS = 500, 100
_CLAUSES = {"nothing": "", "one text": " but not {}", "excluded": ", but not {}"}
_SHOWN = ("first", "right", "wrong", "refused", "ece", "mean_confidence")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER", required=True, help="of sets, as bench_accuracy")
    parser.add_argument("--encoder", metavar="SPEC", default="static", help="the encoder; static")
    parser.add_argument("--excluding", action="store_true", help="measure what descriptions exclude")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    measure, show = (_excluding, _show_excluding) if options.excluding else (_measured, _show)
    return run_benchmark(
        lambda: [row for one in _sets(options.data) for row in measure(one, options.encoder)], show, options.json
    )


class _Set(NamedTuple):
    name: str
    descriptions: Mapping[str, str]
    train: Mapping[str | None, Sequence[str]]
    messages: Sequence[tuple[str, str | None]]


def _sets(data: Path) -> Iterator[_Set]:
    for name, descriptions in yaml.safe_load(DESCRIPTIONS.read_text(encoding="utf-8")).items():
        if (data / name).is_dir():
            train: dict[str | None, list[str]] = defaultdict(list)
            for row in _english(data / name / "train.jsonl", seed=0):
                train[row.intent].append(row.text)
            messages = [(row.text, row.intent) for row in _english(data / name / "valid.jsonl", seed=1)]
            yield _Set(name, descriptions, train, messages)


def _measured(one: _Set, encoder: str) -> Iterator[dict[str, Any]]:
    known = [pair for pair in one.messages if pair[1] is not None][:_MESSAGES]
    asked = [*known, *[pair for pair in one.messages if pair[1] is None][:_STRANGERS]]
    for lines in LINES:
        for with_description in (False, True) if 0 < lines <= MOST_LINES else (not lines,):
            registry = _registry(one.train, one.descriptions if with_description else {}, lines)
            answers = Matcher.load(registry, encoder=encoder).match_many([text for text, _ in asked])
            found = [Outcome.from_result(answer, truth) for answer, (_, truth) in zip(answers, asked, strict=True)]
            yield {"set": one.name, "lines": lines, "described": with_description, **summarise(found)}


def _excluding(one: _Set, encoder: str) -> Iterator[dict[str, Any]]:
    names = [name for name in one.train if name is not None]
    vectors = load_encoder(resolve({"encoder": encoder})).encode([one.descriptions[name] for name in names])
    lacking = _nearest_pairs(names, vectors @ vectors.T)
    train = {name: one.train[name] for name in names if name not in lacking.values()}
    near = [pair for pair in one.messages if pair[1] in lacking.values()][:_MESSAGES]
    known = [pair for pair in one.messages if pair[1] in train][:_MESSAGES]
    for lines in LINES:
        for says, clause in _CLAUSES.items():
            texts = {
                name: text + clause.format(one.descriptions[lacking[name]]) if name in lacking else text
                for name, text in one.descriptions.items()
            }
            matcher = Matcher.load(_registry(train, texts, lines), encoder=encoder)
            yield {
                "set": one.name,
                "lines": lines,
                "says": says,
                "right": mean(answer == truth for answer, truth in _answers(matcher, known)),
                "drawn": mean(lacking.get(answer or "") == truth for answer, truth in _answers(matcher, near)),
            }


def _answers(matcher: Matcher, messages: Sequence[tuple[str, str | None]]) -> list[tuple[str | None, str | None]]:
    """Return the intent matched and the true one for each message."""
    found = matcher.match_many([text for text, _ in messages])
    return [(result.intent, truth) for result, (_, truth) in zip(found, messages, strict=True)]


def _nearest_pairs(names: Sequence[str], cosines: Vectors) -> dict[str, str]:
    """Pair a third of the intents with the most similar other one, each intent in one pair at most."""
    np.fill_diagonal(cosines, -1.0)
    pairs: dict[str, str] = {}
    for place in np.argsort(-cosines, axis=None):
        one, other = (names[row] for row in divmod(int(place), len(names)))
        if len(pairs) < len(names) // 3 and not {one, other} & {*pairs, *pairs.values()}:
            pairs[one] = other
    return pairs


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


def _show_excluding(rows: Sequence[Mapping[str, Any]]) -> None:
    shown = [
        [row["set"], str(row["lines"]), row["says"], f"{100 * row['right']:.1f}", f"{100 * row['drawn']:.1f}"]
        for row in rows
    ]
    print_table(["set", "lines", "excludes", "right", "drawn"], shown, left=3)


if __name__ == "__main__":
    sys.exit(main())
