"""What a name means where: a slot or rule of one file holds for the whole folder, unless two files define the name."""

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
    """The slots or the rules of a registry; where two files define one name, each holds in its own file."""

    def __init__(self, things: Iterable[T]) -> None:
        self._of: dict[str, dict[str | None, T]] = {}
        for thing in things:
            self._of.setdefault(thing.name, {}).setdefault(path_of(thing.location), thing)

    @property
    def names(self) -> Collection[str]:
        """Every name that something has."""
        return self._of.keys()

    def get(self, name: str, path: str | None) -> T | None:
        """What a name means in a file; None where it means nothing, or one of several."""
        by_path = self._of.get(name, {})
        return by_path.get(path) or (next(iter(by_path.values())) if len(by_path) == 1 else None)

    def several(self, name: str) -> list[T]:
        """Everything that has a name."""
        return list(self._of.get(name, {}).values())


def path_of(location: Location | None) -> str | None:
    """The file of a place."""
    return None if location is None else location.path
