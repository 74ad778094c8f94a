"""Slots in formats where a slot has a name of its own and takes its values from a type that others may share."""

from __future__ import annotations

from intentmatch.errors import Location
from intentmatch.formats.draft import Draft, SlotDraft


class Roles:
    """One slot for each pair of name and type: here, what a slot may be is said by its name alone."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._types: dict[str, SlotDraft] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def type(self, name: str, place: Location) -> SlotDraft:
        """What declares the values of a type; no slot itself."""
        return self._types.setdefault(name, SlotDraft(name, place))

    def name(self, slot: str, type_: str, place: Location) -> str:
        """The name of a slot of a type, which is its own unless the same name is taken by another type."""
        known = self._names.get((slot, type_))
        if known is not None:
            return known
        name = slot
        if slot in self._taken:
            name = f"{slot}_{type_}"
            message = f"slots {slot!r} take values of several types; that of {type_!r} is called {name!r} here"
            self._draft.note(place, "renamed-slot", message)
        self._names[slot, type_] = name
        self._taken.add(name)
        made = self._draft.slot(name, place)
        made.like = self.type(type_, place)
        return made.name

    def declare_unused(self) -> None:
        """A slot for each type that no slot has."""
        used = {type_ for _, type_ in self._names}
        for name, declared in self._types.items():
            if name not in used:
                self.name(name, name, declared.location)
