"""Entities of LUIS, from its JSON or from .lu files, as slots.

A role of an entity and a part of a machine-learned entity become slots of their own, with the values of their entity.
"""

from __future__ import annotations

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.prebuilt import take_built_in
from intentmatch.formats.kit.slot_draft import SlotDraft

NONE = "None"
"""Name of the fallback intent."""
BUILT_IN = frozenset(
    (
        *("age", "datetime", "datetimev2", "dimension", "email", "geographyv2", "keyphrase", "money", "number"),
        *("ordinal", "ordinalv2", "percentage", "personname", "phonenumber", "temperature", "url"),
    )
)
"""Built-in entities of LUIS, in lower case."""


class Entities:
    """The entities of an app. All must be declared before the first call of `slot`."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._parents: dict[str, str] = {}

    def entity(self, name: str, place: Location) -> SlotDraft:
        """Return the entity with this name, or create it."""
        return self._draft.type(name, place)

    def built_in(self, name: str, place: Location) -> None:
        """Declare a built-in entity of LUIS."""
        take_built_in(self._draft.type(name, place), name, place, self._draft)

    def add_instance(self, name: str, parent: str) -> None:
        """Declare a role or a part of an entity."""
        self._parents.setdefault(name, parent)

    def name(self, entity: str, role: str | None) -> str:
        """Return the slot name of a label: the entity or its role. An undeclared role is declared."""
        if role is None:
            return entity
        self.add_instance(role, entity)
        return role

    def slot(self, name: str, place: Location) -> str:
        """Declare the slot of an entity, a role or a part and return its name."""
        slot = self._draft.slot(name, place)
        slot.like = slot.like or self._draft.type(self._origin(name, place), place)
        return slot.name

    def _origin(self, name: str, place: Location) -> str:
        """Return the entity that defines the values, following roles and parts."""
        seen: set[str] = set()
        while name not in self._draft.types and name in self._parents and name not in seen:
            seen.add(name)
            name = self._parents[name]
        if name not in self._draft.types and name.lower() in BUILT_IN:
            self.built_in(name, place)
        return name
