"""Known words, and the known words that an unknown word may be a misspelling of.

Known are the words of the registry, and those that the embedded tokenizer has as one piece, in all its languages. The
score of a candidate is the logit of the probability that the writer meant it. It follows the noisy channel model
(Kernighan, Church and Gale 1990, "A Spelling Correction Program Based on a Noisy Channel Model"): how often the
candidate is used, how likely the mistake is, and how well it fits its neighbours, against how good a word the typed
letters are themselves. The weights of these were fitted with a logistic regression.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import OSA

from intentmatch.encoders.tokenizer.embedded import embedded_tokenizer
from intentmatch.encoders.tokenizer.unigram import words_of
from intentmatch.encoders.tokenizer.vocabulary import SPACE
from intentmatch.text.accents import typed_without_accents, unaccented
from intentmatch.text.language_id import script

END = "\n"
"""Stands for the beginning and the end of a text among the neighbours of a word."""

# Utterances that are counted; more would hardly change the counts. Letters of a script that mistakes may insert.
_MOST_UTTERANCES, _MOST_LETTERS = 20_000, 36
_CACHED_WORDS = 8192
_SHORTEST_WORD, _LONGEST_WORD = 2, 24
_LETTERS_FOR_TWO_MISTAKES = 5

# Weights of the score.
_INTERCEPT = -1.6
_IN_REGISTRY, _LOG_COUNT = 1.8, 0.48
_LOG_PROBABILITY, _RAREST = 0.37, -15.0
_MISTAKES = {"accents": 5.0, "double": 3.7, "swap": 3.5, "drop": 2.7, "other": 0.0, "two": -1.0}
_TWO_IN_SHORT, _LONG = -2.0, 7
_LAST_LETTER = -0.6
_UNKNOWN_PIECES, _UNKNOWN_WORD = -0.17, 0.0
_KNOWN_PIECE, _KNOWN_WORD = -0.43, -5.8
_RIVALS = -0.5
_NEIGHBOURS, _NEIGHBOUR_PRIOR = 0.6, 5.0
_FAMILIARITY = 0.95
_ABJAD = -1.1
CARELESS = 1.5
"""What is added to the scores of a message in which another word was corrected: its writer mistypes."""

_ABJADS = frozenset({"Arabic", "Hebrew"})
_REPEATED = re.compile(r"(.)\1{2,}")


class Candidate(NamedTuple):
    """A known word that an unknown one may be a misspelling of."""

    word: str
    """Folded."""
    score: float
    """Logit of the probability that it was meant, without neighbours and the rest of the message."""


class WordIndex:
    """Index of the words of folded utterances. Nothing is counted before the first unknown word."""

    def __init__(self, folded: Sequence[str]) -> None:
        self._folded = folded
        self._candidates = lru_cache(_CACHED_WORDS)(self._find)

    def candidates(self, word: str) -> tuple[Candidate, ...]:
        """Return the known words that a folded word, unknown to the registry, may be a misspelling of."""
        return self._candidates(word) if _SHORTEST_WORD <= len(word) <= _LONGEST_WORD and _is_alphabetic(word) else ()

    @staticmethod
    def is_common(word: str) -> bool:
        """Return whether the embedded tokenizer has a folded word as one piece."""
        return len(embedded_tokenizer().encode(word, 2)) == 1

    def fits(self, before: str, word: str, after: str) -> float:
        """Return how much the neighbours of a word raise its score; `END` is a neighbour too."""
        counted = self._counted
        count = counted.words.get(SPACE + word, 0)
        if not count:
            return 0.0
        share = count / counted.total
        raised = 0.0
        for left, right, other in ((before, word, before), (word, after, after)):
            others = counted.words.get(SPACE + other, 0)
            if others:
                together = counted.together(left, right)
                raised += log((together / share + _NEIGHBOUR_PRIOR) / (others + _NEIGHBOUR_PRIOR))
        return _NEIGHBOURS * raised

    @cached_property
    def _counted(self) -> _Counted:
        step = -(-len(self._folded) // _MOST_UTTERANCES) or 1
        return _Counted(self._folded[::step])

    def _find(self, word: str) -> tuple[Candidate, ...]:
        counted, tokenizer, typed = self._counted, embedded_tokenizer(), SPACE + word
        units = words_of(word)
        pieces, probability = 0, 0.0
        for unit in units:
            more, logarithm = tokenizer.weigh(unit)
            pieces, probability = pieces + more, probability + logarithm
        known = pieces == 1
        start = _INTERCEPT + (
            _KNOWN_WORD + _KNOWN_PIECE * probability if known else _UNKNOWN_WORD + _UNKNOWN_PIECES * probability
        )
        if script(word[0]) in _ABJADS:
            start += _ABJAD
        near = _edits(typed, counted.letters(word[0])) | _without_repeats(typed)
        near.discard(typed)
        registry = near & counted.words.keys()
        common = {} if known or units != (typed,) else tokenizer.whole(near)
        found = {other: self._score(typed, other, common) for other in registry | common.keys()}
        for other in counted.accented(word):
            found[other] = self._prior(other, common) + _MISTAKES["accents"]
        if len(word) >= _LETTERS_FOR_TWO_MISTAKES:
            for other in counted.two_mistakes_away(typed):
                if other not in found:
                    found[other] = (
                        self._prior(other, common) + _MISTAKES["two"] + (_TWO_IN_SHORT if len(word) < _LONG else 0.0)
                    )
        meant = {other[1:]: score for other, score in found.items() if _is_alphabetic(other[1:])}
        start += _RIVALS * log(len(meant) or 1)
        return tuple(Candidate(other, start + score) for other, score in meant.items())

    def _score(self, typed: str, other: str, common: Mapping[str, float]) -> float:
        return self._prior(other, common) + _mistake(typed, other)

    def _prior(self, other: str, common: Mapping[str, float]) -> float:
        """Return how often a candidate is used, by the registry and by the scores of pieces."""
        count = self._counted.words.get(other, 0)
        probability = common.get(other)
        if probability is None:
            probability = embedded_tokenizer().whole({other}).get(other, _RAREST)
        return _LOG_COUNT * log(count + 1) + _IN_REGISTRY * (count > 0) + _LOG_PROBABILITY * max(probability, _RAREST)


def familiarity(known: int, common: int, others: int) -> float:
    """Return how much the other words of a message raise the scores of a word's candidates.

    `known` of the others are words of the registry, `common` are words of some language, and `others` neither. A
    message with few known words is likely to be in another language or about something else; its words are then unknown
    without being mistyped. Words that are in no language say half as much, for they may be mistyped too.
    """
    share = (known + 0.5) / (known + common + 0.5 * others + 1)
    return _FAMILIARITY * log(share / (1.02 - share))


class _Counted:
    """Counts over folded utterances. Words are written with "▁" before them, as pieces are."""

    def __init__(self, folded: Sequence[str]) -> None:
        tokens = f"{END} {f' {END} '.join(folded)} {END}".split(" ")
        self.words = Counter(map(SPACE.__add__, tokens))
        self.total = len(tokens)
        # Hashes of pairs, ascending, and their counts: a tenth of the memory of a dictionary.
        hashes, counts = np.unique(np.fromiter(map(hash, pairwise(tokens)), np.int64), return_counts=True)
        self._pairs, self._pair_counts = array("q", hashes.tobytes()), array("i", counts.astype(np.int32).tobytes())

    def together(self, left: str, right: str) -> int:
        """Return how often two words are neighbours."""
        sought = hash((left, right))
        place = bisect_left(self._pairs, sought)
        return self._pair_counts[place] if place < len(self._pairs) and self._pairs[place] == sought else 0

    def letters(self, letter: str) -> str:
        """Return the most frequent letters of the registry in the script of a letter."""
        return self._alphabets.get(script(letter), letter)

    @cached_property
    def _alphabets(self) -> dict[str, str]:
        letters = Counter("".join(self.words))
        by_script: dict[str, list[str]] = {}
        for letter, _ in letters.most_common():
            if letter.isalpha():
                by_script.setdefault(script(letter), []).append(letter)
        return {name: "".join(found[:_MOST_LETTERS]) for name, found in by_script.items()}

    def accented(self, word: str) -> Collection[str]:
        """Return the words that equal a word but for accents."""
        return [other for other in self._accented.get(unaccented(word), ()) if other != SPACE + word]

    @cached_property
    def _accented(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in self.words:
            # "▁" is not ASCII.
            for form in typed_without_accents(word[1:]):
                found.setdefault(form, []).append(word)
        return found

    def two_mistakes_away(self, typed: str) -> Iterator[str]:
        """Yield words with the same first letter that are two mistakes away."""
        for length in range(len(typed) - 1, len(typed) + 2):
            for other in self._long_words.get((typed[1], length), ()):
                if OSA.distance(typed, other, score_cutoff=2) == 2:
                    yield other

    @cached_property
    def _long_words(self) -> dict[tuple[str, int], list[str]]:
        found: dict[tuple[str, int], list[str]] = {}
        for word in self.words:
            if len(word) >= _LETTERS_FOR_TWO_MISTAKES:
                found.setdefault((word[1], len(word)), []).append(word)
        return found


def _edits(typed: str, letters: Iterable[str]) -> set[str]:
    """Return what is one mistake away from a word with "▁" before it; no other first letter is inserted or put in."""
    parts = [(typed[:place], typed[place:]) for place in range(1, len(typed) + 1)]
    found = {before + after[1:] for before, after in parts}
    found.update([before + after[1] + after[0] + after[2:] for before, after in parts[:-2]])
    found.update([before + letter + after for before, after in parts for letter in letters])
    found.update([before + letter + after[1:] for before, after in parts[:-1] for letter in letters])
    return found


def _without_repeats(typed: str) -> set[str]:
    """Return a word with letters that are repeated for emphasis once and twice: "please" for "pleaseee"."""
    if _REPEATED.search(typed) is None:
        return set()
    return {_REPEATED.sub(r"\1", typed), _REPEATED.sub(r"\1\1", typed)}


def _mistake(typed: str, meant: str) -> float:
    """Return how likely the mistake is by which one word becomes another."""
    length, other = len(typed), len(meant)
    if _REPEATED.search(typed):
        return _MISTAKES["double"]
    same = 0
    while same < min(length, other) and typed[same] == meant[same]:
        same += 1
    at_end = _LAST_LETTER if same >= max(length, other) - 1 else 0.0
    if length == other + 1 and typed[same] in (typed[same - 1], typed[same + 1 : same + 2]):
        return _MISTAKES["double"]
    if length == other - 1:
        return _MISTAKES["drop"] + at_end
    if length == other and typed[same + 1 : same + 2] == meant[same] and typed[same] == meant[same + 1 : same + 2]:
        return _MISTAKES["swap"]
    return _MISTAKES["other"] + at_end


@lru_cache(_CACHED_WORDS)
def _is_alphabetic(word: str) -> bool:
    """Return whether a word is written with letters only, in a script whose letters are sounds.

    Left out are digits and signs, and scripts without spaces between words or whose characters are syllables.
    """
    if word.isascii():
        return word.isalpha()
    return all(char < "\u0e00" or unicodedata.category(char) != "Lo" for char in word) and all(
        char.isalpha() or unicodedata.category(char)[0] == "M" for char in word
    )
