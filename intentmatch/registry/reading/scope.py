"""Scope of slot and rule names: folder-wide, but file-local if several files define the same name."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Generic, Protocol, TypeVar

from intentmatch.core.errors import Location


class _Named(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def location(self) -> Location | None: ...


T = TypeVar("T", bound=_Named)


class Scope(Generic[T]):
    """Slots or rules by name; if several files define a name, each definition holds in its own file."""

    def __init__(self, things: Iterable[T]) -> None:
        self._by_name: dict[str, dict[str | None, T]] = {}
        for thing in things:
            self._by_name.setdefault(thing.name, {}).setdefault(path_of(thing.location), thing)

    @property
    def names(self) -> Collection[str]:
        """All defined names."""
        return self._by_name.keys()

    def get(self, name: str, path: str | None) -> T | None:
        """Return the definition of a name as seen from a file; None if it is unknown or ambiguous there."""
        by_path = self._by_name.get(name, {})
        return by_path.get(path) or (next(iter(by_path.values())) if len(by_path) == 1 else None)

    def definitions(self, name: str) -> list[T]:
        """Return all definitions of a name."""
        return list(self._by_name.get(name, {}).values())


def path_of(location: Location | None) -> str | None:
    """Return the path of a location."""
    return None if location is None else location.path
