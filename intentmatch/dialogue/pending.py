"""A question that was asked, as it waits in a store."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from typing import Any

from intentmatch.result import Entity

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
        if values.pop("kind") == "intent":
            return WhichIntent(**{**values, "intents": tuple(values["intents"])})
        return WhichValue(**{**values, "entities": tuple(Entity(**entity) for entity in values["entities"])})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
