"""The options of one match, with positions for the names of intents."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class ResolvedOptions(NamedTuple):
    """The options of one match, checked and resolved against the registry."""

    top_k: int
    language: str | None = None
    allowed: frozenset[int] | None = None
    """Positions of the intents that may answer; None for all."""
    now: datetime | None = None
    """The user's local time, from which "tomorrow" counts; None for this machine's time."""
    foreign: bool = False
    """Whether the message is in a language that the registry does not have."""
    hidden: frozenset[int] = frozenset()
    """Rows of utterances that do not count, because another intent that may answer goes first with the same line."""
    second_opinion: bool = True
    """Whether a reranker may be asked."""
    previous: int | None = None
    """Position of the intent that the turn before was about."""
    answers_each: bool = False
    """Whether several requests in a message are each answered, and not asked about."""

    def spoken_in(self, language: str | None, *, foreign: bool) -> ResolvedOptions:
        """Return the same options for a message in a language."""
        top_k, _, allowed, now, _, hidden, second_opinion, previous, each = self
        return ResolvedOptions(top_k, language, allowed, now, foreign, hidden, second_opinion, previous, each)
