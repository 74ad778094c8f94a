"""Slots in formats where a slot has a name of its own, and its type says what values it has."""

from __future__ import annotations

from intentmatch.errors import Location
from intentmatch.formats.draft import Draft


class Roles:
    """One slot for each pair of name and type: here it is the name alone that says what values there are."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._names: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def name(self, name: str, type_: str, place: Location) -> str:
        """What the slot of a type is called here: by its name, unless a slot of another type has that."""
        known = self._names.get((name, type_))
        if known is not None:
            return known
        called = name
        if name in self._taken:
            called = f"{name}_{type_}"
            message = f"slots {name!r} take their values from several types; those of {type_!r} are {called!r} here"
            self._draft.note(place, "renamed-slot", message)
        self._names[name, type_] = called
        self._taken.add(called)
        self._draft.slot(called, place).like = self._draft.type(type_, place)
        return called
