"""The inbox: groups of messages, each with a proposal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from intentmatch.cli.render import output
from intentmatch.core.errors import counted

if TYPE_CHECKING:
    from intentmatch.inbox import Cluster, Missed, Review

_MESSAGES_PER_GROUP = 5
_COLOURS = {"add": "green", "new": "cyan", "ignore": "yellow"}


def review(found: Review) -> None:
    """Print all groups, and the number of messages that were stored as hashes."""
    from intentmatch.inbox.proposals import times

    messages = sum(len(group.messages) for group in found.clusters)
    received = times(sum(group.count for group in found.clusters))
    understood = f"; {found.understood} more are understood now" if found.understood else ""
    groups = counted(len(found.clusters), "group")
    output.say(f"{counted(messages, 'message')}, received {received}, in {groups}{understood}")
    for group in found.clusters:
        output.echo()
        cluster(group)
    if found.hashed:
        _hashed(found.hashed)


def cluster(group: Cluster) -> None:
    """Print a group: its name, counts and dates, the proposal, and its most central messages."""
    from intentmatch.inbox.proposals import times

    dates = sorted({f"{moment:%Y-%m-%d}" for moment in (group.first, group.last)})
    facts = [f"received {times(group.count)}", " to ".join(dates), " ".join(group.languages)]
    output.say(output.style(f"#{group.number}  “{group.name}”", bold=True) + "  " + ", ".join(filter(None, facts)))
    action, intent, reason, _ = group.proposal
    proposal = {"add": f"add to {intent}", "new": f"new intent {intent}", "ignore": "ignore"}[action]
    output.say(output.style(f"  → {proposal}", fg=_COLOURS[action]) + f": {reason}")
    for message in group.messages[:_MESSAGES_PER_GROUP]:
        users = ", ".join(f"{count}× {name or 'no intent'}" for name, count in message.corrections.items())
        corrected = f"   corrected: {users}" if users else ""
        output.say(output.style(f"    {message.count:4}  {message.text}{corrected}", dim=True))
    if len(group.messages) > _MESSAGES_PER_GROUP:
        output.say(output.style(f"          and {len(group.messages) - _MESSAGES_PER_GROUP} more", dim=True))


def _hashed(messages: Sequence[Missed]) -> None:
    """Print the number of hashed messages for each verdict and nearest intents."""
    distinct: Counter[tuple[str, str]] = Counter()
    received: Counter[tuple[str, str]] = Counter()
    for message in messages:
        kind = message.verdict or "corrected", ", ".join(message.intents)
        distinct[kind] += 1
        received[kind] += message.count
    output.say(f"\n{counted(len(messages), 'message')} stored as hashes, without text:")
    rows = [[*kind, str(number), str(received[kind])] for kind, number in distinct.most_common()]
    output.table(["verdict", "nearest", "messages", "received"], rows)
