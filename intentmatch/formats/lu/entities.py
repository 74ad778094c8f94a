"""The entities of LUIS, in its JSON and in .lu files, as slots.

A role of an entity and a part of a machine-learned one are slots of their own, with the values of what they are of.
"""

from __future__ import annotations

from intentmatch.core.errors import Location
from intentmatch.formats.kit.draft import Draft, SlotDraft
from intentmatch.formats.kit.prebuilt import take_built_in

NONE = "None"
"""The intent that stands for what no other should answer."""
_BUILT_IN = frozenset(
    (
        *("age", "datetime", "datetimev2", "dimension", "email", "geographyv2", "keyphrase", "money", "number"),
        *("ordinal", "ordinalv2", "percentage", "personname", "phonenumber", "temperature", "url"),
    )
)


class Entities:
    """What an app says about its entities; all of it before the first slot is asked for."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._of: dict[str, str] = {}

    def entity(self, name: str, place: Location) -> SlotDraft:
        """The entity of a name, which may appear again."""
        return self._draft.type(name, place)

    def built_in(self, name: str, place: Location) -> None:
        """An entity that LUIS has built in."""
        take_built_in(self._draft.type(name, place), name, place, self._draft)

    def instance(self, name: str, of: str) -> None:
        """A role or a part, and the entity that it is of."""
        self._of.setdefault(name, of)

    def name(self, entity: str, role: str | None) -> str:
        """What a label is of: an entity, or one of its roles, which need not be declared."""
        if role is None:
            return entity
        self.instance(role, entity)
        return role

    def slot(self, name: str, place: Location) -> str:
        """Declare the slot of an entity, a role or a part and give its name here."""
        slot = self._draft.slot(name, place)
        slot.like = slot.like or self._draft.type(self._origin(name, place), place)
        return slot.name

    def _origin(self, name: str, place: Location) -> str:
        """The entity that declares the values, however many steps away."""
        seen: set[str] = set()
        while name not in self._draft.types and name in self._of and name not in seen:
            seen.add(name)
            name = self._of[name]
        if name not in self._draft.types and name.lower() in _BUILT_IN:
            self.built_in(name, place)
        return name
