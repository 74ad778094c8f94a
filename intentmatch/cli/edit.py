"""The commands that edit the YAML: `add`, `move`, `rename`, `remove` and `format`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from intentmatch.cli import checkout, completion
from intentmatch.cli.commands import cli
from intentmatch.cli.options import OUTPUT_FILE, takes_intents
from intentmatch.cli.render import output
from intentmatch.core.errors import InputError, RegistryError, UnknownNameError
from intentmatch.registry.confinement import ReadLimits

if TYPE_CHECKING:
    from intentmatch.authoring.operations.operation import Done, Operation, Plan
    from intentmatch.authoring.workspace import Workspace
    from intentmatch.inbox import Inbox
    from intentmatch.registry.editing.edits import Edit
    from intentmatch.registry.editing.plan import Changes
    from intentmatch.storage.postgres.address import Address

UNFORMATTED_EXIT_CODE = 1
SHOWN_DIGITS = 10
"""Digits of a commit that are shown of the id of a revision."""

language_option = click.option(
    "--lang",
    "--language",
    "-l",
    "language",
    metavar="CODE",
    shell_complete=completion.languages,
    help="BCP-47 code of the utterances.",
)
dry_run_option = click.option("--dry-run", "-n", is_flag=True, help="Show the change and write nothing.")
yes_option = click.option("--yes", "-y", is_flag=True, help="Write without asking.")
_negative_option = click.option("--not", "negative", is_flag=True, help="Use the list `not:` instead of `utterances:`.")


def _edits_yaml(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of every command that edits the YAML."""
    return takes_intents(positional=None)(dry_run_option(yes_option(command)))


@cli.command()
@click.argument("intent", shell_complete=completion.intents)
@click.argument("utterances", nargs=-1)
@language_option
@_negative_option
@click.option("--template", is_flag=True, help="Read UTTERANCES as templates; otherwise brackets are plain text.")
@click.option("--new", is_flag=True, help="Create the intent.")
@click.option("--description", metavar="TEXT", help="What users want; a new intent may have this alone.")
@click.option("--file", type=OUTPUT_FILE, help="YAML file for the new intent; created if it does not exist.")
@_edits_yaml
def add(
    intent: str,
    utterances: tuple[str, ...],
    language: str | None,
    negative: bool,
    template: bool,
    new: bool,
    description: str | None,
    file: Path | None,
    intents: str,
    dry_run: bool,
    yes: bool,
) -> None:
    """Add utterances to an intent.

    Without --lang, UTTERANCES are in the language of the file, or in the only language of the intent. The change is
    shown before it is written. A change that breaks the registry is not written.

    \b
    Examples:
      intentmatch add order_status "any news of my order" --lang en
      intentmatch add refund "money back" -l en --new --file intents/payments.yaml
      intentmatch add gift_card --new --description "buy a gift card" -i shop/
      intentmatch add order_status "where is (my|the) box" -l en --template -n
    """
    from intentmatch.registry.editing.edits import additions

    if negative and new:
        raise click.UsageError("--new cannot be used with --not: a new intent needs an utterance.")
    if file and not new:
        raise click.UsageError("--file needs --new: an existing intent stays in its file.")
    if description is not None and not new:
        raise click.UsageError("--description needs --new: edit the file of an existing intent.")
    if not utterances and description is None:
        raise click.UsageError("Missing argument 'UTTERANCES...'. A new intent may have a --description instead.")
    edits = additions(
        intent,
        utterances,
        language=language,
        negative=negative,
        template=template,
        new=new,
        file=checkout.place(file),
        description=description,
    )
    # A new file begins a registry where there is none.
    if not file:
        require(intents)
    try:
        _show_and_write(intents, edits, dry_run=dry_run, yes=yes)
    except UnknownNameError as error:
        raise InputError(f"{error} To create an intent, add --new") from None


@cli.command()
@click.argument("utterance")
@click.argument("names", nargs=-1, required=True, metavar="[FROM] TO", shell_complete=completion.intents)
@language_option
@_negative_option
@_edits_yaml
def move(
    utterance: str,
    names: tuple[str, ...],
    language: str | None,
    negative: bool,
    intents: str,
    dry_run: bool,
    yes: bool,
) -> None:
    """Move an utterance to another intent.

    UTTERANCE moves to the intent TO, with the comment on its line. If it exists more than once, name its intent FROM or
    its language with --lang.

    \b
    Example:
      intentmatch move "order cancellation" order_change
    """
    from intentmatch.registry.editing.edits import MoveUtterance

    if len(names) > 2:
        raise click.UsageError("Name one intent (TO) or two (FROM TO).")
    source = names[0] if len(names) == 2 else None
    require(intents)
    _show_and_write(
        intents, [MoveUtterance(utterance, names[-1], source, language, negative)], dry_run=dry_run, yes=yes
    )


@cli.command()
@click.argument("old", shell_complete=completion.intents)
@click.argument("new")
@_edits_yaml
def rename(old: str, new: str, intents: str, dry_run: bool, yes: bool) -> None:
    """Rename an intent in all files and tests.

    OLD becomes NEW wherever the YAML names the intent, also in `tests:`, and in the inbox of the setting `inbox`.

    \b
    Example:
      intentmatch rename order_status where_is_my_order
    """
    from intentmatch.authoring.operations.operation import Operation
    from intentmatch.registry.editing.edits import RenameIntent

    require(intents)
    plan = planned(workspace_of(intents), Operation([RenameIntent(old, new)]))
    if not dry_run:
        used, inbox = checkout.in_use(), None
        try:
            inbox = inbox_of(plan.changes, None if used is None else used.address)
        except InputError as error:  # such as that of a bot in PostgreSQL, of which this folder is a copy
            output.say(f"The inbox keeps the name {old!r}: {error}", err=True)
        write(plan, yes=yes, inbox=inbox)


