"""What an inbox keeps, and what a place to keep it must do: a file or a database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from intentmatch.core.erasure import Erasure
from intentmatch.core.result import Verdict
from intentmatch.inbox.sample import Drawn, Judged, SampledAnswer
from intentmatch.storage.postgres.address import Address

Handled = Literal["added", "ignored"]

SHARE_OF_A_DELETION, SECONDS_BETWEEN_DELETIONS = 0.1, 3600.0
"""Deletion by age takes at most this share of the messages in this time, so that a clock which jumps ahead by months
deletes a tenth of the messages before somebody sets it right, and not all of them."""


class Entry(NamedTuple):
    """A received message, or a user's correction of a message."""

    text: str
    time: float
    language: str | None = None
    verdict: Verdict | None = None
    """None for a correction."""
    intents: tuple[str, ...] = ()
    confidence: float | None = None
    corrected: bool = False
    intent: str | None = None
    """The intent of the correction; None for no intent."""
    missed: bool = True
    """Whether the message belongs among those that were not understood."""
    drawn: Drawn | None = None
    """How the answer was drawn for the sample of all answers, if it was."""


@dataclass(frozen=True, slots=True)
class Missed:
    """A message of the inbox."""

    id: int
    text: str | None
    """The stored text; None in an inbox of hashes."""
    language: str | None
    verdict: Verdict | None
    """The last verdict of the matcher; None if there is only a correction."""
    intents: tuple[str, ...]
    """The rivals of an ambiguous message, otherwise the nearest intent."""
    confidence: float | None
    """Calibrated probability that the nearest intent is right."""
    count: int
    """How often the message was received."""
    first: datetime
    last: datetime
    corrections: Mapping[str | None, int]
    """Number of corrections for each intent; the key None is no intent."""

    def to_dict(self) -> dict[str, Any]:
        """Return the message as plain JSON values."""
        return {
            "id": self.id,
            "text": self.text,
            "language": self.language,
            "verdict": self.verdict,
            "intents": list(self.intents),
            "confidence": self.confidence,
            "count": self.count,
            "first": self.first.isoformat(),
            "last": self.last.isoformat(),
            "corrections": [{"intent": intent, "count": count} for intent, count in self.corrections.items()],
        }


class MessageStore(Protocol):
    """Where an inbox keeps its messages."""

    @property
    def path(self) -> Path | Address:
        """Where it is."""

    def write(self, entries: Sequence[Entry], now: float) -> None:
        """Write all entries or none, and delete messages beyond the limits of age and number.

        Entries from before the last erasure are dropped.
        """

    def open_messages(self, now: float) -> list[Missed]:
        """Return unhandled messages within the age limit, oldest first."""

    def handle(self, messages: Iterable[int], how: Handled) -> None:
        """Mark messages as handled: delete their text, and ignore the messages if they are received again.

        Answers to them stay in the sample without the text.
        """

    def reopen(self, texts: Iterable[str]) -> int:
        """Bring back messages with these texts that were added to an intent; return how many."""

    def rename_intent(self, old: str, new: str) -> None:
        """Write another name wherever a message, a correction, an answer or a judgement names an intent."""

    def erase(self, erasure: Erasure) -> tuple[int, int]:
        """Delete messages, handled or not, their corrections and the answers to them; return how many of both."""

    def sampled(self, now: float) -> list[SampledAnswer]:
        """Return the sample of all answers within the age limit, oldest first."""

    def judge(self, number: int, judged: Judged | None, expected: str | None) -> int:
        """Keep a judgement for all answers to the message of an answer; return how many there are, 0 if none."""

    def claim_drift(self, due: float) -> bool:
        """Whether the check for drift that was due at this time is left to do; only the first caller is told so."""

    def put_drift(self, found: str, read: float) -> bool:
        """Keep what a check for drift has found in the sample; False if words were erased since it was read."""

    def drift(self) -> str | None:
        """Return what the last check for drift has found; None if there was none."""
