"""The language of a message: one of the registry's, or one that the registry does not have.

The pieces of the message are weighed for every language that the embedded tokenizer knows, and the words that
utterances have count for the registry. Only clear evidence makes a message foreign; short and ambiguous ones are taken
for the registry's. Its own languages are told apart by character bigrams of its utterances.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Registry
from intentmatch.encoders.tokenizer.embedded import MAX_PIECES, embedded_tokenizer
from intentmatch.encoders.tokenizer.languages import piece_languages
from intentmatch.matching.noise import randomness
from intentmatch.matching.vocabulary import Vocabulary
from intentmatch.text.language_id import LanguageGuess, base_language
from intentmatch.text.normalize import clean

# By how many nats another language must be likelier than each of the registry's, and by how many more, divided by the
# number of words: a short message has little evidence.
_LEAD, _LEAD_OF_ONE_WORD = 2.0, 10.0
_ROUNDING = 1e-6
# Weight of the words that utterances have or lack, and the share of words that they lack in another language.
_WORDS_WEIGHT, _LACKING = 0.7, 0.85
_FEWEST_LACKING, _MOST_LACKING = 0.02, 0.9
# The numbers above were chosen on development sets (clinc150, banking77, mtop, massive, xsid, msskills, arbanking77,
# whole and cut to 8 intents): of the messages in a registry's own languages, at most one in 200 is answered otherwise.

# Languages written without spaces, and the letters of a word there.
_WITHOUT_SPACES, _LETTERS_OF_A_WORD = frozenset({"ja", "km", "lo", "my", "th", "yue", "zh", "zh-Hant"}), 3
# Untagged utterances whose languages are guessed at most, evenly spread, and the least share of a language among them.
_MOST_GUESSED, _LEAST_SHARE = 300, 0.1


# Languages that share so many words that none is foreign to another.
_FAMILIES = {"yue": "zh", "bs": "hr", "sr": "hr", "ms": "id"}


class Spoken(NamedTuple):
    """The language of a message."""

    language: str | None
    """BCP-47 code; None if there is nothing to tell it by."""
    foreign: bool
    """Whether the registry does not have the language."""
    says: str
    """What was found, for the trace; empty if there is nothing to say."""


class _Words(NamedTuple):
    """The words of a registry, and what they say about the language of a message.

    The share of words that the registry lacks in its own language is estimated by the share of its words that occur
    once (Good 1953, "The Population Frequencies of Species and the Estimation of Population Parameters").
    """

    known: frozenset[str]
    of_known: float
    """Nats for other languages of each word that the registry has; at most 0."""
    of_unknown: float
    """Nats for other languages of each word that it lacks; at least 0."""


class MessageLanguage:
    """Finds the language of messages to one registry. Safe to use from many threads."""

    def __init__(self, registry: Registry, vocabulary: Vocabulary) -> None:
        self._registry, self._vocabulary = registry, vocabulary
        self._tags = [utterance.language for utterance in registry.utterances]
        self._guess = LanguageGuess(registry.folded, self._tags)

    def find(self, text: str, key: str, rows: Sequence[int], given: str | None) -> Spoken:
        """Return the language of a message from its cleaned text and its lexical key.

        `rows` are the utterances that equal the message. `given` is the language that the caller names: it is taken as
        it is, and the message is foreign if the registry lacks it and the message does not read like the registry.
        """
        if given is not None:
            return self._given(given, text, key, rows)
        # The author of an equal utterance has named its language; there may be several ("no").
        if named := {tag for row in rows if (tag := self._tags[row])}:
            return self._own(self._guess.guess(key, named))
        if found := self._clearly_own(text, key, rows):
            return found
        evidence = piece_languages().evidence_of(text)
        if evidence is None:
            return Spoken(None, False, "nothing to tell the language by")
        # Random letters resemble some rare language or other.
        if not rows and (language := self._foreign(evidence, key)) and randomness(text) <= 0.0:
            return Spoken(language, True, f"guessed {language}, which the registry does not have")
        return self._own(self._among(key, evidence))

    def _given(self, language: str, text: str, key: str, rows: Sequence[int]) -> Spoken:
        if _family(language) in self._families:
            return Spoken(language, False, "")
        evidence = piece_languages().evidence_of(text)
        foreign = not rows and evidence is not None and self._lead(evidence, key) > 0.0
        return Spoken(language, foreign, f"{language} is not a language of the registry" if foreign else "")

    def _own(self, language: str | None) -> Spoken:
        return Spoken(language, False, f"guessed {language}" if language else "nothing to tell the language by")

    def _clearly_own(self, text: str, key: str, rows: Sequence[int]) -> Spoken | None:
        """Return the language of a message that cannot be foreign, in a fraction of the time of `_foreign`.

        None if that takes a closer look, which few messages need.
        """
        pieces = embedded_tokenizer().encode(text, MAX_PIECES)
        if not self._guess.languages or not piece_languages().tells(pieces):
            return None
        language = self._guess.guess(key)
        return self._own(language) if rows or self._most_lead(pieces, key, language) < _LEAD - _ROUNDING else None

    def _most_lead(self, pieces: Sequence[int], key: str, language: str | None) -> float:
        """Return an upper bound of `_lead`, given one of the registry's languages."""
        column = self._column_of.get(language or "")
        if column is None:
            return math.inf
        return max(piece_languages().most_behind(pieces, column), 0.0) + self._by_words(key.split())

    def _by_words(self, words: Sequence[str]) -> float:
        """Return the nats that the words of a message give to other languages."""
        known = sum(map(self._words.known.__contains__, words))
        return known * self._words.of_known + (len(words) - known) * self._words.of_unknown

    def _lead(self, evidence: NDArray[np.float64], key: str) -> float:
        """Return by how many nats other languages are likelier than those of the registry; at most 0 if unknown.

        The words have a say as well as their pieces: a message in the registry's language lacks few of its words.
        """
        others = np.delete(evidence, self._columns)
        if not len(self._columns) or not others.any():
            return 0.0
        likely = evidence + piece_languages().prior
        return float(likely.max() - likely[self._columns].max()) + self._by_words(key.split())

    def _foreign(self, evidence: NDArray[np.float64], key: str) -> str | None:
        """Return the likeliest language that the registry does not have, if the message is clearly in such a one."""
        lead = self._lead(evidence, key)
        if lead <= _LEAD:
            return None
        likely = evidence + piece_languages().prior
        likely[self._columns] = -np.inf
        language = piece_languages().codes[int(likely.argmax())]
        words = 1 + (len(key) // _LETTERS_OF_A_WORD if language in _WITHOUT_SPACES else key.count(" "))
        return language if lead > _LEAD + _LEAD_OF_ONE_WORD / words else None

    def _among(self, key: str, evidence: NDArray[np.float64]) -> str | None:
        """Return the likeliest of the registry's languages."""
        if self._guess.languages:
            return self._guess.guess(key)
        if not len(self._columns):
            return None
        likely = (evidence + piece_languages().prior)[self._columns]
        return piece_languages().codes[int(self._columns[likely.argmax()])]

    @cached_property
    def _families(self) -> frozenset[str]:
        """The registry's languages without regions: those that the author names, and guesses for other utterances."""
        tagged = frozenset(_family(tag) for tag in self._tags if tag)
        rest = [row for row, tag in enumerate(self._tags) if not tag]
        return tagged | self._guessed(rest[:: max(1, -(-len(rest) // _MOST_GUESSED))])

    def _guessed(self, rows: Collection[int]) -> frozenset[str]:
        """Return the languages of utterances without a tag: those of all together, and each with a fair share."""
        found = [piece_languages().evidence_of(clean(self._registry.utterances[row].text)) for row in rows]
        told = [evidence for evidence in found if evidence is not None]
        if not told:
            return frozenset()
        codes, prior = piece_languages().codes, piece_languages().prior
        votes = np.bincount([int((one + prior).argmax()) for one in told], minlength=len(codes))
        whole = int((np.sum(told, axis=0) + prior).argmax())
        likely = {whole, *np.flatnonzero(votes >= max(2.0, _LEAST_SHARE * len(told))).tolist()}
        return frozenset(_family(codes[number]) for number in likely)

    @cached_property
    def _columns(self) -> NDArray[np.int64]:
        """Positions of the registry's languages among those of the pieces."""
        codes = piece_languages().codes
        return np.array([n for n, code in enumerate(codes) if _family(code) in self._families], dtype=np.int64)

    @cached_property
    def _column_of(self) -> Mapping[str, int]:
        """A position among the languages of the pieces for each language that the author names."""
        by_family = {_family(code): n for n, code in reversed([*enumerate(piece_languages().codes)])}
        return {tag: by_family[_family(tag)] for tag in self._guess.languages if _family(tag) in by_family}

    @cached_property
    def _words(self) -> _Words:
        counts = self._vocabulary.counts
        once = sum(count == 1 for count in counts.values())
        lacking = min(max(once / max(1, counts.total()), _FEWEST_LACKING), _MOST_LACKING)
        of_known = _WORDS_WEIGHT * min(0.0, math.log((1.0 - _LACKING) / (1.0 - lacking)))
        of_unknown = _WORDS_WEIGHT * max(0.0, math.log(_LACKING / lacking))
        return _Words(self._vocabulary.words, of_known, of_unknown)


def _family(code: str) -> str:
    """Return a language without region and script, or the one that stands for it and its nearest relatives."""
    base = base_language(code)
    return _FAMILIES.get(base, base)
