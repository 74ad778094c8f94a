"""Turns of a conversation that ask or answer: what every message leads to, however it was understood."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from intentmatch.core.placeholders import fill, placeholders
from intentmatch.core.result import Entity, MatchResult, Part
from intentmatch.core.types import Intent, Slot, Value
from intentmatch.dialogue.answers import drops, stops
from intentmatch.dialogue.pending import Confirmation, Pending, Topic, WhichIntent, WhichValue, new_id
from intentmatch.dialogue.phrases import Phrases, phrases_for
from intentmatch.dialogue.turns import Choice, Turn
from intentmatch.matching.n_best import Hypotheses
from intentmatch.matching.snapshot import Snapshot
from intentmatch.text.normalize import in_words

_MOST_CHOICES = 4
# A message that sounds like another request is an answer all the same if values make up this share of it: "cuma günü".
_MOST_OF_MESSAGE = 0.4
_MOST_WORDS_OF_COUNT = 4
_QUESTION_MARKS = " ?？؟;¿"


@dataclass(frozen=True, slots=True)
class DialogueOptions:
    """Options of a dialogue."""

    attempts: int
    phrases: Mapping[str, Phrases]
    """The caller's phrases by language code."""
    resumes: bool = True
    """Whether an open question is asked once more behind the answer to another request."""


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


