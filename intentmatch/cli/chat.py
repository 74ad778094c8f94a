"""`intentmatch chat`: a conversation with the registry in the terminal, with the reason for each answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from intentmatch.cli.commands import cli
from intentmatch.cli.options import load, set_option, standard_input, takes_intents
from intentmatch.cli.render import answer, output
from intentmatch.core.errors import IntentMatchError

if TYPE_CHECKING:
    from intentmatch.dialogue import Turn
    from intentmatch.matching.matcher import Matcher


@cli.command()
@takes_intents()
@click.option("--language", "-l", metavar="CODE", help="BCP-47 code of your messages, used if detection finds none.")
@set_option
def chat(intents: str, language: str | None, settings: tuple[str, ...]) -> None:
    """Talk to the registry as to a bot.

    After each answer, the reason is shown. If the bot asks which intent you mean, or for a missing slot, your next
    message may be the answer.

    \b
    Type:
      /why      to explain the last answer, stage by stage
      /reload   to read the files again
      /quit     to leave (so does the end of the input)

    \b
    Example:
      intentmatch chat shop/ --language en
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
            _explain(last)
        elif line:
            last = dialogue.take(line, "chat", language=language)
            answer.turn(last, matcher.registry)
            if inbox is not None and last.result is not None and not last.answers:
                inbox.record(last.result)
    if inbox is not None:
        inbox.flush()


def _lines() -> Iterator[str]:
    """Yield the user's lines, without surrounding spaces."""
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
    """Read the files again; on errors, print them and keep the current intents."""
    try:
        matcher.reload()
        click.echo(f"{len(matcher.registry)} intents.")
    except IntentMatchError as raised:
        output.error(raised)
        click.echo("The files are not used. The previous intents stay active.", err=True)


def _explain(last: Turn | None) -> None:
    """Explain the last turn, or say why there is nothing to explain."""
    if last is None:
        click.echo("There is no answer to explain yet.")
    elif last.result is None:
        click.echo("Your message answered the bot's question, so no intent was matched.")
    else:
        answer.why(last.result)
