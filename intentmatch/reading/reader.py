"""Read a message before it is encoded: its language, the utterances that it equals, its typing mistakes, noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry
from intentmatch.reading.correction import Corrector
from intentmatch.reading.message_language import MessageLanguage
from intentmatch.reading.noise import NoiseDetector
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.reading.spelling import LexicalIndex, SpellingHit
from intentmatch.reading.text import ReadText
from intentmatch.reading.trace import TraceRecorder
from intentmatch.reading.vocabulary import Vocabulary
from intentmatch.text.normalize import clean
from intentmatch.text.scripts import kind

MAX_CHARACTERS = 10_000
"""Characters of a message that are used. The trace notes when a message is longer."""

_CHARACTERS_FOR_LANGUAGE = 2000
"""Characters of an answer that tell its language."""

# Programs that wrap text do so at 65 columns or more.
_SHORTEST_WRAPPED = 60

Hits = Mapping[int, SpellingHit]
"""Utterances that a message equals, by the positions of their intents."""
_NO_HITS: Hits = MappingProxyType({})
_WITHOUT_SPACES = frozenset({"ideograph", "unspaced", "katakana"})


class Reading(NamedTuple):
    """A message as it is read before it is compared with anything."""

    message: str
    """As the user wrote it."""
    options: ResolvedOptions
    """With the language of the message."""
    stages: TraceRecorder
    typed: ReadText
    """The cleaned message."""
    meant: ReadText
    """The cleaned message without typing mistakes and shorthand: what is encoded."""
    exact: Hits = _NO_HITS
    """The utterances that the message equals, of intents that may answer. If there are any, nothing below is known."""
    hits: Hits = _NO_HITS
    """The utterances that the message equals but for typing mistakes, of all intents."""
    refused: str = ""
    """Why the message is out of scope without a look at the utterances; empty if it is not."""
    is_noise: bool = False
    written_out: ReadText | None = None
    """The cleaned message with its shorthand written out, but its typing mistakes kept; None if it has no shorthand."""

    @property
    def needs_vector(self) -> bool:
        """Whether the answer depends on the vector of the message."""
        return not self.exact and not self.refused


class MessageReader:
    """Reads messages to one registry. Safe to use from many threads."""

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self._registry = registry
        vocabulary = Vocabulary(registry.folded)
        self._lexical = LexicalIndex(vocabulary, registry.owners, settings.fuzzy)
        self._languages = MessageLanguage(registry, vocabulary)
        self._corrector: Corrector | None = None
        if settings.fuzzy < 1.0:
            utterances, languages, speaks = registry.utterances, registry.languages, self._languages.speaks
            self._corrector = Corrector(
                vocabulary,
                lambda row: utterances[row].text,
                languages,
                settings.spelling,
                speaks=speaks,
                tags=self._languages.tags,
            )
        self._noise = NoiseDetector(vocabulary.words, registry.languages_as_read)

    def read(self, message: str, options: ResolvedOptions, *, calibrates_foreign: bool = False) -> Reading:
        """Read one message. Raises `InputError` if it is not text.

        `calibrates_foreign` is whether messages in other languages have a calibration of their own, for the trace.
        """
        stages = TraceRecorder()
        typed = ReadText(checked_and_cleaned(message))
        if len(message) > MAX_CHARACTERS:
            stages.add("clean", f"only the first {MAX_CHARACTERS} of {len(message)} characters are used")
        if not typed.key:
            return Reading(message, options, stages, typed, typed, refused="the message has no words.")
        if options.allowed is not None and not options.allowed:
            return Reading(message, options, stages, typed, typed, refused="no intent may answer.")
        rows = self._rows(typed.key)
        spoken = self._languages.find(typed, rows, options.language)
        options = options.spoken_in(spoken.language, foreign=spoken.foreign)
        if spoken.says:
            how = ": calibrated for other languages" if calibrates_foreign else ": no calibration for other languages"
            stages.add("language", spoken.says + how if spoken.foreign else spoken.says)

        if exact := self._exact(rows, typed, options, stages):
            return Reading(message, options, stages, typed, typed, exact)

        meant, hits, written_out = self._spelled(typed, options, stages)
        if not hits and (reason := self._noise.reason(typed, meant)):
            stages.add("noise", reason)
            return Reading(message, options, stages, typed, meant, refused=reason, is_noise=True)
        return Reading(message, options, stages, typed, meant, hits=hits, written_out=written_out)

    def hits_of(self, text: ReadText) -> Hits:
        """Return the utterances that a text equals, exactly or but for typing mistakes."""
        return self._lexical.fuzzy(text.key) | self._lexical.exact(self._lexical.rows(text.key))

    def spoken_in(self, message: str, options: ResolvedOptions) -> ResolvedOptions:
        """Return the options with the language of the beginning of a message, unless the caller has named one."""
        text = ReadText(checked_and_cleaned(checked_text(message)[:_CHARACTERS_FOR_LANGUAGE]))
        spoken = self._languages.find(text, self._rows(text.key), options.language)
        return options.spoken_in(spoken.language, foreign=spoken.foreign)

    def corrected(self, text: str, language: str | None) -> str:
        """Return a cleaned message as it is encoded: without typing mistakes and shorthand."""
        correction = self._corrector.read(ReadText(text), language) if self._corrector else None
        return text if correction is None else correction.text

    def _rows(self, key: str) -> Sequence[int]:
        """Return the rows that equal a folded message; those that equal it but for accents if there are none."""
        return self._lexical.rows(key) or self._lexical.but_for_accents(key)

    def _exact(self, rows: Sequence[int], text: ReadText, options: ResolvedOptions, stages: TraceRecorder) -> Hits:
        """Return the utterances that the message equals, of intents that may answer."""
        if not rows:
            stages.add("exact", "equals no utterance")
            return _NO_HITS
        hits, intents = self._lexical.exact(rows), self._registry.intents
        owners = " and of ".join(intents[intent].name for intent in hits)
        accents = " but for accents" if self._registry.folded[rows[0]] != text.key else ""
        eligible = only(hits, options)
        first = ""
        if any(hit.row in options.hidden for hit in hits.values()):
            first = "".join(f", and {intents[intent].name} goes first by its `when`" for intent in eligible)
        stages.add("exact", f"equals an utterance of {owners}{accents}{first}")
        return eligible

    def _spelled(
        self, typed: ReadText, options: ResolvedOptions, stages: TraceRecorder
    ) -> tuple[ReadText, Hits, ReadText | None]:
        """Return a message without its typing mistakes, what it then equals, and it with its shorthand written out."""
        hits: Hits = self._lexical.fuzzy(typed.key)
        allowed = only(hits, options)
        stages.add("fuzzy", _typing_mistakes(len(allowed)))
        correction = self._corrector.read(typed, options.language) if self._corrector else None
        if correction is None:
            return typed, hits, None
        stages.add("spelling", correction.says)
        meant = ReadText(correction.text)
        written_out = None if correction.written_out == typed.text else ReadText(correction.written_out)
        if not allowed and meant.text != typed.text:
            hits = self._lexical.alike(typed.key, self._rows(meant.key)) or hits
        return meant, hits, written_out


def checked_and_cleaned(message: str) -> str:
    """Return the part of a message that is used, cleaned. Raises `InputError` if it is not text.

    A line of its own is a sentence, as in a chat: it gets a sign at its end if it has none.
    """
    return clean("\n".join(_ended(checked_text(message)[:MAX_CHARACTERS].strip().splitlines())))


def _ended(lines: Sequence[str]) -> list[str]:
    """Return lines that end in a sign, but for the last one and those that a program has wrapped."""
    *firsts, last = [line.rstrip() for line in lines] or [""]
    return [*(line + _end_of(line) for line in firsts), last]


def _end_of(line: str) -> str:
    """Return the sign that ends a line as a sentence; nothing if it has one, or goes on in the next line."""
    script = kind(line[-1]) if line else "sign"
    if script == "sign" or len(line) >= _SHORTEST_WRAPPED:
        return ""
    return "。" if script in _WITHOUT_SPACES else "."


def checked_text(message: str) -> str:
    """Return a message. Raises `InputError` if it is not text."""
    if not isinstance(message, str):
        raise InputError(f"a message must be text, not {type(message).__name__}")
    return message


def only(hits: Hits, options: ResolvedOptions) -> Hits:
    """Return the hits of the intents that may answer, in utterances that count."""
    allowed, hidden = options.allowed, options.hidden
    if allowed is None and not hidden:
        return hits
    return {
        intent: hit for intent, hit in hits.items() if (allowed is None or intent in allowed) and hit.row not in hidden
    }


def _typing_mistakes(intents: int) -> str:
    return f"typing mistakes away from {intents} {'intent' if intents == 1 else 'intents'}"
