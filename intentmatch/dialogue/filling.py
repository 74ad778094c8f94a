"""Read the answer to the question for a slot: a value, a refusal, another request, or neither."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from intentmatch.core.result import Entity, MatchResult
from intentmatch.dialogue.answers import (
    after_no,
    asks,
    declines,
    drops,
    is_question,
    is_unsure,
    may_be_value,
    spoken_choice,
    stops,
    stops_within,
    without_fillers,
)
from intentmatch.dialogue.pending import WhichValue
from intentmatch.dialogue.turn_builder import (
    NextTurn,
    TurnBuilder,
    is_other_request,
    joined,
    make_up,
    refuses,
)
from intentmatch.reading.given_values import gives_value
from intentmatch.slots.alternatives import alternatives, takes_one_value
from intentmatch.slots.function_words import function_words
from intentmatch.slots.neighbours import bare_words
from intentmatch.text.normalize import fold

_UNMISTAKABLE = ("pattern", "email", "phone", "url")
"""Kinds of slots whose values are hardly anything else: "my parcel has the number AB123456" is an answer."""
_QUANTITIES = ("number", "ordinal", "date", "time", "datetime", "duration", "money", "temperature")
"""Kinds of slots whose values are in much that people say."""
_GIVES = 0.2
"""Learned probability from which an answer gives a value that is in it (`reading/given_values.md`)."""
_MOST_VALUES = 4
"""Values of an answer of which it is told whether it gives them."""
_SURELY = 0.9
"""Confidence from which a message asks for something else, and is no free text."""


def is_answer(turns: TurnBuilder, text: str, pending: WhichValue) -> bool:
    """Whether a text has the value that the bot asked for."""
    found = turns.fill(text, pending.intent, [pending.slot], pending.language)
    return any(entity.slot == pending.slot for entity in (*found, *_offered(turns, text, pending)))


def understand(turns: TurnBuilder, pending: WhichValue) -> NextTurn:
    """Return the turn for a message after the question."""
    text, result = turns.input.text, turns.match(turns.input.text)
    is_free = _is_free(turns, pending)
    corrected = _corrected_instead(turns, pending) if is_free else []
    found = _values(turns, pending, result, corrected)
    is_answered = any(entity.slot == pending.slot for entity in found)
    # An address may have the name of a dish in it.
    if is_free and is_answered:
        corrected = []
    elif not is_free:
        corrected = turns.corrected(text, pending.intent, pending.entities, pending.language, [pending.slot])
    if (counted := _recounted(turns, pending, found)) and not corrected:
        found = [one for one in found if one.slot != pending.slot]
        is_answered, corrected = False, counted
    if not (is_free or is_answered or corrected):
        found = [*found, *_among_fillers(turns, pending)]
        is_answered = any(entity.slot == pending.slot for entity in found)
    answers = [*found, *corrected]
    if not is_answered and not corrected and _drops(turns, pending, result):
        return turns.decline(pending.intent, pending.language, result)
    if _is_other_request(turns, pending, result, answers):
        return turns.aside(pending, result)
    pending = replace(pending, entities=joined(pending.entities, answers))
    if is_answered:
        return _go_on(turns, pending, found, result)
    if corrected:
        return turns.ask_value(pending, result)
    if pending.left > 0:
        return turns.ask_value(replace(pending, left=pending.left - 1), result)
    return turns.request(result)


def _go_on(turns: TurnBuilder, pending: WhichValue, found: Sequence[Entity], result: MatchResult) -> NextTurn:
    """Return the turn for a value, which may be one of several that the user named."""
    slots = turns.slots(pending.intent).values()
    single = [slot.name for slot in slots if takes_one_value(slot.kind)]
    again = alternatives(turns.input.text, found, pending.language, single)
    answered = {entity.slot for entity in found}
    left = tuple(pair for pair in pending.unsure if pair[0] not in answered)
    return turns.proceed(
        pending.intent,
        pending.entities,
        pending.language,
        result,
        confirmed=pending.confirmed,
        unsure=(*again.items(), *left),
    )


def _among_fillers(turns: TurnBuilder, pending: WhichValue) -> list[Entity]:
    """Return the value of the requested slot if all else in the message adds nothing: "ok, let's say 30"."""
    text = turns.input.text
    plain = without_fillers(text, turns.spoken(pending.language))
    if not plain.strip() or is_question(text):
        return []
    found = turns.fill(plain, pending.intent, [pending.slot], pending.language)
    # "Ok, we are 4" is no hour.
    return [one for one in found if one.text == plain.strip()]


def _recounted(turns: TurnBuilder, pending: WhichValue, found: Collection[Entity]) -> list[Entity]:
    """Return another number for the one that is known, if the message has no other value, or only after a no."""
    text, language = turns.input.text, pending.language
    rest = after_no(text, turns.spoken(language))
    value = next((one for one in found if one.slot == pending.slot), None)
    if _is_free(turns, pending) or (value is not None and rest is None):
        return []
    counted = turns.recounted(rest or text, pending.intent, pending.entities, language)
    # "No, four" corrects the count, though four might be an hour.
    is_the_same = value is None or (bool(counted) and fold(value.text) == fold(counted[0].text))
    return counted if is_the_same else []


def _is_free(turns: TurnBuilder, pending: WhichValue) -> bool:
    return turns.slots(pending.intent)[pending.slot].kind == "any"


def _drops(turns: TurnBuilder, pending: WhichValue, result: MatchResult) -> bool:
    """Whether a message without a value ends the request: "never mind". Free text may begin like a no."""
    if result.trace.decided_by == "exact" and result.intent != pending.intent:
        return False
    text = turns.input.text
    if stops(text, turns.spoken(pending.language)):
        return True
    if _is_free(turns, pending):
        return False
    is_own = result.intent in (None, pending.intent)
    return (
        drops(text)
        or refuses(result, pending.intent)
        or (is_own and stops_within(text, turns.spoken(pending.language)))
    )


def _is_other_request(
    turns: TurnBuilder, pending: WhichValue, result: MatchResult, answers: Collection[Entity]
) -> bool:
    """Whether a message asks for another intent. "I don't know the number" is like a line that has a number, too."""
    text = turns.input.text
    if not is_other_request(result, pending.intent, answers):
        return False
    if result.trace.decided_by == "exact":
        return True
    kind = turns.slots(pending.intent)[pending.slot].kind
    has_value = any(one.slot == pending.slot for one in answers)
    if kind == "any" or (kind in _UNMISTAKABLE and has_value):
        return is_question(text)
    if has_value and result.confidence is not None:
        # "Then on Thursday, please" is like a line about opening hours.
        return is_question(text) or asks(text) or _is_surely(result)
    return not declines(text) or _is_surely(result)


def _is_surely(result: MatchResult) -> bool:
    return result.intent is not None and (result.confidence or 0.0) >= _SURELY


def _values(
    turns: TurnBuilder, pending: WhichValue, result: MatchResult, corrected: Collection[Entity]
) -> list[Entity]:
    """Read the value of the requested slot from the message, and values of other slots by their own words.

    These are the missing slots; if the message also says the intent, they are all slots.
    """
    known = {entity.slot for entity in pending.entities}
    slots = [slot for slot in turns.slots(pending.intent).values() if slot.name != pending.slot]
    # Free text would take any words; it is read only where the bot asks for it.
    repeated = result.intent == pending.intent
    others = [slot.name for slot in slots if repeated or (slot.name not in known and slot.kind != "any")]
    found = turns.fill(turns.input.text, pending.intent, [pending.slot], pending.language, others)
    is_free, kind = _is_free(turns, pending), turns.slots(pending.intent)[pending.slot].kind
    own = [entity for entity in found if entity.slot == pending.slot]
    if kind in _QUANTITIES and own:
        denied = _denied(own, turns, pending)
        return [entity for entity in found if entity not in denied]
    if is_free and _is_no_free_text(turns, pending, result, corrected):
        return [entity for entity in found if entity.slot != pending.slot]
    return [*found] if own else [*found, *_offered(turns, turns.input.text, pending)]


def _denied(values: list[Entity], turns: TurnBuilder, pending: WhichValue) -> list[Entity]:
    """Return the values that a message has without giving them: "give me five minutes, I'll ask", "Friday is too late".

    Who says it again means it, and so does who says hardly more than the value ("two I think") or asks for it ("how
    about Friday?").
    """
    text, kind = turns.input.text, turns.slots(pending.intent)[pending.slot].kind
    if pending.left <= 0 or len(values) > _MOST_VALUES or is_question(text.rstrip()[-1:]):
        return []
    rest = without_fillers(text, turns.spoken(pending.language))
    for value in values:
        rest = rest[: value.start] + " " * (value.end - value.start) + rest[value.end :]
    if function_words(pending.language).issuperset(bare_words(rest)):
        return []
    if kind == "number" and is_unsure(text, surely=True):
        return values  # "one sec"
    return [value for value in values if gives_value(text, value.start, value.end) < _GIVES]


def _is_no_free_text(
    turns: TurnBuilder, pending: WhichValue, result: MatchResult, corrected: Collection[Entity]
) -> bool:
    """Whether words are hardly meant as free text: "never mind", "not sure yet", "when do you close?", "👍".

    Who says them again means them, unless they say that there is no value.
    """
    text = turns.input.text
    if stops(text, turns.spoken(pending.language)) or is_unsure(text):
        return True
    if pending.left <= 0:
        return False
    other = result.intent != pending.intent and _is_surely(result)
    if is_question(text) or other or refuses(result, pending.intent) or not any(map(str.isalnum, text)):
        return True
    if corrected:
        return True
    # A plain no may be all that is to be said ("any remarks?"), and "no onions" is no refusal.
    rest = after_no(text, turns.spoken(pending.language))
    return rest != "" and not may_be_value(text) and not (rest and may_be_value(rest))


def _corrected_instead(turns: TurnBuilder, pending: WhichValue) -> list[Entity]:
    """Return other values for filled slots that a message has instead of free text: "no, make it 30 euros".

    Without a no, only names of lists: "wait, fried rice instead". Numbers and days are in much that people say.
    """
    text, kinds = turns.input.text, {name: slot.kind for name, slot in turns.slots(pending.intent).items()}
    rest = after_no(text, turns.spoken(pending.language))
    found = turns.corrected(text, pending.intent, pending.entities, pending.language)
    found = [one for one in found if rest or kinds[one.slot] == "list"]
    return found if make_up(found, rest or text) or not may_be_value(text, surely=True) else []


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
