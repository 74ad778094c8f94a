"""Slots of formats in which a slot has a name of its own and takes its values from a type."""

from __future__ import annotations

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.slot_draft import SlotDraft


class Roles:
    """Gives each pair of slot name and type a slot of its own, because a slot has one type in intentmatch."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._names: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def slot(self, name: str, type_: str, place: Location) -> SlotDraft:
        """Return the slot of a name and type. It is renamed if a slot of another type has the name."""
        if (name, type_) not in self._names:
            self._names[name, type_] = self._new_name(name, type_, place)
        found = self._draft.slot(self._names[name, type_], place)
        found.like = self._draft.type(type_, place)
        return found

    def reserve(self, name: str) -> None:
        """Reserve a name for the slot whose type has the same name."""
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
    """Move the questions for a slot from the intents to the slot if all intents have the same."""
    for name, slot in draft.slots.items():
        asked = [intent.slots[name].questions for intent in draft.intents.values() if name in intent.slots]
        if asked and all(questions == asked[0] for questions in asked):
            slot.questions = dict(asked[0])
