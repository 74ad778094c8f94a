"""What comes of one message in a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intentmatch.core.result import Entity, MatchResult


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers to "did you mean ...?": a button, where there are buttons."""

    id: str
    """What the button sends back: at most 20 ASCII characters, good for one question only."""
    title: str
    """For the user: the intent's title in their language, or the words for "none of these"."""
    intent: str | None
    """None for "none of these"."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a bot does about one message. Falsy where there was no message to do anything about."""

    message: str
    """As it was received; of a button without text that says "none of these", the message that it was asked about."""
    intent: str | None = None
    """What the user wants, with all that it needs; None while the user is asked something, or is not understood."""
    entities: tuple[Entity, ...] = ()
    """Found for that intent, or for the one that the user is asked about, in this message and in those before it."""
    reply: str | None = None
    """The author's response of the intent, or the question to the user; None where there is none."""
    choices: tuple[Choice, ...] = ()
    """Where the user is asked which intent is meant."""
    asks_for: str | None = None
    """The slot that the user is asked for."""
    pending: str | None = None
    """The intent that it is asked for."""
    result: MatchResult | None = None
    """What the matcher says of this message; None where it was not asked, as when a button was pressed."""
    language: str | None = None
    """BCP-47 code that `reply` and `choices` are meant to be in; None where neither message nor caller tells it."""

    def __bool__(self) -> bool:
        return bool(self.message.strip() or self.reply or self.intent)

    @property
    def asks(self) -> bool:
        """Whether `reply` is a question that the next message is expected to answer."""
        return bool(self.choices) or self.asks_for is not None

    @property
    def understood(self) -> bool:
        """Whether there is an intent, or a question on the way to it; otherwise the bot's fallback is due."""
        return self.intent is not None or self.asks

    @property
    def answers(self) -> bool:
        """Whether the message is understood by the question before it; what it means on its own is then no matter."""
        about = self.intent or self.pending
        return about is not None and (self.result is None or self.result.intent != about)

    @property
    def slots(self) -> Mapping[str, str | int | float]:
        """Slot to value; of a slot that was found more than once, the value found last."""
        return {entity.slot: entity.value for entity in self.entities}

    @property
    def text(self) -> str | None:
        """`reply` with the choices numbered below it, for channels without buttons."""
        if not self.choices:
            return self.reply
        numbered = (f"{number}. {choice.title}" for number, choice in enumerate(self.choices, 1))
        return "\n".join([self.reply or "", *numbered])
