"""Read a message before it is encoded: its language, the utterances that it equals, its typing mistakes, noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry
from intentmatch.matching.correction import Corrector
from intentmatch.matching.message_language import MessageLanguage
from intentmatch.matching.noise import NoiseDetector
from intentmatch.matching.question import Question
from intentmatch.matching.spelling import LexicalIndex, SpellingHit
from intentmatch.matching.trace import TraceRecorder
from intentmatch.matching.vocabulary import Vocabulary
from intentmatch.text.normalize import clean, fold

MAX_CHARACTERS = 10_000
"""Characters of a message that are used. The trace notes when a message is longer."""

_CHARACTERS_FOR_LANGUAGE = 2000
"""Characters of an answer that tell its language."""

Hits = Mapping[int, SpellingHit]
"""Utterances that a message equals, by the positions of their intents."""
_NO_HITS: Hits = MappingProxyType({})


class Reading(NamedTuple):
    """A message as it is read before it is encoded."""

    message: str
    """As the user wrote it."""
    question: Question
    """With the language of the message."""
    stages: TraceRecorder
    typed: str
    """The cleaned message."""
    text: str
    """The cleaned message without typing mistakes and shorthand: what is encoded."""
    exact: Hits = _NO_HITS
    """The utterances that the message equals, of intents that may answer. If there are any, nothing below is known."""
    hits: Hits = _NO_HITS
    """The utterances that the message equals but for typing mistakes, of all intents."""
    refused: str = ""
    """Why the message is out of scope without a look at the utterances; empty if it is not."""
    is_noise: bool = False

    @property
    def needs_vector(self) -> bool:
        """Whether the answer depends on the vector of the message."""
        return not self.exact and not self.refused


class Reader:
    """Reads messages to one registry. Safe to use from many threads."""

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self._registry = registry
        vocabulary = Vocabulary(registry.folded)
        self._lexical = LexicalIndex(vocabulary, registry.owners, settings.fuzzy)
        utterances = registry.utterances
        self._corrector = (
            Corrector(
                vocabulary,
                lambda row: utterances[row].text,
                sorted({u.language for u in utterances if u.language}),
                settings.spelling,
            )
            if settings.fuzzy < 1.0
            else None
        )
        self._languages = MessageLanguage(registry, vocabulary)
        self._noise = NoiseDetector(vocabulary.words, registry.languages)

    def read(self, message: str, question: Question, *, calibrates_foreign: bool = False) -> Reading:
        """Read one message. Raises `InputError` if it is not text.

        `calibrates_foreign` is whether messages in other languages have a calibration of their own, for the trace.
        """
        stages = TraceRecorder()
        text = checked_and_cleaned(message)
        if len(message) > MAX_CHARACTERS:
            stages.add("clean", f"only the first {MAX_CHARACTERS} of {len(message)} characters are used")
        key = fold(text)
        if not key:
            return Reading(message, question, stages, text, text, refused="the message has no words.")
        if question.allowed is not None and not question.allowed:
            return Reading(message, question, stages, text, text, refused="no intent may answer.")
        rows = self._rows(key)
        question, says = self._with_language(question, text, key, rows)
        if says:
            how = "calibrated" if calibrates_foreign else "no calibration"
            stages.add("language", f"{says}: {how} for other languages" if question.foreign else says)

        if exact := self._exact(rows, key, question, stages):
            return Reading(message, question, stages, text, text, exact)

        typed = text
        text, hits = self._spelled(typed, key, question, stages)
        if not hits and (reason := self._noise.reason(typed, key, text)):
            stages.add("noise", reason)
            return Reading(message, question, stages, typed, text, refused=reason, is_noise=True)
        return Reading(message, question, stages, typed, text, hits=hits)

    def hits_of(self, text: str) -> Hits:
        """Return the utterances that a cleaned text equals, exactly or but for typing mistakes."""
        key = fold(text)
        return self._lexical.fuzzy(key) | self._lexical.exact(self._lexical.rows(key))

    def language_of(self, message: str, question: Question) -> str | None:
        """Return the language of the beginning of a message, or the one that the question names."""
        text = checked_and_cleaned(checked_text(message)[:_CHARACTERS_FOR_LANGUAGE])
        key = fold(text)
        return self._with_language(question, text, key, self._rows(key))[0].language

    def corrected(self, text: str, language: str | None) -> str:
        """Return a cleaned message as it is encoded: without typing mistakes and shorthand."""
        return self._corrected(text, fold(text), language)[0]

    def _rows(self, key: str) -> Sequence[int]:
        """Return the rows that equal a folded message; those that equal it but for accents if there are none."""
        return self._lexical.rows(key) or self._lexical.but_for_accents(key)

    def _with_language(self, question: Question, text: str, key: str, rows: Sequence[int]) -> tuple[Question, str]:
        """Return the question with the language of the message, and what was found, for the trace."""
        found = self._languages.find(text, key, rows, question.language)
        return question._replace(language=found.language, foreign=found.foreign), found.says

    def _exact(self, rows: Sequence[int], key: str, question: Question, stages: TraceRecorder) -> Hits:
        """Return the utterances that equal the message, of intents that may answer."""
        hits = self._lexical.exact(rows)
        owners = " and of ".join(self._registry.intents[intent].name for intent in hits)
        accents = " but for accents" if rows and self._registry.folded[rows[0]] != key else ""
        answering = only(hits, question)
        first = ""
        if any(hit.row in question.hidden for hit in hits.values()):
            first = "".join(
                f", and {self._registry.intents[intent].name} goes first by its `when`" for intent in answering
            )
        stages.add("exact", f"equals an utterance of {owners}{accents}{first}" if hits else "equals no utterance")
        return answering

    def _spelled(self, text: str, key: str, question: Question, stages: TraceRecorder) -> tuple[str, Hits]:
        """Return a cleaned message without its typing mistakes, and the utterances that it then equals."""
        hits = self._lexical.fuzzy(key)
        allowed = only(hits, question)
        stages.add("fuzzy", _typing_mistakes(len(allowed)))
        corrected, says = self._corrected(text, key, question.language)
        if says:
            stages.add("spelling", says)
        if corrected != text and not allowed:
            hits = self._lexical.alike(key, self._rows(fold(corrected))) or hits
        return corrected, hits

    def _corrected(self, text: str, key: str, language: str | None) -> tuple[str, str]:
        """Return a cleaned message without typing mistakes and shorthand, and what was read as what, for the trace."""
        correction = self._corrector.read(text, key, language) if self._corrector else None
        return (text, "") if correction is None else (correction.text, correction.says)


def checked_and_cleaned(message: str) -> str:
    """Return the part of a message that is used, cleaned. Raises `InputError` if it is not text."""
    return clean(checked_text(message)[:MAX_CHARACTERS])


def checked_text(message: str) -> str:
    """Return a message. Raises `InputError` if it is not text."""
    if not isinstance(message, str):
        raise InputError(f"a message must be text, not {type(message).__name__}")
    return message


def only(hits: Hits, question: Question) -> Hits:
    """Return the hits of the intents that may answer, in utterances that count."""
    allowed, hidden = question.allowed, question.hidden
    if allowed is None and not hidden:
        return hits
    return {
        intent: hit for intent, hit in hits.items() if (allowed is None or intent in allowed) and hit.row not in hidden
    }


def _typing_mistakes(intents: int) -> str:
    return f"typing mistakes away from {intents} {'intent' if intents == 1 else 'intents'}"
