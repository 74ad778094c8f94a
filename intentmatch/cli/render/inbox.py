"""The inbox: groups of messages, each with a proposal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from intentmatch.cli.render import output
from intentmatch.core.errors import counted

if TYPE_CHECKING:
    from intentmatch.inbox import Cluster, Kind, Missed, Proposal, Review

_MESSAGES_PER_GROUP = 5
_COLOURS = {"add": "green", "new": "cyan", "not": "magenta", "test": "blue", "ignore": "yellow"}
_HEADINGS: Mapping[Kind, str] = {
    "asks": "Requests",
    "refuses": "Refusals: what they name must not be done",
    "settled": "Nothing to do: all is well, or somebody else's business",
    "depends": "Messages that say too little alone",
    "courtesy": "Courtesy",
    "noise": "Noise",
}


def review(found: Review) -> None:
    """Print all groups, and the number of messages that were stored as hashes."""
    from intentmatch.inbox.proposals import times

    messages = sum(len(group.messages) for group in found.clusters)
    received = times(sum(group.count for group in found.clusters))
    understood = f"; {found.understood} more are understood now" if found.understood else ""
    groups = counted(len(found.clusters), "group")
    output.say(f"{counted(messages, 'message')}, received {received}, in {groups}{understood}")
    kind: Kind | None = None
    for group in found.clusters:
        # The groups come sorted by kind.
        if group.kind != kind:
            kind = group.kind
            output.heading(_HEADINGS[kind])
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
    output.say(_proposal(group.proposal))
    for message in group.messages[:_MESSAGES_PER_GROUP]:
        users = ", ".join(f"{count}× {name or 'no intent'}" for name, count in message.corrections.items())
        corrected = f"   corrected: {users}" if users else ""
        output.say(output.style(f"    {message.count:4}  {message.text}{corrected}", dim=True))
    if len(group.messages) > _MESSAGES_PER_GROUP:
        output.say(output.style(f"          and {len(group.messages) - _MESSAGES_PER_GROUP} more", dim=True))


def _proposal(proposal: Proposal) -> str:
    """Return the line with the proposal: a question unless it is sure."""
    action, intent, reason, sure, nearest = proposal
    if action == "ask":
        likely = f"{', '.join(nearest)}, or none of these?" if nearest else "what does it mean?"
        return output.style(f"  ? {likely}", fg="yellow") + f" {reason}"
    what = {
        "add": f"add to {intent}",
        "new": f"new intent {intent}",
        "not": f"add to not: of {intent}",
        "test": "keep as a test: out of scope",
        "ignore": "ignore",
    }[action]
    shown = output.style(f"  → {what}" if sure else f"  ? {what}?", fg=_COLOURS[action])
    return f"{shown}{':' if sure else ''} {reason}"


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