class TurnBuilder:
    """Makes the turns of one message: questions to the user, and answers."""

    def __init__(
        self,
        matcher: Snapshot,
        options: DialogueOptions,
        user_input: UserInput,
        choose: Choose,
        heard: MatchResult | None = None,
    ) -> None:
        """`heard` is the result for the text of the input, if that was matched already."""
        self.matcher, self.registry = matcher, matcher.registry
        self.input = user_input
        self._options, self._choose, self._heard = options, choose, heard

    def of_hypothesis(self, text: str, heard: MatchResult) -> TurnBuilder:
        """Return the builder for one of the hypotheses of the input; `heard` is the result for all of them."""
        chosen = replace(self.input, text=text)
        return TurnBuilder(self.matcher, self._options, chosen, self._choose, heard)

    def match(self, message: str | Hypotheses, previous: str | None = None) -> MatchResult:
        """Match a text in the context and at the time of the input."""
        # Matched once already, for the log and the inbox too, with what the turn before was about.
        if self._heard is not None and message == self._heard.message:
            return self._heard
        return self.matcher.match(message, context=self.input.context, now=self.input.now, previous=previous)

    def fill(
        self, text: str, intent: str, slots: list[str], language: str | None, others: Collection[str] | None = None
    ) -> tuple[Entity, ...]:
        """Read values of an intent's slots from a text, as `Matcher.fill`; none without slots."""
        if not slots:
            return ()
        return self.matcher.fill(text, intent, slots, others=others, language=language, now=self.input.now)

    def fill_bounded(self, text: str, intent: str, language: str | None) -> tuple[Entity, ...]:
        """Read values from a text that did not match the intent; not of free text, which would take it all."""
        slots = [slot.name for slot in self.slots(intent).values() if slot.kind != "any"]
        return self.fill(text, intent, slots, language)

    def corrected(
        self, text: str, intent: str, known: Collection[Entity], language: str | None, asked: Collection[str] = ()
    ) -> list[Entity]:
        """Read other values of slots than those that are known: "no, Tuesday instead".

        Beside a question for the slots `asked`, they need words of their own. Free text would take any words for one.
        """
        kinds = {name: slot.kind for name, slot in self.slots(intent).items()}
        names = [name for name in dict.fromkeys(one.slot for one in known) if kinds.get(name, "any") != "any"]
        if not names:
            return []
        found = self.fill(text, intent, [*asked] or names, language, names if asked else None)
        values = {one.slot: one.value for one in known}
        found = tuple(_with_unit_of(one, values.get(one.slot)) for one in found)
        pairs = [(one.slot, one.value) for one in known]
        return [one for one in found if one.slot in names and (one.slot, one.value) not in pairs]

    def recounted(self, text: str, intent: str, known: Collection[Entity], language: str | None) -> list[Entity]:
        """Read another number for the only number that is known, from a few words: "sorry, four I mean"."""
        kinds = {name: slot.kind for name, slot in self.slots(intent).items()}
        numbers = {one.slot: one.value for one in known if kinds.get(one.slot) == "number"}
        if len(numbers) != 1 or len(text.split()) > _MOST_WORDS_OF_COUNT:
            return []
        found = self.fill(text, intent, [*numbers], language, [])
        return [*found] if len(found) == 1 and found[0].value not in numbers.values() else []

    def slots(self, intent: str) -> Mapping[str, Slot]:
        """Return the slots of an intent by name; none for an intent that is gone."""
        return {slot.name: slot for slot in self.registry[intent].slots} if intent in self.registry else {}

    def lines(self, intent: str | None) -> list[str]:
        """Return the utterances of an intent as texts; none without an intent."""
        return [line.text for line in self.registry[intent].utterances] if intent is not None else []

    def phrases(self, language: str | None) -> Phrases:
        """Return what the bot says in a language."""
        return phrases_for(language or self.input.language, self._options.phrases, self.registry.first_language)

    def spoken(self, language: str | None) -> tuple[Phrases, ...]:
        """Return the phrases that an answer may use: of the language of the question, of the channel, and English."""
        # Users also answer in the language of their channel, and many a short answer is English everywhere.
        codes = (language, self.input.language or language, "en")
        return tuple(dict.fromkeys(self.phrases(code) for code in codes))

    def request(self, result: MatchResult) -> NextTurn:
        """Take the message as a request of its own, whatever was asked before."""
        language = result.language or self.input.language or self.registry.first_language
        several = list(dict.fromkeys(part.intent for part in result.parts))[:_MOST_CHOICES]
        if len(several) > 1:
            # One after the other: to answer the first alone would lose the second one without a word.
            pending = WhichIntent(self.input.text, tuple(several), new_id(), language, self._options.attempts - 1)
            return self.ask_which(pending, self.phrases(language).did_you_mean, result)
        if result.intent is not None:
            return self.proceed(result.intent, result.entities, language, result, unsure=alternatives_in(result))
        if len(result.rivals) == 1:
            # The message refuses the intent: ask whether it is meant all the same.
            name = result.rivals[0].intent
            found = self.fill_bounded(self.input.text, name, language)
            return self.ask_whether(Confirmation(name, found, new_id(), 0, language), result)
        if result.verdict == "ambiguous":
            names = tuple(rival.intent for rival in result.rivals[:_MOST_CHOICES])
            pending = WhichIntent(self.input.text, names, new_id(), language, self._options.attempts - 1)
            return self.ask_which(pending, self.phrases(language).did_you_mean, result)
        return NextTurn(Turn(self.input.text, result=result, language=language))

    def aside(self, pending: WhichValue | Confirmation, result: MatchResult) -> NextTurn:
        """Take the message as a request of its own, and ask the open question once more behind an answer.

        So "and when are you open?" loses no values. A question for a yes or a no stays open only where the user sees
        it again: "ok" would be an answer to it.
        """
        found, text = self.request(result), self.input.text
        turn, is_shown = found.turn, found.turn.reply is not None
        if (
            not self._options.resumes
            or turn.intent is None
            or pending.left <= 0
            or not (is_shown or isinstance(pending, WhichValue))
        ):
            return found
        if drops(text) or stops(text, self.spoken(pending.language)):
            return found
        pending = replace(pending, left=pending.left - 1)
        question = (
            self.ask_value(pending, result) if isinstance(pending, WhichValue) else self.ask_whether(pending, result)
        )
        return NextTurn(replace(turn, reply=turn.reply and f"{turn.reply}\n{question.turn.text}"), pending)

    def proceed(
        self,
        name: str,
        entities: tuple[Entity, ...],
        language: str | None,
        result: MatchResult | None,
        *,
        confirmed: bool = False,
        unsure: tuple[tuple[str, str], ...] = (),
    ) -> NextTurn:
        """Ask for the first missing required slot of an intent, then for confirmation, or answer the intent.

        `unsure` are slots with alternatives, each with its question. They come before the missing ones. `confirmed` is
        whether no confirmation is needed any more.
        """
        intent, left = self.registry[name], self._options.attempts - 1
        if unsure:
            asked_again = {slot for slot, _ in unsure}
            # The last of the alternatives would stand as the value.
            entities = tuple(entity for entity in entities if entity.slot not in asked_again)
            return self.ask_value(WhichValue(name, unsure[0][0], entities, left, language, confirmed, unsure), result)
        known = {entity.slot for entity in entities}
        missing = next((slot for slot in intent.slots if slot.required and slot.name not in known), None)
        if missing is not None:
            return self.ask_value(WhichValue(name, missing.name, entities, left, language, confirmed), result)
        if intent.confirm and not confirmed:
            return self.ask_whether(Confirmation(name, entities, new_id(), left, language), result, name)
        reply = self._reply(intent, entities, language)
        turn = Turn(self.input.text, name, entities, reply, result=result, language=language)
        # Kept for a message that does not stand alone, such as "and tomorrow?".
        return NextTurn(turn, Topic(name, entities, language))

    def _reply(self, intent: Intent, entities: Collection[Entity], language: str | None) -> str | None:
        """Return one of the intent's responses, if there are some, with its slots filled in.

        One whose slots all have a value goes first: "{count} {dish}!" beside "{dish}!".
        """
        responses = intent.responses_in(language)
        empty = {slot.name for slot in intent.slots}.difference(entity.slot for entity in entities)
        full = tuple(one for one in responses if empty.isdisjoint(name for name, _ in placeholders(one)))
        if not (responses := full or responses):
            return None
        response = responses[0] if len(responses) == 1 else self._choose(intent.name, responses)
        return _filled(response, entities)

    def decline(self, intent: str, language: str | None, result: MatchResult | None) -> NextTurn:
        """Say that an intent is dropped."""
        reply = self.phrases(language).dropped
        return NextTurn(Turn(self.input.text, reply=reply, pending=intent, result=result, language=language))

    def ask_which(self, pending: WhichIntent, heading: str, result: MatchResult | None) -> NextTurn:
        """Ask which of several intents is meant, below a heading."""
        language, names = pending.language, pending.intents
        titles = [self.registry[name].title_in(language) or in_words(name) for name in names]
        none = self.phrases(language).none_of_these
        columns = zip(pending.choices, [*titles, none], [*names, None], strict=True)
        choices = tuple(Choice(*column) for column in columns)
        turn = Turn(self.input.text, reply=heading, choices=choices, result=result, language=language)
        return NextTurn(turn, pending)

    def ask_whether(self, pending: Confirmation, result: MatchResult | None, to_confirm: str | None = None) -> NextTurn:
        """Ask a yes-or-no question with the values that are known, so that the user sees what a yes would do.

        `to_confirm` is the intent if the message asked for it.
        """
        phrases, intent = self.phrases(pending.language), self.registry[pending.intent]
        title = (intent.title_in(pending.language) or in_words(intent.name).capitalize()).strip(_QUESTION_MARKS)
        if pending.entities:
            # Of several values of a slot, the last one counts.
            values = {one.slot: one.text for one in pending.entities}
            shown = [values[slot.name] for slot in intent.slots if slot.name in values]
            title = f"{title}: {', '.join(shown)}"
        titles = zip(pending.choices, (phrases.yes, phrases.no), (intent.name, None), strict=True)
        turn = Turn(
            self.input.text,
            entities=pending.entities,
            # By `replace`, because a title may hold braces of its own; the question has marks of its own.
            reply=phrases.confirm.replace("{title}", title),
            choices=tuple(Choice(*column) for column in titles),
            pending=to_confirm,
            result=result,
            language=pending.language,
        )
        return NextTurn(turn, pending)

    def ask_value(self, pending: WhichValue, result: MatchResult | None) -> NextTurn:
        """Ask for the value of a slot, with the user's own alternatives if there are some."""
        slot = self.slots(pending.intent)[pending.slot]
        question = (
            pending.alternatives
            or slot.question(pending.language)
            or self.phrases(pending.language).please_tell.replace("{slot}", in_words(slot.name))
        )
        turn = Turn(
            self.input.text,
            entities=pending.entities,
            reply=question,
            asks_for=slot.name,
            pending=pending.intent,
            result=result,
            language=pending.language,
        )
        return NextTurn(turn, pending)


