"""Attach global entities, which other programs find in every message, to the intents that mention their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from intentmatch.core.types import Utterance
from intentmatch.formats.kit.draft import Draft
from intentmatch.formats.kit.slot_draft import SlotDraft
from intentmatch.formats.kit.slot_mentions import mentioned_slots
from intentmatch.text.normalize import fold


def attach_global_entities(draft: Draft) -> None:
    """Add each slot that no intent names to the intents whose utterances contain one of its values."""
    used_types = {id(slot.like) for slot in draft.slots.values()}
    for name, type_ in draft.types.items():
        if id(type_) not in used_types:
            draft.slot(name, type_.location).like = type_
    intents = draft.intents.values()
    named = {name for intent in intents for name in (*intent.slots, *mentioned_slots(intent.utterances, ()))}
    index = _UtteranceIndex(draft)
    unused: list[SlotDraft] = []
    for name, slot in draft.slots.items():
        if name in named:
            continue
        owners = index.intents_with((slot.like or slot).values)
        for owner in owners:
            draft.intents[owner].slot(name, slot.location)
        if owners:
            message = f"the entity {name!r} applied to every message; here it is a slot of intents that mention a value"
            draft.note(slot.location, "attached-slot", message, f"check the slots of {', '.join(owners)}")
        else:
            unused.append(slot)
    if unused:
        message = (
            f"entities that applied to every message are used by no intent: {', '.join(slot.name for slot in unused)}"
        )
        draft.note(unused[0].location, "unused-slot", message, "list them under `slots:` of the intents that need them")


class _UtteranceIndex:
    """Index of the utterances of all intents by word."""

    def __init__(self, draft: Draft) -> None:
        self._lines = {
            # Between spaces, so that a value is found as whole words, and apart, so that none reaches over two lines.
            name: "\n".join(f" {fold(line.text)} " for line in intent.utterances)
            for name, intent in draft.intents.items()
        }
        self._by_word: dict[str, set[str]] = {}
        for name, lines in self._lines.items():
            for word in set(lines.split()):
                self._by_word.setdefault(word, set()).add(name)

    def intents_with(self, values: Mapping[str, Sequence[Utterance]]) -> list[str]:
        """Return the intents that contain one of the values or synonyms, in their order."""
        texts = {
            fold(text) for value, synonyms in values.items() for text in (value, *(line.text for line in synonyms))
        }
        owners = {name for text in texts - {""} for name in self._intents_with_text(text)}
        return [name for name in self._lines if name in owners]

    def _intents_with_text(self, text: str) -> Iterator[str]:
        # Some languages have no spaces between words.
        if not text.isascii():
            yield from (name for name, lines in self._lines.items() if text in lines)
            return
        owners = [self._by_word.get(word, set()) for word in text.split()]
        yield from (name for name in set.intersection(*owners) if f" {text} " in self._lines[name])
