"""What is open in a conversation, a question or the intent that it is about, and its text form in a store."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from intentmatch.core.arguments import check_argument
from intentmatch.core.errors import InputError
from intentmatch.core.result import Entity
from intentmatch.text.normalize import language_code

# Raised whenever the fields change: processes of two releases may share a store during an update.
_VERSION = 1

PREFIX = "im:"
"""Prefix of the ids of choices, which distinguishes them from the payloads of other buttons."""


@dataclass(frozen=True, slots=True)
class WhichIntent:
    """The question "did you mean ...?"."""

    message: str
    """The ambiguous message; the slots of the chosen intent are read from it."""
    intents: tuple[str, ...]
    """The choices, numbered from 1; the number after the last one is "none of these"."""
    id: str
    """Part of the ids of the buttons; it differs for each question, so that old buttons are recognized."""
    language: str | None
    left: int = 0
    """How many more times the bot may ask."""

    @property
    def choices(self) -> tuple[str, ...]:
        """Ids of the buttons, with "none of these" last."""
        return tuple(f"{PREFIX}{self.id}:{number}" for number in range(1, len(self.intents) + 2))


@dataclass(frozen=True, slots=True)
class WhichValue:
    """The question for the value of a slot."""

    intent: str
    slot: str
    entities: tuple[Entity, ...]
    """Entities found so far."""
    left: int
    """How many more times the bot may ask for the slot."""
    language: str | None
    confirmed: bool = False
    """Whether the intent needs no confirmation any more, as in a channel that has none."""
    unsure: tuple[tuple[str, str], ...] = ()
    """Slots for which the user named alternatives, each with the question that repeats them ("small or medium?"). The
    slot asked for is the first of them, if it is one."""

    @property
    def alternatives(self) -> str | None:
        """The question that repeats the user's alternatives; None if the author's question is asked."""
        return self.unsure[0][1] if self.unsure and self.unsure[0][0] == self.slot else None


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The question whether an intent is meant."""

    intent: str
    entities: tuple[Entity, ...]
    """Entities found so far."""
    id: str
    """Part of the ids of the buttons, as in `WhichIntent`."""
    left: int
    """How many more times the bot may ask."""
    language: str | None

    @property
    def choices(self) -> tuple[str, str]:
        """Ids of the buttons: yes, no."""
        return f"{PREFIX}{self.id}:1", f"{PREFIX}{self.id}:2"


@dataclass(frozen=True, slots=True)
class Topic:
    """What the last turn was about. It is no question: a message may follow it up, such as "and tomorrow?"."""

    intent: str
    entities: tuple[Entity, ...]
    """Entities of that turn."""
    language: str | None


Pending = WhichIntent | WhichValue | Confirmation | Topic


_KINDS: Mapping[type, str] = {WhichIntent: "intent", WhichValue: "value", Confirmation: "confirm", Topic: "topic"}
_CLASSES: Mapping[str, type] = {kind: each for each, kind in _KINDS.items()}


def new_id() -> str:
    """Return a random id for a question."""
    # Eight characters: with prefix and number, an id stays within the 20 that `Choice.id` promises.
    return secrets.token_urlsafe(6)


def to_text(pending: Pending) -> str:
    """Serialize a question as ASCII text for a store."""
    return json.dumps({"version": _VERSION, "kind": _KINDS[type(pending)], **asdict(pending)})


def from_text(text: str | None) -> Pending | None:
    """Read the text that `to_text` wrote; None if it is invalid or from an incompatible release."""
    try:
        values: dict[str, Any] = json.loads(text or "null")
        if values.pop("version") != _VERSION:
            return None
        pending: Pending
        kind = values.pop("kind")
        if kind == _KINDS[WhichIntent]:
            pending = WhichIntent(**{**values, "intents": tuple(values["intents"])})
        else:
            values["entities"] = tuple(Entity(**entity) for entity in values["entities"])
            if "unsure" in values:
                values["unsure"] = tuple((slot, question) for slot, question in values["unsure"])
            pending = _CLASSES[kind](**values)
        check_argument("question", pending, type(pending))
    # A store may be shared with other programs, and a dialogue must not fail because of what it finds there.
    except (InputError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return pending if pending.language in (None, language_code(pending.language or "")) else None
