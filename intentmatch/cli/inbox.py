"""The command `inbox`: what was not understood, in groups, and the edits that follow from it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from intentmatch.cli import show, show_diff, show_inbox
from intentmatch.cli.commands import cli, intents_option, json_option, load, set_option, settings_from
from intentmatch.cli.edit import planned, write
from intentmatch.core.errors import InputError, suggest

if TYPE_CHECKING:
    from intentmatch.inbox import Action, Cluster, Decision, Handled, Inbox, Missed, Review
    from intentmatch.matching.matcher import Matcher
    from intentmatch.registry.editing.plan import Changes

_OTHERS: Mapping[str, Literal["ignore", "skip", "stop"]] = {"ignore": "ignore", "skip": "skip", "stop": "stop"}

_file_argument = click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))


class _Group(click.Group):
    """Shows what there is, unless it is told to do something else."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words, with the command that is meant."""
        meant = args and args[0] in (*self.commands, *ctx.help_option_names)
        return super().parse_args(ctx, args if meant else ["show", *args])


@cli.group(cls=_Group)
def inbox() -> None:
    """Messages that were not understood, in groups that mean the same: show them, or make edits of them.

    \b
    Examples:
      intentmatch inbox misses.sqlite --intents shop/
      intentmatch inbox apply misses.sqlite --intents shop/ --cluster 17
    """


@inbox.command("show")
@_file_argument
@intents_option
@json_option
@set_option
def show_(file: Path | None, intents: str, as_json: bool, settings: tuple[str, ...]) -> None:
    """Show the messages of the inbox FILE, and what to make of each group. This is what `inbox` alone does.

    Without FILE it is the one that the setting `inbox` names. A group is named by its most central message, and its
    number is that of its oldest one. Messages that the registry understands by now are left out.
    """
    from intentmatch.inbox import review

    matcher = load(intents, settings)
    found = review(matcher, _opened(matcher, file).messages())
    if as_json:
        for cluster in found.clusters:
            show.as_json(cluster.to_dict())
        for message in found.hashed:
            show.as_json(message.to_dict())
        return
    show_inbox.review(found)


