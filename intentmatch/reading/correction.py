"""Read a message as its writer meant it: without typing mistakes and shorthand.

The corrected text is encoded in place of the message. Entities, spans and the result refer to the message itself.
Corrected are words that the registry does not have (`reading.word_index`); never numbers, codes, addresses, names
that are written as such, and words of scripts without letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from intentmatch.reading.missing_accents import MissingAccents
from intentmatch.reading.text import ReadText
from intentmatch.reading.vocabulary import Vocabulary
from intentmatch.reading.word_index import CARELESS, END, Speaks, SpellingCandidate, WordIndex, familiarity
from intentmatch.text.normalize import clean, fold
from intentmatch.text.shorthand import SHORTHAND, shorthand_of

# A language whose frequent words make up this share of the registry, or half as much as those of another language, is
# taken for one of its languages, if its author has named none.
_LEAST_SHARE, _LEAST_OF_BEST = 0.02, 0.5
_SENTENCE_ENDS = (".", "!", "?", "…", ":", "؟", "।")
_LONGEST_ABBREVIATION = 2
_LONGEST_CODE = 3
_APOSTROPHE = re.compile("['’]")
_APOSTROPHES = dict.fromkeys(map(ord, "'’"))
_CACHED_WORDS, _CACHED_TABLES = 4096, 64


class CorrectedText(NamedTuple):
    """A message as it is read, and what was changed."""

    text: str
    """Cleaned."""
    says: str
    """For the trace: `read "recieve" as "receive"`."""
    written_out: str
    """The message with its shorthand written out, but its typing mistakes kept."""


class _Word(NamedTuple):
    """A part of a message between spaces."""

    written: str
    start: int
    end: int
    """Bounds of the word without punctuation around it."""

    @property
    def core(self) -> str:
        return self.written[self.start : self.end]


def _with(written: Sequence[str], words: Mapping[int, _Word], read: Mapping[int, str]) -> str:
    """Return the parts of a message with other words in some places, and the punctuation around them."""
    found = [*written]
    for number, new in read.items():
        word = words[number]
        found[number] = word.written[: word.start] + new + word.written[word.end :]
    return " ".join(found)


class Corrector:
    """Corrects messages to a registry. Safe to use from many threads.

    `vocabulary.folded[row]` is the folded form of the utterance `text_of(row)`. `languages` are those that the author
    named, `own` the author's shorthand by language.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        text_of: Callable[[int], str],
        languages: Sequence[str] = (),
        own: Mapping[str, Mapping[str, str]] | None = None,
        *,
        speaks: Speaks = lambda *_: True,
        tags: Sequence[str | None] = (),
    ) -> None:
        self._known, self._index = vocabulary.words, WordIndex(vocabulary, speaks)
        # No bound methods: these would keep a replaced registry until the garbage collector finds the cycle.
        self._shorthand = lru_cache(_CACHED_TABLES)(partial(_shorthand, vocabulary.counts, languages, own or {}))
        self._surface = lru_cache(_CACHED_WORDS)(partial(_surface, vocabulary, text_of))
        self._accents = MissingAccents(vocabulary.folded, tags or [None] * len(vocabulary.folded))

    def read(self, text: ReadText, language: str | None) -> CorrectedText | None:
        """Return a message as it is read, or None if it is read as it is written.

        `language` is its language if that is known.
        """
        known = self._known
        accents = self._accents.restored(text.words, language)
        if not accents and known.issuperset(text.words):
            return None
        written = text.text.split(" ")
        folded = [word if word in known else fold(word) for word in written]
        message = _Message(written, folded, known, self._index)
        words, found, read = {}, {}, {}
        for number, new in self._accents.restored(folded, language).items() if accents else ():
            word = words[number] = _word(written[number])
            message.read(number, new)
            read[number] = _in_case_of(word.core, self._surface(new))
        shorthand = self._shorthand(language)
        alone = len(written) == 1
        for number in message.unknown:
            word = words[number] = _word(written[number])
            if (long := shorthand.get(folded[number])) and not _is_initial_or_unit(word, number, message):
                read[number] = long
            elif _is_plain(word.core, alone) and (candidates := self._index.candidates(folded[number], language)):
                found[number] = candidates
        for number, long in read.items():
            message.read(number, fold(long))
        written_out = _with(written, words, read)
        for number, meant in self._meant(message, found):
            read[number] = _in_case_of(words[number].core, meant)
        if not read:
            return None
        said = dict.fromkeys(f'"{words[number].core}" as "{new}"' for number, new in sorted(read.items()))
        return CorrectedText(_with(written, words, read), f"read {', '.join(said)}", written_out)

    def _meant(self, message: _Message, found: Mapping[int, Sequence[SpellingCandidate]]) -> Iterator[tuple[int, str]]:
        """Yield the place of each mistyped word with the word that was meant, as the registry writes it."""
        # A corrected word is evidence for its neighbours, so that words in doubt are looked at twice.
        for number in (*found, *found) if len(found) > 1 else found:
            if number not in message.unknown:
                continue
            score, meant = max(message.rated(number, candidate) for candidate in found[number])
            surface = self._surface(meant) if score > 0.0 else ""
            # Otherwise "aren't" would be read as "rent", and "an't" as "want".
            if message.is_contraction(number) and _APOSTROPHE.search(surface) is None:
                continue
            if surface and (surface[0].isupper() or not message.stands_out(number)):
                message.read(number, meant)
                message.mistyped = True
                yield number, surface


