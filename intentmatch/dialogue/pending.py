"""What is open in a conversation, a question or the intent that it is about, and its text form in a store."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

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
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    # A store may be shared with other programs, and a dialogue must not fail because of what it finds there.
    return pending if _is_valid(pending) else None


def _is_valid(pending: Pending) -> bool:
    """Whether all fields have the right types."""
    language: object = pending.language
    if language is not None and not (isinstance(language, str) and language_code(language) == language):
        return False
    if isinstance(pending, WhichIntent):
        return _all_are(str, pending.message, pending.id, *pending.intents) and _all_are(int, pending.left)
    if not _all_are(str, pending.intent):
        return False
    if isinstance(pending, Topic):
        valid = True
    elif not _all_are(int, pending.left):
        return False
    elif isinstance(pending, WhichValue):
        unsure = (text for pair in pending.unsure for text in pair)
        valid = _all_are(str, pending.slot, *unsure) and _all_are(bool, pending.confirmed)
    else:
        valid = _all_are(str, pending.id)
    if not valid:
        return False
    return all(
        _all_are(str, entity.slot, entity.text) and _all_are(int, entity.start, entity.end) and _is_value(entity.value)
        for entity in pending.entities
    )


def _is_value(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and isinstance(part, str | int | float | None) for key, part in value.items())
    return isinstance(value, str | int | float)


def _all_are(kinds: type | tuple[type, ...], *values: object) -> bool:
    return all(isinstance(value, kinds) for value in values)
