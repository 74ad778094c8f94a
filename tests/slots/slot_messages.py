"""Read the messages of `messages/` with the bot of `bot.yaml`, and count which values were found where.

The table "messages" has all kinds of slots; "moments" has days, times and ranges in more forms.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from intentmatch import read_registry
from intentmatch.core.types import Registry, Slot
from intentmatch.slots import slot_readers
from intentmatch.text.normalize import bare

FOLDER = Path(__file__).with_name("messages")
TABLES = ("messages", "moments")
HALVES = ("development", "kept")
MOMENT_KINDS = frozenset(["date", "datetime", "time"])
"""Kinds that the table "moments" is for; the other values of its messages have marks as well."""
NOW = datetime(2026, 11, 21, 10)
"""A Saturday."""
_MARK = re.compile(r"\[([a-z]+)\|([^|\]]+)(?:\|([^|\]]*))?(?:\|([^|\]]+))?\]")

_Values = Mapping[tuple[str, int, int], Any]


class Value(NamedTuple):
    """A value of a slot at `text[start:end]` of a message."""

    slot: str
    start: int
    end: int
    value: Any


class Labelled(NamedTuple):
    """A message with the values that a person sees in it."""

    language: str
    intent: str
    text: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Score:
    """Counts of exact spans, and of spans whose value is right as well."""

    expected: int = 0
    found: int = 0
    spans: int = 0
    values: int = 0

    @property
    def f1(self) -> float:
        """F1 of exact spans; 1.0 if there is nothing to find and nothing was found."""
        return 2 * self.spans / (self.expected + self.found) if self.expected + self.found else 1.0

    @property
    def values_right(self) -> float:
        """Share of the exact spans whose value is right."""
        return self.values / self.spans if self.spans else 1.0

    def plus(self, other: Score) -> Score:
        """Add the counts of two scores."""
        return Score(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


def bot() -> Registry:
    """Load the registry that the messages are read with."""
    return read_registry(FOLDER / "bot.yaml")


def messages(half: str, registry: Registry, table: str = "messages") -> Iterator[Labelled]:
    """Yield the messages of "development" or "kept"."""
    slots = {slot.name: slot for slot in registry.slots}
    languages = yaml.safe_load((FOLDER / f"{table}-{half}.yaml").read_text(encoding="utf-8"))
    for language, intents in languages.items():
        for intent, lines in intents.items():
            for line in lines:
                yield labelled(line, language, intent, slots)


def labelled(line: str, language: str, intent: str, slots: Mapping[str, Slot]) -> Labelled:
    """Read a line with marks: `[slot|text|value|span]`.

    The span of a list value ends where one of its names ends: "Мюнхен" in "Мюнхене".
    """
    text, values, last = "", [], 0
    for mark in _MARK.finditer(line):
        text += line[last : mark.start()]
        slot, said, value, span = mark.groups()
        if slots[slot].kind == "list":
            span, value = _name(span or said, value, slots[slot])
        start = len(text) + said.index(span or said)
        values.append(Value(slot, start, start + len(span or said), _value(slots[slot].kind, value or span or said)))
        text, last = text + said, mark.end()
    return Labelled(language, intent, text + line[last:], tuple(values))


def _name(said: str, value: str | None, slot: Slot) -> tuple[str, str | None]:
    """Return the part of the text that is a name of a list value, and the value."""
    names = {bare(name): one.value for one in slot.values for name in (one.value, *(it.text for it in one.synonyms))}
    length = max((len(name) for name in names if bare(said).startswith(name)), default=len(said))
    return said[:length], value or names.get(bare(said[:length]), value)


def _value(kind: str, written: str) -> Any:
    if kind in ("number", "ordinal"):
        return int(written)
    if kind in ("money", "temperature"):
        amount, _, unit = written.partition(" ")
        return {"amount": float(amount), {"money": "currency"}.get(kind, "unit"): unit or None}
    if kind == "datetime" and "/" in written:
        return dict(zip(("from", "to"), written.split("/"), strict=True))
    if kind == "time" and written.isdecimal():
        return f"{written}:00"
    return f"https://{written}" if kind == "url" and "://" not in written else written


def measure(half: str, table: str = "messages") -> tuple[dict[tuple[str, str], Score], list[str]]:
    """Return the score of each kind and language, and what was found differently, as text."""
    registry = bot()
    readers = slot_readers(registry)
    kinds = {slot.name: slot.kind for slot in registry.slots}
    scores: dict[tuple[str, str], Score] = defaultdict(Score)
    differences = []
    for message in messages(half, registry, table):
        entities = readers[message.intent].read(message.text, message.language, NOW).entities
        found = {(one.slot, one.start, one.end): one.value for one in entities}
        expected = {(one.slot, one.start, one.end): one.value for one in message.values}
        for kind in {kinds[slot] for slot, _, _ in (*found, *expected)}:
            mine = {place for place in found if kinds[place[0]] == kind}
            theirs = {place for place in expected if kinds[place[0]] == kind}
            right = mine & theirs
            values = sum(found[place] == expected[place] for place in right)
            key = kind, message.language
            scores[key] = scores[key].plus(Score(len(theirs), len(mine), len(right), values))
        if found != expected:
            missed, extra = _shown(message.text, expected, found), _shown(message.text, found, expected)
            differences.append(f"{message.language} {message.text!r}: missed {missed}, found {extra}")
    return dict(scores), differences


def summed(scores: Mapping[tuple[str, str], Score], by: int) -> dict[str, Score]:
    """Sum the scores by kind (0) or by language (1), sorted by name."""
    sums: dict[str, Score] = defaultdict(Score)
    for key in sorted(scores):
        sums[key[by]] = sums[key[by]].plus(scores[key])
    return dict(sorted(sums.items()))


def _shown(text: str, these: _Values, those: _Values) -> list[tuple[str, str, Any]]:
    """Return slot, text and value of what one of two readings has and the other lacks."""
    places = (place for place, value in these.items() if those.get(place) != value)
    return [(slot, text[start:end], these[slot, start, end]) for slot, start, end in places]