def _shorthand(
    counts: Counter[str], languages: Sequence[str], own: Mapping[str, Mapping[str, str]], language: str | None
) -> Mapping[str, str]:
    """Return the shorthand of a language; of the registry's languages if it is None."""
    codes = [language] if language is not None else languages or _guessed(counts)
    return {short: long for code in reversed(codes) for short, long in shorthand_of(code, own).items()}


def _guessed(counts: Counter[str]) -> list[str]:
    """Guess the languages of a registry whose author has named none, the most likely first."""
    total = max(counts.total(), 1)
    shares = {}
    for code, table in SHORTHAND.items():
        frequent = {word for long in table.values() for word in fold(long).split(" ")}
        shares[code] = sum(counts[word] for word in frequent) / total
    best = max(shares.values())
    likely = [code for code, share in shares.items() if share >= max(_LEAST_SHARE, _LEAST_OF_BEST * best)]
    return sorted(likely, key=shares.__getitem__, reverse=True)


def _surface(vocabulary: Vocabulary, text_of: Callable[[int], str], word: str) -> str:
    """Return a folded word as the registry writes it within a line: "Konto", "don't"."""
    for row, line in enumerate(vocabulary.folded if word in vocabulary.words else ()):
        if word in line and word in line.split(" ")[1:]:
            for written in clean(text_of(row)).split(" ")[1:]:
                if fold(written) == word:
                    return _word(written).core
    return word


class _Message:
    """The words of a message as they are read so far, and which of them the registry does not have."""

    def __init__(self, written: Sequence[str], folded: list[str], known: frozenset[str], index: WordIndex) -> None:
        self.mistyped = False
        """Whether one of its words was corrected."""
        self._written, self._folded, self._index = written, folded, index
        self.unknown = {
            number: text
            for number, text in enumerate(folded)
            if text and text not in known and not known.issuperset(text.split(" "))
        }
        """Folded words by their places."""
        self._common: set[int] | None = None
        """Places of unknown words that are common in a language; None before the first use."""

    def read(self, number: int, meant: str) -> None:
        """Note that a word is read as a known word."""
        self._folded[number] = meant
        self.unknown.pop(number, None)
        if self._common is not None:
            self._common.discard(number)

    def rated(self, number: int, candidate: SpellingCandidate) -> tuple[float, str]:
        """Return the score of a candidate for a word in this message, and the candidate's word."""
        folded = self._folded
        before = folded[number - 1].rpartition(" ")[2] if number else END
        after = folded[number + 1].partition(" ")[0] if number + 1 < len(folded) else END
        score = candidate.score + self._raised(number) + self._index.fits(before, candidate.word, after)
        return score, candidate.word

    def _raised(self, number: int) -> float:
        if self._common is None:
            self._common = {place for place, text in self.unknown.items() if self._index.is_common(text)}
        common = self._common
        others = len(self.unknown) - 1
        careless = CARELESS if self.mistyped and number not in common else 0.0
        in_a_language = len(common) - (number in common)
        return familiarity(len(self._folded) - 1 - others, in_a_language, others - in_a_language) + careless

    def is_contraction(self, number: int) -> bool:
        """Return whether a word has an apostrophe within, as "aren't" has; not before a last "s" ("the phone's")."""
        core = _word(self._written[number]).core
        found = _APOSTROPHE.search(core)
        return found is not None and core[found.end() :].lower() != "s"

    def stands_out(self, number: int) -> bool:
        """Return whether a word has a capital that no beginning of a sentence explains, among words that have none."""
        core = _word(self._written[number]).core
        if not core[:1].isupper() or not any(word[:1].islower() for word in self._written):
            return False
        begins = number == 0 or self._written[number - 1].endswith(_SENTENCE_ENDS)
        return not begins or (len(core) > 1 and core.isupper())

    def has_number_beside(self, number: int) -> bool:
        """Return whether a word before or after a word has a digit."""
        beside = self._folded[max(number - 1, 0) : number] + self._folded[number + 1 : number + 2]
        return any(char.isdigit() for word in beside for char in word)


def _word(written: str) -> _Word:
    if written.isalpha():
        return _Word(written, 0, len(written))
    places = [place for place, char in enumerate(written) if char.isalnum() or unicodedata.category(char)[0] == "M"]
    return _Word(written, places[0], places[-1] + 1) if places else _Word(written, 0, 0)


def _is_plain(core: str, alone: bool) -> bool:
    """Return whether a word holds only letters, and capitals only where a sentence or a noun begins with one.

    A word in capitals may be shouted, but one of up to three letters that is `alone` in a message is a code: "IAD".
    """
    letters = core.translate(_APOSTROPHES)
    if not letters.isalpha() and not all(char.isalpha() or unicodedata.category(char)[0] == "M" for char in letters):
        return False
    return core[1:] == core[1:].lower() or (core.isupper() and not (alone and len(core) <= _LONGEST_CODE))


def _is_initial_or_unit(word: _Word, number: int, message: _Message) -> bool:
    """Return whether a word that reads like shorthand is likely to be a name, an initial, an abbreviation or a unit."""
    if message.stands_out(number):
        return True
    if word.end - word.start > _LONGEST_ABBREVIATION:
        return False
    return word.written[word.end : word.end + 1] == "." or message.has_number_beside(number)


def _in_case_of(core: str, meant: str) -> str:
    if core.isupper() and len(core) > 1:
        return meant.upper()
    return meant[:1].upper() + meant[1:] if core[:1].isupper() else meant
