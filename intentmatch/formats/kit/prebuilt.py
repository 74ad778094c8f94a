"""Map the built-in types of other programs to the nearest kinds of slots."""

from __future__ import annotations

import re
from collections.abc import Mapping

from intentmatch.core.errors import Location
from intentmatch.core.types import SlotKind
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.roles import Roles
from intentmatch.formats.kit.slot_draft import SlotDraft

_SAME: Mapping[str, SlotKind] = {
    **dict.fromkeys(("number", "quantitynumber", "numberinteger", "integer", "fourdigitnumber"), "number"),
    **dict.fromkeys(("any", "freeforminput", "alphanumeric", "searchquery", "messagebody"), "any"),
    "date": "date",
    "time": "time",
    **dict.fromkeys(("datetime", "datetimev2", "dateperiod", "timeperiod", "daterange", "timerange"), "datetime"),
    "duration": "duration",
    **dict.fromkeys(("ordinal", "ordinalv2", "quantityordinal"), "ordinal"),
    **dict.fromkeys(("money", "currency", "amountofmoney", "unitcurrency", "quantitycurrency"), "money"),
    **dict.fromkeys(("temperature", "quantitytemperature"), "temperature"),
    **dict.fromkeys(("email", "emailaddress"), "email"),
    **dict.fromkeys(("phone", "phonenumber"), "phone"),
    "url": "url",
}
"""Type name, in lower case and without punctuation, to the equivalent kind."""
_NEAR: Mapping[str, SlotKind] = {
    **dict.fromkeys(("percentage", "age", "dimension", "numbersequence"), "number"),
}
"""Types that are richer than any kind, to the kind that finds at least a part of their values."""
# Names and addresses are open sets: a list of the labelled ones would find no others.
_OPEN = re.compile(r"name|person|people|actor|author|address")
_PLACES = re.compile(
    r"city|country|state|geo|location|place|street|zip|airport|organi[sz]ation|company"
    r"|artist|album|song"
)
_PREFIX = re.compile(r"@?sys[.-]|amazon\.|wit\$|builtin\.|snips/", re.IGNORECASE)
_SIGNS = re.compile(r"[^a-z0-9]+")


def is_built_in(name: str) -> bool:
    """Return whether a type has the name of a built-in type."""
    return _PREFIX.match(name) is not None


def bare(name: str) -> str:
    """Return the name of a built-in type without its prefix."""
    return _PREFIX.sub("", name, count=1)


def take_built_in(slot: SlotDraft, name: str, place: Location, draft: Draft) -> None:
    """Set the kind of a slot to the nearest equivalent of a built-in type, and report the difference.

    Without an equivalent the kind stays None: the slot becomes a list of the labelled values.
    """
    plain = _SIGNS.sub("", bare(name).lower())
    is_open = _OPEN.search(plain) or _PLACES.search(plain)
    slot.kind = _SAME.get(plain) or _NEAR.get(plain) or ("any" if is_open else None)
    if plain in _NEAR or (slot.kind == "any" and plain not in _SAME):
        draft.note(place, "built-in", f"the built-in type {name!r} is imported as a slot of type {slot.kind!r}")
    elif plain not in _SAME:
        draft.not_expressed(
            place, f"the built-in type {name!r} has no equivalent; its values come from labelled utterances"
        )


def slot_of(roles: Roles, name: str, type_: str, place: Location, draft: Draft) -> SlotDraft:
    """Return the slot of a built-in type, or of a type that the files have declared."""
    declared = type_ in draft.types
    slot = roles.slot(name, type_, place)
    if is_built_in(type_):
        take_built_in(draft.type(type_, place), type_, place, draft)
    elif not declared:
        draft.warn(place, "unknown-type", f"the type {type_!r} of the slot {name!r} is not defined")
    return slot
