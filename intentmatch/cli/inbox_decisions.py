"""What to do with groups of the inbox: as the options say, as proposed, or as the user answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import click

from intentmatch.cli.render import inbox as render
from intentmatch.cli.render import output
from intentmatch.core.errors import InputError, suggest

if TYPE_CHECKING:
    from intentmatch.inbox import Action, Cluster, ClusterDecision, Review
    from intentmatch.matching.matcher import Matcher

_Reply = Literal["test", "ignore", "skip", "stop"]
_REPLIES: Mapping[str, _Reply] = {reply: reply for reply in get_args(_Reply)}


def requested_action(
    intent: str | None, new: str | None, negative: str | None, *, ignore: bool
) -> tuple[Action, str | None] | None:
    """Return the action that the options ask for, with its intent; None for the proposed action."""
    actions: list[tuple[Action, str | None]] = []
    actions += [("add", intent)] if intent is not None else []
    actions += [("new", new)] if new is not None else []
    actions += [("not", negative)] if negative is not None else []
    actions += [("ignore", None)] if ignore else []
    if len(actions) > 1:
        raise click.UsageError("Choose one of --intent, --new, --not and --ignore.")
    return actions[0] if actions else None


def decide(found: Review, numbers: Sequence[int], requested: tuple[Action, str | None] | None) -> list[ClusterDecision]:
    """Return a decision for each group of --cluster. InputError for an unknown number, and for an open question."""
    from intentmatch.inbox import ClusterDecision

    # By any of its messages: the number of a group is that of its oldest one, which may have been handled meanwhile.
    clusters = {message.id: cluster for cluster in found.clusters for message in cluster.messages}
    decisions = {}
    for number in numbers:
        if number not in clusters:
            known = ", ".join(str(cluster.number) for cluster in found.clusters) or "none"
            raise InputError(f"the inbox has no cluster {number}; its clusters are {known}")
        cluster = clusters[number]
        action, intent = requested or _proposed(cluster)
        decisions[cluster.number] = ClusterDecision(cluster, action, intent)
    return list(decisions.values())


def _proposed(cluster: Cluster) -> tuple[Action, str | None]:
    """Return the proposal. InputError if it is a question."""
    proposal = cluster.proposal
    if proposal.accepted is not None:
        return proposal.accepted
    likely = f"--not {proposal.intent}" if proposal.action == "not" else f"--intent {(*proposal.nearest, 'NAME')[0]}"
    raise InputError(
        f"cluster {cluster.number} is a question ({proposal.because}): answer it by {likely}, --new NAME or --ignore"
    )


def ask(found: Review, matcher: Matcher) -> Iterator[ClusterDecision]:
    """Ask the user about each group and yield the decisions."""
    from intentmatch.inbox import ClusterDecision

    if not sys.stdin.isatty():
        raise click.UsageError("Choose groups with --cluster: standard input is no terminal to ask.")
    names = [intent.name for intent in matcher.registry]
    for cluster in found.clusters:
        render.cluster(cluster)
        action, intent = _reply(cluster, names)
        if action == "stop":
            return
        if action != "skip":
            yield ClusterDecision(cluster, action, intent)
        output.echo()


def _reply(cluster: Cluster, names: Sequence[str]) -> tuple[Action | Literal["skip", "stop"], str | None]:
    """Ask the user what to do with a group, until the reply is valid; return the action and its intent."""
    proposal = cluster.proposal
    enter = "Enter to accept" if proposal.sure else "Enter to skip"
    while True:
        text = click.prompt(f"{enter}, or: an intent, new, not, test, ignore, skip, stop", "", show_default=False)
        if not text:
            return proposal.accepted or ("skip", None)
        if text in _REPLIES:
            return _REPLIES[text], None
        if text == "new":
            return "new", click.prompt("Name", default=proposal.intent if proposal.action == "new" else None)
        if text == "not":
            refused = click.prompt("Intent", default=proposal.intent if proposal.action == "not" else None)
            if refused in names:
                return "not", refused
            # Gets the advice below, as any name that no intent has.
            text = refused
        elif text in names:
            return "add", text
        nearest = suggest(text, names)
        output.say(f"There is no intent {text!r}." + (f" Did you mean {nearest!r}?" if nearest else ""), err=True)
