"""The language of a message: one of the registry's, or one that the registry does not have.

The pieces of the message are weighed for every language that the embedded tokenizer knows, and the words that
utterances have count for the registry. Only clear evidence makes a message foreign; short and ambiguous ones are taken
for the registry's. Its own languages are told apart by their pieces and by character bigrams of its utterances.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Registry
from intentmatch.pieces.languages import STEP, piece_languages
from intentmatch.reading.noise import randomness
from intentmatch.reading.text import ReadText
from intentmatch.reading.vocabulary import Vocabulary
from intentmatch.text.language_id import LanguageGuess
from intentmatch.text.normalize import base_language, clean
from intentmatch.text.shorthand import shorthand_of


class _Required(NamedTuple):
    """How much evidence makes a message foreign, in nats."""

    lead: float
    """By how many another language must be likelier than each of the registry's."""
    of_one_word: float
    """By how many more, divided by the number of words: a short message has little evidence."""
    around_title: float
    """A title in the registry's language does not hide another language around it: if so many nats speak for the other
    language in some pieces, the pieces that speak for the registry's are ignored."""


# In a registry with at least so many different words, and with fewer. Languages of the Arabic script have more words in
# common; other scripts were not measured and get the same cautious values.
_WORDS_OF_LARGE = 600
_LARGE, _SMALL = _Required(1.0, 6.0, 6.0), _Required(3.0, 8.0, 12.0)
_OTHER_SCRIPTS = _Required(5.0, 8.0, 14.0)
# Compiled when it is first needed: this takes longer than all other patterns together.
_OTHER_LETTERS = "[\u0370-\u1dff\u1f00-\u1fff\u2e80-\ud7ff\uf900-\ufeff]"
_ROUNDING = 1e-6
# Random letters and syllables resemble some language or other. Log-odds that a message is random, from which it is not
# taken for another language; chosen on random syllables to a bot of 8 intents, and on xsid.
_MOST_RANDOM = -0.85
# Share of its words that a registry lacks in a message in another language; bounds of that share in its own. The
# estimate is that of messages in scope; those about something else lack more ("where was john denver born"). With 0.2
# as the lower bound instead of 0.02, 2 instead of 19 of the 2,234 messages of banking77_oos are taken for foreign.
_LACKING = 0.85
_FEWEST_LACKING, _MOST_LACKING = 0.2, 0.9
# Weight of a word that the registry lacks, against 1 of a word that it has.
_LACKED_WEIGHT = 1.3
# The numbers above were chosen on development sets (clinc150, banking77, mtop, massive, xsid, msskills, arbanking77,
# whole and cut to 8 intents): of the messages in a registry's own languages, at most one in 200 is answered otherwise.
# Only registries of 8 intents in Arabic and Persian have more of them.

# Weight of the pieces against 1 of the bigrams. Chosen with the shipped intents and 8 of them on messages of mtop and
# xsid, whole and their first words: 95% and 97% of the languages are found, 89% and 90% from one word (bigrams: 89%,
# 89%, 72% and 73%).
_PIECES_WEIGHT = 2.0

# Languages written without spaces, and the letters of a word there.
_WITHOUT_SPACES, _LETTERS_OF_A_WORD = frozenset({"ja", "km", "lo", "my", "th", "yue", "zh", "zh-Hant"}), 3
# Untagged utterances whose languages are guessed at most, evenly spread, and the least share of a language among them.
_MOST_GUESSED, _LEAST_SHARE = 300, 0.1


# Languages that share so many words that none is foreign to another.
_FAMILIES = {"yue": "zh", "bs": "hr", "sr": "hr", "ms": "id", "gl": "pt"}


_NONE = frozenset[str]()


class Spoken(NamedTuple):
    """The language of a message."""

    language: str | None
    """BCP-47 code; None if there is nothing to tell it by."""
    foreign: bool
    """Whether the registry does not have the language."""
    says: str
    """What was found, for the trace; empty if there is nothing to say."""


