"""What a format is: a value that says how sure it is of a file, and knows how to read or write it, or both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Literal

from intentmatch.core.errors import Problem
from intentmatch.core.types import Registry
from intentmatch.formats.kit.source import File

if TYPE_CHECKING:
    from intentmatch.formats.kit.draft import Draft


class Sure(IntEnum):
    """How sure a format is that a file is one of its own."""

    NO = 0
    POSSIBLE = 1
    """Nothing speaks against it, and others write such files too: a table with a column `text`."""
    LIKELY = 2
    """Its shape."""
    CERTAIN = 3
    """Something in it that no other format has."""


Feature = Literal[
    "languages",
    "marks",
    "templates",
    "rules",
    "blanks",
    "negatives",
    "responses",
    "titles",
    "descriptions",
    "thresholds",
    "metadata",
    "when",
    "tests",
    "settings",
    "lists",
    "synonyms",
    "patterns",
    "kinds",
    "examples",
    "required",
    "questions",
]
"""What a registry may say beside the names and utterances of intents.

`marks` are the values of slots in sentences, and `blanks` slots without one. Where there are no `templates` their
sentences are written instead, and without `rules` those are written out. `lists` are slots with values, which may have
`synonyms`; `kinds` are slots of the kinds number, date, time and any.
"""

Files = Mapping[str, str | bytes]
"""Relative path to content. The only file of a format that writes one has its usual name."""


@dataclass(frozen=True, slots=True)
class Format:
    """One foreign format. Built-in ones stand in the table of `plugins`, one module each."""

    name: str
    title: str
    """For people: whose it is, and which versions."""
    recognise: Callable[[File], Sure]
    """By the content of a file, which may be of any kind; never raises."""
    read: Callable[[Sequence[File], Draft], None] | None = None
    """Put into the draft what stands in the files that the format recognised."""
    write: Callable[[Registry, list[Problem]], Files] | None = None
    """The files of a registry from which everything was taken that is not in `says`; further losses are noted."""
    says: frozenset[Feature] = frozenset()
    """What it can write beside the names and utterances of intents."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What was found at a path."""

    registry: Registry
    """Unexpanded: one utterance for each line of its author."""
    format: str
    problems: tuple[Problem, ...]
    """Sorted by place."""
