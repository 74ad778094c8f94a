"""Registry types (intents, utterances, slots) and the protocols `Encoder` and `Reranker`.

Match results are in `core.result`.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import InputError, Location
from intentmatch.languages.country_codes import language_named
from intentmatch.languages.own import OwnLanguages
from intentmatch.text.normalize import base_language, fold, in_words, language_code, language_range

Vectors = NDArray[np.float32]
"""float32 array of shape `(texts, dim)`: one row per text."""

KeptVectors = NDArray[np.floating[Any]]
"""float32 or float16 array of shape `(texts, dim)`, according to the setting `vectors`."""

_Text = TypeVar("_Text")

Kind = Literal["utterance", "query"]
"""The role of a text for an asymmetric encoder: an utterance of the registry, or a message (query)."""


SlotKind = Literal[
    "list",
    "pattern",
    "number",
    "ordinal",
    "date",
    "time",
    "datetime",
    "duration",
    "money",
    "temperature",
    "email",
    "phone",
    "url",
    "any",
]
DAY_KINDS = frozenset[SlotKind](["date", "datetime"])
"""Kinds whose words come with the extra `dates`."""

Value = str | int | float | Mapping[str, str | int | float | None]
"""The value of a slot: a mapping of JSON values for amounts of money, temperatures and ranges of time."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The span of a slot value in an utterance: `text[start:end]`."""

    slot: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Utterance:
    """One example sentence of an intent."""

    text: str
    """The author's line, or one sentence of the expanded template."""
    language: str | None = None
    """BCP-47 code; None if the author named none."""
    location: Location | None = None
    """Position in the YAML; None if the utterance was made in code."""
    template: str | None = None
    """The author's template, if `text` is one of the sentences it expands to."""
    marks: tuple[Mark, ...] = ()
    """Spans of slot values in `text`, in order."""

    def same_line(self, other: Utterance) -> bool:
        """Return whether both utterances come from the same template line."""
        return self.template is not None and (self.template, self.location) == (other.template, other.location)


@dataclass(frozen=True, slots=True)
class SlotValue:
    """One value of a slot of kind "list"."""

    value: str
    """The normalised value that the bot receives. It is found in messages too, like its synonyms."""
    synonyms: tuple[Utterance, ...] = ()
    """Other words for the value. A synonym with a language holds for that language only."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Declaration of a slot, a piece of information that an intent needs. Its values in messages are `Entity`."""

    name: str
    kind: SlotKind
    values: tuple[SlotValue, ...] = ()
    """The values of a slot of kind "list"."""
    patterns: tuple[str, ...] = ()
    """Regular expressions of a slot of kind "pattern"; one of them must match."""
    examples: tuple[Utterance, ...] = ()
    """Texts that fill the slot when a template is expanded. A "list" without examples uses its values."""
    required: bool = False
    """Whether the bot asks for the slot if the message has no value for it."""
    questions: Mapping[str, str] = field(default_factory=dict)
    """Language code to the question that asks for the slot; the key "" holds a question without a language."""
    location: Location | None = None

    def question(self, language: str | None) -> str | None:
        """Return the question for a language: its own, a fallback's, one without language, English, any; or None."""
        return _in_language(self.questions, language)


