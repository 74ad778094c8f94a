"""Read the answer to the question for a slot: a value, a refusal, another request, or neither."""

from __future__ import annotations

from dataclasses import replace

from intentmatch.core.result import Entity
from intentmatch.dialogue.answers import is_undecided, spoken_choice
from intentmatch.dialogue.pending import WhichValue
from intentmatch.dialogue.turn_builder import NextTurn, TurnBuilder, is_other_request, joined, refuses
from intentmatch.slots.alternatives import alternatives, takes_one_value
from intentmatch.slots.function_words import function_words
from intentmatch.slots.neighbours import bare_words


def is_answer(turns: TurnBuilder, text: str, pending: WhichValue) -> bool:
    """Whether a text has the value that the bot asked for."""
    found = turns.fill(text, pending.intent, [pending.slot], pending.language)
    return any(entity.slot == pending.slot for entity in (*found, *_offered(turns, text, pending)))


def understand(turns: TurnBuilder, pending: WhichValue) -> NextTurn:
    """Return the turn for a message after the question."""
    result = turns.match(turns.input.text)
    found = _values(turns, pending, repeated=result.intent == pending.intent)
    slots = {entity.slot for entity in found}
    corrected: list[Entity] = []
    if pending.slot not in slots:
        asked = [pending.slot]
        corrected = turns.corrected(turns.input.text, pending.intent, pending.entities, pending.language, asked)
    answers = found if pending.slot in slots else corrected
    if is_other_request(result, pending.intent, answers):
        return turns.request(result)
    entities = joined(pending.entities, [*found, *corrected])
    if corrected:
        return turns.ask_value(replace(pending, entities=entities), result)
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
    if turns.slots(pending.intent)[pending.slot].kind == "any" and pending.left > 0 and is_undecided(turns.input.text):
        return [entity for entity in found if entity.slot != pending.slot]
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
