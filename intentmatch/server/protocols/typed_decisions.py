"""Typed decisions: how likely each option of a question is, by the registry's intents and by the options' texts.

An option with the name of an intent has the calibrated confidence of that intent. What the confidences leave of 1 is
the probability of no intent: it goes to an option such as `none`, or to the options that are no intents, by the
similarity of their text, or in equal parts to all options.

A question with the name or the words of one of the registry's `questions:` is decided by it: an option with the name of
an answer has the calibrated confidence of that answer, and what these leave of 1 goes the same way.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from intentmatch.core.result import MatchResult
from intentmatch.core.types import Registry, TraitQuestion, Vectors
from intentmatch.encoders.encode import encode_all
from intentmatch.matching.options import MatchOptions
from intentmatch.server.bots.bot import Bot
from intentmatch.server.protocols.host import ProtocolHost, confidence, refused
from intentmatch.text.normalize import clean, fold, in_words

MAX_QUESTIONS = 400
MAX_OPTIONS = 255
NONE = "none"

# Slope of the softmax over cosine similarities of a message and names of intents that have no lines. Between 14 and 20
# for the embedded encoder and MiniLM on clinc150, banking77 and massive (development parts), with 3 to 150 options.
_SLOPE = 17.0
_NO_INTENT = frozenset({NONE, "none of these", "none of the above", "other", "something else", "out of scope"})
# Probability of an intent that the message names but the bot would not act on, such as one that is refused.
_NOT_MATCHED = 0.5
# Also the most that a request may have: 60,000 texts in one kept the encoder busy for seven seconds, a
# way around the limit of a batch.
_KEPT_TEXTS = 4096

Probabilities = NDArray[np.float64]


class StrictModel(BaseModel):
    """A part of a request. A number is no text and a text is no number."""

    model_config = ConfigDict(frozen=True, strict=True)


@dataclass(frozen=True, slots=True)
class Option:
    """An answer to choose from."""

    name: str
    description: str = ""

    @property
    def text(self) -> str:
        """What the option is compared by where it is no intent."""
        words = in_words(self.name)
        return clean(f"{words}: {self.description}" if self.description and words else self.description or words)


class Decider:
    """What is known about one message: the result of the registry, and how close it is to texts."""

    def __init__(
        self,
        named: Mapping[str, str],
        result: MatchResult,
        vectors: Mapping[str, Vectors],
        questions: Sequence[TraitQuestion] = (),
    ) -> None:
        self.result = result
        self._questions = {fold(text): each for each in reversed(questions) for text in _words_of(each)}
        self._named = named
        self._vectors = vectors
        self._confidences = _confidences(result)
        # Many questions may have the same options: all intents, if they have none of their own.
        self._intents: dict[tuple[Option, ...], list[str | None]] = {}
        self._probabilities: dict[tuple[Option, ...], Probabilities] = {}

    def question(self, texts: Iterable[str | None], options: Sequence[Option] = ()) -> TraitQuestion | None:
        """Return the registry's question that one of `texts` names; None if no option is an answer of it."""
        found = next((self._questions[fold(text)] for text in texts if text and fold(text) in self._questions), None)
        return found if found is None or not options or any(_answers_of(found, options)) else None

    def trait_probabilities(self, asked: TraitQuestion, options: Sequence[Option]) -> Probabilities:
        """Return the probability of each option of a question of the registry, in [0, 1] and adding up to 1."""
        return self._shared_out(options, _answers_of(asked, options), self.result.traits[asked.name].confidences)

    def yes(self, asked: TraitQuestion | None) -> float | None:
        """Return how likely a message says yes to a question of the registry; None if it has other answers."""
        return None if asked is None or asked.yes is None else self.result.traits[asked.name].confidences[asked.yes]

    def intents(self, options: Sequence[Option]) -> list[str | None]:
        """Return the intent of each option; None if it is no intent, or if an option before it has this intent."""
        key = tuple(options)
        if key not in self._intents:
            self._intents[key] = intents_of(self._named, options)
        return self._intents[key]

    def probabilities(self, options: Sequence[Option]) -> Probabilities:
        """Return the probability of each option, in [0, 1] and adding up to 1."""
        key = tuple(options)
        if key not in self._probabilities:
            self._probabilities[key] = self._shared_out(options, self.intents(options), self._confidences)
        return self._probabilities[key]

    def _shared_out(
        self, options: Sequence[Option], names: Sequence[str | None], confidences: Mapping[str, float]
    ) -> Probabilities:
        """Share 1 out among options; `names` are those of intents or answers with their confidences."""
        known = np.array([0.0 if name is None else confidences.get(name, 0.0) for name in names])
        # Scores of a registry without calibration may add up to more, and confidences of several requests.
        known /= max(1.0, float(known.sum()))
        rest = 1.0 - float(known.sum())
        others = [number for number, name in enumerate(names) if name is None]
        empty = [number for number in others if fold(in_words(options[number].name)) in _NO_INTENT]
        if len(others) < len(options) and (empty or not others):
            known[empty or slice(None)] += rest / (len(empty) or len(options))
        else:
            known[others] += rest * _softmax(np.array([self.similarity(options[number].text) for number in others]))
        shares: Probabilities = known / known.sum()
        return shares

    def likelihood(self, texts: Sequence[str], against: str | None) -> float:
        """Return how likely one of `texts` describes the message rather than the text `against`.

        A text that names an intent has its confidence. None and "" stand for texts of average similarity.
        """
        for text in texts:
            if (name := self._named.get(fold(text))) is not None:
                return min(1.0, self._confidences.get(name, 0.0))
        close = max((self.similarity(clean(text)) for text in texts if text), default=_AVERAGE)
        other = _AVERAGE if against is None else self.similarity(clean(against))
        return float(_softmax(np.array([close, other]))[0])

    def is_known(self, text: str) -> bool:
        """Whether a text is the name, title or description of an intent."""
        return fold(text) in self._named

    def similarity(self, text: str) -> float:
        """Return the cosine similarity of the message and a text; 0 if one of them has no word."""
        vector = self._vectors.get(text) if text else None
        return 0.0 if vector is None else float(vector @ self._vectors[""])


