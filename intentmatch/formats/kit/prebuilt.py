"""Types of values that other programs have built in, and the kinds of slots that come nearest."""

from __future__ import annotations

import re
from collections.abc import Mapping

from intentmatch.core.errors import Location
from intentmatch.core.types import SlotKind
from intentmatch.formats.kit.draft import Draft, SlotDraft
from intentmatch.formats.kit.roles import Roles

_SAME: Mapping[str, SlotKind] = {
    **dict.fromkeys(("number", "quantitynumber", "numberinteger", "integer", "fourdigitnumber"), "number"),
    **dict.fromkeys(("any", "freeforminput", "alphanumeric", "searchquery", "messagebody"), "any"),
    "date": "date",
    "time": "time",
}
"""The names of types, in lower case and without signs, to the kind that says the same."""
_NEAR: Mapping[str, SlotKind] = {
    **dict.fromkeys(("datetime", "datetimev2", "dateperiod"), "date"),
    **dict.fromkeys(("ordinal", "ordinalv2", "percentage", "temperature", "age", "money", "currency"), "number"),
    **dict.fromkeys(("amountofmoney", "unitcurrency", "dimension", "numbersequence"), "number"),
    "timeperiod": "time",
}
"""The same for types that know more: of their values, the kind finds at least a part."""
# What people are called and how they are reached has no end: a list of those that were once marked would find nobody.
_OPEN = re.compile(r"name|person|people|actor|author|mail|phone|url|address")
_PREFIX = re.compile(r"@?sys[.-]|amazon\.|wit\$|builtin\.|snips/", re.IGNORECASE)
_SIGNS = re.compile(r"[^a-z0-9]+")


def is_built_in(name: str) -> bool:
    """Whether a type is named like those that programs have built in."""
    return _PREFIX.match(name) is not None


def bare(name: str) -> str:
    """The name of a built-in type without what tells that it is one."""
    return _PREFIX.sub("", name, count=1)


def take_built_in(slot: SlotDraft, name: str, place: Location, draft: Draft) -> None:
    """Give a slot or a type the kind that comes nearest to a built-in type, and note what that changes.

    Without such a kind it is left open: what is marked in utterances will be a list.
    """
    plain = _SIGNS.sub("", bare(name).lower())
    slot.kind = _SAME.get(plain) or _NEAR.get(plain) or ("any" if _OPEN.search(plain) else None)
    if plain in _NEAR:
        draft.note(place, "built-in", f"the built-in type {name!r} is imported as a slot of type {slot.kind!r}")
    elif plain not in _SAME:
        draft.not_expressed(
            place, f"the built-in type {name!r} has no equivalent; its values come from labelled utterances"
        )


def slot_of(roles: Roles, name: str, type_: str, place: Location, draft: Draft) -> SlotDraft:
    """The slot of a type that is built in, or that the files have declared before."""
    declared = type_ in draft.types
    slot = roles.slot(name, type_, place)
    if is_built_in(type_):
        take_built_in(draft.type(type_, place), type_, place, draft)
    elif not declared:
        draft.warn(place, "unknown-type", f"the type {type_!r} of the slot {name!r} is not defined")
    return slot
