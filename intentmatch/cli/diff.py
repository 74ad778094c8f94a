"""The command `diff`: the review of an edit of the intents."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli import show, show_diff
from intentmatch.cli.commands import FILE, cli, set_option, settings_from
from intentmatch.cli.evaluate import TARGET, cases_of, parse_folds, write_text

if TYPE_CHECKING:
    from intentmatch.evaluation.compare.diff import FailOn
    from intentmatch.evaluation.folds import Folds

WORSE_EXIT_CODE = 1
_DEFAULT = "intents"


@cli.command()
@click.argument("old")
@click.argument("new", required=False)
@click.option("--tests", "-t", multiple=True, type=FILE, help="More cases to ask: .yaml, .jsonl, .csv or .tsv.")
@click.option("--messages", "-m", multiple=True, type=FILE, help="Logged messages to ask: .txt, .jsonl or .csv.")
@click.option("--folds", default="5", show_default=True, metavar="N|loo", callback=parse_folds)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of what is held out together.")
@click.option("--json", "as_json", type=TARGET, help="Write everything, change by change, to this file.")
@click.option("--html", type=TARGET, help="Write one page to this file; it opens offline.")
@click.option(
    "--fail-on",
    type=click.Choice(["worse", "any", "never"]),
    default="worse",
    show_default=True,
    help="What makes the exit code 1.",
)
@set_option
def diff(
    old: str,
    new: str | None,
    tests: tuple[Path, ...],
    messages: tuple[Path, ...],
    folds: Folds,
    seed: int,
    as_json: Path | None,
    html: Path | None,
    fail_on: FailOn,
    settings: tuple[str, ...],
) -> None:
    """Show which messages are answered otherwise by NEW than by OLD, and why: the review of an edit.

    OLD and NEW are folders or files of YAML, artefacts, or what any of these were in a commit, as REF:PATH with the
    path as seen from here. A bare REF takes the other's path; without NEW, OLD is held against the folder on disk.

    Both are asked the utterances that they share, held out in the same folds; the `tests:` of NEW and those of --tests;
    and --messages, of which nobody has said what they mean.

    \b
    Examples:
      intentmatch diff HEAD
      intentmatch diff main:intents/ intents/ --messages log.txt
      intentmatch diff last.intentmatch shop/ --tests cases.csv --json diff.json

    Exit codes: 0 done; 1 worse: more answers became wrong than right, or any test case became wrong. With --fail-on
    any: 1 if any answer changed.
    """
    from intentmatch.evaluation.compare.diff import compare, to_json
    from intentmatch.evaluation.compare.gitref import parse_sides
    from intentmatch.evaluation.compare.sides import load_side
    from intentmatch.evaluation.messages import read_messages
    from intentmatch.evaluation.reports.diff_page import to_html

    explicit: dict[str, Any] = settings_from(settings)
    sides = parse_sides(old, new, os.environ.get("INTENTMATCH_INTENTS", _DEFAULT))
    logged = [message for file in messages for message in read_messages(file)]
    with show.progress() as progress:
        before, after = (load_side(side, explicit, progress) for side in sides)
    cases = cases_of(tests, [intent.name for intent in after.registry])
    names = str(sides[0]), str(sides[1])
    with show.steps(patience=show.PATIENCE) as tell:
        found = compare(before, after, names=names, tests=cases, messages=logged, folds=folds, seed=seed, progress=tell)
    failed = found.failed(fail_on)
    if as_json is not None:
        write_text(as_json, to_json(found))
    if html is not None:
        write_text(html, to_html(found, failed))
    show_diff.diff(found, failed)
    sys.exit(WORSE_EXIT_CODE if failed else 0)
