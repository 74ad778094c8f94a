"""Payloads of Rasa's buttons, such as `/order_status{"order_number": "AB-12345"}`: an intent and entities without NLU.

Rasa sends every text to an NLU server, payloads included. The syntax and what becomes of its mistakes are those of
Rasa's `RegexMessageHandler`. Rasa reads only the intents of its domain. A server does not know the domain, in which
intents may have a button and no utterances: a name that the registry lacks counts if it is a single word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

_PAYLOAD = re.compile(r"/(?P<intent>[^{@]+)(?P<confidence>@[0-9.]+)?(?P<entities>\{.+\})?")
_WORD = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True)
class Payload:
    """An intent that a text names itself."""

    text: str
    """The text without white space around it."""
    intent: str
    confidence: float
    """1 unless the text has one, as in `/greet@0.7`."""
    entities: tuple[dict[str, Any], ...]
    """Entities as Rasa writes them; their bounds are those of the JSON."""

    @classmethod
    def read(cls, text: str, intents: Collection[str]) -> Payload | None:
        """Read a text; None if it is a message of a user. `intents` are the names in the registry."""
        text = text.strip()
        # Not the whole text: Rasa ignores what follows the payload.
        found = _PAYLOAD.match(text)
        if found is None:
            return None
        intent = found["intent"].strip()
        if intent not in intents and not _WORD.fullmatch(intent):
            return None
        return cls(text, intent, _confidence(found["confidence"]), tuple(_entities(found)))


def _confidence(given: str | None) -> float:
    """Return a confidence of at most 1; 0 for one that is no number."""
    try:
        return 1.0 if given is None else min(1.0, float(given[1:]))
    except ValueError:
        return 0.0


def _entities(found: re.Match[str]) -> list[dict[str, Any]]:
    """Return an entity for each value; none if the JSON is invalid, is no object or cannot be sent back."""
    try:
        values = json.loads(found["entities"] or "{}")
        # NaN, and half of a surrogate pair, can be read but not sent back.
        json.dumps(values, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return []
    start, end = found.span("entities")
    return [
        {
            "entity": name,
            "value": value,
            "start": start,
            "end": end,
            # opsdroid refuses an entity without this key.
            "confidence_entity": 1.0,
            "extractor": "RegexMessageHandler",
        }
        for name, given in values.items()
        for value in (given if isinstance(given, list) else [given])
    ]
