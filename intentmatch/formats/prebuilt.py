"""Types of values that other programs have built in, and the kinds of slots that come nearest."""

from __future__ import annotations

import re
from collections.abc import Mapping

from intentmatch.errors import Location
from intentmatch.formats.draft import Draft, SlotDraft
from intentmatch.types import SlotKind

_KINDS: Mapping[SlotKind, frozenset[str]] = {
    "number": frozenset({"number", "quantitynumber", "numberinteger", "integer", "fourdigitnumber"}),
    "date": frozenset({"date", "datetime", "datetimev2", "dateperiod"}),
    "time": frozenset({"time", "timeperiod"}),
    "any": frozenset({"any", "freeforminput", "messagebody", "messagesubject", "searchquery", "alphanumeric"}),
}
"""Kind to the names of the types that become it, in lower case and without signs."""

_WIDER = frozenset({"datetime", "datetimev2", "dateperiod", "timeperiod"})
# What people are called, how they are reached and what they measure has no end: a list of values that were once marked
# would find nobody else.
_OPEN = re.compile(r"name|person|people|actor|author|mail|phone|url|age|money|currency|duration|temperature|dimension")
_PREFIX = re.compile(r"@?sys[.-]|amazon\.|wit\$|builtin\.", re.IGNORECASE)
_SIGNS = re.compile(r"[^a-z0-9]+")


def is_built_in(name: str) -> bool:
    """Whether a type is named like those that Dialogflow, Watson, Lex and wit.ai have built in."""
    return _PREFIX.match(name) is not None


def bare(name: str) -> str:
    """The name of a built-in type without what tells that it is one."""
    return _PREFIX.sub("", name, count=1)


def take_built_in(slot: SlotDraft, name: str, place: Location, draft: Draft) -> None:
    """Give a slot the kind that comes nearest to a built-in type, and note what is lost by that."""
    plain = _SIGNS.sub("", bare(name).lower())
    kind = next((kind for kind, names in _KINDS.items() if plain in names), None)
    slot.kind = kind or ("any" if _OPEN.search(plain) else None)
    if plain in _WIDER:
        draft.not_expressed(place, f"of what the built-in type {name!r} stands for, only a {kind} is found here")
    elif kind is None:
        draft.not_expressed(place, f"there is no counterpart of the built-in type {name!r}")
