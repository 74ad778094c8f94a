"""The logic of a conversation, as a function of the message and the open question, without store or clock."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from intentmatch.core.placeholders import fill
from intentmatch.core.result import Entity, MatchResult
from intentmatch.core.types import Slot
from intentmatch.dialogue.answers import YesOrNo, choice_by_number, choice_by_words, spoken_choice, yes_or_no
from intentmatch.dialogue.pending import Confirmation, Pending, Topic, WhichIntent, WhichValue, new_id
from intentmatch.dialogue.phrases import Phrases, phrases_for
from intentmatch.dialogue.turns import Choice, Turn
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.n_best import Hypotheses
from intentmatch.matching.snapshot import Snapshot
from intentmatch.slots.alternatives import alternatives, takes_one_value
from intentmatch.text.normalize import fold, in_words

_MOST_CHOICES = 4
_MOST_OF_MESSAGE = 0.5
_LEAST_ANSWERING = 0.25  # a number that was asked for may be like an utterance with such a slot, of another intent
_QUESTION_MARKS = " ?？؟;¿"


@dataclass(frozen=True, slots=True)
class DialogueOptions:
    """Options of a dialogue."""

    attempts: int
    phrases: Mapping[str, Phrases]
    """The caller's phrases by language code."""


@dataclass(frozen=True, slots=True)
class UserInput:
    """A message with its button, language, context and time."""

    text: str
    chosen: str | None
    language: str | None
    context: Collection[str]
    now: datetime | None
    hypotheses: Hypotheses | None = None
    """What may have been said, for a message from speech; `text` is then one of them."""


@dataclass(frozen=True, slots=True)
class NextTurn:
    """The turn, and the question that is open after it."""

    turn: Turn
    pending: Pending | None = None
    """The question, or what the turn was about."""


Choose = Callable[[str, Sequence[str]], str]
"""Chooses one of several responses of an intent: takes the intent's name and the responses."""


def next_turn(
    matcher: Matcher | Snapshot,
    options: DialogueOptions,
    user_input: UserInput,
    pending: Pending | None,
    choose: Choose,
) -> NextTurn:
    """Compute the next turn from a message and the open question, if there is one."""
    return _TurnLogic(matcher.snapshot(), options, user_input, choose).next_turn(pending)


