"""Read a message as its writer meant it: without typing mistakes and shorthand.

The corrected text is encoded in place of the message. Entities, spans and the result refer to the message itself.
Corrected are words that the registry does not have (`matching.word_index`); never numbers, codes, addresses, names
that are written as such, and words of scripts without letters.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from intentmatch.matching.word_index import CARELESS, END, Candidate, WordIndex, familiarity
from intentmatch.text.normalize import clean, fold
from intentmatch.text.shorthand import SHORTHAND, shorthand_of

# A language whose frequent words make up this share of the registry, or half as much as those of another language, is
# taken for one of its languages, if its author has named none.
_LEAST_SHARE, _LEAST_OF_BEST = 0.02, 0.5
_SENTENCE_ENDS = (".", "!", "?", "…", ":", "؟", "।")
_LONGEST_ABBREVIATION = 2
_CACHED_WORDS = 4096


class Correction(NamedTuple):
    """A message as it is read, and what was changed."""

    text: str
    """Cleaned."""
    says: str
    """For the trace: `read "recieve" as "receive"`."""


class _Word(NamedTuple):
    """A part of a message between spaces."""

    written: str
    start: int
    end: int
    """Bounds of the word without punctuation around it."""
    folded: str
    """May be empty, or hold spaces."""

    @property
    def core(self) -> str:
        return self.written[self.start : self.end]


class Corrector:
    """Corrects messages to a registry. Safe to use from many threads.

    `folded[row]` is the folded form of the utterance `text_of(row)`; `words` are all their words. `languages` are those
    that the author named, `own` the author's shorthand by language.
    """

    def __init__(
        self,
        folded: Sequence[str],
        words: Collection[str],
        text_of: Callable[[int], str],
        languages: Sequence[str] = (),
        own: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self._known = frozenset(words)
        self._folded, self._text_of = folded, text_of
        self._languages, self._own = languages, own or {}
        self._index = WordIndex(folded)
        self._tables = lru_cache(64)(self._table)
        self._surfaces = lru_cache(_CACHED_WORDS)(self._surface)

    def read(self, text: str, key: str, language: str | None) -> Correction | None:
        """Return a cleaned message as it is read, or None if it is read as it is written.

        `key` is the folded message, and `language` its language if that is known.
        """
        if self._known.issuperset(key.split(" ")):
            return None
        words = [_word(written) for written in text.split(" ")]
        shorthand = self._tables(language)
        read = [self._expanded(number, words, shorthand) for number in range(len(words))]
        self._correct(words, read)
        changed = [(word.core, new) for word, new in zip(words, read, strict=True) if new is not None]
        if not changed:
            return None
        parts = [
            word.written if new is None else word.written[: word.start] + new + word.written[word.end :]
            for word, new in zip(words, read, strict=True)
        ]
        said = dict.fromkeys(f'"{old}" as "{new}"' for old, new in changed)
        return Correction(" ".join(parts), f"read {', '.join(said)}")

    def _expanded(self, number: int, words: Sequence[_Word], shorthand: Mapping[str, str]) -> str | None:
        word = words[number]
        long = shorthand.get(word.folded)
        if long is None or word.folded in self._known or _stands_out(number, words):
            return None
        if len(word.folded) <= _LONGEST_ABBREVIATION:
            around = words[max(number - 1, 0) : number + 2]
            if word.written[word.end : word.end + 1] == "." or any(
                char.isdigit() for other in around if other is not word for char in other.folded
            ):
                return None
        return long

    def _correct(self, words: Sequence[_Word], read: list[str | None]) -> None:
        """Put corrected words into `read`, which holds None for each word that is read as it is written."""
        message = _Message(words, read, self._known, self._index)
        found = {
            number: candidates
            for number, word in enumerate(words)
            if not message.known[number] and word.folded and _is_plain(word)
            if (candidates := self._index.candidates(word.folded))
        }
        # A corrected word is evidence for its neighbours, so that words in doubt are looked at twice.
        for number in (*found, *found) if len(found) > 1 else found:
            if message.known[number]:
                continue
            score, meant = max(message.rated(number, candidate) for candidate in found[number])
            surface = self._surfaces(meant) if score > 0.0 else ""
            if surface and (surface[0].isupper() or not _stands_out(number, words)):
                read[number] = _in_case_of(words[number].core, surface)
                message.corrected(number, meant)

    def _table(self, language: str | None) -> Mapping[str, str]:
        """Return the shorthand of a language; of the registry's languages if it is None."""
        languages = [language] if language is not None else self._languages or self._guessed()
        table: dict[str, str] = {}
        for code in languages:
            for short, long in shorthand_of(code, self._own).items():
                table.setdefault(short, long)
        return table

    def _guessed(self) -> list[str]:
        """Guess the languages of a registry whose author has named none, the most likely first."""
        counts = Counter(" ".join(self._folded).split(" "))
        shares = {}
        for code, table in SHORTHAND.items():
            frequent = {word for long in table.values() for word in fold(long).split(" ")}
            shares[code] = sum(counts[word] for word in frequent) / max(counts.total(), 1)
        best = max(shares.values())
        likely = [code for code, share in shares.items() if share >= max(_LEAST_SHARE, _LEAST_OF_BEST * best)]
        return sorted(likely, key=shares.__getitem__, reverse=True)

    def _surface(self, word: str) -> str:
        """Return a folded word as the registry writes it within a line: "Konto", "don't"."""
        for row, line in enumerate(self._folded):
            if word in line and word in line.split(" ")[1:]:
                for written in clean(self._text_of(row)).split(" ")[1:]:
                    found = _word(written)
                    if found.folded == word:
                        return found.core
        return word


