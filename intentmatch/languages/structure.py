"""Structure that languages share: code knows it by name, and a language's file picks the names that hold for it."""

from __future__ import annotations

from functools import lru_cache

from intentmatch.languages.tables import Table

_STRUCTURE = Table[frozenset[str]]("structure", frozenset)
_NONE: frozenset[str] = frozenset()


@lru_cache(256)
def structure_of(language: str) -> frozenset[str]:
    """Return those names of `sections.STRUCTURE` that hold for a language."""
    return _STRUCTURE.get(language, _NONE)
