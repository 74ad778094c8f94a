"""The description of a format: how to recognise, read and write its files."""

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
    """Confidence that a file belongs to a format."""

    NO = 0
    POSSIBLE = 1
    """The file fits, but other programs write such files too: a table with a column `text`."""
    LIKELY = 2
    """The file has the structure of the format."""
    CERTAIN = 3
    """The file has something that no other format has."""


Feature = Literal[
    "languages",
    "marks",
    "templates",
    "rules",
    "blanks",
    "negatives",
    "responses",
    "variants",
    "titles",
    "descriptions",
    "thresholds",
    "metadata",
    "when",
    "confirm",
    "tests",
    "settings",
    "own_sections",
    "traits",
    "lists",
    "synonyms",
    "patterns",
    "kinds",
    "examples",
    "required",
    "questions",
]
"""A part of a registry that a format may express, besides the names and utterances of intents.

`marks` are slot values in sentences, `blanks` are open slots in templates. A format without `templates` gets their
sentences instead; a format without `rules` gets their text. `lists` are slots with values, which may have `synonyms`.
`variants` are several responses in one language. `traits` are questions beside the intent.
`kinds` are slots of the kinds number, date, time and any.
"""

Files = Mapping[str, str | bytes]
"""Content by relative path. A format that writes a single file gives it its usual name."""


@dataclass(frozen=True, slots=True)
class Format:
    """An import or export format. The built-in formats are listed in `core.plugins`, one module each."""

    name: str
    title: str
    """The program and the versions, for people."""
    recognise: Callable[[File], Sure]
    """Recognises a file by its content. It gets any kind of file and never raises."""
    read: Callable[[Sequence[File], Draft], None] | None = None
    """Reads the recognised files into the draft; None if the format can only be written."""
    write: Callable[[Registry, list[Problem]], Files] | None = None
    """Converts a registry, reduced to `says`, to files and appends further losses; None if the format is read-only."""
    says: frozenset[Feature] = frozenset()
    """The features that can be written, besides the names and utterances of intents."""
    needs_folder: bool = False
    """Whether names of files carry meaning, such as the names of intents: even a single file is written to a folder.
    Added in 0.3.0."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import."""

    registry: Registry
    """The unexpanded registry: one utterance for each line of its author."""
    format: str
    problems: tuple[Problem, ...]
    """All problems, sorted by location."""
