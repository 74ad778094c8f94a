"""What an author says, as values, and the two Protocols that third parties implement. Answers stand in `result`."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import InputError, Location
from intentmatch.text.normalize import fold, in_words, language_code, language_range

Vectors = NDArray[np.float32]
"""Rows of float32, one text a row: shape `(texts, dim)`."""

KeptVectors = NDArray[np.floating[Any]]
"""The same in float32 or float16, as the setting `vectors` has it."""

Kind = Literal["utterance", "query"]
"""What a text is to an asymmetric encoder: a line of the registry, or a message to be matched."""


SlotKind = Literal["list", "pattern", "number", "date", "time", "any"]


@dataclass(frozen=True, slots=True)
class Mark:
    """The value of a slot in an utterance: `text[start:end]`."""

    slot: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Utterance:
    """One example line of an author."""

    text: str
    """As the author wrote it, or one of the sentences that the author's template stands for."""
    language: str | None = None
    """BCP-47 code, or None where the author named none."""
    location: Location | None = None
    """Where it stands; None when it came from code."""
    template: str | None = None
    """What the author wrote, where `text` is one of the sentences that it stands for."""
    marks: tuple[Mark, ...] = ()
    """Where in `text` the values of slots stand, in their order."""

    def same_line(self, other: Utterance) -> bool:
        """Whether both are sentences of one line of their author."""
        return self.template is not None and (self.template, self.location) == (other.template, other.location)


@dataclass(frozen=True, slots=True)
class SlotValue:
    """One value of a slot of kind "list"."""

    value: str
    """What the bot gets, whatever the user said for it; it is itself something users say."""
    synonyms: tuple[Utterance, ...] = ()
    """What else users say for it, perhaps in one language only."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A piece of information that an intent needs: declared here, found in a message as an `Entity`."""

    name: str
    kind: SlotKind
    values: tuple[SlotValue, ...] = ()
    """Of a "list"."""
    patterns: tuple[str, ...] = ()
    """Of a "pattern": regular expressions, of which one must match."""
    examples: tuple[Utterance, ...] = ()
    """What stands for the slot when a template becomes a sentence; without any, a "list" has its values for that."""
    required: bool = False
    """Whether a matched intent asks for it where the message does not hold it."""
    questions: Mapping[str, str] = field(default_factory=dict)
    """Language code to what to ask then; the key "" holds a question without a language."""
    location: Location | None = None

    def question(self, language: str | None) -> str | None:
        """The question for a language or what it falls back to; else one without a language, English, any."""
        return _in_language(self.questions, language)


@dataclass(frozen=True, slots=True)
class Rule:
    """A named fragment of templates: `<day>`."""

    name: str
    templates: Mapping[str, str]
    """Language code to the fragment; the key "" holds one without a language."""
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Intent:
    """What a user may want, with the author's examples of it."""

    name: str
    utterances: tuple[Utterance, ...]
    negatives: tuple[Utterance, ...] = ()
    """Messages that look like this intent and are not: `not:` in the YAML."""
    title: str | None = None
    """Shown to users when the bot asks "did you mean ...?"."""
    description: str | None = None
    threshold: float | None = None
    """The author's own cut on the score; wins over every other threshold."""
    responses: Mapping[str, str] = field(default_factory=dict)
    """Language code to what the bot says; the key "" holds a response without a language."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """The author's own data, handed through untouched."""
    location: Location | None = None
    slots: tuple[Slot, ...] = ()
    """Those declared in the intent, and those of its file or folder that its utterances name."""
    when: tuple[str, ...] = ()
    """Tags of which one must be active for the intent to answer; none, where it always may."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Language code to the title, where the author gave more than one; `title` is then one of them."""

    @property
    def label(self) -> str:
        """What its author calls it: the title, or the name in words."""
        return self.title or in_words(self.name)

    def title_in(self, language: str | None) -> str | None:
        """The title for a language or what it falls back to; otherwise `title`."""
        wanted = language_range(language) if language and self.titles else ()
        return next((self.titles[code] for code in wanted if code in self.titles), self.title)

    def response(self, language: str | None) -> str | None:
        """The response for a language or what it falls back to; else one without a language, English, any."""
        return _in_language(self.responses, language)


@dataclass(frozen=True, slots=True)
class Case:
    """A message with the answer that its author expects: what an evaluation asks."""

    text: str
    expected: str | tuple[str, ...] | None
    """The intent; None for out of scope; several where the bot should ask which of them is meant."""
    language: str | None = None
    """BCP-47 code, for the tables: like any user, a case does not tell the matcher."""
    location: Location | None = None


