"""Slots in formats where a slot has a name of its own, and its type says what values it has."""

from __future__ import annotations

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft, SlotDraft


class Roles:
    """One slot for each pair of name and type: here it is the name alone that says what values there are."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._names: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def slot(self, name: str, type_: str, place: Location) -> SlotDraft:
        """The slot of a type. Its name is its own, unless a slot of another type has it."""
        if (name, type_) not in self._names:
            self._names[name, type_] = self._new_name(name, type_, place)
        found = self._draft.slot(self._names[name, type_], place)
        found.like = self._draft.type(type_, place)
        return found

    def reserve(self, name: str) -> None:
        """Keep a name for the slot whose type is called so too."""
        self._names[name, name] = name
        self._taken.add(name)

    def _new_name(self, name: str, type_: str, place: Location) -> str:
        new = name
        if name in self._taken:
            new = f"{name}_{type_}"
            message = (
                f"the slot name {name!r} is used with several types; the slot of type {type_!r} is renamed to {new!r}"
            )
            self._draft.note(place, "renamed-slot", message)
        self._taken.add(new)
        return new


def share_questions(draft: Draft) -> None:
    """Where all intents ask for a slot in the same words, those are the slot's own."""
    for name, slot in draft.slots.items():
        asked = [intent.slots[name].questions for intent in draft.intents.values() if name in intent.slots]
        if asked and all(questions == asked[0] for questions in asked):
            slot.questions = dict(asked[0])
