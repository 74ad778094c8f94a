"""A slot while a format is read: its values, declared or collected from labelled utterances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from intentmatch.core.errors import Location
from intentmatch.core.types import SlotKind, Utterance
from intentmatch.text.normalize import fold


@dataclass
class SlotDraft:
    """A slot that is being built."""

    name: str
    location: Location
    kind: SlotKind | None = None
    """None if the files do not state it: then it follows from values and patterns."""
    like: SlotDraft | None = None
    """The type that declares its values."""
    patterns: list[str] = field(default_factory=list)
    examples: list[Utterance] = field(default_factory=list)
    required: bool = False
    questions: dict[str, str] = field(default_factory=dict)
    values: dict[str, list[Utterance]] = field(default_factory=dict)
    """Value to its synonyms, each once."""
    labelled: dict[str, list[Utterance]] = field(default_factory=dict)
    """Value to synonyms, collected from labelled utterances."""

    def add(self, value: str, synonyms: Iterable[str] = (), language: str | None = None) -> None:
        """Add a value of a list with its synonyms in a language."""
        add_value(self.values, value, synonyms, language)

    def merge(self, value: str, synonyms: Sequence[str]) -> bool:
        """Merge a value and its synonyms into one value. Return whether any of them was known."""
        known = self.values or self.labelled
        if not {value, *synonyms} & set(known):
            return False
        merged: dict[str, list[Utterance]] = {}
        for other, other_synonyms in known.items():
            if other == value or other in synonyms:
                add_value(merged, value, [other])
                merged[value] += [synonym for synonym in other_synonyms if synonym not in merged[value]]
            else:
                merged[other] = other_synonyms
        add_value(merged, value, synonyms)
        known.clear()
        known.update(merged)
        return True


def add_value(
    values: dict[str, list[Utterance]], value: str, synonyms: Iterable[str], language: str | None = None
) -> None:
    """Add synonyms to a value, each once."""
    known = values.setdefault(value, [])
    for synonym in synonyms:
        new = Utterance(synonym, language)
        if synonym != value and new not in known:
            known.append(new)


def merge_spellings(values: dict[str, list[Utterance]]) -> dict[str, list[Utterance]]:
    """Merge labelled values and synonyms that differ only in case and punctuation. The first spelling is kept.

    A value that is a synonym of another one becomes its synonym: `[NYC](city)` beside `[NYC](city:New York)`. A synonym
    of several values stays with the first.
    """
    first = _canonical(values)
    merged: dict[str, list[Utterance]] = {}
    for value, synonyms in values.items():
        name = first[fold(value)]
        kept = merged.setdefault(name, [])
        known = {fold(name), *(fold(synonym.text) for synonym in kept)}
        for synonym in (Utterance(value), *synonyms):
            folded = fold(synonym.text)
            if folded not in known and first.get(folded) == name:
                known.add(folded)
                kept.append(synonym)
    return merged


def _canonical(values: dict[str, list[Utterance]]) -> dict[str, str]:
    """Return the canonical value of each folded value and synonym."""
    spelling: dict[str, str] = {}
    for value in values:
        spelling.setdefault(fold(value), value)
    parents: dict[str, str] = {}
    for value, synonyms in values.items():
        for synonym in synonyms:
            if fold(synonym.text) != fold(value):
                parents.setdefault(fold(synonym.text), fold(value))
    order = list(spelling)
    found: dict[str, str] = {}
    for folded in (*spelling, *parents):
        path = [folded]
        # Synonyms of synonyms lead to one value, and may lead in a circle.
        while (parent := parents.get(path[-1])) is not None and parent not in path:
            path.append(parent)
        # Of values that are synonyms of each other, the first is kept.
        root = path[-1] if parent is None else min(path[path.index(parent) :], key=order.index)
        found[folded] = spelling[root]
    return found
