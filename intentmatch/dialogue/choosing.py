"""Read the answer to "did you mean ...?": a choice, another request, or none of these."""

from __future__ import annotations

from dataclasses import replace

from intentmatch.core.result import MatchResult
from intentmatch.dialogue.answers import choice_by_number, choice_by_words, spoken_choice
from intentmatch.dialogue.pending import WhichIntent
from intentmatch.dialogue.turn_builder import NextTurn, TurnBuilder, alternatives_in
from intentmatch.dialogue.turns import Turn
from intentmatch.text.normalize import in_words


def choice_number(turns: TurnBuilder, text: str, pending: WhichIntent) -> int | None:
    """Return the number of the choice that a text names by its number, its title or its place; None for none."""
    number = choice_by_number(text, len(pending.choices))
    if number is not None:
        return number
    # Before spoken numbers, which a title may hold, such as "My second order".
    intents = [turns.registry[name] for name in pending.intents]
    names = [{intent.label, in_words(intent.name), *intent.titles.values()} for intent in intents]
    number = choice_by_words(text, [*names, {turns.phrases(pending.language).none_of_these}])
    if number is not None:
        return number
    spoken = spoken_choice(text, turns.spoken(pending.language))
    if spoken == "neither":
        return len(pending.choices)
    return spoken if isinstance(spoken, int) and 1 <= spoken <= len(pending.choices) else None


def understand(turns: TurnBuilder, pending: WhichIntent) -> NextTurn:
    """Return the turn for a message after the question: a choice, several of them, another request, or neither."""
    text = turns.input.text
    if (number := choice_number(turns, text, pending)) is not None:
        return take_choice(turns, pending, number)
    # "both", or a number that there is not: an answer, but no choice.
    if spoken_choice(text, turns.spoken(pending.language)) is not None and pending.left > 0:
        return _ask_again(turns, pending, None)
    result = turns.match(text)
    if result.verdict != "matched":
        # Told apart from two or three intents alone, the answer may be clear where all
        # intents together leave it in doubt.
        among = turns.matcher.match(text, allowed=pending.intents, context=turns.input.context, now=turns.input.now)
        if among.intent is not None:
            return take_choice(turns, pending, pending.intents.index(among.intent) + 1, result)
    if result.verdict == "out_of_scope" and pending.left > 0:
        return _ask_again(turns, pending, result)
    return turns.request(result)


def take_choice(turns: TurnBuilder, pending: WhichIntent, number: int, result: MatchResult | None = None) -> NextTurn:
    """Return the turn for a choice by its number: the last one is none of the intents."""
    language = pending.language
    if number > len(pending.intents):
        return NextTurn(Turn(turns.input.text.strip() or pending.message, result=result, language=language))
    name = pending.intents[number - 1]
    if turns.matcher.settings.several_intents:
        heard = turns.matcher.match(
            pending.message, language=language, context=turns.input.context, now=turns.input.now
        )
        if part := next((part for part in heard.parts if part.intent == name), None):
            # Of several requests in one message, each has its own values.
            return turns.proceed(name, part.entities, language, result, unsure=alternatives_in(part))
    matched = turns.matcher.match(pending.message, language=language, allowed=[name], now=turns.input.now)
    entities, unsure = matched.entities, alternatives_in(matched)
    if matched.intent is None:
        # Below the threshold, slots are still read from the message.
        entities = turns.fill_bounded(pending.message, name, language)
    return turns.proceed(name, entities, language, result, unsure=unsure)


def _ask_again(turns: TurnBuilder, pending: WhichIntent, result: MatchResult | None) -> NextTurn:
    """Say that the answer was not understood, with the same choices."""
    again = replace(pending, left=pending.left - 1)
    return turns.ask_which(again, turns.phrases(pending.language).choose_one, result)
