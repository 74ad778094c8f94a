"""Slots of programs in which every intent declares its own, of types that are declared once."""

from __future__ import annotations

from intentmatch.errors import Location
from intentmatch.formats.draft import Draft, SlotDraft
from intentmatch.formats.prebuilt import is_built_in, take_built_in


class Scoped:
    """The types that files define, all of them first, and then the slots of the intents."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._types: dict[str, SlotDraft] = {}
        self._type_of: dict[str, str] = {}

    def type(self, name: str, place: Location) -> SlotDraft:
        """The type of a name, which may appear again."""
        return self._types.setdefault(name, SlotDraft(name, place))

    def slot(self, name: str, type_: str, intent: str, place: Location) -> str:
        """Declare a slot of an intent and give the name by which the draft knows it.

        Where another intent has a slot of that name and of another type, the name of the intent is put before it.
        """
        called = name
        if self._type_of.setdefault(name, type_) != type_:
            called = f"{intent}_{name}"
            message = f"there are slots {name!r} of several types; that of {intent!r} is called {called!r} here"
            self._draft.note(place, "renamed-slot", message)
            self._type_of[called] = type_
        slot = self._draft.slot(called, place)
        if type_ in self._types:
            slot.like = self._types[type_]
        elif is_built_in(type_):
            take_built_in(slot, type_, place, self._draft)
        elif type_:
            self._draft.warn(place, "unknown-type", f"there is no type {type_!r} for the slot {name!r}")
        return called

    def finish(self) -> None:
        """Keep the types that no intent uses as slots that no intent uses."""
        for name, declared in self._types.items():
            if name not in self._type_of.values() and name not in self._type_of:
                self._draft.slot(name, declared.location).like = declared
