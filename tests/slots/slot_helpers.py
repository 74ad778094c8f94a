"""Helpers to write marked utterances and slots, and to run finders."""

from __future__ import annotations

import re
from datetime import datetime

from intentmatch.core.types import Mark, Slot, SlotValue, Utterance
from intentmatch.slots.message import Find, Message

NOW = datetime(2026, 11, 21, 10)
"""A Saturday."""


def marked(text: str, language: str | None = "en") -> Utterance:
    """Make an utterance with marks from "fly to {city=Berlin}"."""
    sentence, marks, last = "", [], 0
    for found in re.finditer(r"\{(\w+)=([^}]*)\}", text):
        sentence += text[last : found.start()]
        marks.append(Mark(found[1], len(sentence), len(sentence) + len(found[2])))
        sentence, last = sentence + found[2], found.end()
    return Utterance(sentence + text[last:], language, marks=tuple(marks))


def list_slot(name: str, *values: str, **more: object) -> Slot:
    """Make a list slot from values with synonyms: "Munich|München|de:Minga"."""
    return Slot(name, "list", tuple(map(_value, values)), **more)  # type: ignore[arg-type]


def _value(declaration: str) -> SlotValue:
    value, *synonyms = declaration.split("|")
    parts = [synonym.rpartition(":") for synonym in synonyms]
    return SlotValue(value, tuple(Utterance(text, language or None) for language, _, text in parts))


def found(find: Find, text: str, language: str | None = "en") -> dict[str, str | int | float]:
    """Return text and value of the hits that no longer hit covers, in text order."""
    message = Message(text, language, NOW)
    hits = sorted(find(message), key=lambda hit: (hit.start - hit.end, hit.distance))
    kept = []
    for hit in hits:
        assert 0 <= hit.start < hit.end <= len(text)
        if all(hit.end <= other.start or other.end <= hit.start for other in kept):
            kept.append(hit)
    return {text[hit.start : hit.end]: hit.value for hit in sorted(kept)}
