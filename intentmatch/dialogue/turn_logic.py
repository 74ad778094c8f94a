"""The logic of a conversation, as a function of the message and the open question, without store or clock."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from intentmatch.core.result import Entity, MatchResult
from intentmatch.dialogue import choosing, confirming, filling
from intentmatch.dialogue.answers import drops, stops, yes_or_no
from intentmatch.dialogue.pending import Confirmation, Pending, Topic, WhichIntent, WhichValue, new_id
from intentmatch.dialogue.turn_builder import (
    Choose,
    DialogueOptions,
    NextTurn,
    TurnBuilder,
    UserInput,
    alternatives_in,
    joined,
)
from intentmatch.dialogue.turns import Turn
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.n_best import Hypotheses
from intentmatch.matching.snapshot import Snapshot

# A number that was asked for may be like an utterance with such a slot, of another intent.
_LEAST_ANSWERING = 0.25


def next_turn(
    matcher: Matcher | Snapshot,
    options: DialogueOptions,
    user_input: UserInput,
    pending: Pending | None,
    choose: Choose,
) -> NextTurn:
    """Compute the next turn from a message and the open question, if there is one."""
    turns = TurnBuilder(matcher.snapshot(), options, user_input, choose)
    if not _is_answerable(turns, pending):
        pending = None
    if user_input.hypotheses is not None:
        turns = _choose_hypothesis(turns, user_input.hypotheses, pending)
    if user_input.chosen is not None:
        return _press(turns, user_input.chosen, pending)
    if isinstance(pending, WhichIntent):
        return choosing.understand(turns, pending)
    if isinstance(pending, WhichValue):
        return filling.understand(turns, pending)
    if isinstance(pending, Confirmation):
        return confirming.understand(turns, pending)
    if isinstance(pending, Topic):
        return _follow_up(turns, pending)
    return turns.request(turns.match(turns.input.text))


def _is_answerable(turns: TurnBuilder, pending: Pending | None) -> bool:
    """Whether the registry still has the intents or the slot of the question after a possible reload."""
    if isinstance(pending, WhichIntent):
        return all(name in turns.registry for name in pending.intents)
    if isinstance(pending, Confirmation | Topic):
        return pending.intent in turns.registry
    return pending is not None and pending.slot in turns.slots(pending.intent)


def _choose_hypothesis(turns: TurnBuilder, hypotheses: Hypotheses, pending: Pending | None) -> TurnBuilder:
    """Take one of the hypotheses as the text: the one that `match` chooses.

    The heaviest one that answers the open question goes first, unless an intent matches and few answer.
    """
    heard = turns.match(hypotheses, pending.intent if isinstance(pending, Topic) else None)
    answers = [(text, weight) for text, weight in hypotheses if _is_answer(turns, text, pending)]
    likely = heard.intent is None or sum(weight for _, weight in answers) >= _LEAST_ANSWERING
    return turns.of_hypothesis(answers[0][0] if answers and likely else heard.message, heard)


def _is_answer(turns: TurnBuilder, text: str, pending: Pending | None) -> bool:
    if isinstance(pending, WhichIntent):
        return choosing.choice_number(turns, text, pending) is not None
    if isinstance(pending, Confirmation):
        return confirming.is_answer(turns, text, pending)
    return isinstance(pending, WhichValue) and filling.is_answer(turns, text, pending)


def _press(turns: TurnBuilder, chosen: str, pending: Pending | None) -> NextTurn:
    """Return the turn for a button by its id; the question of an old button is no longer open."""
    if isinstance(pending, WhichIntent) and chosen in pending.choices:
        return choosing.take_choice(turns, pending, pending.choices.index(chosen) + 1)
    if isinstance(pending, Confirmation) and chosen in pending.choices:
        return confirming.take_answer(turns, pending, chosen == pending.choices[0])
    # The topic of a conversation is no question: the channel knows better who presses now.
    language = turns.input.language if pending is None or isinstance(pending, Topic) else pending.language
    return NextTurn(Turn(turns.input.text, reply=turns.phrases(language).too_late, language=language), pending)


def _follow_up(turns: TurnBuilder, topic: Topic) -> NextTurn:
    """Return the turn for a message after one that asked nothing: it may follow up the intent of that turn."""
    text = turns.input.text
    result = turns.match(text, topic.intent)
    # Of hypotheses, others may say more.
    follows = result.is_follow_up and result.intent == topic.intent
    said = yes_or_no(text, turns.spoken(topic.language))
    is_no = said is not None and said.yes is False
    if is_no and result.trace.decided_by != "exact":
        if changed := turns.corrected(text, topic.intent, topic.entities, topic.language):
            # "No, on Tuesday" takes back what was done: nothing more is done by it.
            return _ask_again(turns, topic, result, changed)
        if not (said and said.rest):
            return _nothing(turns, topic, result)
    if follows and not result.entities and (is_no or drops(text) or stops(text, turns.spoken(topic.language))):
        return _nothing(turns, topic, result)
    # "And a note for Anna" is no note of the same words: free text is asked for anew.
    kinds = {name: slot.kind for name, slot in turns.slots(topic.intent).items()}
    kept = tuple(one for one in topic.entities if kinds.get(one.slot) != "any")
    if follows and topic.entities and not result.entities and len(kept) == len(topic.entities):
        # "And one more" has no value that was read: the same once more may not be meant.
        return _ask_again(turns, topic, result, ())
    if follows:
        entities = joined(kept, result.entities)
        language = result.language or topic.language
        return turns.proceed(topic.intent, entities, language, result, unsure=alternatives_in(result))
    found = turns.request(result)
    return found if found.turn.understood or is_no else replace(found, pending=topic)


def _nothing(turns: TurnBuilder, topic: Topic, result: MatchResult) -> NextTurn:
    """Return the turn for "no, never mind" after an answer, which least of all asks for the same once more."""
    return NextTurn(Turn(turns.input.text, result=result, language=topic.language))


def _ask_again(turns: TurnBuilder, topic: Topic, result: MatchResult, values: Collection[Entity]) -> NextTurn:
    """Ask whether the intent of the turn before is meant with these values."""
    entities = joined(topic.entities, values)
    confirmation = Confirmation(topic.intent, entities, new_id(), 0, result.language or topic.language)
    return turns.ask_whether(confirmation, result, topic.intent)