@inbox.command()
@_file_argument
@intents_option
@click.option(
    "--cluster", "-c", "numbers", multiple=True, type=int, metavar="NUMBER", help="Only this; may be repeated."
)
@click.option("--intent", metavar="NAME", help="Add the messages to this intent, whatever is proposed.")
@click.option("--new", metavar="NAME", help="Make a new intent of them.")
@click.option("--ignore", is_flag=True, help="Take them out of the inbox for good.")
@click.option(
    "--lang", "--language", "-l", "language", help="BCP-47 code of the messages, if they were kept under none."
)
@click.option("--file", "target", type=click.Path(dir_okay=False, path_type=Path), help="Where a new intent goes.")
@click.option("--dry-run", "-n", is_flag=True, help="Only show what would change.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@set_option
def apply(
    file: Path | None,
    intents: str,
    numbers: tuple[int, ...],
    intent: str | None,
    new: str | None,
    ignore: bool,
    language: str | None,
    target: Path | None,
    dry_run: bool,
    yes: bool,
    settings: tuple[str, ...],
) -> None:
    """Edit INTENTS by what stands in the inbox FILE: as is proposed, or as you say.

    Without --cluster you are asked about each group. What would change in the YAML is shown first, and what that does
    to the answers, as `diff` tells it; messages that were dealt with leave the inbox and do not come back.

    \b
    Examples:
      intentmatch inbox apply misses.sqlite --intents shop/
      intentmatch inbox apply --cluster 17 --cluster 4
      intentmatch inbox apply --cluster 17 --intent refund_status --yes
      intentmatch inbox apply --cluster 4 --new gift_cards --file shop/gifts.yaml
    """
    from intentmatch.inbox import edits_of, review
    from intentmatch.registry import is_yaml

    wish = _wish(intent, new, ignore=ignore)
    if wish and not numbers:
        raise click.UsageError("--intent, --new and --ignore go with --cluster.")
    if not is_yaml(intents):
        raise InputError(f"{intents} is no YAML: edit the folder that it was built from")
    matcher = load(intents, settings)
    kept = _opened(matcher, file)
    messages = kept.messages()
    found = review(matcher, messages)
    decisions = _told(found, numbers, wish) if numbers else list(_asked(found, matcher))
    if not decisions:
        click.echo("Nothing to do.")
        return
    edits = edits_of(decisions, language=language, file=target)
    changes = planned(intents, edits) if edits else None
    if changes is not None:
        _compared(matcher, changes, messages, settings_from(settings))
    if dry_run:
        return
    if changes is not None:
        write(changes, yes=yes)
    _take_out(kept, decisions)


def _opened(matcher: Matcher, file: Path | None) -> Inbox:
    """The inbox that was named, or that of the settings."""
    from intentmatch.inbox import Inbox

    settings = matcher.settings
    if file is None and settings.inbox == "off":
        raise InputError("name the file of the inbox, or turn one on with the setting `inbox`")
    return Inbox(file or settings.inbox, mode=settings.inbox_mode, **settings.inbox_keep)


def _wish(intent: str | None, new: str | None, *, ignore: bool) -> tuple[Action, str | None] | None:
    """What the options ask for; None where it is what is proposed."""
    wishes: list[tuple[Action, str | None]] = []
    wishes += [("add", intent)] if intent is not None else []
    wishes += [("new", new)] if new is not None else []
    wishes += [("ignore", None)] if ignore else []
    if len(wishes) > 1:
        raise click.UsageError("Choose one of --intent, --new and --ignore.")
    return wishes[0] if wishes else None


def _told(found: Review, numbers: Sequence[int], wish: tuple[Action, str | None] | None) -> list[Decision]:
    """What is to become of the clusters that were named."""
    from intentmatch.inbox import Decision

    clusters = {message.id: cluster for cluster in found.clusters for message in cluster.messages}
    decisions = {}
    for number in numbers:
        if number not in clusters:
            known = ", ".join(str(cluster.number) for cluster in found.clusters) or "none"
            raise InputError(f"there is no cluster {number} in the inbox; there are {known}")
        cluster = clusters[number]
        action, intent = wish or cluster.proposal[:2]
        decisions[cluster.number] = Decision(cluster, action, intent)
    return list(decisions.values())


def _asked(found: Review, matcher: Matcher) -> Iterator[Decision]:
    """What the user makes of each cluster, one after the other."""
    from intentmatch.inbox import Decision

    if not sys.stdin.isatty():
        raise click.UsageError("Say which cluster with --cluster; there is nobody to ask.")
    names = [intent.name for intent in matcher.registry]
    for cluster in found.clusters:
        show_inbox.cluster(cluster)
        action, intent = _answer(cluster, names)
        if action == "stop":
            return
        if action != "skip":
            yield Decision(cluster, action, intent)
        click.echo()


def _answer(cluster: Cluster, names: Sequence[str]) -> tuple[Action | Literal["skip", "stop"], str | None]:
    proposal = cluster.proposal
    while True:
        said = click.prompt("Enter if so; or new, ignore, skip, stop, or an intent", default="", show_default=False)
        if not said:
            return proposal.action, proposal.intent
        if said in _OTHERS:
            return _OTHERS[said], None
        if said == "new":
            return "new", click.prompt("Its name", default=proposal.intent if proposal.action == "new" else None)
        if said in names:
            return "add", said
        nearest = suggest(said, names)
        click.echo(f"There is no intent {said!r}." + (f" Did you mean {nearest!r}?" if nearest else ""), err=True)


def _compared(matcher: Matcher, changes: Changes, messages: Sequence[Missed], settings: dict[str, Any]) -> None:
    """Show what edits do to the answers."""
    from intentmatch.core.types import Case
    from intentmatch.evaluation.compare.diff import compare
    from intentmatch.matching.matcher import Matcher

    edited = Matcher.load(changes.registry, **settings)
    asked = [Case(message.text, None, message.language) for message in messages if message.text]
    with show.steps(patience=show.PATIENCE) as tell:
        found = compare(matcher, edited, names=("the intents now", "with these edits"), messages=asked, progress=tell)
    click.echo()
    show_diff.diff(found, found.failed("worse"))


def _take_out(kept: Inbox, decisions: Sequence[Decision]) -> None:
    how: Handled
    for how in ("added", "ignored"):
        messages = [m for d in decisions if (d.action == "ignore") == (how == "ignored") for m in d.cluster.messages]
        if messages:
            kept.handle(messages, how)
            click.echo(f"{show.counted(len(messages), 'message')} {how}, and out of the inbox.")
