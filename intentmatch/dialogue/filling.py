"""Read the answer to the question for a slot: a value, a refusal, another request, or neither."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from intentmatch.core.result import Entity
from intentmatch.dialogue.answers import spoken_choice
from intentmatch.dialogue.pending import WhichValue
from intentmatch.dialogue.turn_builder import NextTurn, TurnBuilder, joined, refuses
from intentmatch.slots.alternatives import alternatives, takes_one_value
from intentmatch.slots.function_words import function_words
from intentmatch.slots.neighbours import bare_words

# A message that sounds like another request is an answer all the same if values make up this share of it.
_MOST_OF_MESSAGE = 0.5


def is_answer(turns: TurnBuilder, text: str, pending: WhichValue) -> bool:
    """Whether a text has the value that the bot asked for."""
    found = turns.fill(text, pending.intent, [pending.slot], pending.language)
    return any(entity.slot == pending.slot for entity in (*found, *_offered(turns, text, pending)))


def understand(turns: TurnBuilder, pending: WhichValue) -> NextTurn:
    """Return the turn for a message after the question."""
    result = turns.match(turns.input.text)
    intents = (result.intent,) if result.intent else tuple(rival.intent for rival in result.rivals)
    other = bool(intents) and pending.intent not in intents
    # An utterance of another intent, word for word, is no value, whatever could be read from it.
    if other and result.trace.decided_by == "exact":
        return turns.request(result)
    found = _values(turns, pending, repeated=result.intent == pending.intent)
    slots = {entity.slot for entity in found}
    if other and (pending.slot not in slots or _covered(found, turns.input.text) < _MOST_OF_MESSAGE):
        return turns.request(result)
    entities = joined(pending.entities, found)
    # With a value, "no, the red one" corrects and does not refuse.
    if pending.slot not in slots and refuses(result, pending.intent):
        return turns.decline(pending.intent, pending.language, result)
    if pending.slot in slots:
        slots_of = turns.slots(pending.intent).values()
        single = [slot.name for slot in slots_of if takes_one_value(slot.kind)]
        again = alternatives(turns.input.text, found, pending.language, single)
        left = tuple(pair for pair in pending.unsure if pair[0] not in slots)
        return turns.proceed(
            pending.intent,
            entities,
            pending.language,
            result,
            confirmed=pending.confirmed,
            unsure=(*again.items(), *left),
        )
    if pending.left > 0:
        return turns.ask_value(replace(pending, entities=entities, left=pending.left - 1), result)
    return turns.request(result)


def _values(turns: TurnBuilder, pending: WhichValue, *, repeated: bool) -> list[Entity]:
    """Read the value of the requested slot from the message, and values of other slots by their own words.

    These are the missing slots; with `repeated`, when the message also says the intent, they are all slots.
    """
    known = {entity.slot for entity in pending.entities}
    slots = [slot for slot in turns.slots(pending.intent).values() if slot.name != pending.slot]
    # Free text would take any words; it is read only where the bot asks for it.
    others = [slot.name for slot in slots if repeated or (slot.name not in known and slot.kind != "any")]
    found = turns.fill(turns.input.text, pending.intent, [pending.slot], pending.language, others)
    if any(entity.slot == pending.slot for entity in found):
        return [*found]
    return [*found, *_offered(turns, turns.input.text, pending)]


def _offered(turns: TurnBuilder, text: str, pending: WhichValue) -> list[Entity]:
    """Return the value that a text chooses of those in the question: "the second one" or "30" of "20 or 30 euros?"."""
    if not pending.alternatives:
        return []
    offered = turns.fill(pending.alternatives, pending.intent, [pending.slot], pending.language)
    functional = function_words(pending.language)
    words = tuple(word for word in bare_words(text) if word not in functional)
    begun = [one for one in offered if words and bare_words(one.text)[: len(words)] == words]
    number = spoken_choice(text, turns.spoken(pending.language))
    if not begun and isinstance(number, int):
        begun = [*offered[number - 1 : number]]
    return begun if len(begun) == 1 else []


def _covered(entities: Collection[Entity], text: str) -> float:
    """Return the share of a message that the entities cover."""
    return sum(len(entity.text) for entity in entities) / max(len(text.strip()), 1)