class _TurnLogic:
    def __init__(self, matcher: Snapshot, options: DialogueOptions, user_input: UserInput, choose: Choose) -> None:
        self._matcher = matcher
        self._registry = matcher.registry
        self._options = options
        self._input = user_input
        self._choose = choose
        self._heard: MatchResult | None = None

    def next_turn(self, pending: Pending | None) -> NextTurn:
        if not self._is_answerable(pending):
            pending = None
        if self._input.hypotheses is not None:
            self._choose_hypothesis(self._input.hypotheses, pending)
        user_input = self._input
        if user_input.chosen is not None:
            return self._pressed(user_input.chosen, pending)
        if isinstance(pending, WhichIntent):
            return self._selected(pending)
        if isinstance(pending, Confirmation | Topic):
            return self._replied(pending) if isinstance(pending, Confirmation) else self._following(pending)
        result = self._match(user_input.text)
        if isinstance(pending, WhichValue):
            return self._answered(pending, result)
        return self._matched(result)

    def _choose_hypothesis(self, hypotheses: Hypotheses, pending: Pending | None) -> None:
        """Take one of the hypotheses as the text: the one that `match` chooses.

        The heaviest one that answers the open question goes first, unless an intent matches and few answer.
        """
        heard = self._match(hypotheses, pending.intent if isinstance(pending, Topic) else None)
        answers = [(text, weight) for text, weight in hypotheses if self._answers(text, pending)]
        likely = heard.intent is None or sum(weight for _, weight in answers) >= _LEAST_ANSWERING
        self._input = replace(self._input, text=answers[0][0] if answers and likely else heard.message)
        self._heard = heard

    def _answers(self, text: str, pending: Pending | None) -> bool:
        """Whether a text is a choice, a yes or no, or has the value that the bot asked for."""
        if isinstance(pending, WhichIntent):
            return self._number(text, pending) is not None
        if isinstance(pending, Confirmation):
            said = self._yes_or_no(text, pending)
            number = choice_by_number(text, len(pending.choices))
            return number is not None or (said is not None and said.yes is not None and not said.rest)
        if not isinstance(pending, WhichValue):
            return False
        found = self._fill(text, pending.intent, [pending.slot], pending.language)
        return any(entity.slot == pending.slot for entity in found)

    def _is_answerable(self, pending: Pending | None) -> bool:
        """Whether the registry still has the intents or the slot of the question after a possible reload."""
        if isinstance(pending, WhichIntent):
            return all(name in self._registry for name in pending.intents)
        if isinstance(pending, Confirmation | Topic):
            return pending.intent in self._registry
        return pending is not None and pending.slot in self._slots(pending.intent)

    def _following(self, topic: Topic) -> NextTurn:
        """Handle a message after a turn that asked nothing: it may follow up the intent of that turn."""
        result = self._match(self._input.text, topic.intent)
        if result.is_follow_up and result.intent == topic.intent:  # of hypotheses, others may say more
            language = result.language or topic.language
            return self._with_intent(
                topic.intent, _joined(topic.entities, result.entities), language, result, unsure=_unsure(result)
            )
        found = self._matched(result)
        return found if found.turn.understood else replace(found, pending=topic)

    def _slots(self, intent: str) -> Mapping[str, Slot]:
        return {slot.name: slot for slot in self._registry[intent].slots} if intent in self._registry else {}

    def _pressed(self, chosen: str, pending: Pending | None) -> NextTurn:
        if isinstance(pending, WhichIntent) and chosen in pending.choices:
            return self._chosen(pending, pending.choices.index(chosen) + 1)
        if isinstance(pending, Confirmation) and chosen in pending.choices:
            return self._agreed(pending, chosen == pending.choices[0])
        # The topic of a conversation is no question: the channel knows better who presses now.
        language = self._input.language if pending is None or isinstance(pending, Topic) else pending.language
        return NextTurn(Turn(self._input.text, reply=self._phrases(language).too_late, language=language), pending)

    def _number(self, text: str, pending: WhichIntent) -> int | None:
        """Return the number of the choice whose number or title the text is, or None."""
        number = choice_by_number(text, len(pending.choices))
        if number is not None:
            return number
        intents = [self._registry[name] for name in pending.intents]
        names = [{intent.label, in_words(intent.name), *intent.titles.values()} for intent in intents]
        number = choice_by_words(text, [*names, {self._phrases(pending.language).none_of_these}])
        if number is not None:
            return number
        spoken = spoken_choice(text, self._spoken(pending.language))
        if spoken == "neither":
            return len(pending.choices)
        return spoken if isinstance(spoken, int) and 1 <= spoken <= len(pending.choices) else None

    def _selected(self, pending: WhichIntent) -> NextTurn:
        """Handle a message after "did you mean ...?": a choice, several of them, another request, or none of these."""
        text = self._input.text
        if (number := self._number(text, pending)) is not None:
            return self._chosen(pending, number)
        if spoken_choice(text, self._spoken(pending.language)) is not None and pending.left > 0:
            return self._ask_again(pending, None)
        result = self._match(text)
        if result.verdict != "matched":
            among = self._matcher.match(text, allowed=pending.intents, context=self._input.context, now=self._input.now)
            if among.intent is not None:
                return self._chosen(pending, pending.intents.index(among.intent) + 1, result)
        if result.verdict == "out_of_scope" and pending.left > 0:
            return self._ask_again(pending, result)
        return self._matched(result)

    def _chosen(self, pending: WhichIntent, number: int, result: MatchResult | None = None) -> NextTurn:
        language = pending.language
        if number > len(pending.intents):
            return NextTurn(Turn(self._input.text.strip() or pending.message, result=result, language=language))
        name = pending.intents[number - 1]
        matched = self._matcher.match(pending.message, language=language, allowed=[name], now=self._input.now)
        entities, unsure = matched.entities, _unsure(matched)
        if matched.intent is None:
            # Below the threshold, slots are still read from the message, except free text.
            slots = [slot.name for slot in self._slots(name).values() if slot.kind != "any"]
            entities = self._fill(pending.message, name, slots, language)
        return self._with_intent(name, entities, language, result, unsure=unsure)

    def _matched(self, result: MatchResult) -> NextTurn:
        language = result.language or self._input.language or self._registry.first_language
        if result.intent is not None:
            return self._with_intent(result.intent, result.entities, language, result, unsure=_unsure(result))
        if len(result.rivals) == 1:
            # The message refuses the intent: ask whether it is meant all the same.
            name = result.rivals[0].intent
            slots = [slot.name for slot in self._slots(name).values() if slot.kind != "any"]
            found = self._fill(self._input.text, name, slots, language)
            return self._ask_whether(Confirmation(name, found, new_id(), 0, language), result)
        if result.verdict == "ambiguous":
            return self._ask_which(result, language)
        return NextTurn(Turn(self._input.text, result=result, language=language))

    def _ask_which(self, result: MatchResult, language: str | None) -> NextTurn:
        names = tuple(rival.intent for rival in result.rivals[:_MOST_CHOICES])
        pending = WhichIntent(self._input.text, names, new_id(), language, self._options.attempts - 1)
        return self._with_choices(pending, self._phrases(language).did_you_mean, result)

    def _ask_again(self, pending: WhichIntent, result: MatchResult | None) -> NextTurn:
        """Say that the answer was not understood, with the same choices."""
        again = replace(pending, left=pending.left - 1)
        return self._with_choices(again, self._phrases(pending.language).choose_one, result)

    def _with_choices(self, pending: WhichIntent, heading: str, result: MatchResult | None) -> NextTurn:
        language, names = pending.language, pending.intents
        titles = [self._registry[name].title_in(language) or in_words(name) for name in names]
        none = self._phrases(language).none_of_these
        columns = zip(pending.choices, [*titles, none], [*names, None], strict=True)
        choices = tuple(Choice(*column) for column in columns)
        turn = Turn(self._input.text, reply=heading, choices=choices, result=result, language=language)
        return NextTurn(turn, pending)

    def _answered(self, pending: WhichValue, result: MatchResult) -> NextTurn:
        """Handle a message after the question for a slot: a value, another request, or neither."""
        intents = (result.intent,) if result.intent else tuple(rival.intent for rival in result.rivals)
        other = bool(intents) and pending.intent not in intents
        if other and result.trace.decided_by == "exact":
            return self._matched(result)
        found = self._values(pending, repeated=result.intent == pending.intent)
        slots = {entity.slot for entity in found}
        if other and (pending.slot not in slots or _covered(found, self._input.text) < _MOST_OF_MESSAGE):
            return self._matched(result)
        entities = _joined(pending.entities, found)
        if pending.slot not in slots and _refuses(result, pending.intent):
            return self._declined(pending.intent, pending.language, result)
        if any(entity.slot == pending.slot for entity in found):
            slots_of = self._slots(pending.intent).values()
            single = [slot.name for slot in slots_of if takes_one_value(slot.kind)]
            again = alternatives(self._input.text, found, pending.language, single)
            left = tuple(pair for pair in pending.unsure if pair[0] not in slots)
            return self._with_intent(
                pending.intent,
                entities,
                pending.language,
                result,
                confirmed=pending.confirmed,
                unsure=(*again.items(), *left),
            )
        if pending.left > 0:
            return self._ask_value(replace(pending, entities=entities, left=pending.left - 1), result)
        return self._matched(result)

    def _values(self, pending: WhichValue, *, repeated: bool) -> list[Entity]:
        """Read the value of the requested slot from the message, and values of other slots by their own words.

        These are the missing slots; with `repeated`, when the message also says the intent, they are all slots.
        """
        known = {entity.slot for entity in pending.entities}
        slots = [slot for slot in self._slots(pending.intent).values() if slot.name != pending.slot]
        others = [slot.name for slot in slots if repeated or (slot.name not in known and slot.kind != "any")]
        return [*self._fill(self._input.text, pending.intent, [pending.slot], pending.language, others)]

    def _replied(self, pending: Confirmation) -> NextTurn:
        """Handle a message after a yes-or-no question: yes, no, another request, or none of these."""
        text = self._input.text
        if (number := choice_by_number(text, len(pending.choices))) is not None:
            return self._agreed(pending, number == 1)
        said = self._yes_or_no(text, pending)
        if said and (said.yes or (said.yes is False and self._ends_with_no(said.rest, pending))):
            return self._agreed(pending, bool(said.yes))
        return self._unclear(pending, said)

    def _unclear(self, pending: Confirmation, said: YesOrNo | None) -> NextTurn:
        """Handle a message that is no plain yes or no: ask again, or take it as a request."""
        text, phrases = self._input.text, self._phrases(pending.language)
        result = self._match(text)
        own = self._own_answer(result, pending, phrases)
        if own:
            said = self._yes_or_no(text, pending, self._own_yes(result.intent, pending.language))
            if said and said.yes:
                return self._agreed(pending, True, result)
        if own is False or _refuses(result, pending.intent):
            return self._agreed(pending, False, result)
        # "Yes, but ..." is no request for an intent that would not ask for itself.
        more = said is not None and (
            result.intent is None or (result.intent == pending.intent and not self._registry[pending.intent].confirm)
        )
        if not (own or more or result.verdict == "out_of_scope"):
            return self._matched(result)
        if pending.left > 0:
            return self._ask_whether(replace(pending, left=pending.left - 1), result, pending.intent)
        return NextTurn(Turn(text, result=result, language=pending.language))

    def _yes_or_no(self, text: str, pending: Confirmation, yes: Iterable[str] = ()) -> YesOrNo | None:
        """Read the answer; it may repeat the request, unless the request may have values."""
        intent = self._registry[pending.intent]
        request = [intent.label, *intent.titles.values()]
        if not intent.slots:
            said = fold(text)
            request += [line for line in self._lines(pending.intent) if fold(line) in said]
        return yes_or_no(text, self._spoken(pending.language), yes, request)

    def _ends_with_no(self, rest: str, pending: Confirmation) -> bool:
        """Whether what follows a no is no request for something else."""
        return not rest or self._match(rest).intent in (None, pending.intent)

    def _own_answer(self, result: MatchResult, pending: Confirmation, phrases: Phrases) -> bool | None:
        """Whether the message means the registry's own intent for yes (True) or for no (False): it has that word."""
        # "No, stop it" may be asked about, because it refuses as the intent for no does.
        named = result.rivals[0].intent if len(result.rivals) == 1 else result.intent
        if named is None or named == pending.intent:
            return None
        for yes, word in ((True, phrases.yes), (False, phrases.no)):
            own = self._match(word)
            if own.trace.decided_by == "exact" and own.intent == named:
                return yes
        return None

    def _own_yes(self, name: str | None, language: str | None) -> list[str]:
        """Return the lines of an intent that has the word for yes among them; no lines for another intent."""
        lines = self._lines(name)
        yes = {fold(one.yes) for one in self._spoken(language)}
        return lines if any(fold(line) in yes for line in lines) else []

    def _agreed(self, pending: Confirmation, yes: bool, result: MatchResult | None = None) -> NextTurn:
        name, language = pending.intent, pending.language
        if yes:
            return self._with_intent(name, pending.entities, language, result, confirmed=True)
        return self._declined(name, language, result)

    def _declined(self, name: str, language: str | None, result: MatchResult | None) -> NextTurn:
        reply = self._phrases(language).dropped
        return NextTurn(Turn(self._input.text, reply=reply, pending=name, result=result, language=language))

    def _ask_whether(
        self, pending: Confirmation, result: MatchResult | None, to_confirm: str | None = None
    ) -> NextTurn:
        """Ask a yes-or-no question; `to_confirm` is the intent if the message asked for it."""
        phrases, intent = self._phrases(pending.language), self._registry[pending.intent]
        title = intent.title_in(pending.language) or in_words(intent.name).capitalize()
        titles = zip(pending.choices, (phrases.yes, phrases.no), (intent.name, None), strict=True)
        turn = Turn(
            self._input.text,
            entities=pending.entities,
            reply=phrases.confirm.replace("{title}", title.strip(_QUESTION_MARKS)),
            choices=tuple(Choice(*column) for column in titles),
            pending=to_confirm,
            result=result,
            language=pending.language,
        )
        return NextTurn(turn, pending)

    def _spoken(self, language: str | None) -> tuple[Phrases, ...]:
        """Return the phrases that an answer may use: of the language of the question, and English."""
        return tuple(dict.fromkeys((self._phrases(language), self._phrases("en"))))

    def _lines(self, name: str | None) -> list[str]:
        return [line.text for line in self._registry[name].utterances] if name is not None else []

    def _match(self, message: str | Hypotheses, previous: str | None = None) -> MatchResult:
        if self._heard is not None and message == self._heard.message:
            return self._heard
        return self._matcher.match(message, context=self._input.context, now=self._input.now, previous=previous)

    def _with_intent(
        self,
        name: str,
        entities: tuple[Entity, ...],
        language: str | None,
        result: MatchResult | None,
        *,
        confirmed: bool = False,
        unsure: tuple[tuple[str, str], ...] = (),
    ) -> NextTurn:
        """Ask for the first missing required slot of an intent, then for confirmation, or return the intent.

        `unsure` are slots with alternatives, each with its question. They come before the missing ones.
        """
        intent = self._registry[name]
        if unsure:
            asked_again = {slot for slot, _ in unsure}
            entities = tuple(entity for entity in entities if entity.slot not in asked_again)
            left = self._options.attempts - 1
            return self._ask_value(WhichValue(name, unsure[0][0], entities, left, language, confirmed, unsure), result)
        known = {entity.slot for entity in entities}
        missing = next((slot for slot in intent.slots if slot.required and slot.name not in known), None)
        if missing is not None:
            left = self._options.attempts - 1
            return self._ask_value(WhichValue(name, missing.name, entities, left, language, confirmed), result)
        if intent.confirm and not confirmed:
            left = self._options.attempts - 1
            return self._ask_whether(Confirmation(name, entities, new_id(), left, language), result, name)
        responses = intent.responses_in(language)
        reply = None
        if responses:
            response = responses[0] if len(responses) == 1 else self._choose(name, responses)
            reply = _filled(response, entities)
        turn = Turn(self._input.text, name, entities, reply, result=result, language=language)
        return NextTurn(turn, Topic(name, entities, language))

    def _ask_value(self, pending: WhichValue, result: MatchResult | None) -> NextTurn:
        slot = self._slots(pending.intent)[pending.slot]
        question = (
            pending.alternatives
            or slot.question(pending.language)
            or self._phrases(pending.language).please_tell.replace("{slot}", in_words(slot.name))
        )
        turn = Turn(
            self._input.text,
            entities=pending.entities,
            reply=question,
            asks_for=slot.name,
            pending=pending.intent,
            result=result,
            language=pending.language,
        )
        return NextTurn(turn, pending)

    def _fill(
        self, text: str, intent: str, slots: list[str], language: str | None, others: Collection[str] | None = None
    ) -> tuple[Entity, ...]:
        if not slots:
            return ()
        return self._matcher.fill(text, intent, slots, others=others, language=language, now=self._input.now)

    def _phrases(self, language: str | None) -> Phrases:
        return phrases_for(language or self._input.language, self._options.phrases, self._registry.first_language)


