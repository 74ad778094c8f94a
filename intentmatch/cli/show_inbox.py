"""An inbox in a terminal: groups of messages, each with what to make of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from intentmatch.cli import show

if TYPE_CHECKING:
    from intentmatch.inbox import Cluster, Missed, Review

_MESSAGES = 5
_COLOURS = {"add": "green", "new": "cyan", "ignore": "yellow"}


def review(found: Review) -> None:
    """All groups, and what can be told of messages of which no text was kept."""
    from intentmatch.inbox.proposals import times

    messages = sum(len(one.messages) for one in found.clusters)
    said = times(sum(one.count for one in found.clusters))
    understood = f"; of {found.understood} more the intents know by now" if found.understood else ""
    groups = show.counted(len(found.clusters), "group")
    click.echo(f"{show.counted(messages, 'message')}, said {said}, in {groups}{understood}")
    for one in found.clusters:
        click.echo()
        cluster(one)
    if found.hashed:
        _hashed(found.hashed)


def cluster(one: Cluster) -> None:
    """A group: its name, counts and dates, the proposal, and its most central messages."""
    from intentmatch.inbox.proposals import times

    dates = sorted({f"{moment:%Y-%m-%d}" for moment in (one.first, one.last)})
    facts = ", ".join(filter(None, [f"said {times(one.count)}", " to ".join(dates), " ".join(one.languages)]))
    click.echo(click.style(f"#{one.number}  “{one.name}”", bold=True) + f"  {facts}")
    action, intent, because = one.proposal
    meant = {"add": f"add to {intent}", "new": f"new intent {intent}", "ignore": "ignore"}[action]
    click.echo(click.style(f"  → {meant}", fg=_COLOURS[action]) + f": {because}")
    for message in one.messages[:_MESSAGES]:
        users = ", ".join(f"{count}× {name or 'no intent'}" for name, count in message.corrections.items())
        told = f"   corrected: {users}" if users else ""
        click.echo(click.style(f"    {message.count:4}  {message.text}{told}", dim=True))
    if len(one.messages) > _MESSAGES:
        click.echo(click.style(f"          and {len(one.messages) - _MESSAGES} more", dim=True))


def _hashed(messages: Sequence[Missed]) -> None:
    """How many there are of each kind, and how often they were said: all that can be told."""
    distinct: Counter[tuple[str, str]] = Counter()
    said: Counter[tuple[str, str]] = Counter()
    for message in messages:
        kind = message.verdict or "corrected", ", ".join(message.intents)
        distinct[kind] += 1
        said[kind] += message.count
    click.echo(f"\n{show.counted(len(messages), 'message')} of which only hashes were kept:")
    rows = [[*kind, str(number), str(said[kind])] for kind, number in distinct.most_common()]
    show.table(["verdict", "nearest", "messages", "said"], rows)
