"""`intentmatch eval`: measure a registry, write reports, and fail if a gate is not met."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import FILE, OUTPUT_FILE, load, set_option, takes_intents, write_text
from intentmatch.cli.render import evaluation, output, progress
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core.errors import counted
from intentmatch.storage.postgres.address import Address

if TYPE_CHECKING:
    from intentmatch.core.errors import Problem
    from intentmatch.core.types import Case
    from intentmatch.evaluation.folds import Folds
    from intentmatch.evaluation.gate import Check
    from intentmatch.evaluation.reports.report import Report

GATE_EXIT_CODE = 1
DEFAULT_DROP = 0.5
"""Percentage points of overall accuracy that --baseline allows to lose."""
_SHOWN_SKIPPED = 5
"""Skipped test cases of a file that are printed; the others are counted."""


def _parse_folds(_context: click.Context, _option: click.Parameter, value: str) -> Folds:
    if value == "loo":
        return "loo"
    folds = int(value) if value.isdecimal() else 0
    if folds < 2:
        raise click.BadParameter(f"{value!r} is neither a whole number from 2 nor `loo`")
    return folds


def _parse_minimum(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, float]:
    """Read `PERCENT` and `NAME=PERCENT` as the least percent by name; the last of a name counts."""
    minima = {}
    for value in values:
        name, equals, percent = value.rpartition("=")
        try:
            least = float(percent)
        except ValueError:
            # Fails the check below, as a number out of range does.
            least = -1.0
        if not 0 <= least <= 100:
            raise click.BadParameter(f"{percent!r} is not a number from 0 to 100")
        minima[name if equals else "overall"] = least
    if minima:
        from intentmatch.evaluation.gate import MEASURES

        if unknown := [name for name in minima if name not in MEASURES]:
            raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(MEASURES)}")
    return minima


folds_option = click.option(
    "--folds",
    default="5",
    show_default=True,
    metavar="N|loo",
    callback=_parse_folds,
    help="Folds of the cross-validation; loo: leave one out.",
)
seed_option = click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of the division into folds."
)


@cli.command("eval")
@takes_intents(live=True)
@click.option("--tests", "-t", multiple=True, type=FILE, help="Test cases to use instead: .yaml, .jsonl, .csv or .tsv.")
@folds_option
@seed_option
@click.option("--reranker", help="Also measure what this reranker would gain and cost.")
@click.option("--learning-curve", "curve", is_flag=True, help="Also measure with 25, 50 and 75 % of the utterances.")
@click.option("--json", "as_json", type=OUTPUT_FILE, help="Write every case and number to this file.")
@click.option("--junit", type=OUTPUT_FILE, help="Write JUnit XML to this file.")
@click.option("--html", type=OUTPUT_FILE, help="Write a page with plots to this file; the page works offline.")
@click.option(
    "--robustness/--no-robustness",
    default=True,
    help="Also try mistyped, negated and out-of-scope messages.  [default: --robustness]",
)
@click.option(
    "--fail-under",
    multiple=True,
    metavar="[NAME=]PERCENT",
    callback=_parse_minimum,
    help="Gate: least overall accuracy; with robustness=, least robustness. May be repeated.",
)
@click.option("--baseline", type=FILE, help="Gate: a file of --json to compare the overall accuracy with.")
@click.option(
    "--max-drop",
    type=click.FloatRange(0, 100),
    metavar="POINTS",
    help=f"Allowed loss against the baseline in percentage points.  [default: {DEFAULT_DROP}]",
)
@set_option
@quiet_option
def evaluate(
    intents: str | Address,
    tests: tuple[Path, ...],
    folds: Folds,
    seed: int,
    reranker: str | None,
    curve: bool,
    as_json: Path | None,
    junit: Path | None,
    html: Path | None,
    robustness: bool,
    fail_under: dict[str, float],
    baseline: Path | None,
    max_drop: float | None,
    settings: tuple[str, ...],
) -> None:
    """Measure accuracy with thresholds, as in production.

    No test set is needed. Every utterance is held out and matched by a registry that was built without it and its
    near-duplicates; then again without its whole intent, where the right answer is out of scope. The `tests:` of the
    YAML are measured as well. With --tests, only the cases of these files are measured; those of intents that the
    registry does not have are reported and skipped.

    Overall accuracy is the share of right answers among all cases, in scope and out of scope. --fail-under and
    --baseline compare the overall accuracy of the test cases, or of the held-out utterances if there are no test cases.

    Robustness is the mean share of right answers to messages typed otherwise: with one and two typing mistakes, without
    accents, in shorthand, negated, or with a greeting, a signature, a number, emoji or another sentence around them.
    Noise and everyday talk should be refused.

    --reranker measures a second time with that reranker, and prints what it gains, how often it is asked, and the time,
    requests and tokens that takes. Gates and reports are those of the registry as it is.

    \b
    Examples:
      intentmatch eval shop/ --html report.html
      intentmatch eval shop/ --reranker words
      intentmatch eval shop/ --tests messages.csv --fail-under 90
      intentmatch eval --fail-under 80 --fail-under robustness.noise=95
      intentmatch eval shop/ --baseline main.json --max-drop 0.5 --junit eval.xml

    Exit codes: 0 done, and every gate passed; 1 a gate failed.
    """
    from intentmatch.evaluation import evaluate as measure
    from intentmatch.evaluation import read_report
    from intentmatch.matching.reranker import load_reranker

    if max_drop is not None and baseline is None:
        raise click.UsageError("--max-drop needs --baseline.")
    if not robustness and any(name.startswith("robustness") for name in fail_under):
        raise click.UsageError("--fail-under robustness= needs --robustness.")
    # Read first: a wrong file should not show after minutes of measuring.
    before = read_report(baseline) if baseline else None
    matcher = load(intents, settings)
    other = load_reranker(replace(matcher.settings, reranker=reranker)) if reranker is not None else None
    cases = cases_of(tests, [intent.name for intent in matcher.registry]) if tests else None
    with progress.shown():
        report = measure(matcher, tests=cases, folds=folds, seed=seed, curve=curve, robustness=robustness)
    second = None
    if other is not None:
        from intentmatch.evaluation.second_opinion import measure_reranker

        with progress.shown():
            second = measure_reranker(matcher, other, report, tests=cases, folds=folds, seed=seed)
    checks = _checks(report, fail_under, before, DEFAULT_DROP if max_drop is None else max_drop)
    # Before anything is printed: a closed pipe must not cost the reports.
    _write_reports(report, checks, as_json, junit, html)
    evaluation.report(report)
    if second is not None:
        evaluation.second_opinion(second)
    evaluation.gate(checks)
    if not all(check.passed for check in checks):
        sys.exit(GATE_EXIT_CODE)


def cases_of(files: Iterable[Path], known: list[str]) -> list[Case]:
    """Read the test cases of files, in their order; `known` are the intents that a case may expect.

    Cases of other intents are skipped, which is reported on standard error.
    """
    from intentmatch.evaluation.cases import read_cases

    cases: list[Case] = []
    for file in files:
        skipped: list[Problem] = []
        found = read_cases(file, known, skipped)
        cases += found
        _show_skipped(file, skipped, len(found))
    return cases


def _show_skipped(file: Path, skipped: Sequence[Problem], kept: int) -> None:
    """Print the first skipped cases of a file, and how many there are."""
    for problem in skipped[:_SHOWN_SKIPPED]:
        output.say(str(problem), err=True)
    if skipped:
        count = len({problem.location for problem in skipped})
        total = counted(kept + count, "test case")
        output.say(f"{file}: {count:,} of {total} skipped: the registry does not have their intents", err=True)


def _checks(report: Report, fail_under: dict[str, float], before: Report | None, max_drop: float) -> list[Check]:
    from intentmatch.evaluation.gate import at_least, no_drop

    checks = [at_least(report, percent, name) for name, percent in fail_under.items()]
    return checks + ([no_drop(report, before, max_drop)] if before is not None else [])


def _write_reports(
    report: Report, checks: list[Check], as_json: Path | None, junit: Path | None, html: Path | None
) -> None:
    from intentmatch.evaluation.reports.html import to_html
    from intentmatch.evaluation.reports.junit import to_junit
    from intentmatch.evaluation.reports.report import to_json

    if as_json is not None:
        write_text(as_json, to_json(report))
    if junit is not None:
        write_text(junit, to_junit(report, checks))
    if html is not None:
        write_text(html, to_html(report, checks))