@cli.command()
@click.argument("what", metavar="INTENT|UTTERANCE", shell_complete=completion.intents)
@click.option(
    "--from", "source", metavar="INTENT", shell_complete=completion.intents, help="Remove an utterance of this intent."
)
@click.option("--intent", "whole", is_flag=True, help="Remove an intent, even if an utterance has the same text.")
@language_option
@_negative_option
@_edits_yaml
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
    """Remove an intent or an utterance.

    Comments directly above an intent, and on the line of an utterance, are removed with it. An intent that `tests:`
    expect, and the last utterance of an intent, are not removed.

    \b
    Examples:
      intentmatch remove "order cancellation"
      intentmatch remove "close my customer account" --from order_cancel --not
      intentmatch remove order_status
    """
    from intentmatch.registry import examine
    from intentmatch.registry.editing.edits import RemoveIntent, RemoveUtterance

    only_utterance = source is not None or language is not None or negative
    if whole and only_utterance:
        raise click.UsageError("--intent removes a whole intent; --from, --lang and --not select an utterance.")
    require(intents)
    registry, _ = examine(intents, expand=False)
    places = [line.location for line in registry.utterances if what in (line.text, line.template) and line.location]
    is_intent = what in registry and not only_utterance
    # Removing the wrong one of the two loses more than the user meant.
    if is_intent and places and not whole:
        raise InputError(
            f"{what!r} is an intent, and an utterance at {places[0].short}: add --intent to remove the intent, or "
            "--from INTENT to remove the utterance"
        )
    edit = RemoveIntent(what) if is_intent or whole else RemoveUtterance(what, source, language, negative)
    _show_and_write(intents, [edit], dry_run=dry_run, yes=yes)


@cli.command("format")
@takes_intents()
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if a file would change.")
def format_(intents: str, check: bool) -> None:
    """Format the YAML in one layout.

    The layout has two spaces of indentation, no unneeded quotes, at most one blank line in a row, no spaces at line
    ends, and lists in brackets only if they fit on a line. Comments, order and texts stay.

    \b
    Examples:
      intentmatch format
      intentmatch format shop/ --check
    """
    from intentmatch.authoring.operations.operation import Operation
    from intentmatch.registry.editing.formatting import Format

    plan = Operation([Format()]).planned(workspace_of(intents))
    changes = plan.changes
    # Other problems do not matter: a registry with errors may be formatted.
    if missing := [problem for problem in changes.problems if problem.rule in ("not-found", "no-files")]:
        raise RegistryError(missing)
    if not changes.files:
        output.say("Nothing to change.")
    elif check:
        output.diff(changes.diff)
        sys.exit(UNFORMATTED_EXIT_CODE)
    else:
        write(plan, yes=True)


def require(intents: str | os.PathLike[str]) -> None:
    """Raise `RegistryError` with what to do if there is no file or folder at a path."""
    from intentmatch.registry import not_found

    if not Path(intents).exists():
        raise RegistryError([not_found(Path(intents))])


def workspace_of(intents: str | os.PathLike[str]) -> Workspace:
    """Return the files of a registry, with their history."""
    from intentmatch.authoring.workspace import Workspace

    return Workspace(intents, ReadLimits.from_settings(intents))


def inbox_of(changes: Changes, address: Address | None) -> Inbox | None:
    """Return the inbox that changed files name; None if it is off. Raises as `Inbox.from_settings`."""
    from intentmatch.core.settings import resolve
    from intentmatch.inbox import Inbox

    registry = changes.registry
    return Inbox.from_settings(resolve(registry=registry.settings, locations=registry.setting_locations), address)


def planned(workspace: Workspace, operation: Operation) -> Plan:
    """Show what an operation would change, and the warnings. RegistryError if the changed registry would not load."""
    plan = operation.planned(workspace)
    output.diff(plan.changes.diff)
    if plan.changes.errors:
        raise RegistryError(plan.changes.errors)
    output.problems(plan.changes.brought, "human")
    return plan


def write(plan: Plan, *, yes: bool, inbox: Inbox | None = None, reload: Callable[[], object] | None = None) -> Done:
    """Write a plan after a yes, from --yes or from the user at the terminal, and print what was written.

    Raises `InputError` if nobody can be asked; otherwise as `write_confirmed`.
    """
    from intentmatch.authoring.operations.local import write_confirmed

    if not yes:
        if not sys.stdin.isatty():
            raise InputError("nothing was written, because standard input is no terminal to ask: add --yes to write")
        # On stderr, so that stdout holds the diff alone.
        click.confirm("Write this?", abort=True, err=True)
    done = write_confirmed(plan, inbox=inbox, publish=checkout.publish, reload=reload)
    for change in done.changes.files:
        output.say(f"{change.path} is written.")
    if done.revision is not None:
        output.say(f"This is revision {done.revision.id[:SHOWN_DIGITS]}.")
    for warning in done.warnings:
        output.say(warning, err=True)
    return done


def _show_and_write(intents: str, edits: Sequence[Edit], *, dry_run: bool, yes: bool) -> None:
    """Show what edits would change; write the change unless it is a dry run."""
    from intentmatch.authoring.operations.operation import Operation

    plan = planned(workspace_of(intents), Operation(edits))
    if not dry_run:
        write(plan, yes=yes)
