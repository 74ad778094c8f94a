"""Entities that other programs look for in every message: here, slots of the intents that say one of their values."""

from __future__ import annotations

from intentmatch.formats.draft import Draft, SlotDraft
from intentmatch.formats.mentions import slots_named
from intentmatch.text import fold


def attach(draft: Draft) -> None:
    """Give each list that no intent names to the intents in whose utterances one of its values stands."""
    likened = {id(slot.like) for slot in draft.slots.values()}
    for name, type_ in draft.types.items():
        if id(type_) not in likened:
            draft.slot(name, type_.location).like = type_
    intents = draft.intents.values()
    named = {name for intent in intents for name in (*intent.slots, *slots_named(intent.utterances, ()))}
    said = {
        name: "|".join(f" {fold(line.text)} " for line in intent.utterances) for name, intent in draft.intents.items()
    }
    unused: list[SlotDraft] = []
    for name, slot in draft.slots.items():
        if name in named:
            continue
        words = _words(slot)
        owners = [owner for owner, text in said.items() if any(word in text for word in words)]
        for owner in owners:
            draft.intents[owner].slot(name, slot.location)
        if owners:
            message = f"{name!r} is found in every message there; here, where an intent says one of its values"
            draft.note(slot.location, "attached-slot", message, f"it is a slot of {', '.join(owners)}")
        else:
            unused.append(slot)
    if unused:
        message = f"found in every message there, and by no intent here: {', '.join(slot.name for slot in unused)}"
        draft.note(unused[0].location, "unused-slot", message, "name them below `slots:` of the intents that need them")


def _words(slot: SlotDraft) -> list[str]:
    """What is said for a list, as it stands in folded lines; between words where there are spaces between words."""
    values = (slot.like or slot).values
    folded = [fold(text) for value, more in values.items() for text in (value, *(synonym.text for synonym in more))]
    return [f" {text} " if text.isascii() else text for text in folded if text]
