"""Words of messages that do not stand alone: "and tomorrow?", "the other one", "no, the red one".

Those of each language are in its file; they were compiled for this project from general knowledge of how people write,
and copied from no list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from intentmatch.languages.structure import structure_of
from intentmatch.languages.tables import Table
from intentmatch.text.normalize import base_language, fold
from intentmatch.text.stop_words import STOP_WORDS


def _folded(section: Mapping[str, str]) -> Mapping[str, frozenset[str]]:
    """Fold the phrases of a section, which have bars between them."""
    return {part: frozenset(filter(None, map(fold, phrases.split("|")))) for part, phrases in section.items()}


FOLLOW_UPS: Mapping[str, Mapping[str, frozenset[str]]] = Table("follow_ups", _folded)
"""Folded openings, stand-ins and fillers by language."""
_NONE: frozenset[str] = frozenset()


class FollowUpWords(NamedTuple):
    """Folded phrases of one language, the longest first."""

    openings: tuple[str, ...]
    """What such a message begins with: "and", "what about"."""
    stand_ins: tuple[str, ...]
    """What stands for something said before: "the other one", "too"."""
    every: tuple[str, ...]
    """All of them, and what says nothing: "please", and stop words."""
    spaced: bool
    """Whether the language puts spaces between words."""

    def opening_of(self, text: str) -> str | None:
        """Return the opening that a folded text begins with."""
        end = " " if self.spaced else ""
        # With a space behind both, so that "no" does not open "nothing".
        return next((each for each in self.openings if f"{text}{end}".startswith(each + end)), None)

    def stand_in_of(self, text: str) -> str | None:
        """Return a stand-in of a folded text."""
        around = " " if self.spaced else ""
        padded = f"{around}{text}{around}"
        return next((each for each in self.stand_ins if f"{around}{each}{around}" in padded), None)

    def content_of(self, text: str) -> str:
        """Return a folded text without openings, stand-ins and fillers."""
        around = " " if self.spaced else ""
        # Two spaces between words, so that neighbouring phrases are both found.
        left = f" {text.replace(' ', '  ')} " if self.spaced else text
        # The longest first, or "the other" would leave "one" of "the other one".
        for phrase in self.every:
            left = left.replace(f"{around}{phrase.replace(' ', '  ')}{around}", around * 2)
        return " ".join(left.split())


def follow_up_words(language: str | None) -> FollowUpWords | None:
    """Return the phrases of a language; None for one that has none.

    `language` is a BCP-47 code, or a bot's own form of a language, as `OwnLanguages.code` gives it.
    """
    code = base_language(language or "")
    found = FOLLOW_UPS.get(code)
    if found is None:
        return None
    openings, stand_ins = found.get("openings", _NONE), found.get("stand_ins", _NONE)
    fillers = found.get("fillers", _NONE) | STOP_WORDS.get(code, _NONE)
    return FollowUpWords(
        _longest_first(openings),
        _longest_first(stand_ins),
        _longest_first(openings | stand_ins | fillers),
        spaced="unspaced" not in structure_of(code),
    )


def _longest_first(phrases: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(phrases, key=lambda each: (-len(each), each)))
