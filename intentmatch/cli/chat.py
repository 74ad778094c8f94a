"""`intentmatch chat`: the registry as a bot, which says why it answers what it answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from intentmatch.cli import show
from intentmatch.cli.commands import cli, intents_argument, load, set_option, standard_input
from intentmatch.core.errors import IntentMatchError

if TYPE_CHECKING:
    from intentmatch.dialogue import Turn
    from intentmatch.matching.matcher import Matcher


@cli.command()
@intents_argument
@click.option("--language", "-l", help="BCP-47 code of what you speak, where a message does not tell.")
@set_option
def chat(intents: str, language: str | None, settings: tuple[str, ...]) -> None:
    """Talk to the registry INTENTS as to a bot, and see why it answers what it answers.

    It asks where it is in doubt, or where a slot is missing, and what you say next may be the answer.

    \b
    /why      explain the last answer, stage by stage
    /reload   read the files again
    /quit     leave (so does the end of the input)
    """
    from intentmatch.core.types import checked_language_code
    from intentmatch.dialogue import Dialogue
    from intentmatch.inbox import Inbox

    if language is not None:
        checked_language_code(language)
    matcher = load(intents, settings)
    dialogue = Dialogue(matcher)
    inbox = Inbox.from_settings(matcher.settings)
    click.echo(f"{len(matcher.registry)} intents from {intents}. Say something; /why, /reload, /quit.", err=True)
    last: Turn | None = None
    for line in _lines():
        if line == "/quit":
            break
        if line == "/reload":
            _reload(matcher)
        elif line == "/why":
            _why(last)
        elif line:
            last = dialogue.take(line, "chat", language=language)
            show.turn(last, matcher.registry)
            if inbox is not None and last.result is not None and not last.answers:
                inbox.record(last.result)
    if inbox is not None:
        inbox.flush()


def _lines() -> Iterator[str]:
    """What is said, without spaces around it."""
    if not sys.stdin.isatty():
        for line in standard_input():
            yield line.strip()
        return
    while True:
        try:
            yield click.prompt("you", prompt_suffix="> ", default="", show_default=False).strip()
        except click.Abort:
            click.echo()
            return


def _reload(matcher: Matcher) -> None:
    try:
        matcher.reload()
        click.echo(f"{len(matcher.registry)} intents.")
    except IntentMatchError as raised:
        show.error(raised)
        click.echo("The intents from before go on answering.", err=True)


def _why(last: Turn | None) -> None:
    if last is None:
        click.echo("Nothing was said yet.")
    elif last.result is None:
        click.echo("It is one of the answers to the question before; nothing was matched.")
    else:
        show.why(last.result)