class _Message:
    """The words of a message as they are read so far, and which of them are known."""

    def __init__(
        self, words: Sequence[_Word], read: Sequence[str | None], registry: Collection[str], index: WordIndex
    ) -> None:
        self._index, self._registry = index, registry
        self._folded = [fold(new) if new else word.folded for word, new in zip(words, read, strict=True)]
        self.known = [
            new is not None or all(part in registry for part in text.split(" "))
            for new, text in zip(read, self._folded, strict=True)
        ]
        """By word: whether the registry has it, or it was read as something else."""
        self._common = [
            not known and index.is_common(text) for known, text in zip(self.known, self._folded, strict=True)
        ]
        self._mistyped = False

    def corrected(self, number: int, meant: str) -> None:
        """Note that a word is read as a known word."""
        self._folded[number], self.known[number], self._mistyped = meant, True, True

    def rated(self, number: int, candidate: Candidate) -> tuple[float, str]:
        """Return the score of a candidate for a word in this message, and the candidate's word."""
        folded = self._folded
        before = folded[number - 1].rpartition(" ")[2] if number else END
        after = folded[number + 1].partition(" ")[0] if number + 1 < len(folded) else END
        score = candidate.score + self._raised(number) + self._index.fits(before, candidate.word, after)
        return score, candidate.word

    def _raised(self, number: int) -> float:
        others = [other for other in range(len(self.known)) if other != number]
        known = sum(self.known[other] for other in others)
        common = sum(self._common[other] and not self.known[other] for other in others)
        careless = CARELESS if self._mistyped and not self._common[number] else 0.0
        return familiarity(known, common, len(others) - known - common) + careless


def _word(written: str) -> _Word:
    if written.isalpha():
        return _Word(written, 0, len(written), fold(written))
    places = [place for place, char in enumerate(written) if char.isalnum() or unicodedata.category(char)[0] == "M"]
    return _Word(written, places[0], places[-1] + 1, fold(written)) if places else _Word(written, 0, 0, "")


def _is_plain(word: _Word) -> bool:
    """Return whether a word holds only letters, and capitals only where a sentence or a noun begins with one."""
    core = word.core
    if not all(char.isalpha() or unicodedata.category(char)[0] == "M" for char in core):
        return False
    return core[1:] == core[1:].lower() or core.isupper()


def _stands_out(number: int, words: Sequence[_Word]) -> bool:
    """Return whether a word has a capital that no beginning of a sentence explains, among words that have none."""
    core = words[number].core
    if not core[:1].isupper() or not any(word.core[:1].islower() for word in words):
        return False
    begins = number == 0 or words[number - 1].written.endswith(_SENTENCE_ENDS)
    return not begins or (len(core) > 1 and core.isupper())


def _in_case_of(core: str, meant: str) -> str:
    if core.isupper() and len(core) > 1:
        return meant.upper()
    return meant[:1].upper() + meant[1:] if core[:1].isupper() else meant