def _unsure(result: MatchResult) -> tuple[tuple[str, str], ...]:
    """Return the slots for which a message names alternatives, each with the question for them."""
    found = {entity.slot for entity in result.entities}
    return tuple((one.slot, one.question) for one in result.missing if one.slot in found and one.question)


def _joined(known: tuple[Entity, ...], more: Iterable[Entity]) -> tuple[Entity, ...]:
    """Join known and new entities; a new entity replaces the known ones of its slot."""
    new = tuple(more)
    slots = {entity.slot for entity in new}
    return (*(entity for entity in known if entity.slot not in slots), *new)


def _covered(entities: Collection[Entity], text: str) -> float:
    """Return the share of a message that the entities cover."""
    return sum(len(entity.text) for entity in entities) / max(len(text.strip()), 1)


def _refuses(result: MatchResult, intent: str) -> bool:
    """Return whether the message says not to do what the intent does: then it is the only one to ask about."""
    return [rival.intent for rival in result.rivals] == [intent]


def _filled(response: str, entities: Collection[Entity]) -> str:
    """Replace each `{slot}` in a response by its value; a slot without a value stays as it is.

    Values of several parts, such as an amount of money, are shown in the user's words.
    """
    values = {one.slot: one.text if isinstance(one.value, Mapping) else str(one.value) for one in entities}
    return fill(response, values)
