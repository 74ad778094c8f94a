"""Measure promised precisions: how often they are kept, and what they cost in coverage.

    python tests/benchmarks/bench_promise.py --data FOLDER
    python tests/benchmarks/bench_promise.py --data FOLDER --set clinc150:train_10 --cases 500 --splits 100

README.md beside this file explains the method.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from bench_accuracy import SETS, Choice, named_choices, read_rows, registry_of
from entry import add_json_option, option_parser, run_benchmark
from metrics import provenance
from numpy.typing import NDArray
from tables import print_table

from intentmatch import Matcher
from intentmatch.core.intervals import binomial_tail
from intentmatch.core.settings import Settings
from intentmatch.core.types import Case
from intentmatch.encoders import load_encoder
from intentmatch.encoders.encode import encode_all
from intentmatch.evaluation.insight.held_out_cases import held_out_cases
from intentmatch.learning.calibration import Calibration, answers_of, calibrate, shares_of
from intentmatch.learning.cross_validation import HeldOut
from intentmatch.learning.exact_test import most_wrong
from intentmatch.learning.labelled_cases import Labelled, labelled_cases, usable_cases
from intentmatch.learning.promise import Answers, last_kept, sequence
from intentmatch.text.normalize import clean

WITH_STRANGERS = (
    "clinc150",
    "banking77_oos",
    "msskills_general",
    "msskills_calendar",
    "rasa_financial",
    "rasa_helpdesk",
)
"""Sets with out-of-scope messages and at least 50 valid rows."""
HEADER = (
    "set", "train", "rows", "labelled", "promised", "kept", "kept, rest", "coverage", "one test", "limit", "oracle",
    "below oracle",
)  # fmt: skip

# Thresholds at which the limit is worked out, and probabilities that are left out of it.
_STEPS, _LEAST = 60, 1e-10
_MOST = 100_000
_LOG_FACTORIALS = np.append(0.0, np.cumsum(np.log(np.arange(1, _MOST + 1))))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    return run_benchmark(lambda: _numbers(options), _print, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", required=True, help="a folder of sets, as bench_accuracy"
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME[:TRAIN]", help="a set below --data")
    parser.add_argument("--cases", type=int, action="append", metavar="N", help="labelled rows; 150, 500 and 1500")
    parser.add_argument("--splits", type=int, default=1000, metavar="N", help="random choices of labelled rows; 1000")
    parser.add_argument("--precision", type=float, default=0.95)
    parser.add_argument("--confidence", type=float, default=0.9)
    add_json_option(parser)
    return parser


def _numbers(options: argparse.Namespace) -> dict[str, Any]:
    encoder = load_encoder(Settings())
    rows = []
    named = named_choices(options.set)
    for choice in named or [choice for choice in SETS if choice.name in WITH_STRANGERS]:
        held_out, everyone, known = _recorded(options.data, choice)
        for cases in options.cases or (150, 500, 1500):
            if cases < len(known) or (cases == min(options.cases or (150,)) and len(known) > 1):
                count = min(cases, len(known) * 2 // 3)
                rows.append(
                    {"set": choice.name, "train": choice.train_label}
                    | _measured(held_out, everyone, known, count, options)
                )
        sys.stderr.write(f"{choice.name} {choice.train_label}\n")
    return provenance([Path(sys.executable).name, *sys.argv], encoder) | {"rows": rows}


def _recorded(data: Path, choice: Choice) -> tuple[Answers, Answers, NDArray[np.bool_]]:
    """Return the held-out utterances of a set, its valid rows, and which of these are in scope."""
    registry, _ = registry_of(read_rows(data / choice.name / f"{choice.train}.jsonl"), choice.language)
    matcher = Matcher.load(registry)
    artefact, encoder = matcher.artefact, matcher.encoder
    read = [row for row in read_rows(data / choice.name / f"{choice.valid}.jsonl") if row is not None]
    tests = tuple(Case(row.text, row.intent, None) for row in read)
    cases = usable_cases(replace(registry, tests=tests))
    vectors = encode_all(encoder, [clean(case.text) for case in cases], "query", None)
    labelled = Labelled(None, cases, vectors)
    valid = labelled_cases(
        registry, artefact.wide_vectors, artefact.settings.aggregation, artefact.trained_head, labelled
    )
    held_out = held_out_cases(artefact, encoder).held_out
    calibration = calibrate(held_out, artefact.settings.target)
    return (
        _answers(calibration, held_out, shares_of(held_out)),
        _answers(calibration, valid, np.ones(len(cases))),
        valid.known,
    )


def _answers(calibration: Calibration, cases: HeldOut, weights: NDArray[np.float64]) -> Answers:
    confidences = calibration.confidences_many(cases.ranked)
    assert confidences is not None
    return answers_of(confidences, cases.right, weights)


def _measured(
    held_out: Answers, everyone: Answers, known: NDArray[np.bool_], cases: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Return the numbers of a set with so many labelled rows."""
    precision, chance, count = options.precision, 1.0 - options.confidence, len(known)
    thresholds = sequence(held_out, cases, precision, chance)
    given, wrong = everyone.at(thresholds)
    coverage = _coverage(everyone, known, thresholds)
    source, allowed = np.random.default_rng(0), (1.0 - precision) * given
    covered, made, kept, kept_by_rest = 0.0, 0, 0, 0
    for _ in range(options.splits):
        # Drawn as users write: any row may come twice.
        last = last_kept(*everyone.select(source.integers(0, count, cases)).at(thresholds), cases, precision, chance)
        made += last is not None
        covered += 0.0 if last is None else float(coverage[last])
        kept += last is None or bool(wrong[last] <= allowed[last])
        # Split in two: the rows that are not labelled are few, and their precision is uncertain itself.
        labelled, errors = everyone.select(source.permutation(count)[:cases]).at(thresholds)
        last = last_kept(labelled, errors, cases, precision, chance)
        rest, missed = given - labelled, wrong - errors
        kept_by_rest += last is None or bool(missed[last] <= (1.0 - precision) * rest[last])
    mean = covered / options.splits
    best = _oracle(everyone, known, precision)
    return {
        "rows": count,
        "labelled": cases,
        "promised": made / options.splits,
        "kept": kept / options.splits,
        "kept, rest": kept_by_rest / options.splits,
        "coverage": mean,
        "one test": _one_test(everyone, known, cases, precision, chance),
        "limit": _limit(everyone, known, cases, precision, chance),
        "oracle": best,
        "below oracle": best - mean,
    }


