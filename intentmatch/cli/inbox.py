"""`intentmatch inbox`: show messages that were not understood in groups, and add the groups to the YAML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from intentmatch.cli import completion
from intentmatch.cli.checkout import address_in_use
from intentmatch.cli.commands import cli
from intentmatch.cli.edit import dry_run_option, language_option, planned, workspace_of, write, yes_option
from intentmatch.cli.inbox_decisions import ask, decide, requested_action
from intentmatch.cli.options import OUTPUT_FILE, json_option, load, set_option, settings_from, takes_intents
from intentmatch.cli.render import comparison, output, progress
from intentmatch.cli.render import inbox as render
from intentmatch.cli.render.progress import quiet_option
from intentmatch.cli.revisions import live_workspace
from intentmatch.core.errors import InputError, counted
from intentmatch.storage.postgres.address import Address

if TYPE_CHECKING:
    from intentmatch.authoring.workspace import Workspace
    from intentmatch.inbox import ClusterDecision, Inbox, Missed, Review
    from intentmatch.matching.matcher import Matcher
    from intentmatch.registry.editing.plan import Changes
    from intentmatch.server.erasing import Erased

inbox_file_argument = click.argument("file", required=False, type=OUTPUT_FILE)
"""The file of an inbox; without it, the setting `inbox` names the inbox."""


class _InboxGroup(click.Group):
    """A group whose default command is `show`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert `show` unless the arguments begin with a command or with --help."""
        # A file may not be called as a command is; `./show` names it then.
        named = bool(args) and args[0] in (*self.commands, *ctx.help_option_names)
        # Without arguments, the Tab key completes a command.
        named = named or (ctx.resilient_parsing and not args)
        return super().parse_args(ctx, args if named else ["show", *args])


@cli.group(cls=_InboxGroup)
def inbox() -> None:
    """Show messages that were not understood, or add them.

    The setting `inbox` names the file in which the matcher keeps such messages. Messages with the same meaning form a
    group. `intentmatch inbox` alone shows the groups; `intentmatch inbox apply` adds groups to intents.

    \b
    Examples:
      intentmatch inbox misses.sqlite --intents shop/
      intentmatch inbox apply misses.sqlite --intents shop/ --cluster 17 --ignore
    """


@inbox.command("show")
@inbox_file_argument
@takes_intents(positional=None, live=True)
@json_option
@set_option
@quiet_option
def show_(file: Path | None, intents: str | Address, as_json: bool, settings: tuple[str, ...]) -> None:
    """Show the groups, each with a proposal.

    FILE is the inbox; without FILE, the setting `inbox` names the inbox. The name of a group is its most central
    message, its number that of its oldest message. Messages that the registry now understands are left out.

    \b
    Example:
      intentmatch inbox show misses.sqlite --intents shop/ --json
    """
    matcher = load(intents, settings)
    found = _reviewed(matcher, open_inbox(matcher, file).messages())
    if as_json:
        for cluster in found.clusters:
            output.as_json(cluster.to_dict())
        for message in found.hashed:
            output.as_json(message.to_dict())
        return
    render.review(found)


@inbox.command()
@inbox_file_argument
@takes_intents(positional=None)
@click.option(
    "--cluster", "-c", "numbers", multiple=True, type=int, metavar="NUMBER", help="Handle only this group; repeatable."
)
@click.option(
    "--intent",
    metavar="NAME",
    shell_complete=completion.intents,
    help="Add the messages to this intent instead of the proposed one.",
)
@click.option("--new", metavar="NAME", help="Create this intent from the messages.")
@click.option("--not", "negative", metavar="NAME", help="Add the messages to `not:` of this intent, which they refuse.")
@click.option("--ignore", is_flag=True, help="Remove the messages from the inbox for good.")
@click.option("--as-tests", is_flag=True, help="Add the messages to `tests:` instead of to the intents.")
@language_option
@click.option("--file", "target", type=OUTPUT_FILE, help="YAML file for a new intent, or for tests.")
@dry_run_option
@yes_option
@set_option
@quiet_option
def apply(
    file: Path | None,
    intents: str,
    numbers: tuple[int, ...],
    intent: str | None,
    new: str | None,
    negative: str | None,
    ignore: bool,
    as_tests: bool,
    language: str | None,
    target: Path | None,
    dry_run: bool,
    yes: bool,
    settings: tuple[str, ...],
) -> None:
    """Add groups to intents, as proposed or as you choose.

    Without --cluster you are asked about each group. A group whose proposal is a question ("?") needs your answer:
    --intent, --new, --not or --ignore. The change of the YAML is shown first, then its effect on the
    answers, as in `diff`. Handled messages leave the inbox and do not come back. --lang is for messages whose language
    is unknown.

    With --as-tests the messages become test cases, for `eval` and for the setting `out_of_scope_share`. A group that
    is not added to an intent is expected to be out of scope.

    \b
    Examples:
      intentmatch inbox apply misses.sqlite --intents shop/
      intentmatch inbox apply misses.sqlite -i shop/ -c 17 -c 4 --ignore
      intentmatch inbox apply misses.sqlite -i shop/ -c 17 --intent refund_status
      intentmatch inbox apply misses.sqlite -i shop/ -c 4 --new gift_cards
      intentmatch inbox apply misses.sqlite -i shop/ -c 9 --not order_cancel
      intentmatch inbox apply misses.sqlite -i shop/ -c 4 --ignore --as-tests
    """
    from intentmatch.authoring.operations.inbox_step import adding_note
    from intentmatch.authoring.operations.operation import Operation
    from intentmatch.inbox import additions_to_tests, edits_of
    from intentmatch.registry import is_yaml

    action = requested_action(intent, new, negative, ignore=ignore)
    if action and not numbers:
        raise click.UsageError("--intent, --new, --not and --ignore need --cluster.")
    if as_tests and new is not None:
        raise click.UsageError("Tests expect intents that exist: --as-tests and --new do not go together.")
    if as_tests and negative is not None:
        raise click.UsageError("What is refused is out of scope: write --ignore --as-tests, not --not.")
    if not is_yaml(intents):
        raise InputError(f"{intents} is not YAML: edit the folder that the artefact was built from")
    matcher = load(intents, settings)
    messages = (opened := open_inbox(matcher, file)).messages()
    found = _reviewed(matcher, messages)
    decisions = decide(found, numbers, action) if numbers else list(ask(found, matcher))
    if not decisions:
        output.say("Nothing to do.")
        return
    edits = (additions_to_tests if as_tests else edits_of)(decisions, language=language, file=target)
    ignored = _messages(decision for decision in decisions if decision.action == "ignore" and not as_tests)
    answers = _messages(decision for decision in decisions if decision.action != "ignore" or as_tests)
    plan = None
    if edits:
        plan = planned(workspace_of(intents), Operation(edits, note=adding_note(edits), answers=answers))
        _compare(matcher, plan.changes, messages, settings_from(settings))
    # Ignored ones afterwards: without a yes, nothing leaves the inbox.
    if plan is not None and not dry_run and write(plan, yes=yes, inbox=opened).settled:
        output.say(f"{counted(len(answers), 'message')} added and removed from the inbox.")
    if ignored:
        _ignore(ignored, opened, matcher, dry_run=dry_run)


@inbox.command()
@inbox_file_argument
@takes_intents(positional=None, live=True)
@click.option("--text", metavar="MESSAGE", help="Erase this message, as it was sent.")
@click.option("--contains", metavar="WORDS", help="Erase all messages that contain these words.")
@click.option("--conversation", metavar="ID", help="Erase what is open in this conversation; needs --store.")
@click.option("--store", metavar="URL", help="Where servers keep conversations: the URL of `serve --store`.")
@click.option(
    "--log", "logs", multiple=True, type=OUTPUT_FILE, metavar="LOG", help="Erase in this log too; repeatable."
)
@json_option
@set_option
def erase(
    file: Path | None,
    intents: str | Address,
    text: str | None,
    contains: str | None,
    conversation: str | None,
    store: str | None,
    logs: tuple[Path, ...],
    as_json: bool,
    settings: tuple[str, ...],
) -> None:
    """Erase a person's messages wherever they are kept.

    That is in the inbox, the sample of all answers, the samples of a candidate, open conversations, the words of the
    audit log, and each --log. Case and punctuation make no difference. YAML files that have the words are named, and
    not changed. The guide page `inbox` says what is left in old revisions and backups.

    \b
    Examples:
      intentmatch inbox erase -i shop/ --text "call me on 0171 1234567"
      intentmatch inbox erase -i shop/ --contains "anna schmidt" --log log.jsonl
      intentmatch inbox erase -i shop/ --conversation 17 --store redis://localhost
    """
    from intentmatch.authoring.operations.local import local_author
    from intentmatch.core.erasure import Erasure
    from intentmatch.evaluation.logs import erase_from_log
    from intentmatch.inbox import Inbox
    from intentmatch.server import erasing
    from intentmatch.server.candidates.places import store_of
    from intentmatch.server.stores import store_at

    if sum(given is not None for given in (text, contains, conversation)) != 1:
        raise click.UsageError("Choose one of --text, --contains and --conversation.")
    conversations = None if store is None else store_at(store)
    if conversation is not None:
        if conversations is None:
            raise click.UsageError("--conversation needs --store: the conversations of one process end with it.")
        # A server of several bots keeps conversations below the path of the bot.
        bots = [f"/bots/{intents.bot}"] if isinstance(intents, Address) else [f"/bots/{Path(intents).name}"]
        _show_erased(erasing.erase_conversation(conversations, conversation, ["", *bots]), None, as_json=as_json)
        return
    erasure = Erasure(text, contains)
    matcher = load(intents, settings)
    opened = open_inbox(matcher, file) if file is not None else Inbox.from_settings(matcher.settings, matcher.address)
    workspace = _workspace(matcher)
    done = erasing.erase(
        erasure,
        inbox=opened,
        candidates=store_of(matcher.path, matcher.address, workspace),
        workspace=workspace,
        store=conversations,
    )
    lines = sum(erase_from_log(log, erasure) for log in logs) if logs else None
    if workspace is not None:
        # How many, but no words: the audit log must not keep what was to be erased.
        workspace.note(
            local_author(workspace.base), f"Erase messages: {done.inbox} of the inbox, {done.sample} sampled"
        )
    _show_erased(done, lines, as_json=as_json)


def _workspace(matcher: Matcher) -> Workspace | None:
    """Return the files of the intents with their history; None if they have none."""
    from intentmatch.registry import is_yaml

    place = address_in_use(matcher) or matcher.path
    return live_workspace(place) if place is not None and (isinstance(place, Address) or is_yaml(place)) else None


def _show_erased(done: Erased, lines: int | None, *, as_json: bool) -> None:
    if as_json:
        output.as_json({**done.to_dict(), "log": lines})
        return
    counts = [
        counted(done.inbox, "message") + " of the inbox",
        counted(done.sample, "sampled answer"),
        counted(done.candidate, "sample") + " of a candidate",
        counted(done.conversations, "open conversation"),
        counted(done.audit, "note") + " of the audit log",
    ]
    counts += [] if lines is None else [counted(lines, "line") + " of logs"]
    output.say(f"Erased: {', '.join(counts)}.")
    for place in done.left:
        output.say(f"Still there: {place}", err=True)


def _reviewed(matcher: Matcher, messages: Sequence[Missed]) -> Review:
    """Group the messages."""
    from intentmatch.inbox import review

    with progress.shown() as update:
        update("grouping the messages", 0, None)
        return review(matcher, messages)


def open_inbox(matcher: Matcher, file: Path | None) -> Inbox:
    """Open the inbox `file`, or the one of the setting `inbox`. InputError if there is neither."""
    from intentmatch.inbox import Inbox

    settings = matcher.settings
    if file is not None:
        return Inbox(file, mode=settings.inbox_mode, **settings.inbox_keep)
    found = Inbox.from_settings(settings, address_in_use(matcher))
    if found is None:
        raise InputError("there is no inbox to open: name its file, or set `inbox`")
    return found


def _compare(matcher: Matcher, changes: Changes, messages: Sequence[Missed], settings: dict[str, Any]) -> None:
    """Show the effect of the changes on the answers."""
    from intentmatch.core.types import Case
    from intentmatch.evaluation.compare.diff import compare
    from intentmatch.matching.matcher import Matcher

    asked = [Case(message.text, None, message.language) for message in messages if message.text]
    names = ("intents before", "intents after")
    with progress.shown():
        # From memory: nothing is written yet.
        edited = Matcher.load(changes.registry, **settings)
        found = compare(matcher, edited, names=names, messages=asked)
    output.echo()
    comparison.diff(found, found.failed("worse"))


def _messages(decisions: Iterable[ClusterDecision]) -> list[Missed]:
    return [message for decision in decisions for message in decision.cluster.messages]


def _ignore(messages: Sequence[Missed], opened: Inbox, matcher: Matcher, *, dry_run: bool) -> None:
    """Remove messages from the inbox for good; where there is a history, its audit log says who did."""
    if dry_run:
        output.say(f"{counted(len(messages), 'message')} would be ignored and removed from the inbox.")
        return
    from intentmatch.authoring.operations.inbox_step import ignore
    from intentmatch.authoring.operations.local import local_author

    workspace = _workspace(matcher)
    if workspace is not None and not workspace.history.begun:
        workspace = None
    author = "" if workspace is None else local_author(workspace.base)
    ignore(messages, inbox=opened, workspace=workspace, author=author)
    output.say(f"{counted(len(messages), 'message')} ignored and removed from the inbox.")
