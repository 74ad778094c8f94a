"""Turn decisions about clusters into edits of the registry's files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intentmatch.inbox.groups import Cluster
from intentmatch.inbox.proposals import Action
from intentmatch.registry.editing.edits import AddIntent, AddTest, AddUtterance, Edit


@dataclass(frozen=True, slots=True)
class ClusterDecision:
    """What to do with a cluster: an action, and the intent for it."""

    cluster: Cluster
    action: Action
    intent: str | None = None
    """The intent that gets the messages, or the name of the new intent; None for tests, and to ignore them."""


def edits_of(
    decisions: Sequence[ClusterDecision], *, language: str | None = None, file: Path | None = None
) -> list[Edit]:
    """Return an edit for each message that becomes a line of an intent or a test, the most central message first.

    Brackets in a message are plain text. `language` replaces the language of every message; `file` is the YAML file for
    new intents and for tests.
    """
    edits: list[Edit] = []
    for decision in decisions:
        if decision.action == "test":
            edits += additions_to_tests([decision], language=language, file=file)
        # Ignored, or written as tests above.
        if decision.intent is None:
            continue
        lines = [(message.text or "", language or message.language) for message in decision.cluster.messages]
        if decision.action == "new":
            (text, code), *lines = lines
            edits.append(AddIntent(decision.intent, text, code, file))
        is_negative = decision.action == "not"
        edits += [AddUtterance(decision.intent, text, code, is_negative) for text, code in lines]
    return edits


def additions_to_tests(
    decisions: Sequence[ClusterDecision], *, language: str | None = None, file: Path | None = None
) -> list[Edit]:
    """Return an edit for each message that becomes a test case.

    A message is expected to have the intent that its cluster is added to. Otherwise it is expected to be out of scope:
    the registry does not have a new intent yet. `language` replaces the language of every message; `file` is the YAML
    file for tests.
    """
    return [
        AddTest(
            message.text or "",
            decision.intent if decision.action == "add" else None,
            language or message.language,
            file,
        )
        for decision in decisions
        for message in decision.cluster.messages
    ]
