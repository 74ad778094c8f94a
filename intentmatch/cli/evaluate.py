"""The command `eval`: asks, shows, writes the reports, and exits by the gate."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from intentmatch.cli import show, show_report
from intentmatch.cli.commands import FILE, cli, intents_argument, load, set_option
from intentmatch.core.errors import InputError

if TYPE_CHECKING:
    from intentmatch.core.types import Case
    from intentmatch.evaluation.folds import Folds
    from intentmatch.evaluation.gate import Check
    from intentmatch.evaluation.reports.report import Report

GATE_EXIT_CODE = 1
DEFAULT_DROP = 0.5
TARGET = click.Path(dir_okay=False, path_type=Path)


def parse_folds(_context: click.Context, _option: click.Parameter, value: str) -> Folds:
    """The option --folds."""
    if value == "loo":
        return "loo"
    folds = int(value) if value.isdecimal() else 0
    if folds < 2:
        raise click.BadParameter(f"{value!r} is neither a number from 2 up nor `loo`")
    return folds


@cli.command("eval")
@intents_argument
@click.option("--tests", "-t", multiple=True, type=FILE, help="Cases to ask instead: .yaml, .jsonl, .csv or .tsv.")
@click.option(
    "--folds", default="5", show_default=True, metavar="N|loo", callback=parse_folds, help="loo: one at a time."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of what is held out together.")
@click.option("--learning-curve", "curve", is_flag=True, help="Ask thinned registries too: would more lines help?")
@click.option("--json", "as_json", type=TARGET, help="Write everything, case by case, to this file.")
@click.option("--junit", type=TARGET, help="Write JUnit XML to this file.")
@click.option("--html", type=TARGET, help="Write one page with plots to this file; it opens offline.")
@click.option("--fail-under", type=click.FloatRange(0, 100), metavar="PERCENT", help="Least overall accuracy.")
@click.option("--baseline", type=FILE, help="An earlier --json to compare the overall accuracy with.")
@click.option(
    "--max-drop", type=click.FloatRange(0, 100), metavar="POINTS", help=f"Below the baseline [default: {DEFAULT_DROP}]."
)
@set_option
def evaluate(
    intents: str,
    tests: tuple[Path, ...],
    folds: Folds,
    seed: int,
    curve: bool,
    as_json: Path | None,
    junit: Path | None,
    html: Path | None,
    fail_under: float | None,
    baseline: Path | None,
    max_drop: float | None,
    settings: tuple[str, ...],
) -> None:
    """Measure how often INTENTS answers right, thresholds and all, as it would in production.

    No test set is needed: every utterance is held out in turn and asked of a registry built without it and its
    near-duplicates, and once more with its whole intent left out, when it should be refused. The `tests:` of the YAML
    are asked as well; --tests asks files of cases instead.

    Overall accuracy is the share of all cases that are right, or rightly refused: of the test cases where there are
    any, otherwise of the held-out utterances. --fail-under and --baseline hold it against a gate.

    \b
    Examples:
      intentmatch eval shop/ --html report.html
      intentmatch eval shop/ --tests messages.csv --fail-under 90
      intentmatch eval shop/ --baseline main.json --max-drop 0.5 --junit eval.xml

    Exit codes: 0 done, and the gate passed; 1 the gate failed.
    """
    from intentmatch.evaluation import evaluate as measure
    from intentmatch.evaluation import read_report

    if max_drop is not None and baseline is None:
        raise click.UsageError("--max-drop needs a --baseline to fall from.")
    before = read_report(baseline) if baseline else None
    matcher = load(intents, settings)
    cases = cases_of(tests, [intent.name for intent in matcher.registry]) if tests else None
    with show.steps(patience=show.PATIENCE) as tell:
        report = measure(matcher, tests=cases, folds=folds, seed=seed, curve=curve, progress=tell)
    checks = _checks(report, fail_under, before, DEFAULT_DROP if max_drop is None else max_drop)
    _write(report, checks, as_json, junit, html)
    show_report.report(report)
    show_report.gate(checks)
    if not all(check.passed for check in checks):
        sys.exit(GATE_EXIT_CODE)


def cases_of(files: Iterable[Path], known: list[str]) -> list[Case]:
    """The cases of files, in their order; `known` are the intents that they may expect."""
    from intentmatch.evaluation.cases import read_cases

    return [case for file in files for case in read_cases(file, known)]


def _checks(report: Report, fail_under: float | None, before: Report | None, max_drop: float) -> list[Check]:
    from intentmatch.evaluation.gate import at_least, no_drop

    checks = [at_least(report, fail_under)] if fail_under is not None else []
    return checks + ([no_drop(report, before, max_drop)] if before is not None else [])


def _write(report: Report, checks: list[Check], as_json: Path | None, junit: Path | None, html: Path | None) -> None:
    from intentmatch.evaluation.reports.html import to_html
    from intentmatch.evaluation.reports.junit import to_junit
    from intentmatch.evaluation.reports.report import to_json

    if as_json is not None:
        write_text(as_json, to_json(report))
    if junit is not None:
        write_text(junit, to_junit(report, checks))
    if html is not None:
        write_text(html, to_html(report, checks))


def write_text(target: Path, text: str) -> None:
    """Write a file that the user asked for. Raises `InputError` where it cannot be written."""
    try:
        target.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}") from error
