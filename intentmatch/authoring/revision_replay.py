"""Replay messages: which of them a revision answers otherwise than the one before it, or than the present one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Literal

from intentmatch.authoring.past_registries import registry_before, registry_to_try
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import InputError
from intentmatch.core.types import Case
from intentmatch.evaluation.compare.replay import Replay, replay
from intentmatch.evaluation.logs import Log, LoggedMessage
from intentmatch.inbox.inbox import Inbox
from intentmatch.inbox.sample import SampledAnswer
from intentmatch.matching.matcher import Matcher

Against = Literal["before", "current"]

DAYS = 7
MOST_MESSAGES = 5000
"""Different messages that are replayed at most: the most frequent ones."""
_SHOWN_DIGITS = 10


@dataclass(frozen=True, slots=True)
class RecordedMessages:
    """Messages to replay, and those that cannot be."""

    log: Log
    hashed: int = 0
    """Answers that were kept without their text."""


@dataclass(frozen=True, slots=True)
class RevisionReplay:
    """What a revision answers otherwise."""

    found: Replay
    heard: RecordedMessages
    """All messages that there were; `found` has at most `MOST_MESSAGES` of them."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values: those of the replay, and how many messages there were in all."""
        log = self.heard.log
        more = {"of_messages": log.received, "of_distinct": len(log.messages), "hashed": self.heard.hashed}
        return self.found.to_dict() | more


def heard(inbox: Inbox | None, days: int = DAYS) -> RecordedMessages:
    """Return the sampled messages of the last days, as the inbox keeps them.

    Raises `InputError` if there is none, and as `Inbox.sampled`.
    """
    since = datetime.now(timezone.utc) - timedelta(days=days)
    sample = [] if inbox is None else [one for one in inbox.sampled() if one.time >= since]
    messages = _messages(sample)
    hashed = sum(one.text is None for one in sample)
    if not messages:
        kept = "only hashes are kept of" if hashed else "there are no"
        raise InputError(f"{kept} answers of the last {days} days: the settings inbox and inbox_sample keep them")
    return RecordedMessages(Log(tuple(messages), 0), hashed)


def replay_revision(
    workspace: Workspace, matcher: Matcher, identity: str, heard: RecordedMessages, against: Against = "before"
) -> RevisionReplay:
    """Answer messages by a revision, and by the one before it or by `matcher`, the registry in use.

    Raises `UnknownNameError` for an unknown revision, and `InputError` for an invalid one, and for one that had none
    before it.
    """
    candidate = matcher.trial(registry_to_try(workspace, identity))
    shown = identity[:_SHOWN_DIGITS]
    old, name = matcher, "in use"
    if against == "before":
        registry = registry_before(workspace, identity)
        if registry is None:
            raise InputError(f"there is nothing valid before revision {shown}: compare it with the registry in use")
        old, name = matcher.trial(registry), f"before revision {shown}"
    messages = heard.log.messages
    if len(messages) > MOST_MESSAGES:
        messages = tuple(sorted(messages, key=lambda one: -one.count)[:MOST_MESSAGES])
    log = Log(messages, heard.log.skipped, heard.log.broken)
    return RevisionReplay(replay(old, candidate, log, names=(name, f"revision {shown}")), heard)


def _messages(sample: Iterable[SampledAnswer]) -> list[LoggedMessage]:
    found: dict[str, LoggedMessage] = {}
    for one in sample:
        if one.text is None:
            continue
        message = found.setdefault(one.text, LoggedMessage(Case(one.text, None, one.language)))
        message.count += 1
        message.answers[one.verdict, one.intent] += 1
    return list(found.values())
