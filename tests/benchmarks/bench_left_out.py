"""Measure the learned threshold, and the AUROC, on messages of intents that a registry lacks.

    python tests/benchmarks/bench_left_out.py --data FOLDER
    python tests/benchmarks/bench_left_out.py --data FOLDER --set clinc150:train@en --lines 5 --left-out 0.5

Of each set, a registry gets some lines of each intent, in one language. All other rows are messages, about as many of
each intent. Then a quarter, a third or half of the intents is left out, and their messages are out of scope.
README.md beside this file explains the columns.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from bench_accuracy import Choice, Row, named_choices, read_rows, registry_of
from entry import add_json_option, option_parser, run_benchmark
from metrics import Outcome, best_weighed, provenance, summarise
from rich.console import Console
from tables import print_table, write

from intentmatch import Intent, Matcher, Registry
from intentmatch.core.settings import Settings, resolve
from intentmatch.core.types import Encoder
from intentmatch.encoders import load_encoder
from intentmatch.learning.calibration import ASK_BELOW

SETS = (
    *(Choice(name, language="ar") for name in ("arbanking77", "rasa_ar_helpdesk")),
    *(
        Choice(name, language="en")
        for name in (
            "banking77",
            "clinc150",
            "massive",
            "mixsnips",
            "msskills_calendar",
            "msskills_general",
            "mtop",
            "rasa_carbon",
            "rasa_financial",
            "rasa_helpdesk",
            "rasa_nlutd_banking",
            "xsid",
        )
    ),
    Choice("rasa_ru_cadaxapy", language="ru"),
    Choice("rasa_zh_faq", language="zh"),
)
"""All development sets in their main language; banking77_oos has the rows of banking77."""

LEFT_OUT = (1 / 4, 1 / 3, 1 / 2)
LINES = (5, 10, 50)
_MOST_MESSAGES = 600
_SMALL_SHARE = 0.1
"""Share of the out-of-scope messages that the default of the setting `out_of_scope_share` expects."""


class Measured(NamedTuple):
    """One registry; shares of all messages. A gap is how much less the learned threshold gets than the best one."""

    name: str
    lines: int
    left_out: float
    intents: int
    utterances: int
    messages: int
    cut: float
    overall: float
    gap: float
    gap_of_few: float
    """The gap if the out-of-scope messages weigh a tenth of all."""
    auroc: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, metavar="FOLDER", help="a folder of sets, as bench_accuracy"
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME", help="as bench_accuracy, repeatable")
    parser.add_argument("--lines", action="append", type=int, metavar="N", help="most lines of an intent, repeatable")
    parser.add_argument("--left-out", action="append", type=float, metavar="SHARE", help="of the intents, repeatable")
    parser.add_argument("--encoder", default=Settings.encoder, metavar="KIND[:MODEL]", help="the setting `encoder`")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    progress = Console(stderr=True, highlight=False, markup=False)
    return run_benchmark(lambda: _numbers(options, progress), _print, options.json)


def _numbers(options: argparse.Namespace, progress: Console) -> dict[str, Any]:
    encoder = load_encoder(resolve({"encoder": options.encoder}))
    rows: list[Measured] = []
    for choice in named_choices(options.set) or SETS:
        for lines in options.lines or LINES:
            rows += _measure(options.data, choice, lines, options.left_out or LEFT_OUT, encoder)
        progress.print(choice.name)
    about = provenance([Path(sys.executable).name, *sys.argv], encoder)
    return about | {"rows": [row._asdict() for row in rows]}


def _measure(data: Path, choice: Choice, lines: int, left_out: Sequence[float], encoder: Encoder) -> Iterator[Measured]:
    draw = random.Random(f"{choice.name} {lines}")
    intents, messages = _split(data, choice, lines, draw)
    order = draw.sample(range(len(intents)), len(intents))
    for share in left_out:
        # The larger share holds the smaller one, so that the rows of a set can be compared.
        kept = sorted(order[max(1, int(share * len(order))) :])
        registry = Registry(tuple(intents[number] for number in kept))
        matcher = Matcher.load(registry, encoder=encoder, cache="off")
        truths = [row.intent if row.intent in registry else None for row in messages]
        results = matcher.match_many([row.text for row in messages])
        outcomes = [Outcome.from_result(*each) for each in zip(results, truths, strict=True)]
        numbers = summarise(outcomes)
        yield Measured(
            choice.name,
            lines,
            share,
            len(registry),
            len(registry.utterances),
            len(messages),
            matcher.policy.default.value,
            numbers["overall"] or 0.0,
            _gap(outcomes),
            _gap(outcomes, _SMALL_SHARE),
            numbers["auroc_confidence"] or numbers["auroc_score"] or 0.0,
        )


def _split(data: Path, choice: Choice, lines: int, draw: random.Random) -> tuple[list[Intent], list[Row]]:
    """Return intents with some lines, two thirds of their own at most, and messages."""
    folder = data / choice.name
    registry, _ = registry_of(read_rows(folder / f"{choice.train}.jsonl"), choice.language)
    rows: dict[str | None, list[Row]] = defaultdict(list)
    for row in read_rows(folder / f"{choice.valid}.jsonl"):
        if (
            row is not None
            and row.language in (None, choice.language)
            and (row.intent is None or row.intent in registry)
        ):
            rows[row.intent].append(row)
    intents = []
    for intent in registry:
        own = draw.sample(intent.utterances, len(intent.utterances))
        some = max(2, min(lines, len(own) * 2 // 3))
        intents.append(Intent(intent.name, tuple(own[:some])))
        rows[intent.name] += [Row(utterance.text, intent.name, utterance.language) for utterance in own[some:]]
    most = -(-_MOST_MESSAGES // len(rows))
    return intents, [row for own in rows.values() for row in draw.sample(own, min(most, len(own)))]


def _gap(outcomes: Sequence[Outcome], out_of_scope_share: float | None = None) -> float:
    """Return how much more the best threshold gets than the learned one, while the bot asks about the same messages.

    The out-of-scope messages weigh as much as `out_of_scope_share` says; None if all messages weigh alike.
    """
    known = np.array([one.in_scope for one in outcomes])
    weights = np.ones(len(outcomes))
    if out_of_scope_share is not None:
        odds = out_of_scope_share / (1.0 - out_of_scope_share)
        weights[~known] = odds * known.sum() / max(1, (~known).sum())
    weights /= weights.sum()
    learned = np.array([one.answered if one.in_scope else one.refused for one in outcomes])
    # A refused message would be answered below another threshold unless its intent is more likely wrong than right.
    answered = np.array(
        [
            one.answered or (one.refused and one.first_right and (one.confidence is None or one.confidence > ASK_BELOW))
            for one in outcomes
        ]
    )
    values = np.array([one.score if one.scope is None else one.scope for one in outcomes])
    return best_weighed(values, answered, known, weights) - float(weights @ learned)


def _print(numbers: dict[str, Any]) -> None:
    write(f"intentmatch {numbers['version']}, encoder {numbers['encoder']['name']}")
    rows = [Measured(**row) for row in numbers["rows"]]
    names, lines, shares = ([*dict.fromkeys(column)] for column in zip(*(row[:3] for row in rows), strict=True))
    groups = {name: [row for row in rows if row.name == name] for name in names}
    groups |= {f"{count} lines": [row for row in rows if row.lines == count] for count in lines}
    groups |= {f"{share:.0%} left out": [row for row in rows if row.left_out == share] for share in shares}
    print_table(_HEADER, [_cells(name, some) for name, some in (groups | {"all": rows}).items()], left=1)


_HEADER = ("rows", "registries", "overall", "gap", "worst", "of", "gap, few", "worst", "of", "AUROC")


def _cells(name: str, rows: Sequence[Measured]) -> list[str]:
    """Return the means of some rows, and the rows with the largest gaps."""
    cells = [name, str(len(rows)), f"{100 * fmean(row.overall for row in rows):.1f}"]
    for gap in ("gap", "gap_of_few"):
        worst = max(rows, key=lambda row: getattr(row, gap))
        of = f"{worst.name} {worst.lines} {worst.left_out:.0%}"
        cells += [f"{100 * fmean(getattr(row, gap) for row in rows):.1f}", f"{100 * getattr(worst, gap):.1f}", of]
    return [*cells, f"{100 * fmean(row.auroc for row in rows):.1f}"]


if __name__ == "__main__":
    sys.exit(main())