@dataclass(frozen=True, slots=True)
class Rule:
    """A named template fragment, written `<day>` in templates."""

    name: str
    templates: Mapping[str, str]
    """Language code to the fragment; the key "" holds a fragment without a language."""
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Intent:
    """Something a user may want, with example utterances."""

    name: str
    utterances: tuple[Utterance, ...]
    negatives: tuple[Utterance, ...] = ()
    """Messages that look like this intent but are not: `not:` in the YAML."""
    title: str | None = None
    """Shown to users when the bot asks "did you mean ...?"."""
    description: str | None = None
    threshold: float | str | None = None
    """Threshold of this intent, overrides every other: a number is on the score, a text like "90%" on the
    confidence."""
    responses: Mapping[str, str] = field(default_factory=dict)
    """Language code to the bot's response; the key "" holds a response without a language."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """The author's own data, passed through unchanged."""
    location: Location | None = None
    slots: tuple[Slot, ...] = ()
    """The slots declared in the intent, and the shared slots that its utterances use."""
    when: tuple[str, ...] = ()
    """Tags; one of them must be active for the intent to match. Empty: the intent can always match."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Language code to title, if the author gave more than one; `title` is one of them."""
    confirm: bool = False
    """Whether a `Dialogue` asks the user to confirm the intent before the bot acts. Added in 0.3.0."""
    more_responses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Language code to further variants of the response in `responses`, if the author listed several. Added in
    0.3.0."""
    described: tuple[Utterance, ...] = ()
    """Title and description, where they are read beside the utterances because the intent has few or none. Added in
    0.3.0."""
    excluded: tuple[Utterance, ...] = ()
    """What such a description excludes ("refunds, but not pricing questions"), read beside the negatives. Added in
    0.3.0."""

    @property
    def all_utterances(self) -> tuple[Utterance, ...]:
        """The utterances, followed by what is `described`. Added in 0.3.0."""
        return (*self.utterances, *self.described)

    @property
    def all_negatives(self) -> tuple[Utterance, ...]:
        """The negatives, followed by what is `excluded`. Added in 0.3.0."""
        return (*self.negatives, *self.excluded)

    @property
    def label(self) -> str:
        """The title, or the name in words if there is none."""
        return self.title or in_words(self.name)

    def title_in(self, language: str | None) -> str | None:
        """Return the title for a language or its fallbacks; otherwise `title`."""
        wanted = language_range(language) if language and self.titles else ()
        return next((self.titles[code] for code in wanted if code in self.titles), self.title)

    @property
    def all_responses(self) -> dict[str, tuple[str, ...]]:
        """Language code to all variants of the response, in the author's order. Added in 0.3.0."""
        return {code: (text, *self.more_responses.get(code, ())) for code, text in self.responses.items()}

    def responses_in(self, language: str | None) -> tuple[str, ...]:
        """Return the variants for a language: its own, a fallback's, those without language, English, any; or none.

        Added in 0.3.0.
        """
        if not self.more_responses:
            text = _in_language(self.responses, language)
            return () if text is None else (text,)
        return _in_language(self.all_responses, language) or ()

    def response(self, language: str | None) -> str | None:
        """Return the first of `responses_in`, or None."""
        return next(iter(self.responses_in(language)), None)

    def response_to(self, message: str, language: str | None) -> str | None:
        """Return one of `responses_in`, always the same one for a message; None if there is none.

        The CRC-32 of the message chooses, so that different messages get different variants.

        Added in 0.3.0.
        """
        variants = self.responses_in(language)
        if len(variants) > 1:
            # `hash` of a text differs from process to process. Messages may hold lone surrogates, which UTF-8 has no
            # form for.
            return variants[zlib.crc32(message.encode("utf-8", "surrogatepass")) % len(variants)]
        return variants[0] if variants else None


@dataclass(frozen=True, slots=True)
class TraitQuestion:
    """A question that every message is asked beside its intent. What a message says to it is a `Trait`.

    Added in 0.3.0.
    """

    name: str
    answers: Mapping[str, tuple[Utterance, ...]]
    """Example lines by answer."""
    text: str | None = None
    """The question in words, shown to people: "Is it urgent?"."""
    location: Location | None = None

    @property
    def lines(self) -> tuple[Utterance, ...]:
        """The lines of all answers, answer by answer."""
        return tuple(line for lines in self.answers.values() for line in lines)

    @property
    def owners(self) -> tuple[int, ...]:
        """The position of each line's answer, in the order of `lines`."""
        return tuple(number for number, lines in enumerate(self.answers.values()) for _ in lines)

    @property
    def yes(self) -> str | None:
        """The answer that says yes, if the question has the two answers yes and no, or true and false."""
        names = {fold(name): name for name in self.answers}
        return next((names[yes] for yes, no in (("yes", "no"), ("true", "false")) if {*names} == {yes, no}), None)


