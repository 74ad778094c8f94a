"""The commands that change YAML: `add`, `move`, `rename`, `remove` and `format`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from intentmatch.cli import show
from intentmatch.cli.commands import cli, intents_argument, intents_option
from intentmatch.core.errors import InputError, RegistryError, UnknownNameError

if TYPE_CHECKING:
    from intentmatch.registry.editing.edits import Edit
    from intentmatch.registry.editing.plan import Changes

UNFORMATTED_EXIT_CODE = 1

_YAML = click.Path(dir_okay=False, path_type=Path)
_language_option = click.option("--lang", "--language", "-l", "language", help="BCP-47 code of the line.")
_negative_option = click.option("--not", "negative", is_flag=True, help="A line of `not:`, not of `utterances:`.")


def _writing(command: Callable[..., None]) -> Callable[..., None]:
    """The options of everything that writes."""
    dry = click.option("--dry-run", "-n", is_flag=True, help="Only show what would change.")
    yes = click.option("--yes", "-y", is_flag=True, help="Write without asking.")
    return intents_option(dry(yes(command)))


@cli.command()
@click.argument("intent")
@click.argument("utterances", nargs=-1, required=True)
@_language_option
@_negative_option
@click.option("--template", is_flag=True, help="Brackets are marks; otherwise an utterance is taken to the letter.")
@click.option("--new", is_flag=True, help="The intent is a new one.")
@click.option("--file", type=_YAML, help="Where a new intent goes, if there are several files; may be a new one.")
@_writing
def add(
    intent: str,
    utterances: tuple[str, ...],
    language: str | None,
    negative: bool,
    template: bool,
    new: bool,
    file: Path | None,
    intents: str,
    dry_run: bool,
    yes: bool,
) -> None:
    """Add UTTERANCES to INTENT, where it has those of their language.

    Without --lang they are in the language of the file, or in the only one that the intent has. What is changed is
    shown first, and examined: what the registry would not load with is not written.

    \b
    Examples:
      intentmatch add order_status "any news of my order" --lang en
      intentmatch add refund "I want my money back" --lang en --new --file intents/payments.yaml
      intentmatch add book "(book|reserve) a table [please]" --template --dry-run
    """
    from intentmatch.registry.editing.edits import additions

    if negative and new:
        raise click.UsageError("--new does not go with --not: an intent begins with an utterance.")
    if file and not new:
        raise click.UsageError("--file goes with --new: an intent that is there has its file.")
    edits = additions(intent, utterances, language=language, negative=negative, template=template, new=new, file=file)
    try:
        _settle(intents, edits, dry_run=dry_run, yes=yes)
    except UnknownNameError as error:
        raise InputError(f"{error} A new one is begun with --new") from None


@cli.command()
@click.argument("utterance")
@click.argument("names", nargs=-1, required=True, metavar="[FROM] TO")
@_language_option
@_negative_option
@_writing
def move(
    utterance: str,
    names: tuple[str, ...],
    language: str | None,
    negative: bool,
    intents: str,
    dry_run: bool,
    yes: bool,
) -> None:
    """Move UTTERANCE, with the comment beside it, from the intent that has it to the intent TO.

    FROM and --lang say which line is meant, where there are several.

    \b
    Example:
      intentmatch move "cancel my delivery" order_cancel
    """
    from intentmatch.registry.editing.edits import MoveUtterance

    if len(names) > 2:
        raise click.UsageError("Name one intent to move to, or two: from and to.")
    source = names[0] if len(names) == 2 else None
    _settle(intents, [MoveUtterance(utterance, names[-1], source, language, negative)], dry_run=dry_run, yes=yes)


@cli.command()
@click.argument("old")
@click.argument("new")
@_writing
def rename(old: str, new: str, intents: str, dry_run: bool, yes: bool) -> None:
    """Rename the intent OLD to NEW, in all files and in what `tests:` expect.

    \b
    Example:
      intentmatch rename order_status where_is_my_order
    """
    from intentmatch.registry.editing.edits import RenameIntent

    _settle(intents, [RenameIntent(old, new)], dry_run=dry_run, yes=yes)


@cli.command()
@click.argument("what", metavar="INTENT|UTTERANCE")
@click.option("--from", "source", metavar="INTENT", help="An utterance of this intent.")
@click.option("--intent", "whole", is_flag=True, help="An intent, even if an utterance reads the same.")
@_language_option
@_negative_option
@_writing
def remove(
    what: str,
    source: str | None,
    whole: bool,
    language: str | None,
    negative: bool,
    intents: str,
    dry_run: bool,
    yes: bool,
) -> None:
    """Remove an intent, with the comments right above it, or one utterance, with the comment beside it.

    An intent that `tests:` expect is not removed, and neither is the last utterance of one.

    \b
    Examples:
      intentmatch remove "track my parcel"
      intentmatch remove "cancel" --from order_cancel --lang en --not
      intentmatch remove order_status
    """
    from intentmatch.registry import examine
    from intentmatch.registry.editing.edits import RemoveIntent, RemoveUtterance

    of_a_line = source is not None or language is not None or negative
    if whole and of_a_line:
        raise click.UsageError("--intent is about a whole intent; the other options are about an utterance.")
    registry, _ = examine(intents, expand=False)
    said = [line.location for line in registry.utterances if what in (line.text, line.template) and line.location]
    named = what in registry and not of_a_line
    if named and said and not whole:
        raise InputError(f"{what!r} is an intent, and an utterance at {said[0].short}: say --intent, or --from INTENT")
    edit = RemoveIntent(what) if named or whole else RemoveUtterance(what, source, language, negative)
    _settle(intents, [edit], dry_run=dry_run, yes=yes)


@cli.command("format")
@intents_argument
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if there is something to change.")
def format_(intents: str, check: bool) -> None:
    """Put the YAML of INTENTS into one layout; comments, order and texts stay.

    Two columns of indentation, no quotes that are not needed, at most one blank line, no spaces at the end of a line,
    and lists in brackets only as long as they fit on a line.

    \b
    Examples:
      intentmatch format
      intentmatch format shop/ --check
    """
    from intentmatch.registry.editing.formatting import Format
    from intentmatch.registry.editing.plan import plan

    changes = plan(intents, [Format()])
    if not changes.files:
        click.echo("Nothing to change.")
    elif check:
        show.diff(changes.diff)
        sys.exit(UNFORMATTED_EXIT_CODE)
    else:
        write(changes, yes=True)


def planned(intents: str, edits: Sequence[Edit]) -> Changes:
    """Show what edits would change and what is wrong with it. Raises `RegistryError` where it could not be written."""
    from intentmatch.registry.editing.plan import plan

    changes = plan(intents, edits)
    show.diff(changes.diff)
    if changes.errors:
        raise RegistryError(changes.errors)
    show.problems(changes.brought, "human")
    return changes


def write(changes: Changes, *, yes: bool) -> None:
    """Write what was shown, with a yes from whoever sits at the terminal, or from the command line."""
    if not yes:
        if not sys.stdin.isatty():
            raise InputError("nothing was written, and there is nobody to ask: say --yes to write it")
        click.confirm("Write this?", abort=True, err=True)
    changes.write()
    for change in changes.files:
        click.echo(f"{change.path} is written.")


def _settle(intents: str, edits: Sequence[Edit], *, dry_run: bool, yes: bool) -> None:
    """Show what edits would change; write it where that is wanted."""
    changes = planned(intents, edits)
    if not dry_run:
        write(changes, yes=yes)