class _WordEvidence(NamedTuple):
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
        self.tags = [utterance.language for utterance in registry.utterances]
        self._guess = LanguageGuess(registry.folded, self.tags)

    def find(self, text: ReadText, rows: Sequence[int], given: str | None) -> Spoken:
        """Return the language of a message.

        `rows` are the utterances that equal the message. `given` is the language that the caller names: it is taken as
        it is, and the message is foreign if the registry lacks it and the message does not read like the registry.
        """
        if given is not None:
            return self._given(given, text, rows)
        # The author of an equal utterance has named its language; there may be several ("no").
        named = {tag for row in rows if (tag := self.tags[row])} if rows else _NONE
        if len(named) == 1:
            return _own(*named)
        text = self._telling(text)
        if named:
            return _own(self._guess.guess(text.words, named, self._of_tags(text)))
        if not piece_languages().tell(text.pieces):
            return _own(None)
        own = self._among(text)
        is_own = rows or self._cannot_be_foreign(text, own)
        if not is_own and (language := self._foreign(text)) and _may_be_words(text.text):
            return Spoken(language, True, f"guessed {language}, which the registry does not have")
        return _own(own)

    def speaks(self, pieces: Sequence[int], language: str | None) -> bool:
        """Whether pieces of the embedded tokenizer are frequent in a language of the registry, or in the one named."""
        own, family = self._own_positions, _family(language) if language else None
        codes, found = piece_languages().codes, piece_languages().levels_of(pieces)
        return not own or any(one in own or _family(codes[one]) == family for one in found)

    def _telling(self, text: ReadText) -> ReadText:
        """Return a message without shorthand that several of the registry's languages share, such as "plz".

        Its letters say nothing about the language. A message of nothing else stays as it is.
        """
        if self._shared_shorthand.isdisjoint(text.words):
            return text
        left = [word for word in text.words if word not in self._shared_shorthand]
        return ReadText(" ".join(left)) if left else text

    @cached_property
    def _shared_shorthand(self) -> frozenset[str]:
        """Shorthand of several of the registry's languages, without words that the registry has."""
        languages = {base_language(tag) for tag in self._guess.languages}
        counts = Counter(short for language in languages for short in shorthand_of(language, {}))
        shared = (short for short, count in counts.items() if count > 1)
        return frozenset(shared).difference(self._vocabulary.words)

    def _given(self, given: str, text: ReadText, rows: Sequence[int]) -> Spoken:
        if rows or _family(given) in self._families:
            return Spoken(given, False, "")
        evidence = piece_languages().evidence(text.pieces)
        foreign = evidence is not None and self._lead(evidence, text) > 0.0
        return Spoken(given, foreign, f"{given} is not a language of the registry" if foreign else "")

    def _cannot_be_foreign(self, text: ReadText, own: str | None) -> bool:
        """Whether an upper bound of `_lead`, found in a fraction of its time, is too small for another language.

        `own` is one of the registry's languages. If False, the message needs a closer look, as few messages do.
        """
        if self._words.known.issuperset(text.words):
            return True
        column = self._columns_of_tags.get(own or "", -1)
        if column not in self._own_positions:
            return False
        lead = max(piece_languages().most_behind(text.pieces, column), 0.0)
        return lead + self._by_words(text.distinct) < self._required(text.key).lead - _ROUNDING

    def _by_words(self, words: Collection[str]) -> float:
        """Return the nats that the words of a message give to other languages."""
        known = sum(map(self._words.known.__contains__, words))
        return known * self._words.of_known + (len(words) - known) * self._words.of_unknown

    def _lead(self, evidence: NDArray[np.float64], text: ReadText) -> float:
        """Return by how many nats another language is likelier than those of the registry; at most 0 if unknown.

        The words have a say as well as their pieces: a message in the registry's language lacks few of its words. One
        that lacks none is taken for the registry's.
        """
        others = np.delete(evidence, self._columns)
        if self._words.known.issuperset(text.words) or not len(self._columns) or not others.any():
            return 0.0
        language, lead = self._likeliest_other(evidence)
        by_words = self._by_words(text.distinct)
        if by_words <= 0.0:
            return lead + by_words
        advantage = piece_languages().advantage(text.pieces, language, self._columns)
        if advantage >= self._required(text.key).around_title:
            lead = max(lead, 0.0)
        # Names and other subjects are words that a registry lacks too; then their pieces are for no other language.
        return lead + min(by_words, advantage)

    def _required(self, key: str) -> _Required:
        """Return how much evidence makes a message foreign, by its lexical key."""
        is_latin = key.isascii() or re.search(_OTHER_LETTERS, key) is None
        if not is_latin and self._has_other_letters:
            return _OTHER_SCRIPTS
        return _LARGE if len(self._words.known) >= _WORDS_OF_LARGE else _SMALL

    @cached_property
    def _has_other_letters(self) -> bool:
        """Whether the registry has utterances in another script than the Latin one."""
        return any(not word.isascii() and re.search(_OTHER_LETTERS, word) for word in self._vocabulary.words)

    def _likeliest_other(self, evidence: NDArray[np.float64]) -> tuple[int, float]:
        """Return the likeliest language that the registry does not have, and its lead over the registry's in nats."""
        likely = evidence + piece_languages().prior
        own = float(likely[self._columns].max())
        likely[self._columns] = -np.inf
        language = int(likely.argmax())
        return language, float(likely[language]) - own

    def _foreign(self, text: ReadText) -> str | None:
        """Return the likeliest language that the registry does not have, if the message is clearly in such a one."""
        evidence = piece_languages().evidence(text.pieces)
        if evidence is None:
            return None
        lead, required = self._lead(evidence, text), self._required(text.key)
        if lead <= required.lead:
            return None
        language = piece_languages().codes[self._likeliest_other(evidence)[0]]
        words = 1 + len(text.key) // _LETTERS_OF_A_WORD if language in _WITHOUT_SPACES else len(text.distinct)
        return language if lead > required.lead + required.of_one_word / words else None

    def _among(self, text: ReadText) -> str | None:
        """Return the likeliest of the registry's languages."""
        own = self._guess.languages or self._untagged
        if len(own) < 2:
            return own[0] if own else None
        if self._guess.languages:
            return self._guess.guess(text.words, None, self._of_tags(text))
        levels, columns = piece_languages().levels_of(text.pieces), self._columns.tolist()
        return piece_languages().codes[max(columns, key=lambda column: _likely(levels, column))]

    @cached_property
    def _untagged(self) -> Sequence[str]:
        """The registry's languages as the tokenizer names them."""
        return [piece_languages().codes[column] for column in self._columns.tolist()]

    def _of_tags(self, text: ReadText) -> NDArray[np.float64] | None:
        """Return what the pieces say for each language that the author names, shape `(languages,)`; None for nothing.

        A language that the tokenizer does not know is as likely as the languages that a piece says nothing about.
        """
        levels = piece_languages().levels_of(text.pieces)
        if not levels:
            return None
        likely = [_likely(levels, column) if column >= 0 else 0.0 for column in self._columns_of_tags.values()]
        return _PIECES_WEIGHT * np.array(likely)

    @cached_property
    def _columns_of_tags(self) -> Mapping[str, int]:
        """Position of each language that the author names among those of the pieces; -1 for an unknown one."""
        codes = [*piece_languages().codes]
        bases = [base_language(code) for code in codes]
        columns = {}
        for tag in self._guess.languages:
            base = base_language(tag)
            columns[tag] = codes.index(tag) if tag in codes else bases.index(base) if base in bases else -1
        return columns

    @cached_property
    def _families(self) -> frozenset[str]:
        """The registry's languages without regions: those that the author names, and guesses for other utterances."""
        tagged = frozenset(_family(tag) for tag in self.tags if tag)
        rest = [row for row, tag in enumerate(self.tags) if not tag]
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
    def _own_positions(self) -> frozenset[int]:
        return frozenset(self._columns.tolist())

    @cached_property
    def _words(self) -> _WordEvidence:
        counts = self._vocabulary.counts
        once = sum(count == 1 for count in counts.values())
        lacking = min(max(once / max(1, counts.total()), _FEWEST_LACKING), _MOST_LACKING)
        of_known = min(0.0, math.log((1.0 - _LACKING) / (1.0 - lacking)))
        of_unknown = _LACKED_WEIGHT * max(0.0, math.log(_LACKING / lacking))
        return _WordEvidence(self._vocabulary.words, of_known, of_unknown)


def _own(language: str | None) -> Spoken:
    """Return a language of the registry as that of a message; None if there is nothing to tell it by."""
    return Spoken(language, False, f"guessed {language}" if language else "nothing to tell the language by")


def _likely(levels: Mapping[int, int], column: int) -> float:
    """Return how likely a language is by its position: the evidence of the pieces, and the prior."""
    return STEP * levels.get(column, 0) + piece_languages().priors[column]


def _may_be_words(text: str) -> bool:
    """Whether a text is no random letters; scripts without weights have a randomness of 0."""
    random = randomness(text)
    return random <= _MOST_RANDOM or random == 0.0


def _family(code: str) -> str:
    """Return a language without region and script, or the one that stands for it and its nearest relatives."""
    base = base_language(code)
    return _FAMILIES.get(base, base)
