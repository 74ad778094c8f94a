"""What one file of a registry holds, with names not yet resolved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from intentmatch.core.errors import Location
from intentmatch.core.types import Case, Intent, Rule, TraitQuestion
from intentmatch.registry.reading.slot_grammar import SlotEntry


class OwnSection(NamedTuple):
    """A section of a language's words, as the bot's author wrote it under `languages:`."""

    language: str
    name: str
    value: Any
    """Texts, lists and maps of texts."""
    replaces: bool
    """Whether it stands in place of the shipped section, and does not extend it."""
    location: Location


class Reference(NamedTuple):
    """A use of a rule or a slot in a template, or of a slot in a response."""

    sign: Literal["rule", "slot"]
    name: str
    location: Location
    owner: str
    """The intent or the rule that the text belongs to; `owner_of_lines` for a question."""
    language: str | None


def owner_of_lines(question: str) -> str:
    """Return the owner of references in the lines of a question. No intent has this name."""
    return f"\0{question}"


@dataclass
class FileContent:
    """Content of one file, with names not yet resolved."""

    path: str = ""
    intents: list[Intent] = field(default_factory=list)
    settings: dict[str, tuple[Any, Location]] = field(default_factory=dict)
    own_sections: list[OwnSection] = field(default_factory=list)
    questions: list[TraitQuestion] = field(default_factory=list)
    tests: list[Case] = field(default_factory=list)
    slots: list[SlotEntry] = field(default_factory=list)
    """Slots of the file's own `slots:` block."""
    intent_slots: list[tuple[str, SlotEntry]] = field(default_factory=list)
    """Intent name and slot."""
    rules: list[Rule] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    """References in utterances and negatives."""
    rule_references: list[Reference] = field(default_factory=list)
    """References in rules."""
    placeholders: list[Reference] = field(default_factory=list)
    """Names in braces in responses; not all of them are meant to be slots."""
    includes: list[tuple[str, Location]] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    """Names of intents without utterances, in which an error is already reported."""
