"""`intentmatch drift`: what users ask today against the weeks before."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import (
    FILE,
    OUTPUT_FILE,
    bot_option,
    json_option,
    load,
    set_option,
    takes_intents,
    write_text,
)
from intentmatch.cli.render import output, progress
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core.errors import counted

if TYPE_CHECKING:
    from intentmatch.evaluation.drift import Drift

DRIFT_EXIT_CODE = 1


@cli.command()
@click.argument("logs", nargs=-1, required=True, type=FILE, metavar="LOG...")
@takes_intents(positional=None)
@click.option(
    "--days",
    type=click.IntRange(1, 366),
    default=28,
    show_default=True,
    help="Days before the last one to compare with.",
)
@bot_option
@click.option("--webhook", metavar="URL", help="Send what was found to this URL, as JSON.")
@click.option("--metrics", type=OUTPUT_FILE, help="Write numbers for Prometheus to this file (textfile collector).")
@json_option
@set_option
@quiet_option
def drift(
    logs: tuple[Path, ...],
    intents: str,
    days: int,
    bot: str | None,
    webhook: str | None,
    metrics: Path | None,
    as_json: bool,
    settings: tuple[str, ...],
) -> None:
    """Compare the last day of a log with the weeks before.

    LOG is a file of JSON lines, as `serve --log-format json --log-messages` writes it. Its messages are answered by the
    intents as they are now. Verdicts, intents, languages, low confidences and words are compared. If nothing has
    changed, one check a day gives at most one false alarm a month. The exit code is 1 if something has changed.

    \b
    Examples:
      intentmatch drift log.jsonl -i shop/
      intentmatch drift log.jsonl -i shop/ --days 14 --metrics drift.prom
    """
    from intentmatch.evaluation.drift import answered, find_drift, split_last_day
    from intentmatch.evaluation.drift_report import send, to_dict, to_metrics
    from intentmatch.evaluation.logs import read_times

    messages = read_times(logs, bot)
    # The last day of the log and not of the clock: a log may be an old one.
    newest = messages[-1][1]
    oldest = newest - timedelta(days=days + 1)
    matcher = load(intents, settings)
    with progress.shown() as update:
        update("comparing the last day", 0, None)
        # Older messages are not compared, and answering a log of months takes minutes.
        answers = answered(matcher, [message for message in messages if message[1] > oldest])
        found = find_drift(*split_last_day(answers, days))
    if metrics is not None:
        write_text(metrics, to_metrics(found))
    if as_json:
        output.as_json(to_dict(found))
    else:
        _show(found)
    if webhook is not None and found.findings:
        # Last: a webhook that does not answer must not cost the report.
        send(webhook, json.dumps(to_dict(found), ensure_ascii=False).encode())
    if found.findings:
        sys.exit(DRIFT_EXIT_CODE)


def _show(found: Drift) -> None:
    output.say(f"{counted(found.now, 'message')} in the last day, {counted(found.before, 'message')} before")
    if not found.before:
        output.say("There is nothing to compare with: the log begins less than a day before its last message.")
    elif not found.findings:
        output.say("Nothing has changed more than by chance.")
    for finding in found.findings:
        output.say(f"  {finding.text}", indent="    ")
