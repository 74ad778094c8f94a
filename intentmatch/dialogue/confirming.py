"""Read the answer to a yes-or-no question: yes, no, another request, or none of these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rapidfuzz.distance import Prefix

from intentmatch.core.result import Entity, MatchResult
from intentmatch.dialogue.answers import (
    YesOrNo,
    after_no,
    agrees_to_nothing,
    choice_by_number,
    declines,
    hardly_declines,
    has_words,
    is_question,
    learned_yes_or_no,
    stop_words_in,
    stops,
    yes_or_no,
)
from intentmatch.dialogue.pending import Confirmation, WhichValue
from intentmatch.dialogue.phrases import Phrases
from intentmatch.dialogue.turn_builder import NextTurn, TurnBuilder, alternatives_in, is_other_request, joined, refuses
from intentmatch.dialogue.turns import Turn
from intentmatch.slots.neighbours import fixed_words
from intentmatch.text.normalize import bare, fold

_SHORTEST_STEM, _LONGEST_ENDING = 5, 4
"""Letters of a word that may repeat one of the request in another form: "storniert" and "storniere"."""
_SURELY = 0.9
"""Confidence from which words after a yes are a request: to ask again costs a turn, to drop the question costs more."""


def is_answer(turns: TurnBuilder, text: str, pending: Confirmation) -> bool:
    """Whether a text is a yes or a no and nothing else."""
    said = _yes_or_no(turns, text, pending)
    number = choice_by_number(text, len(pending.choices))
    return number is not None or (said is not None and said.yes is not None and not said.rest)


def understand(turns: TurnBuilder, pending: Confirmation) -> NextTurn:
    """Return the turn for a message after the question."""
    text = turns.input.text
    if (number := choice_by_number(text, len(pending.choices))) is not None:
        return take_answer(turns, pending, number == 1)
    said = _yes_or_no(turns, text, pending)
    if not (said and said.yes) and stops(text, turns.spoken(pending.language)):
        # "Cancel" after "Cancel the order?" may mean either.
        said = None if _names_request(turns, pending) else YesOrNo(False)
    if not (said and said.yes) and (corrected := _corrected(turns, pending)) is not None:
        return corrected
    if (asked := _asked_for_free_text(turns, pending)) is not None:
        return asked
    # After a no, the rest must not ask for something else: "no, track my order" is a request.
    if said and (said.yes or (said.yes is False and _is_all_no(turns, said.rest, pending))):
        return take_answer(turns, pending, bool(said.yes))
    return _unclear(turns, pending, said)


def _changes(turns: TurnBuilder, pending: Confirmation) -> list[Entity]:
    """Return other values for slots that are filled, and values for others."""
    found = turns.fill_bounded(turns.input.text, pending.intent, pending.language)
    known = [(one.slot, one.value) for one in pending.entities]
    return [one for one in found if (one.slot, one.value) not in known]


def _corrected(turns: TurnBuilder, pending: Confirmation) -> NextTurn | None:
    """Ask again with the values that the message corrects: "no, the one on Tuesday"; None if it corrects none."""
    text = turns.input.text
    changed = turns.corrected(text, pending.intent, pending.entities, pending.language)
    if not changed:
        return None
    result = turns.match(text)
    if is_other_request(result, pending.intent, changed):
        return None
    entities = joined(pending.entities, changed)
    return turns.ask_whether(replace(pending, entities=entities), result, pending.intent)


def _asked_for_free_text(turns: TurnBuilder, pending: Confirmation) -> NextTurn | None:
    """Ask for the free text of the intent again if the words after a no may be another one: "no, it is 12 Hill Road".

    None if there is no such text, or if the words say no or ask for something else.
    """
    rest = after_no(turns.input.text, turns.spoken(pending.language))
    if not rest or declines(turns.input.text):
        return None
    result = turns.match(rest)
    return _ask_for_free_text(turns, pending, result) if result.intent in (None, pending.intent) else None


def _asked_for_other_text(turns: TurnBuilder, pending: Confirmation, result: MatchResult) -> NextTurn | None:
    """Ask for the free text again after a message that answers nothing and may be another one: "it's 23 Hill Road"."""
    text = turns.input.text
    is_other = any(map(str.isdigit, text)) and not is_question(text) and agrees_to_nothing(text)
    return _ask_for_free_text(turns, pending, result) if is_other else None


def _ask_for_free_text(turns: TurnBuilder, pending: Confirmation, result: MatchResult) -> NextTurn | None:
    """Ask for the only free text of the intent that is known; None if there is not one."""
    slots = turns.slots(pending.intent)
    free = [one.slot for one in pending.entities if one.slot in slots and slots[one.slot].kind == "any"]
    if len(free) != 1:
        return None
    others = tuple(one for one in pending.entities if one.slot != free[0])
    return turns.ask_value(WhichValue(pending.intent, free[0], others, pending.left, pending.language), result)


def _unclear(turns: TurnBuilder, pending: Confirmation, said: YesOrNo | None) -> NextTurn:
    """Handle a message that is no plain yes or no: ask again, or take it as a request."""
    text, phrases = turns.input.text, turns.phrases(pending.language)
    result = turns.match(text)
    own = _own_answer(turns, result, pending, phrases)
    if own:
        said = _yes_or_no(turns, text, pending, _own_yes(turns, result.intent, pending.language))
        if said and said.yes:
            return take_answer(turns, pending, True, result)
    # "Yes, just cancel it" says yes, whatever it refuses.
    has_yes = said is not None and said.yes is None
    if own is False or (refuses(result, pending.intent) and not has_yes):
        return take_answer(turns, pending, False, result)
    # What follows a no was read above; an utterance of the registry, word for word, is a request.
    if own is None and not (said and said.yes is False) and result.trace.decided_by != "exact":
        learned = learned_yes_or_no(text, turns.spoken(pending.language))
        # "Yes, unlock the door" is no yes to "Lock the door?".
        is_other = bool({result.intent, *(one.intent for one in result.rivals)} - {None, pending.intent})
        if learned and learned.yes is not None and not (learned.yes and is_other):
            return take_answer(turns, pending, learned.yes, result)
        said = said or learned
    # "Yes, but ..." is no request for an intent that would not ask for itself.
    more = said is not None and (
        result.intent is None
        or (result.intent == pending.intent and not turns.registry[pending.intent].confirm)
        or (said.yes is None and result.trace.decided_by != "exact" and not _surely_asks(turns, said.rest))
    )
    if not (own or more or result.verdict == "out_of_scope"):
        return _request(turns, pending, result, is_no=said is not None and said.yes is False)
    asked = _asked_for_other_text(turns, pending, result) if said is None and result.intent is None else None
    return asked or _asked_again(turns, pending, result)


def _asked_again(turns: TurnBuilder, pending: Confirmation, result: MatchResult) -> NextTurn:
    """Ask once more, as often as the options say."""
    if pending.left > 0:
        return turns.ask_whether(replace(pending, left=pending.left - 1), result, pending.intent)
    return NextTurn(Turn(turns.input.text, result=result, language=pending.language))


def _request(turns: TurnBuilder, pending: Confirmation, result: MatchResult, *, is_no: bool) -> NextTurn:
    """Take a message as a request; the same one again keeps the values that are known."""
    if result.intent != pending.intent:
        return turns.request(result) if is_no else turns.aside(pending, result)
    known, unsure = joined(pending.entities, result.entities), alternatives_in(result)
    return turns.proceed(pending.intent, known, pending.language, result, unsure=unsure)


def _yes_or_no(turns: TurnBuilder, text: str, pending: Confirmation, yes: Iterable[str] = ()) -> YesOrNo | None:
    """Read the answer; it may repeat the request, or words of it and its values: "yes, book it for Friday"."""
    intent = turns.registry[pending.intent]
    request = [intent.label, *intent.titles.values(), *(one.text for one in pending.entities)]
    folded = fold(text)
    if not intent.slots:
        request += [line for line in turns.lines(pending.intent) if fold(line) in folded]
    spoken = turns.spoken(pending.language)
    said = yes_or_no(text, spoken, yes, request)
    if said is not None and said.yes is None and not is_question(text) and hardly_declines(text):
        own = {word for line in intent.utterances for part in fixed_words(line) for word in part}
        again = [word for word in folded.split() if any(_is_form(bare(word), one) for one in own)]
        repeated = yes_or_no(text, spoken, yes, [*request, *again])
        # "Yes, book a table in Rome" may change the city.
        said = repeated if repeated and repeated.yes and not _changes(turns, pending) else said
    # Bots with lines in two languages are answered in either.
    if said is None and (other := turns.phrases(turns.match(text).language)) not in spoken:
        said = yes_or_no(text, [other], yes, request)
    return said


def _names_request(turns: TurnBuilder, pending: Confirmation) -> bool:
    """Whether the words by which a message ends a request are words of the question that is open."""
    intent = turns.registry[pending.intent]
    words = stop_words_in(turns.input.text, turns.spoken(pending.language))
    return bool(words) and any(has_words(title, words) for title in (intent.label, *intent.titles.values()))


def _is_form(word: str, other: str) -> bool:
    """Whether two words are one or may be forms of one: they begin alike, and little is left of either."""
    if word == other:
        return True
    common = Prefix.similarity(word, other)
    return common >= _SHORTEST_STEM and max(len(word), len(other)) - common <= _LONGEST_ENDING


def _is_all_no(turns: TurnBuilder, rest: str, pending: Confirmation) -> bool:
    """Whether what follows a no is no request for something else: "no, I'll keep it"."""
    if not rest or turns.match(rest).intent in (None, pending.intent):
        return True
    return declines(turns.input.text) and not _surely_asks(turns, rest)


def _surely_asks(turns: TurnBuilder, rest: str) -> bool:
    """Whether the words after a yes surely ask for something: "yes, and where is my order", but not "yes, not now"."""
    result = turns.match(rest) if rest else None
    if result is None or result.intent is None:
        return False
    return result.confidence is None or result.confidence >= _SURELY


def _own_answer(turns: TurnBuilder, result: MatchResult, pending: Confirmation, phrases: Phrases) -> bool | None:
    """Whether the message means the registry's own intent for yes (True) or for no (False): it has that word."""
    # "No, stop it" may be asked about, because it refuses as the intent for no does.
    named = result.rivals[0].intent if len(result.rivals) == 1 else result.intent
    if named is None or named == pending.intent:
        return None
    for yes, word in ((True, phrases.yes), (False, phrases.no)):
        # Only an exact match counts: a loose one of the word for no makes no intent the bot's own no.
        own = turns.match(word)
        if own.trace.decided_by == "exact" and own.intent == named:
            return yes
    return None


def _own_yes(turns: TurnBuilder, name: str | None, language: str | None) -> list[str]:
    """Return the lines of an intent that has the word for yes among them; no lines for another intent."""
    lines = turns.lines(name)
    yes = {fold(one.yes) for one in turns.spoken(language)}
    return lines if any(fold(line) in yes for line in lines) else []


def take_answer(turns: TurnBuilder, pending: Confirmation, yes: bool, result: MatchResult | None = None) -> NextTurn:
    """Return the turn for a yes or a no."""
    name, language = pending.intent, pending.language
    if yes:
        known = {one.slot for one in pending.entities}
        # A yes to "Send it to another address?" is none to the address that is asked for next.
        is_complete = all(slot.name in known for slot in turns.registry[name].slots if slot.required)
        return turns.proceed(name, pending.entities, language, result, confirmed=is_complete)
    return turns.decline(name, language, result)
