"""`intentmatch replay`: what another version of the intents would have answered otherwise."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli import completion
from intentmatch.cli.commands import cli
from intentmatch.cli.options import FILE, OUTPUT_FILE, bot_option, set_option, settings_from, takes_intents, write_text
from intentmatch.cli.render import output, progress
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core.errors import counted

if TYPE_CHECKING:
    from intentmatch.evaluation.compare.replay import Cause, Replay

_DAYS = re.compile(r"(\d{1,4})d")
_MOST_CAUSES = 15


class _Since(click.ParamType):  # type: ignore[type-arg]
    """A date, a time, or a number of days before now."""

    name = "since"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the moment, with a time zone; a text without one is local time."""
        if isinstance(value, datetime):
            return value
        if days := _DAYS.fullmatch(value):
            return datetime.now(timezone.utc) - timedelta(days=int(days[1]))
        try:
            # `fromisoformat` reads the Z of UTC from Python 3.11 on.
            return datetime.fromisoformat(value.replace("Z", "+00:00")).astimezone()
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is neither a date such as 2026-11-16 nor a number of days such as 7d.", param, ctx)


@cli.command()
@click.argument("logs", nargs=-1, required=True, type=FILE, metavar="LOG...")
@takes_intents(positional=None)
@click.option(
    "--candidate",
    "-c",
    required=True,
    metavar="NEW",
    shell_complete=completion.paths,
    help="The other version: a folder, a file, an artefact, or REF:PATH in a git commit.",
)
@click.option("--since", type=_Since(), metavar="WHEN", help="Only messages since then: 2026-11-16, or 7d for a week.")
@bot_option
@click.option(
    "--examples", type=click.IntRange(min=0), default=3, show_default=True, help="Messages to show of each cause."
)
@click.option("--json", "as_json", type=OUTPUT_FILE, help="Write every difference to this file.")
@set_option
@quiet_option
def replay(
    logs: tuple[Path, ...],
    intents: str,
    candidate: str,
    since: datetime | None,
    bot: str | None,
    examples: int,
    as_json: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Show what a candidate would have answered otherwise.

    LOG is a file of JSON lines, as `serve --log-format json --log-messages` writes it. Each message is answered by the
    version in use (--intents) and by the candidate. What differs is grouped by its cause, the worst first: messages
    that get another intent or no answer, then those that are asked back.

    \b
    Examples:
      intentmatch replay server.jsonl --candidate shop-new/ -i shop/
      intentmatch replay server.jsonl --candidate main:intents/ --since 7d
    """
    from intentmatch.evaluation.compare.gitref import parse_sides
    from intentmatch.evaluation.compare.replay import replay as replayed
    from intentmatch.evaluation.compare.replay import to_json
    from intentmatch.evaluation.compare.sides import load_side
    from intentmatch.evaluation.logs import read_log

    explicit = settings_from(settings)
    log = read_log(logs, since, bot)
    sides = parse_sides(intents, candidate, intents)
    with progress.shown():
        old, new = (load_side(side, explicit) for side in sides)
        found = replayed(old, new, log, names=(str(sides[0]), str(sides[1])))
    if as_json is not None:
        write_text(as_json, to_json(found))
    _show(found, examples)


def _show(found: Replay, examples: int) -> None:
    from intentmatch.evaluation.compare.replay import KINDS
    from intentmatch.evaluation.reports.number_format import percent

    received = found.log.received
    share = percent(found.received / received)
    output.say(output.style(f"{found.names[0]} against {found.names[1]}", bold=True))
    output.say(f"{counted(received, 'message')}, {counted(len(found.log.messages), 'different text')}")
    if broken := found.log.broken:
        output.say(f"skipped {counted(len(broken), 'line')} without valid JSON, the first at {broken[0].short}")
    if found.not_as_logged:
        output.say(f"{found.not_as_logged} were answered otherwise then: by other intents than now, or by a candidate")
    if found.causes:
        output.say(f"{found.received} would be answered otherwise ({share}):")
        kinds = found.kinds
        rows = [[title, str(kinds[kind])] for kind, title in KINDS.items() if kinds[kind]]
        output.table(["how", "messages"], rows)
    else:
        output.say("All would be answered alike.")
    for cause in found.causes[:_MOST_CAUSES]:
        _cause(cause, examples)
    if len(found.causes) > _MOST_CAUSES:
        output.say(f"\nand {counted(len(found.causes) - _MOST_CAUSES, 'more cause')}: --json writes all")


def _cause(cause: Cause, examples: int) -> None:
    from intentmatch.evaluation.compare.replay import KINDS

    output.heading(cause.text[:1].upper() + cause.text[1:])
    kinds = ", ".join(f"{title} {cause.kinds[kind]}" for kind, title in KINDS.items() if cause.kinds[kind])
    output.say(f"  {counted(cause.received, 'message')}: {kinds}")
    for one in cause.differences[:examples]:
        times = f" ({one.message.count} times)" if one.message.count > 1 else ""
        change = one.change
        output.say(f"  “{change.new.case.text}”{times}: {change.old.answer}, now {change.new.answer}", indent="    ")