# Cosine similarity of a message and a text that has nothing to do with it but the domain.
_AVERAGE = 0.25


class Deciders:
    """Makes a decider for each message; keeps the vectors of texts, because callers send the same options again."""

    def __init__(self, host: ProtocolHost) -> None:
        self._host = host
        # By the fingerprint of the encoder too, which a reload may change.
        self._kept: OrderedDict[tuple[str, str], Vectors] = OrderedDict()

    async def about(
        self, bot: Bot, message: str, options: Iterable[Sequence[Option]], texts: Iterable[str] = ()
    ) -> Decider:
        """Match a message, and compare it with the options that are no intents and with other texts.

        Raises `ProblemError`: 400 if a text is too long or there are too many, 503 as `Bot.match` does.
        """
        registry = bot.matcher.registry
        result = await self._host.match(bot, message, MatchOptions(top_k=max(1, len(registry))))
        named = _names(registry)
        # A hundred thousand options take seconds, in which the event loop has other callers.
        unknown = await asyncio.to_thread(self._unknown, named, options, texts)
        return Decider(named, result, await self._vectors(bot, message, unknown), registry.questions)

    def _unknown(
        self, named: Mapping[str, str], options: Iterable[Sequence[Option]], texts: Iterable[str]
    ) -> list[str]:
        """Return the texts that no intent has."""
        unknown = [clean(text) for text in texts if fold(text) not in named]
        for offered in options:
            intents = intents_of(named, offered)
            unknown += [option.text for option, intent in zip(offered, intents, strict=True) if intent is None]
        for text in unknown:
            self._host.check_length(text)
        if (count := len({*unknown})) > _KEPT_TEXTS:
            raise refused(
                400, f"{count} different options are no intents; at most {_KEPT_TEXTS} may be in one request."
            )
        return unknown

    async def _vectors(self, bot: Bot, message: str, texts: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the vector of the message, at the key "", and of each text."""
        encoder = bot.matcher.encoder
        wanted = dict.fromkeys(filter(None, texts))
        found = {
            text: self._kept[encoder.fingerprint, text] for text in wanted if (encoder.fingerprint, text) in self._kept
        }
        new = [text for text in wanted if text not in found]
        # Some encoders encode a question in another way than what it is compared with.
        (asked,) = await bot.in_parts([clean(message)], lambda part: list(encode_all(encoder, part, "query")))
        if new:
            encoded = await bot.in_parts(new, lambda part: list(encode_all(encoder, part, "utterance")))
            found |= dict(zip(new, encoded, strict=True))
        for text, vector in found.items():
            self._kept[encoder.fingerprint, text] = vector
            self._kept.move_to_end((encoder.fingerprint, text))
        while len(self._kept) > _KEPT_TEXTS:
            self._kept.popitem(last=False)
        return {**found, "": asked}


def intent_options(registry: Registry) -> list[Option]:
    """Return the options of a question that has none of its own: every intent, and none of them."""
    return [*(Option(intent.name, intent.description or "") for intent in registry), Option(NONE)]


def answer_options(asked: TraitQuestion) -> list[Option]:
    """Return the options of a question of the registry, if the caller sends none: every answer, and none of them."""
    return [*map(Option, asked.answers), Option(NONE)]


def _words_of(question: TraitQuestion) -> list[str]:
    """The texts that name a question: its name, and the question in words."""
    return [text for text in (question.text, in_words(question.name), question.name) if text and fold(text)]


def _answers_of(asked: TraitQuestion, options: Sequence[Option]) -> list[str | None]:
    """Return the answer that each option names, each answer once."""
    return intents_of(
        {text: name for name in asked.answers for text in (fold(name), fold(in_words(name)), name)}, options
    )


def intents_of(named: Mapping[str, str], options: Sequence[Option]) -> list[str | None]:
    """Return the intent of each option, each intent once."""
    found: list[str | None] = []
    for option in options:
        name = named.get(option.name) or named.get(fold(option.name)) or named.get(fold(in_words(option.name)))
        found.append(None if name in found else name)
    return found


def count_words(message: str, options: Iterable[Sequence[Option]], texts: Iterable[str] = ()) -> int:
    """Return how many words a request has: those of the message, of its options and of other texts."""
    all_texts = [message, *texts, *(option.text for offered in options for option in offered)]
    return sum(len(text.split()) for text in all_texts)


def mean_level(probabilities: Probabilities) -> float:
    """Return the mean of the levels 0, 1, 2 ... by their probabilities."""
    return float(sum(level * p for level, p in enumerate(probabilities.tolist())))


def choice_confidence(probabilities: Probabilities) -> float:
    """Return how far the best option is above chance: 0 if all are as likely, 1 if one is certain."""
    count = len(probabilities)
    return 1.0 if count < 2 else max(0.0, (float(probabilities.max()) - 1 / count) / (1 - 1 / count))


def score_confidence(probabilities: Probabilities) -> float:
    """Return how close the levels are to the likeliest one: 1 if it is certain, 0 if all are as likely."""
    levels = np.arange(len(probabilities))
    if len(levels) < 2:
        return 1.0
    spread = float(probabilities @ abs(levels - int(probabilities.argmax())))
    return max(0.0, 1 - spread / float(abs(levels - levels.mean()).mean()))


def text_of(value: Any) -> str:
    """Return the texts and numbers of a JSON value in their order; a text as it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "; ".join(filter(None, map(text_of, value.values())))
    if isinstance(value, Sequence):
        return "; ".join(filter(None, map(text_of, value)))
    return "" if value is None or isinstance(value, bool) else str(value)


def message_of(state: Any) -> str:
    """Return the message that a state holds: the last one of the user in a conversation, otherwise all of its text."""
    if isinstance(state, Sequence) and not isinstance(state, str):
        turns = [turn for turn in state if isinstance(turn, Mapping) and turn.get("role") == "user"]
        if turns and "content" in turns[-1]:
            return text_of([_spoken(part) for part in _listed(turns[-1]["content"])])
    return text_of(state)


def _spoken(part: Any) -> Any:
    """The text or data of a part of a message; other keys say what kind of part it is."""
    if isinstance(part, Mapping) and isinstance(part.get("type"), str):
        return part.get("text", part.get("data"))
    return part


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _names(registry: Registry) -> dict[str, str]:
    """Names, titles and descriptions of intents, folded, with the intent; a name goes before a title."""
    names = {intent.name: intent.name for intent in registry}
    forms = [(in_words(intent.name), intent.name, intent.title, intent.description) for intent in registry]
    # Kind by kind over all intents: the name of one goes before the title of another.
    for texts in zip(*forms, strict=True):
        for intent, text in zip(registry, texts, strict=True):
            if key := fold(text or ""):
                names.setdefault(key, intent.name)
    return names


def _confidences(result: MatchResult) -> dict[str, float]:
    """The probability of each candidate; without calibration, the best score shared by the scores."""
    values = {candidate.intent: confidence(candidate) for candidate in result.candidates}
    if result.confidence is None and values:
        best = max(values.values())
        values = dict(zip(values, (best * _softmax(np.array(list(values.values())))).tolist(), strict=True))
    if result.verdict != "matched":
        values = {name: min(value, _NOT_MATCHED) for name, value in values.items()}
    return values


def _softmax(similarities: Probabilities) -> Probabilities:
    raised = np.exp(_SLOPE * (similarities - similarities.max()))
    shared: Probabilities = raised / raised.sum()
    return shared
