"""`intentmatch match`: match messages from the command line or from standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli import completion
from intentmatch.cli.commands import cli
from intentmatch.cli.options import json_option, load, set_option, standard_input, takes_intents
from intentmatch.cli.render import answer, output, progress
from intentmatch.cli.render.progress import quiet_option
from intentmatch.storage.postgres.address import Address

if TYPE_CHECKING:
    from intentmatch.core.result import MatchResult
    from intentmatch.matching.matcher import Matcher

# Messages that are encoded and searched together.
_BLOCK = 2048

EXIT_CODES = {"matched": 0, "ambiguous": 3, "out_of_scope": 4}
"""Exit code for the verdict of a single message."""


@cli.command()
@click.argument("messages", nargs=-1)
@takes_intents(positional=None, live=True)
@click.option(
    "--language",
    "-l",
    metavar="CODE",
    shell_complete=completion.languages,
    help="BCP-47 code of the messages; detected if not given.",
)
@click.option("--top-k", "-k", type=click.IntRange(1), metavar="N", help="Number of candidates to show.")
@click.option(
    "--allow",
    multiple=True,
    metavar="INTENT",
    shell_complete=completion.intents,
    help="Consider only this intent; repeatable.",
)
@click.option(
    "--context",
    multiple=True,
    metavar="TAG",
    shell_complete=completion.tags,
    help="Activate intents with `when: TAG`; repeatable.",
)
@click.option(
    "--previous",
    metavar="INTENT",
    shell_complete=completion.intents,
    help="The intent of the turn before; it counts if a message does not stand alone.",
)
@click.option("--why", is_flag=True, help="Explain the answer, stage by stage.")
@json_option
@set_option
@quiet_option
def match(
    messages: tuple[str, ...],
    intents: str | Address,
    language: str | None,
    top_k: int | None,
    allow: tuple[str, ...],
    context: tuple[str, ...],
    previous: str | None,
    why: bool,
    as_json: bool,
    settings: tuple[str, ...],
) -> None:
    """Match messages to intents.

    Without MESSAGES, or with `-` as the only one, each line of standard input is a message.

    \b
    Examples:
      intentmatch match "wo ist mein Paket?"
      intentmatch match --intents shop/ --why "cancel that"
      intentmatch match --json - < messages.txt

    Exit codes for a single message: 0 matched, 3 ambiguous, 4 out of scope.
    """
    texts = list(messages)
    # Waiting for lines would look like a program that hangs.
    if not texts and sys.stdin.isatty():
        raise click.UsageError("Give a message, or pipe lines into the command.")
    if texts in ([], ["-"]):
        # Line ends alone: spaces may belong to a message.
        texts = [line.rstrip("\r\n") for line in standard_input()]
    options: dict[str, Any] = {
        "language": language, "top_k": top_k, "allowed": allow or None, "context": context, "previous": previous,
    }  # fmt: skip
    matcher = load(intents, settings)
    # All of them first: the progress would run into the results.
    results = list(_matched(matcher, texts, options))
    for number, result in enumerate(results):
        if as_json:
            output.as_json(result.to_dict())
            continue
        if len(results) > 1:
            output.say(("\n" if number else "") + output.style(f"> {result.message}", bold=True))
        answer.result(result)
        if why:
            output.echo()
            answer.why(result, matcher)
    # With several there is no one verdict to tell.
    if len(results) == 1:
        sys.exit(EXIT_CODES[results[0].verdict])


def _matched(matcher: Matcher, texts: Sequence[str], options: Mapping[str, Any]) -> Iterator[MatchResult]:
    """Yield the results of many messages, matched in blocks, with progress if that takes long."""
    with progress.shown() as update:
        for start in range(0, len(texts), _BLOCK):
            update("matching", start, len(texts))
            yield from matcher.match_many(texts[start : start + _BLOCK], **options)