@dataclass(frozen=True)
class Registry:
    """All intents of a bot, with the `settings:` and the `tests:` their author gave."""

    intents: tuple[Intent, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The merged `settings:` blocks, values still as text."""
    setting_locations: Mapping[str, Location] = field(default_factory=dict)
    tests: tuple[Case, ...] = ()
    """They change no answer, so neither the fingerprint nor an artefact knows of them."""
    slots: tuple[Slot, ...] = ()
    """Those declared for all intents; an intent has those that it uses."""
    rules: tuple[Rule, ...] = ()

    def __len__(self) -> int:
        return len(self.intents)

    def __iter__(self) -> Iterator[Intent]:
        return iter(self.intents)

    def __getitem__(self, name: str) -> Intent:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @cached_property
    def _by_name(self) -> dict[str, Intent]:
        return {intent.name: intent for intent in self.intents}

    @cached_property
    def utterances(self) -> tuple[Utterance, ...]:
        """All utterances, intent by intent: the order of the rows of every matrix that is made of them."""
        return tuple(utterance for intent in self.intents for utterance in intent.utterances)

    @cached_property
    def folded(self) -> tuple[str, ...]:
        """The lexical key of each of `utterances`."""
        return tuple(fold(utterance.text) for utterance in self.utterances)

    @cached_property
    def repeated(self) -> tuple[int, ...]:
        """The positions of those of `utterances` that have words and fold to the same as another: few, mostly."""
        keys = {key for key, times in Counter(self.folded).items() if times > 1} - {""}
        return tuple(row for row, key in enumerate(self.folded) if key in keys) if keys else ()

    @cached_property
    def owners(self) -> tuple[int, ...]:
        """For each of `utterances`, the position of its intent."""
        return tuple(number for number, intent in enumerate(self.intents) for _ in intent.utterances)

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """For each of `utterances`, the position of the first sentence of the same line of their author."""
        return _lines(self.utterances, self.owners)

    @cached_property
    def negatives(self) -> tuple[Utterance, ...]:
        """All negative utterances, in the same order."""
        return tuple(negative for intent in self.intents for negative in intent.negatives)

    @cached_property
    def negative_owners(self) -> tuple[int, ...]:
        """For each of `negatives`, the position of its intent."""
        return tuple(number for number, intent in enumerate(self.intents) for _ in intent.negatives)

    @cached_property
    def negative_lines(self) -> tuple[int, ...]:
        """As `lines`, for `negatives`."""
        return _lines(self.negatives, self.negative_owners)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages that utterances are written in, sorted."""
        return tuple(sorted({utterance.language for utterance in self.utterances if utterance.language}))

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """Those that any intent waits for, sorted."""
        return tuple(sorted({tag for intent in self.intents for tag in intent.when}))

    @cached_property
    def fingerprint(self) -> str:
        """Hex digest of everything in the registry that can change an answer; places in files do not count."""
        content = [
            [
                intent.name,
                [_said(utterance) for utterance in intent.utterances],
                [_said(negative) for negative in intent.negatives],
                intent.title,
                intent.description,
                intent.threshold,
                dict(intent.responses),
                dict(intent.metadata),
                [_declared(slot) for slot in intent.slots],
                intent.when,
                *([dict(intent.titles)] if intent.titles else []),
            ]
            for intent in self.intents
        ]
        rules = [[rule.name, dict(rule.templates)] for rule in self.rules]
        text = json.dumps([content, dict(self.settings), rules], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@runtime_checkable
class Encoder(Protocol):
    """Text to vectors. The laws are in `tests/contracts/encoder.py` and hold for every implementation.

    Some more members are optional. Two are looked for by `languages.Coverage` alone: `languages: frozenset[str] | None`
    are the BCP-47 codes that the encoder was trained on, None where it does not say, and `unknown(text: str) -> str`
    gives the letters of a cleaned text that it cannot read, in their order. `nested: bool` says that the first numbers
    of a vector are a smaller vector of the text, once they are scaled to unit length. `batches: bool` says that many
    texts are encoded in less time together than one by one, so that messages which arrive together had better be.
    `same_as(fingerprint: str) -> bool` says whether vectors under another fingerprint are its own too, for an encoder
    that is told by its vectors alone, whose last digits move. `texts_at_once: int` is how many a build
    should give it in one call.
    """

    @property
    def name(self) -> str:
        """For people: the kind of encoder and its model."""

    @property
    def dim(self) -> int:
        """Numbers in a vector."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the vectors do: weights, pooling, prompts, truncation, normalisation."""

    @property
    def tolerance(self) -> float:
        """How far a number may move between batches, devices or precisions of this encoder."""

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Shape `(len(texts), dim)`, rows in the order of the texts, each of unit length.

        A text that the encoder knows nothing about (an empty one, say) is a row of zeros.
        """


@runtime_checkable
class Reranker(Protocol):
    """A slower, better judge of whether a message and an utterance mean the same."""

    @property
    def name(self) -> str:
        """For people: the kind of reranker and its model."""

    def score(self, message: str, utterances: Sequence[str]) -> NDArray[np.float32]:
        """One number in [0, 1] for each utterance; shape `(len(utterances),)`."""


def _lines(utterances: Sequence[Utterance], owners: Sequence[int]) -> tuple[int, ...]:
    firsts: dict[tuple[int, str, Location | None], int] = {}
    return tuple(
        row if one.template is None else firsts.setdefault((owner, one.template, one.location), row)
        for row, (one, owner) in enumerate(zip(utterances, owners, strict=True))
    )


def _said(utterance: Utterance) -> list[Any]:
    if utterance.template is None and not utterance.marks:
        return [utterance.text, utterance.language]
    marks = [[mark.slot, mark.start, mark.end] for mark in utterance.marks]
    return [utterance.text, utterance.language, utterance.template, marks]


def _declared(slot: Slot) -> list[Any]:
    """All of a slot but its examples, which the sentences hold."""
    values = [[value.value, [_said(synonym) for synonym in value.synonyms]] for value in slot.values]
    return [slot.name, slot.kind, values, slot.patterns, slot.required, dict(slot.questions)]


def _in_language(texts: Mapping[str, str], language: str | None) -> str | None:
    wanted = language_range(language) if language else ()
    for key in (*wanted, "", "en", *texts):
        if key in texts:
            return texts[key]
    return None


def checked_language_code(code: str) -> str:
    """Return a BCP-47 code in its usual case. Raises `InputError` if it is none."""
    known = language_code(code)
    if known is None:
        raise InputError(f"{code!r} is not a language code; use BCP-47, such as en, pt-BR or zh-Hant")
    return known
