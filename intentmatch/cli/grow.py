"""`intentmatch grow`: let a chat model propose lines, filter them, and add those that the author accepts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from intentmatch.cli import completion
from intentmatch.cli.commands import cli
from intentmatch.cli.edit import dry_run_option, planned, workspace_of, write, yes_option
from intentmatch.cli.options import OUTPUT_FILE, json_option, load, set_option, takes_intents
from intentmatch.cli.render import comparison, output, progress
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core.errors import InputError, counted
from intentmatch.core.settings import ON_SERVERS, Settings

if TYPE_CHECKING:
    from intentmatch.authoring.growing.grow import Grown
    from intentmatch.authoring.growing.line_filter import Proposal
    from intentmatch.authoring.growing.tasks import Kind, Task
    from intentmatch.authoring.growing.writer import LineWriter
    from intentmatch.matching.matcher import Matcher

_Reply = Literal["y", "n", "all", "stop"]

_MOST_REFUSED = 15


@cli.command()
@takes_intents(positional=None)
@click.option(
    "--model",
    metavar="chat:URL#MODEL",
    help="The chat model. The default is the one of the setting `reranker`; the key is in INTENTMATCH_RERANKER_KEY.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(["paraphrase", "translate", "inbox"]),
    help="What to ask for; repeatable. The default is paraphrase and translate.",
)
@click.option(
    "--intent",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.intents,
    help="Only lines for this intent; repeatable.",
)
@click.option(
    "--lang",
    "--language",
    "-l",
    "languages",
    multiple=True,
    metavar="CODE",
    shell_complete=completion.languages,
    help="Language to translate to; repeatable. The default is those that most intents have.",
)
@click.option("--inbox", "inbox_file", type=OUTPUT_FILE, help="The inbox for `--kind inbox`, instead of the setting's.")
@click.option(
    "--lines", type=click.IntRange(1, 50), default=5, show_default=True, help="Most lines of one request to the model."
)
@click.option(
    "--requests", type=click.IntRange(min=1), default=100, show_default=True, help="Most requests to the model."
)
@click.option(
    "--seconds", type=click.FloatRange(min=1.0), default=60.0, show_default=True, help="Time limit of one request."
)
@json_option
@dry_run_option
@yes_option
@set_option
@quiet_option
def grow(
    intents: str,
    model: str | None,
    kinds: tuple[Kind, ...],
    names: tuple[str, ...],
    languages: tuple[str, ...],
    inbox_file: Path | None,
    lines: int,
    requests: int,
    seconds: float,
    as_json: bool,
    dry_run: bool,
    yes: bool,
    settings: tuple[str, ...],
) -> None:
    """Add lines that a chat model proposes.

    The model writes paraphrases, translations to the languages that an intent lacks, or lines like the messages in the
    inbox. A line is left out if it is a template, markup or in another language, if the intents have it already, if its
    own intent does not claim it, or if it makes answers wrong. You are asked about each of the others; --yes accepts
    all. An accepted line gets a comment, such as `# grown: paraphrase, MODEL`.

    The model is sent the lines, titles and descriptions of the intents. Messages are sent only with `--kind inbox`,
    after redaction. With --json, every proposal is printed with its reason, and nothing is written.

    \b
    Examples:
      intentmatch grow -i shop/ --intent order_status
      intentmatch grow -i shop/ --kind translate --lang fr --lang pl --dry-run
      intentmatch grow -i shop/ --kind inbox --inbox misses.sqlite
    """
    from intentmatch.authoring.growing.grow import grow as grown_by
    from intentmatch.authoring.growing.grow import to_dicts
    from intentmatch.registry import is_yaml

    if not is_yaml(intents):
        raise InputError(f"{intents} is not YAML: edit the folder that the artefact was built from")
    asks = not (as_json or dry_run or yes)
    if asks and not sys.stdin.isatty():
        raise InputError("standard input is no terminal to ask about lines: add --yes, --dry-run or --json")
    matcher = load(intents, settings)
    writer = _writer(model, matcher.settings, seconds, requests)
    # The filter and the comparison ask hundreds of messages.
    if matcher.settings.reranker.partition(":")[0] in ON_SERVERS:
        matcher = load(intents, (*settings, "reranker=none"))
    with progress.shown():
        tasks = _tasks(matcher, kinds, names, languages, inbox_file)
        found = grown_by(matcher, Path(intents), tasks[:requests], writer, lines=lines)
    if as_json:
        for values in to_dicts(found.proposals):
            output.as_json(values)
        return
    _say_asked(found, len(tasks), requests)
    _add(intents, found, _accepted(found.kept) if asks else found.kept, writer.name, dry_run=dry_run)


def _writer(model: str | None, settings: Settings, seconds: float, requests: int) -> LineWriter:
    """Return the chat model of `--model`, or else that of the setting `reranker`."""
    from intentmatch.authoring.growing.writer import FORM, LineWriter

    if model is None and not settings.reranker.startswith("chat:"):
        raise InputError(f"there is no chat model to ask: add --model {FORM}")
    # The key goes only to a server that the command line or the environment names, and not to one of the YAML's choice.
    by_operator = model is not None or "reranker" in settings.by_operator
    return LineWriter(model or settings.reranker, seconds=seconds, requests=requests, by_operator=by_operator)


def _add(intents: str, found: Grown, accepted: Sequence[Proposal], model: str, *, dry_run: bool) -> None:
    """Show what the accepted lines would change, and write them unless it is a dry run."""
    from intentmatch.authoring.growing.trial import edits_of
    from intentmatch.authoring.operations.operation import Operation

    if not accepted:
        output.say("Nothing to add.")
        return
    note = f"Grow: {counted(len(accepted), 'line')} proposed by {model}"
    plan = planned(workspace_of(intents), Operation(edits_of(accepted, model), note=note))
    # The effect is that of all kept lines together.
    if found.effect is not None and found.effect.diff is not None and len(accepted) == len(found.kept):
        output.echo()
        comparison.diff(found.effect.diff, found.effect.diff.failed("worse"))
    if not dry_run:
        # The user has accepted line by line, or said --yes.
        write(plan, yes=True)


def _tasks(
    matcher: Matcher, kinds: Sequence[Kind], names: Sequence[str], languages: Sequence[str], inbox_file: Path | None
) -> list[Task]:
    """Return what to ask for: lines of the inbox first, then translations, then paraphrases."""
    from intentmatch.authoring.growing import tasks
    from intentmatch.core.types import checked_language_code
    from intentmatch.inbox import review

    codes = [checked_language_code(code) for code in languages]
    chosen = kinds or ("paraphrase", "translate")
    if inbox_file is not None and "inbox" not in chosen:
        raise click.UsageError("--inbox needs --kind inbox: only then are messages sent to the model.")
    if codes and "translate" not in chosen:
        raise click.UsageError("--lang names languages to translate to: add --kind translate.")
    found: list[Task] = []
    if "inbox" in chosen:
        from intentmatch.cli.inbox import open_inbox

        clusters = review(matcher, open_inbox(matcher, inbox_file).messages()).clusters
        # First, as real messages are worth more than variations, and --requests cuts the end.
        found += tasks.from_clusters(matcher.registry, clusters, names)
    if "translate" in chosen:
        found += tasks.translations(matcher.registry, names, codes)
    if "paraphrase" in chosen:
        found += tasks.paraphrases(matcher.registry, names)
    return found


def _say_asked(found: Grown, tasks: int, requests: int) -> None:
    """Print what was asked for and what was left out, with the reasons."""
    written = len(found.proposals)
    output.say(
        f"{counted(written, 'line')} proposed in {counted(min(tasks, requests), 'request')}: {len(found.kept)} kept, "
        f"{len(found.refused)} left out"
    )
    if tasks > requests:
        output.say(f"{counted(tasks - requests, 'more request')} would be possible: see --requests")
    for one in found.refused[:_MOST_REFUSED]:
        output.say(output.style(f"  {one.task}: “{_printable(one.text)}”: {one.refused}", dim=True))
    if len(found.refused) > _MOST_REFUSED:
        output.say(output.style(f"  and {len(found.refused) - _MOST_REFUSED} more: --json prints all", dim=True))
    for task, reason in found.unanswered:
        output.say(f"  {task}: {reason}", err=True)


def _accepted(kept: Sequence[Proposal]) -> list[Proposal]:
    """Ask about each line, and return those that are accepted."""
    accepted: list[Proposal] = []
    task = None
    for number, one in enumerate(kept):
        if one.task != task:
            task = one.task
            output.heading(str(task))
            output.say(output.style(f"    {task.shown[0]}", dim=True))
        sure = "" if one.confidence is None else f"   confidence {one.confidence:.0%}"
        output.say(output.style(f"  + {one.text}", fg="green") + output.style(sure, dim=True))
        reply: _Reply = click.prompt(
            "Add this line?", type=click.Choice(["y", "n", "all", "stop"]), default="y", show_default=False
        )
        if reply == "stop":
            break
        if reply == "all":
            return [*accepted, *kept[number:]]
        accepted += [one] if reply == "y" else []
    return accepted


def _printable(text: str) -> str:
    """Return a text of the model in one line and without control characters."""
    # A model may write anything, line ends and control characters included.
    shown = "".join(character if character.isprintable() else " " for character in text)
    return shown if len(shown) <= 80 else f"{shown[:79]}…"
