"""A question that was asked, as it waits in a store."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from typing import Any

from intentmatch.core.result import Entity
from intentmatch.text.normalize import language_code

_VERSION = 1

PREFIX = "im:"
"""Of the ids of choices, so that what a pressed button sends can be told from what others send."""


@dataclass(frozen=True, slots=True)
class WhichIntent:
    """The question "did you mean ...?"."""

    message: str
    """That which may mean any of them; the one that is chosen finds its slots in it."""
    intents: tuple[str, ...]
    """As they were numbered, from 1; the number after the last is "none of these"."""
    id: str
    """What the buttons' ids begin with, so that a button of an older question is known as such."""
    language: str | None

    @property
    def choices(self) -> tuple[str, ...]:
        """What the buttons send, "none of these" last."""
        return tuple(f"{PREFIX}{self.id}:{number}" for number in range(1, len(self.intents) + 2))


@dataclass(frozen=True, slots=True)
class WhichValue:
    """The question for a slot."""

    intent: str
    slot: str
    entities: tuple[Entity, ...]
    """Found so far."""
    left: int
    """How many more times it may be asked."""
    language: str | None


Pending = WhichIntent | WhichValue


def new_id() -> str:
    """An id of a question."""
    return secrets.token_urlsafe(6)


def to_text(pending: Pending) -> str:
    """For a store."""
    kind = "intent" if isinstance(pending, WhichIntent) else "value"
    return json.dumps({"version": _VERSION, "kind": kind, **asdict(pending)})


def of_text(text: str | None) -> Pending | None:
    """The inverse of `to_text`. None for what is no such text, as another release of this may have left behind."""
    try:
        values: dict[str, Any] = json.loads(text or "null")
        if values.pop("version") != _VERSION:
            return None
        pending: Pending
        if values.pop("kind") == "intent":
            pending = WhichIntent(**{**values, "intents": tuple(values["intents"])})
        else:
            pending = WhichValue(**{**values, "entities": tuple(Entity(**entity) for entity in values["entities"])})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return pending if _sound(pending) else None


def _sound(pending: Pending) -> bool:
    """Whether all that it holds is of the kind that it should be."""
    language: object = pending.language
    if language is not None and not (isinstance(language, str) and language_code(language) == language):
        return False
    if isinstance(pending, WhichIntent):
        return _are(str, pending.message, pending.id, *pending.intents)
    of_entities = [
        _are(str, one.slot, one.text) and _are(int, one.start, one.end) and _are((str, int, float), one.value)
        for one in pending.entities
    ]
    return _are(str, pending.intent, pending.slot) and _are(int, pending.left) and all(of_entities)


def _are(kinds: type | tuple[type, ...], *values: object) -> bool:
    return all(isinstance(value, kinds) for value in values)
