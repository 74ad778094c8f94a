"""`Turn`: the result of one message in a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intentmatch.core.result import Entity, MatchResult
from intentmatch.core.types import Value


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to "did you mean ...?" or to a yes-or-no question, shown as a button if the channel has buttons."""

    id: str
    """Payload of the button: at most 20 ASCII characters, valid for one question only."""
    title: str
    """Text for the user in their language: the title of the intent, "none of these", "yes" or "no"."""
    intent: str | None
    """The intent; None for "none of these" and "no"."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the bot does about one message. Falsy if there was no message."""

    message: str
    """The received message; for a button "none of these" without text, the message that the question was about."""
    intent: str | None = None
    """The intent, once all required slots are known and it is confirmed where `confirm` says so; None while the bot
    asks, or if it did not understand."""
    entities: tuple[Entity, ...] = ()
    """Entities for the intent, or for the pending one, from this message and earlier ones."""
    reply: str | None = None
    """The response of the intent, or the question to the user; None if there is neither."""
    choices: tuple[Choice, ...] = ()
    """The choices, if the bot asks which intent is meant or whether one is."""
    asks_for: str | None = None
    """The slot that the bot asks for."""
    pending: str | None = None
    """The intent of that slot, the intent to confirm, or the intent that the user has declined."""
    result: MatchResult | None = None
    """The match result of this message; None if it was not matched, for example after a button press."""
    language: str | None = None
    """BCP-47 code of `reply` and `choices`; None if neither the message nor the caller determines it."""

    def __bool__(self) -> bool:
        return bool(self.message.strip() or self.reply or self.intent)

    @property
    def asks(self) -> bool:
        """Whether `reply` is a question to the user."""
        return bool(self.choices) or self.asks_for is not None

    @property
    def declined(self) -> bool:
        """Whether the user does not want the intent `pending`; `reply` says that it is dropped. Added in 0.3.0."""
        return self.pending is not None and not self.asks

    @property
    def understood(self) -> bool:
        """Whether there is an intent, a question or a "no" to one; otherwise the bot should use its fallback."""
        return self.intent is not None or self.asks or self.declined

    @property
    def answers(self) -> bool:
        """Whether the message was understood as the answer to a question, and not by its own match result."""
        intent = self.intent or self.pending
        return intent is not None and (self.result is None or self.result.intent != intent)

    @property
    def slots(self) -> Mapping[str, Value]:
        """Slot name to value; the last value if a slot was found more than once."""
        return {entity.slot: entity.value for entity in self.entities}

    @property
    def text(self) -> str | None:
        """`reply` followed by the numbered choices, for channels without buttons."""
        if not self.choices:
            return self.reply
        numbered = (f"{number}. {choice.title}" for number, choice in enumerate(self.choices, 1))
        return "\n".join([self.reply or "", *numbered])
