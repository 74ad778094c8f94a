"""A decision about a cluster as edits of the registry's files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intentmatch.inbox.proposals import Action, Cluster
from intentmatch.registry.editing.edits import AddIntent, AddUtterance, Edit


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to become of a cluster."""

    cluster: Cluster
    action: Action
    intent: str | None = None
    """To add its messages to, or the name of a new one; None to ignore them."""


def edits_of(decisions: Sequence[Decision], *, language: str | None = None, file: Path | None = None) -> list[Edit]:
    """Each message as a line of its intent, to the letter; the most central ones first.

    `language` is that of all of them, where they were kept without one or under a wrong one; `file` is where new
    intents go.
    """
    edits: list[Edit] = []
    for decision in decisions:
        if decision.intent is None:
            continue
        lines = [(message.text or "", language or message.language) for message in decision.cluster.messages]
        if decision.action == "new":
            (text, code), *lines = lines
            edits.append(AddIntent(decision.intent, text, code, file))
        edits += [AddUtterance(decision.intent, text, code) for text, code in lines]
    return edits