def alternatives_in(result: MatchResult | Part) -> tuple[tuple[str, str], ...]:
    """Return the slots for which a message, or a part of it, names alternatives, each with the question for them."""
    found = {entity.slot for entity in result.entities}
    return tuple((one.slot, one.question) for one in result.missing if one.slot in found and one.question)


def _with_unit_of(entity: Entity, known: Value | None) -> Entity:
    """Return a corrected amount without a unit with that of the value before: "30" after "20 euros" is 30 euros."""
    value = entity.value
    if not (isinstance(value, Mapping) and isinstance(known, Mapping)):
        return entity
    return replace(entity, value={key: known.get(key) if one is None else one for key, one in value.items()})


def joined(known: tuple[Entity, ...], more: Iterable[Entity]) -> tuple[Entity, ...]:
    """Join known and new entities; a new entity replaces the known ones of its slot."""
    new = tuple(more)
    slots = {entity.slot for entity in new}
    return (*(entity for entity in known if entity.slot not in slots), *new)


def is_other_request(result: MatchResult, intent: str, values: Collection[Entity]) -> bool:
    """Return whether a message with values of an intent's slots asks for another intent all the same."""
    intents = [result.intent] if result.intent else [rival.intent for rival in result.rivals]
    if not intents or intent in intents:
        return False
    # An utterance of another intent, word for word, is no value, whatever could be read from it.
    return result.trace.decided_by == "exact" or not make_up(values, result.message)


def make_up(values: Collection[Entity], text: str) -> bool:
    """Return whether values make up enough of a text to be what it says."""
    return sum(len(entity.text) for entity in values) / max(len(text.strip()), 1) >= _MOST_OF_MESSAGE


def refuses(result: MatchResult, intent: str) -> bool:
    """Return whether the message says not to do what the intent does: then it is the only one to ask about."""
    return [rival.intent for rival in result.rivals] == [intent]


def _filled(response: str, entities: Collection[Entity]) -> str:
    """Replace each `{slot}` in a response by its value; a slot without a value stays as it is.

    Values of several parts, such as an amount of money, are shown in the user's words.
    """
    values = {one.slot: one.text if isinstance(one.value, Mapping) else str(one.value) for one in entities}
    return fill(response, values)
