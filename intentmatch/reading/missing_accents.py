"""Restore the accents of a message that is typed without any: "chce zwrocic buty" is "chcę zwrócić buty".

On many keyboards accents are hard to type, so people leave out all of them. A word is read as the form that the
registry has most often in the language of the message. A word that the registry lacks is read as the most probable
form that the embedded tokenizer has as one piece. A message with an accent is read as it is typed, and so is one of
words that are common without accents, such as German "drucken" (to print) beside "drücken" (to press).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

from intentmatch.pieces.embedded import embedded_tokenizer
from intentmatch.pieces.vocabulary import SPACE
from intentmatch.text.accents import by_form_without_accents, unaccented
from intentmatch.text.normalize import base_language

_SHORTEST, _LONGEST = 3, 24
"""Letters of a word that the registry lacks. A shorter one is often a word without accents, too."""
_MOST_ACCENTS = 3
_LEAST_WORDS = 2
"""Words with a letter from which it is one of the language; one word may be a name."""
_SURER = 1.0
"""How much more probable, in nats, a form with accents is than a word that is one piece as it is typed."""
_MOSTLY = 3
"""How many times as often the registry has a form as any other form with accents."""
_MANY = 10
"""How many times as often the registry has a form if the word without accents is hardly another word."""
_CACHED_WORDS, _CACHED_LANGUAGES = 8192, 64


class MissingAccents:
    """Restores accents by the utterances of a registry and their languages. Safe to use from many threads."""

    def __init__(self, folded: Sequence[str], tags: Sequence[str | None]) -> None:
        # Callers may name any language. No bound method: see `Corrector`.
        self._language = lru_cache(_CACHED_LANGUAGES)(partial(_Language, folded, tags))

    def restored(self, words: Sequence[str], language: str | None) -> dict[int, str]:
        """Return the places of the folded words that lack accents, with the words that are meant."""
        if language is None or any(unaccented(word) != word for word in words):
            return {}
        known = self._language(base_language(language))
        found = {n: new for n, word in enumerate(words) if (new := known.restored(word)) is not None}
        # One word that is none without accents tells that its writer types none.
        return {n: new.word for n, new in found.items()} if any(new.is_sure for new in found.values()) else {}


class _Restored(NamedTuple):
    word: str
    is_sure: bool
    """Whether the word as it is typed is none, is rare, or is one that the registry has often, and with accents."""


class _Language:
    """Words of one language."""

    def __init__(self, folded: Sequence[str], tags: Sequence[str | None], language: str) -> None:
        lines = [line for line, tag in zip(folded, tags, strict=True) if not tag or base_language(tag) == language]
        self._counts = Counter(" ".join(lines).split())
        self._accented = by_form_without_accents((word, word) for word in self._counts)
        """Words by their forms without accents."""
        self._cache: dict[str, _Restored | None] = {}

    def restored(self, word: str) -> _Restored | None:
        if word not in self._cache:
            if len(self._cache) >= _CACHED_WORDS:
                self._cache.clear()
            self._cache[word] = self._found(word)
        return self._cache[word]

    def _found(self, word: str) -> _Restored | None:
        typed = SPACE + word
        if forms := self._accented.get(word):
            best, *others = sorted(forms, key=self._counts.__getitem__, reverse=True)
            least = max([self._counts[word] + 1, *(_MOSTLY * self._counts[other] for other in others)])
            if self._counts[best] < least:
                return None
            known = embedded_tokenizer().whole({typed, SPACE + best})
            own = self._counts[word]
            is_none = not own and _is_rare(typed, SPACE + best, known)
            return _Restored(best, is_none or self._counts[best] >= _MANY * max(own, 1))
        if word in self._counts or not self._letters or not word.isalpha() or not _SHORTEST <= len(word) <= _LONGEST:
            return None
        known = embedded_tokenizer().whole({typed, *self._forms(typed)})
        likely = max(known.keys() - {typed}, key=known.__getitem__, default=None)
        return _Restored(likely[1:], True) if likely is not None and _is_rare(typed, likely, known) else None

    @cached_property
    def _letters(self) -> Mapping[str, str]:
        """Letters with accents and their plain letters."""
        words = {word for some in self._accented.values() for word in some}
        count = Counter(letter for word in words for letter in {*word})
        plain = {letter: unaccented(letter) for letter, number in count.items() if number >= _LEAST_WORDS}
        return {letter: bare for letter, bare in plain.items() if bare != letter and len(bare) == 1}

    def _forms(self, word: str) -> set[str]:
        """Return the forms of a word with one to three accents."""
        found = last = {word}
        for _ in range(_MOST_ACCENTS):
            last = {
                form[:place] + letter + form[place + 1 :]
                for form in last
                for place in range(1, len(form))
                for letter, plain in self._letters.items()
                if form[place] == plain
            }
            found = found | last
        return found - {word}


def _is_rare(typed: str, meant: str, known: Mapping[str, float]) -> bool:
    """Whether a word is no piece as it is typed, or much less probable than with accents."""
    return typed not in known or known[typed] + _SURER < known.get(meant, float("-inf"))