@dataclass(frozen=True, slots=True)
class Case:
    """A test message with its expected answer, for evaluation."""

    text: str
    expected: str | tuple[str, ...] | None
    """The expected intent; None for out-of-scope; several if the bot should ask which one is meant."""
    language: str | None = None
    """BCP-47 code for grouping results. It is not passed to the matcher."""
    location: Location | None = None


@dataclass(frozen=True)
class Registry:
    """All intents of a bot, with the `settings:` and `tests:` blocks of its YAML."""

    intents: tuple[Intent, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The merged `settings:` blocks; values are unparsed text."""
    setting_locations: Mapping[str, Location] = field(default_factory=dict)
    tests: tuple[Case, ...] = ()
    """Test cases. Fingerprint and artefacts leave them out, unless confidences are learned from them."""
    slots: tuple[Slot, ...] = ()
    """Slots declared for all intents. `Intent.slots` lists the ones that an intent uses."""
    rules: tuple[Rule, ...] = ()
    own_sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Language code to the sections of its words that the bot adds or replaces: the `languages:` blocks of its YAML.
    Added in 0.3.0."""
    questions: tuple[TraitQuestion, ...] = ()
    """What every message is asked beside its intent. Added in 0.3.0."""

    def __len__(self) -> int:
        return len(self.intents)

    def __iter__(self) -> Iterator[Intent]:
        return iter(self.intents)

    def __getitem__(self, name: str) -> Intent:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def keeping(self, rows: Collection[int], without_negatives: Collection[int] = ()) -> Registry:
        """Return the registry with only the utterances at `rows`, and without the negatives at `without_negatives`.

        Added in 0.3.0.
        """
        places, of_negatives = count(), count()
        kept = (
            replace(
                intent,
                utterances=tuple(line for line in intent.utterances if next(places) in rows),
                described=tuple(line for line in intent.described if next(places) in rows),
                negatives=tuple(line for line in intent.negatives if next(of_negatives) not in without_negatives),
                excluded=tuple(line for line in intent.excluded if next(of_negatives) not in without_negatives),
            )
            for intent in self.intents
        )
        return replace(self, intents=tuple(kept))

    @cached_property
    def _by_name(self) -> dict[str, Intent]:
        return {intent.name: intent for intent in self.intents}

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The position of each intent by its name. Added in 0.3.0."""
        return {intent.name: position for position, intent in enumerate(self.intents)}

    @cached_property
    def utterances(self) -> tuple[Utterance, ...]:
        """All utterances, intent by intent, with what is `described`. Rows of vector matrices have this order."""
        return tuple(utterance for intent in self.intents for utterance in intent.all_utterances)

    @cached_property
    def is_described(self) -> tuple[bool, ...]:
        """Whether each of `utterances` is the title or description of its intent. Added in 0.3.0."""
        return _are_added((intent.utterances, intent.described) for intent in self.intents)

    @property
    def utterance_count(self) -> int:
        """Number of utterances, without what is `described`. Added in 0.3.0."""
        return self.is_described.count(False)

    @cached_property
    def folded(self) -> tuple[str, ...]:
        """The folded text of each utterance, in the order of `utterances`."""
        return tuple(fold(utterance.text) for utterance in self.utterances)

    @cached_property
    def repeated(self) -> tuple[int, ...]:
        """Positions of utterances whose folded text is not empty and occurs more than once."""
        keys = {key for key, count in Counter(self.folded).items() if count > 1} - {""}
        return tuple(row for row, key in enumerate(self.folded) if key in keys) if keys else ()

    @cached_property
    def owners(self) -> tuple[int, ...]:
        """The position of each utterance's intent, in the order of `utterances`."""
        return tuple(number for number, intent in enumerate(self.intents) for _ in intent.all_utterances)

    @cached_property
    def lines(self) -> tuple[int, ...]:
        """The position of the first utterance from the same template line, for each of `utterances`."""
        return first_of_line(self.utterances, self.owners)

    @cached_property
    def negatives(self) -> tuple[Utterance, ...]:
        """All negatives, intent by intent, with what is `excluded`."""
        return tuple(negative for intent in self.intents for negative in intent.all_negatives)

    @cached_property
    def is_excluded(self) -> tuple[bool, ...]:
        """Whether each of `negatives` is what the description of its intent excludes. Added in 0.3.0."""
        return _are_added((intent.negatives, intent.excluded) for intent in self.intents)

    @cached_property
    def negative_owners(self) -> tuple[int, ...]:
        """The position of each negative's intent, in the order of `negatives`."""
        return tuple(number for number, intent in enumerate(self.intents) for _ in intent.all_negatives)

    @cached_property
    def negative_lines(self) -> tuple[int, ...]:
        """The position of the first negative from the same template line, for each of `negatives`."""
        return first_of_line(self.negatives, self.negative_owners)

    @cached_property
    def question_lines(self) -> tuple[Utterance, ...]:
        """The lines of all `questions`, question by question. Added in 0.3.0."""
        return tuple(line for question in self.questions for line in question.lines)

    @cached_property
    def first_language(self) -> str | None:
        """The language of the first utterance that names one: the bot's, if that of a message cannot be told.

        Added in 0.3.0.
        """
        return next((utterance.language for utterance in self.utterances if utterance.language), None)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Language codes of all utterances, sorted."""
        return tuple(sorted({utterance.language for utterance in self.utterances if utterance.language}))

    @cached_property
    def own_languages(self) -> OwnLanguages:
        """The languages as this bot reads them, from `own_sections`. Added in 0.3.0."""
        return OwnLanguages(self.own_sections, base_language)

    @cached_property
    def languages_as_read(self) -> tuple[str, ...]:
        """The codes under which the words of `languages` are read, in the same order. Added in 0.3.0."""
        return tuple(filter(None, map(self.own_languages.code, self.languages)))

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """All tags used in `when` of any intent, sorted."""
        return tuple(sorted({tag for intent in self.intents for tag in intent.when}))

    @cached_property
    def tests_content(self) -> list[list[Any]]:
        """Message, expected intents and language of each test, as plain JSON values. Added in 0.3.0."""
        return [[case.text, case.expected, case.language] for case in self.tests]

    @cached_property
    def fingerprint(self) -> str:
        """Hex digest (16 characters) of all content that can change an answer. Locations are left out.

        So are the tests, unless the `settings:` say `out_of_scope_share: tests`.
        """
        content = [
            [
                intent.name,
                [_utterance_content(utterance) for utterance in intent.utterances],
                [_utterance_content(negative) for negative in intent.negatives],
                intent.title,
                intent.description,
                intent.threshold,
                dict(intent.responses),
                dict(intent.metadata),
                [_slot_content(slot) for slot in intent.slots],
                intent.when,
                # Fields that were added later stand here only where they are used: artefacts and caches of other
                # registries stay valid.
                *([dict(intent.titles)] if intent.titles else []),
                *(["confirm"] if intent.confirm else []),
                *([{"more_responses": dict(intent.more_responses)}] if intent.more_responses else []),
                *([{"described": [line.text for line in intent.described]}] if intent.described else []),
                *([{"excluded": [line.text for line in intent.excluded]}] if intent.excluded else []),
            ]
            for intent in self.intents
        ]
        rules = [[rule.name, dict(rule.templates)] for rule in self.rules]
        tests = [self.tests_content] if self.settings.get("out_of_scope_share") == "tests" else []
        own = [{"languages": dict(self.own_sections)}] if self.own_sections else []
        asked = [{"questions": [_question_content(each) for each in self.questions]}] if self.questions else []
        text = json.dumps([content, dict(self.settings), rules, *tests, *own, *asked], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@runtime_checkable
class Encoder(Protocol):
    """Encode texts as vectors. `tests/contracts/encoder.py` tests the rules that every implementation must follow.

    Optional members:

    - `languages: frozenset[str] | None`: BCP-47 codes of the languages the encoder was trained on; None: unknown.
    - `unknown(text: str) -> str`: the letters of a cleaned text that the encoder cannot read, in order.
    - `beyond(text: str) -> tuple[int, int] | None`: the pieces of a message and how many of them are read, if it is too
      long for the model; None otherwise.
    - `folder: Path`: the folder of the model's files.
    - `translations`: the distances of translations' vectors, an `encoders.translations.Translations`; None: unknown.
    - `nested: bool`: a prefix of a vector, scaled to unit length, is a smaller vector of the same text (Matryoshka).
    - `batches: bool`: encoding a batch is faster than encoding its texts one by one.
    - `same_as(fingerprint: str) -> bool`: whether vectors stored under another fingerprint are compatible. For remote
      encoders, whose fingerprint comes from vectors that vary in their last digits.
    - `texts_at_once: int`: the number of texts that a build should pass in one call.
    """

    @property
    def name(self) -> str:
        """Kind of encoder and its model, for display."""

    @property
    def dim(self) -> int:
        """Dimension of the vectors."""

    @property
    def fingerprint(self) -> str:
        """Digest that changes whenever the vectors do: weights, pooling, prompts, truncation, normalisation."""

    @property
    def tolerance(self) -> float:
        """Largest absolute difference of a vector's numbers between batches, devices or precisions."""

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Return unit vectors, float32 of shape `(len(texts), dim)`, in the order of the texts.

        A text that the encoder cannot read, such as an empty one, gives a row of zeros.
        """


@runtime_checkable
class Reranker(Protocol):
    """Score pairs of message and utterance, slower and more accurately than cosine similarity."""

    @property
    def name(self) -> str:
        """Kind of reranker and its model, for display."""

    def score(self, message: str, utterances: Sequence[str]) -> NDArray[np.float32]:
        """Return a score in [0, 1] for each utterance, float32 of shape `(len(utterances),)`."""


def _are_added(by_intent: Iterable[tuple[Sequence[Utterance], Sequence[Utterance]]]) -> tuple[bool, ...]:
    """Return for each of an intent's own texts, and of those added behind them, whether it is added."""
    return tuple(flag for own, added in by_intent for flag in (*[False] * len(own), *[True] * len(added)))


def first_of_line(utterances: Sequence[Utterance], owners: Sequence[int]) -> tuple[int, ...]:
    """Return for each utterance the position of the first one that its owner has from the same template line."""
    firsts: dict[tuple[int, str, Location | None], int] = {}
    return tuple(
        # Two lines of an author may be the same template, so the place belongs to the key.
        row if utterance.template is None else firsts.setdefault((owner, utterance.template, utterance.location), row)
        for row, (utterance, owner) in enumerate(zip(utterances, owners, strict=True))
    )


def _utterance_content(utterance: Utterance) -> list[Any]:
    if utterance.template is None and not utterance.marks:
        return [utterance.text, utterance.language]
    marks = [[mark.slot, mark.start, mark.end] for mark in utterance.marks]
    return [utterance.text, utterance.language, utterance.template, marks]


def _slot_content(slot: Slot) -> list[Any]:
    """Return the fields of a slot that can change an answer. Its examples are part of the utterances."""
    values = [[value.value, [_utterance_content(synonym) for synonym in value.synonyms]] for value in slot.values]
    return [slot.name, slot.kind, values, slot.patterns, slot.required, dict(slot.questions)]


def _question_content(question: TraitQuestion) -> list[Any]:
    answers = [[name, [_utterance_content(line) for line in lines]] for name, lines in question.answers.items()]
    return [question.name, question.text, answers]


def _in_language(texts: Mapping[str, _Text], language: str | None) -> _Text | None:
    wanted = language_range(language) if language else ()
    # Any text is better than none: the last resort is the author's first.
    for key in (*wanted, "", "en", *texts):
        if key in texts:
            return texts[key]
    return None


def checked_language_code(code: object) -> str:
    """Return a BCP-47 code in canonical case. Raises `InputError` if `code` is not a language code."""
    canonical = language_code(code) if isinstance(code, str) else None
    if canonical is None:
        named = language_named(code) if isinstance(code, str) else None
        hint = f"did you mean {named!r}?" if named else "use BCP-47, such as en, pt-BR or zh-Hant"
        raise InputError(f"{code!r} is not a language code; {hint}")
    return canonical