def _coverage(everyone: Answers, known: NDArray[np.bool_], thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the rows in scope that are answered at each threshold."""
    inside = everyone._replace(weights=known / known.sum())
    return inside.at(thresholds)[0]


def _oracle(everyone: Answers, known: NDArray[np.bool_], precision: float) -> float:
    """Return the coverage of the lowest threshold at which all rows have the precision."""
    thresholds = np.unique(everyone.confidence)
    given, wrong = everyone.at(thresholds)
    precise = (given > 0) & (wrong <= (1.0 - precision) * given)
    return float(_coverage(everyone, known, thresholds)[precise].max(initial=0.0))


def _one_test(everyone: Answers, known: NDArray[np.bool_], cases: int, precision: float, chance: float) -> float:
    """Return the most coverage to expect of one threshold that is chosen by all rows and tested with so many."""
    thresholds = np.unique(np.quantile(everyone.confidence, np.linspace(0.0, 1.0, 101)))
    given, wrong = everyone.at(thresholds)
    found = 0.0
    for covered, answered, missed in zip(_coverage(everyone, known, thresholds), given, wrong, strict=True):
        expected = round(cases * answered / len(known))
        power = (
            binomial_tail(most_wrong(expected, cases, precision, chance), expected, missed / answered)
            if answered
            else 0.0
        )
        found = max(found, float(covered) * power)
    return found


def _limit(everyone: Answers, known: NDArray[np.bool_], cases: int, precision: float, chance: float) -> float:
    """Return a coverage that no procedure can expect to exceed, even one that knows all rows, if it keeps its promises.

    Let the wrong rows among those answered at a threshold be a little more frequent, until the precision is too low
    there and below. Whoever keeps the promise chooses such a threshold with the `chance` at most; by the lemma of
    Neyman and Pearson (1933), it is then chosen in truth with the power of the best test at most. The mean coverage is
    the sum of these bounds over the steps of coverage.
    """
    thresholds = np.unique(everyone.confidence)[::-1]
    given, wrong = everyone.at(thresholds)
    covered = _coverage(everyone, known, thresholds)
    # Strict thresholds at which nothing is answered, as the bot asks, say nothing.
    places = np.flatnonzero((given > 0) & (wrong <= (1.0 - precision) * given))
    if not len(places):
        return chance * float(covered[-1])
    found, bound, before = 0.0, 1.0, 0.0
    for place in places[np.unique(np.linspace(0, len(places) - 1, _STEPS).astype(int))].tolist():
        found += bound * (covered[place] - before)
        before = covered[place]
        # So many of the rows answered here must be wrong for every lower threshold to be too low as well.
        needed = (1.0 - precision) * given[place:] - (wrong[place:] - wrong[place])
        rate, too_high = wrong[place] / given[place], max(1.0 - precision, float(needed.max() / given[place]))
        if too_high <= 1.0:
            bound = min(bound, _best_power(cases, given[place] / len(known), rate, too_high, chance))
    return float(found + min(bound, chance) * (covered[-1] - before))


def _best_power(cases: int, answered: float, rate: float, too_high: float, chance: float) -> float:
    """Return the power of the best test that a share of wrong answers is `rate` and not `too_high`.

    Of so many messages, each is answered with the probability `answered`.
    """
    ratios, truths, errors = [], [], []
    for count, likely in enumerate(_binomial(cases, answered)):
        if likely < _LEAST:
            continue
        truth, error = likely * _binomial(count, rate), likely * _binomial(count, too_high)
        some = (truth > _LEAST) | (error > _LEAST)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios.append((truth / error)[some])
        truths.append(truth[some])
        errors.append(error[some])
    order = np.argsort(-np.nan_to_num(np.concatenate(ratios), nan=0.0, posinf=np.inf), kind="stable")
    truth, error = np.concatenate(truths)[order], np.concatenate(errors)[order]
    # The test takes the outcomes that speak most for the truth, and a part of the last one, up to the chance.
    part = np.clip((chance - (np.cumsum(error) - error)) / np.maximum(error, 1e-300), 0.0, 1.0)
    return min(1.0, float(truth @ part) + cases * _LEAST)


def _binomial(count: int, share: float) -> NDArray[np.float64]:
    """Return the probability of each number of hits among at most `_MOST`."""
    share = min(max(share, 1e-300), 1.0 - 1e-16)
    hits, ways = np.arange(count + 1), _LOG_FACTORIALS[: count + 1]
    chances: NDArray[np.float64] = np.exp(
        ways[-1] - ways - ways[::-1] + hits * np.log(share) + hits[::-1] * np.log1p(-share)
    )
    return chances


def _print(numbers: dict[str, Any]) -> None:
    cells = [
        [str(row[name]) if isinstance(row[name], str | int) else f"{100 * row[name]:.1f}" for name in HEADER]
        for row in numbers["rows"]
    ]
    print_table(HEADER, cells, left=2)


if __name__ == "__main__":
    raise SystemExit(main())
