"""`intentmatch diff`: compare the answers of two versions of the intents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from intentmatch.cli import completion
from intentmatch.cli.checkout import checked_out
from intentmatch.cli.commands import cli
from intentmatch.cli.evaluate import cases_of, folds_option, seed_option
from intentmatch.cli.options import (
    FILE,
    OUTPUT_FILE,
    default_intents,
    set_option,
    settings_from,
    takes_intents,
    write_text,
)
from intentmatch.cli.render import comparison, progress
from intentmatch.cli.render.progress import quiet_option
from intentmatch.storage.postgres.address import address_of, is_address

if TYPE_CHECKING:
    from intentmatch.evaluation.compare.diff import FailOn
    from intentmatch.evaluation.folds import Folds

WORSE_EXIT_CODE = 1


@cli.command()
@click.argument("old", shell_complete=completion.paths)
@takes_intents("new", positional="NEW")
@click.option(
    "--tests", "-t", multiple=True, type=FILE, help="More test cases: .yaml, .jsonl, .csv or .tsv; repeatable."
)
@click.option(
    "--messages", "-m", multiple=True, type=FILE, help="Logged messages: .txt, .jsonl, .csv or .tsv; repeatable."
)
@folds_option
@seed_option
@click.option("--json", "as_json", type=OUTPUT_FILE, help="Write the whole comparison to this file.")
@click.option("--html", type=OUTPUT_FILE, help="Write a page to this file; the page works offline.")
@click.option(
    "--fail-on",
    type=click.Choice(["worse", "any", "never"]),
    default="worse",
    show_default=True,
    help="Changes that make the exit code 1.",
)
@set_option
@quiet_option
@click.pass_context
def diff(
    context: click.Context,
    old: str,
    new: str,
    tests: tuple[Path, ...],
    messages: tuple[Path, ...],
    folds: Folds,
    seed: int,
    as_json: Path | None,
    html: Path | None,
    fail_on: FailOn,
    settings: tuple[str, ...],
) -> None:
    """Show which answers an edit changes, and why.

    OLD and NEW are folders or files of YAML, or artefacts. REF:PATH is a path in a git commit, relative to the current
    folder; REF alone is the path of the other side in that commit. Without NEW (or --intents), OLD is compared with the
    same path on disk.

    Both sides answer the utterances that they share (held out in the same folds), the `tests:` of NEW, the cases of
    --tests, and the messages of --messages, for which no right answer is known.

    \b
    Examples:
      intentmatch diff HEAD
      intentmatch diff main:intents/ intents/ --messages log.txt
      intentmatch diff last.intentmatch shop/ --tests cases.csv --json diff.json

    Exit codes: 0 done; 1 worse: more answers became wrong than right, or a test case became wrong. With --fail-on any:
    1 if any answer changed.
    """
    from intentmatch.evaluation.compare.diff import compare, to_json
    from intentmatch.evaluation.compare.gitref import parse_sides
    from intentmatch.evaluation.compare.sides import load_side
    from intentmatch.evaluation.messages import read_messages
    from intentmatch.evaluation.reports.diff_page import to_html

    explicit: dict[str, Any] = settings_from(settings)
    new_is_given = context.get_parameter_source("new") is ParameterSource.COMMANDLINE
    # The path of a bare REF: NEW has none if it was given.
    sides = parse_sides(_side(old), *((new, default_intents()) if new_is_given else (None, new)))
    logged = [message for file in messages for message in read_messages(file)]
    with progress.shown():
        before, after = (load_side(side, explicit) for side in sides)
    # Of the new version: cases of an intent that the edit removes are reported and skipped.
    cases = cases_of(tests, [intent.name for intent in after.registry])
    names = str(sides[0]), str(sides[1])
    with progress.shown():
        found = compare(before, after, names=names, tests=cases, messages=logged, folds=folds, seed=seed)
    failed = found.failed(fail_on)
    if as_json is not None:
        write_text(as_json, to_json(found))
    if html is not None:
        write_text(html, to_html(found, failed))
    comparison.diff(found, failed)
    sys.exit(WORSE_EXIT_CODE if failed else 0)


def _side(old: str) -> str:
    """Return a side as a path, an address of PostgreSQL too."""
    return checked_out(address_of(old)) if is_address(old) else old
