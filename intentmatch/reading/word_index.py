"""Known words, and the known words that an unknown word may be a misspelling of.

Known are the words of the registry, and those that the embedded tokenizer has as one piece and that are frequent in a
language of the registry or of the message. The score of a candidate is the logit of the probability that the writer
meant it. It follows the noisy channel model (Kernighan, Church and Gale 1990, "A Spelling Correction Program Based on a
Noisy Channel Model"): how often the candidate is used, how likely the mistake is, and how well it fits its neighbours,
against how good a word the typed letters are themselves.

The weights are rounded from a logistic regression on 23,600 words that a registry did not have: clean ones, and ones
with a swapped, dropped, doubled or replaced letter, of validation messages of clinc150, banking77, massive, mtop, xsid,
arbanking77, msskills_calendar, rasa_carbon and rasa_ru_cadaxapy. Most clean ones are in languages that their registry
does not have. The intercept, prefixes, abjads, and the length of words with far mistakes were chosen on clinc150 and
banking77 with mistakes, and on massive and msskills_general without. Careless writers and two mistakes were then chosen
by the words restored and harmed in messages of clinc150, banking77, massive and msskills_general with one and two
mistakes (`with_typos`, seeds 10 and 11). Words of other languages are no candidates: they harmed 20 of 3,318 messages
as written, and restored 25 of 6,471 with a mistake.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import OSA, Prefix
from rapidfuzz.process import cdist

from intentmatch.pieces.embedded import embedded_tokenizer
from intentmatch.pieces.unigram import words_of
from intentmatch.pieces.vocabulary import SPACE
from intentmatch.reading.vocabulary import Vocabulary
from intentmatch.text.accents import by_form_without_accents, unaccented
from intentmatch.text.language_id import script
from intentmatch.text.typos import IN_CONTEXT

END = "\n"
"""Stands for the beginning and the end of a text among the neighbours of a word."""

# Utterances that are counted; more would hardly change the counts. Letters of a script that mistakes may insert.
_MOST_UTTERANCES, _MOST_LETTERS = 20_000, 36
_CACHED_WORDS = 8192
_LONGEST_WORD = 24

# Weights of the score.
_INTERCEPT = -1.5
_IN_REGISTRY, _LOG_COUNT = 1.8, 0.48
_LOG_PROBABILITY, _RAREST = 0.37, -15.0
_MISTAKES = {"accents": 5.0, "double": 3.7, "swap": 3.5, "drop": 2.7, "other": 0.0, "two": -1.5}
_TWO_IN_SHORT, _LONG = -2.0, 7
# Of a word of the registry with two mistakes where another one needs only one.
_TWO_BESIDE_ONE = -3.0
# A word of so many letters may also have two mistakes that change its first letter or leave out or add two letters.
_LETTERS_WITH_FAR = 5
_LAST_LETTER = -0.6
_PREFIX, _LETTERS_OF_PREFIX, _LETTERS_WITH_PREFIX = -4.0, 3, 6
_UNKNOWN_PIECES = -0.17
_KNOWN_PIECE, _KNOWN_WORD = -0.43, -5.8
_RIVALS = -0.5
_NEIGHBOURS, _NEIGHBOUR_PRIOR = 0.6, 5.0
_FAMILIARITY = 0.95
_ABJAD = -2.0
CARELESS = 1.0
"""What is added to the scores of a message in which another word was corrected: its writer mistypes."""

_ABJADS = frozenset({"Arabic", "Hebrew"})
_SWAPPED = len(f"{SPACE}ab")
_REPEATED = re.compile(r"(.)\1{2,}")


class SpellingCandidate(NamedTuple):
    """A known word that an unknown one may be a misspelling of."""

    word: str
    """Folded."""
    score: float
    """Logit of the probability that it was meant, without neighbours and the rest of the message."""


Speaks = Callable[[Sequence[int], str | None], bool]
"""Tells whether pieces of the embedded tokenizer are frequent in a language of the registry, or in the one named."""


class WordIndex:
    """Index of a registry's words. Nothing is indexed before the first unknown word."""

    def __init__(self, vocabulary: Vocabulary, speaks: Speaks = lambda *_: True) -> None:
        self._vocabulary, self._speaks = vocabulary, speaks
        self._cache: dict[tuple[str, str | None], tuple[SpellingCandidate, ...]] = {}

    def candidates(self, word: str, language: str | None) -> tuple[SpellingCandidate, ...]:
        """Return the known words that a folded word, unknown to the registry, may be a misspelling of.

        `language` is the one of the message if that is known.
        """
        if not IN_CONTEXT.for_one <= len(word) <= _LONGEST_WORD:
            return ()
        found = self._cache.get((word, language))
        if found is None:
            if len(self._cache) >= _CACHED_WORDS:
                self._cache.clear()
            found = self._cache[word, language] = self._find(word, language) if _is_alphabetic(word) else ()
        return found

    @staticmethod
    def is_common(word: str) -> bool:
        """Return whether the embedded tokenizer has a folded word as one piece."""
        return len(embedded_tokenizer().encode(word, 2)) == 1

    def fits(self, before: str, word: str, after: str) -> float:
        """Return how much the neighbours of a word raise its score; `END` is a neighbour too."""
        counted = self._counted
        count = counted.count(word)
        if not count:
            return 0.0
        share = count / counted.total
        raised = 0.0
        for left, right, other in ((before, word, before), (word, after, after)):
            others = counted.count(other)
            if others:
                together = counted.together(left, right)
                raised += log((together / share + _NEIGHBOUR_PRIOR) / (others + _NEIGHBOUR_PRIOR))
        return _NEIGHBOURS * raised

    @cached_property
    def _counted(self) -> _Counted:
        return _Counted(self._vocabulary)

    def _find(self, word: str, language: str | None) -> tuple[SpellingCandidate, ...]:
        tokenizer, typed, units = embedded_tokenizer(), SPACE + word, words_of(word)
        weights = [tokenizer.weigh(unit) for unit in units]
        pieces, probability = sum(count for count, _ in weights), sum(logarithm for _, logarithm in weights)
        own = _KNOWN_WORD + _KNOWN_PIECE * probability if pieces == 1 else _UNKNOWN_PIECES * probability
        abjad = _ABJAD if script(word[0]) in _ABJADS else 0.0
        prefixed = pieces <= 2 and len(word) >= _LETTERS_WITH_PREFIX
        near, further = self._in_registry(word, prefixed)
        mistakes = near | further
        # A word in a script that the registry does not have is unknown without being mistyped.
        if not near and pieces > 1 and units == (typed,) and self._counted.has_script(word[0]):
            edits = _edits(typed, self._counted.letters(word[0])) | _without_repeats(typed)
            mistakes |= {
                other: _mistake(typed, other, prefixed)
                for other in tokenizer.whole(edits - {typed})
                if self._speaks(tokenizer.encode(other[1:], 1), language)
            }
        mistakes = {other: mistake for other, mistake in mistakes.items() if _is_alphabetic(other[1:])}
        start = _INTERCEPT + own + abjad + _RIVALS * log(len(mistakes) or 1)
        counts, probabilities = self._counted.words, tokenizer.whole(mistakes.keys())
        return tuple(
            SpellingCandidate(other[1:], start + mistake + _prior(counts.get(other[1:], 0), probabilities.get(other)))
            for other, mistake in mistakes.items()
        )

    def _in_registry(self, word: str, prefixed: bool) -> tuple[dict[str, float], dict[str, float]]:
        """Return words of the registry one mistake from a word, and two from it, with how likely the mistakes are."""
        counted, typed = self._counted, SPACE + word
        one: dict[str, float] = {}
        two: dict[str, float] = {}
        far: dict[str, float] = {}
        likely = _MISTAKES["two"] + (_TWO_IN_SHORT if len(word) < _LONG else 0.0)
        for other, distance in counted.near(typed, 2 if len(word) >= _LETTERS_WITH_FAR else 1):
            if distance == 1:
                one[other] = _mistake(typed, other, prefixed)
            elif other[1] == word[0] and abs(len(other) - len(typed)) < distance and len(word) >= IN_CONTEXT.for_two:
                two[other] = likely
            elif len(word) >= _LETTERS_WITH_FAR:
                far[other] = likely
        if one:
            two = {other: mistake + _TWO_BESIDE_ONE for other, mistake in two.items()}
        # Far words are not counted among the rivals of nearer ones.
        two = two if one or two else far
        repeated = {other: _MISTAKES["double"] for other in _without_repeats(typed) if other[1:] in counted.words}
        one |= repeated | dict.fromkeys(counted.accented(word), _MISTAKES["accents"])
        return one, {other: mistake for other, mistake in two.items() if other not in one}


def _prior(count: int, probability: float | None) -> float:
    """Return how much a candidate is used: by the registry, and by the log probability of its piece if it is one."""
    common = _RAREST if probability is None else max(probability, _RAREST)
    return _LOG_COUNT * log(count + 1) + _IN_REGISTRY * (count > 0) + _LOG_PROBABILITY * common


def familiarity(known: int, common: int, others: int) -> float:
    """Return how much the other words of a message raise the scores of a word's candidates.

    `known` of the others are words of the registry, `common` are words of some language, and `others` neither. A
    message with few known words is likely to be in another language or about something else; its words are then unknown
    without being mistyped. Words that are in no language say half as much, for they may be mistyped too.
    """
    share = (known + 0.5) / (known + common + 0.5 * others + 1)
    return _FAMILIARITY * log(share / (1.02 - share))


class _Counted:
    """Counts over folded utterances. Words are found and returned with "▁" before them, as pieces are."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        folded = vocabulary.folded
        step = -(-len(folded) // _MOST_UTTERANCES) or 1
        tokens = f"{END} {f' {END} '.join(folded[::step])} {END}".split(" ")
        self.words = vocabulary.counts if step == 1 else Counter(tokens)
        self.total = len(tokens)
        self._ends = len(folded[::step]) + 1
        # Hashes of pairs, ascending, and their counts: a tenth of the memory of a dictionary.
        hashes, counts = np.unique(np.fromiter(map(hash, pairwise(tokens)), np.int64), return_counts=True)
        self._pairs, self._pair_counts = array("q", hashes.tobytes()), array("i", counts.astype(np.int32).tobytes())

    def count(self, word: str) -> int:
        """Return how often a word occurs; how many texts begin or end for `END`."""
        return self._ends if word == END else self.words.get(word, 0)

    def together(self, left: str, right: str) -> int:
        """Return how often two words are neighbours."""
        sought = hash((left, right))
        place = bisect_left(self._pairs, sought)
        return self._pair_counts[place] if place < len(self._pairs) and self._pairs[place] == sought else 0

    def letters(self, letter: str) -> str:
        """Return the most frequent letters of the registry in the script of a letter."""
        return self._alphabets.get(script(letter), letter)

    def has_script(self, letter: str) -> bool:
        """Return whether a word of the registry is in the script of a letter."""
        return script(letter) in self._alphabets

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
        return by_form_without_accents((word, SPACE + word) for word in self.words)

    def near(self, typed: str, most: int) -> Iterator[tuple[str, int]]:
        """Yield words that are one or two mistakes away, with their distance.

        Their first or last letter is that of the typed word, as it is after one mistake in a word of three letters.
        They have at most `most` letters more or less.
        """
        sizes = range(len(typed) - most, len(typed) + most + 1)
        keys = [(place, typed[place], size) for size in sizes for place in (1, -1)]
        words = [word for key in keys for word in self._by_letter.get(key, ())]
        if words:
            distances = cdist([typed], words, scorer=OSA.distance, score_cutoff=2, dtype=np.uint8)[0]
            for place in np.flatnonzero((distances == 1) | (distances == 2)).tolist():
                yield words[place], int(distances[place])
        if len(typed) == _SWAPPED and (swapped := typed[:0:-1]) in self.words and swapped != typed[1:]:
            yield SPACE + swapped, 1

    @cached_property
    def _by_letter(self) -> dict[tuple[int, str, int], list[str]]:
        """Words by place and letter (their first, their last) and length."""
        found: dict[tuple[int, str, int], list[str]] = {}
        for word in self.words:
            found.setdefault((1, word[0], len(word) + 1), []).append(SPACE + word)
            found.setdefault((-1, word[-1], len(word) + 1), []).append(SPACE + word)
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


def _mistake(typed: str, meant: str, prefixed: bool) -> float:
    """Return how likely the mistake is by which one word becomes another.

    A `prefixed` word may be a rare word with another prefix ("abmelden" is not "anmelden", "unload" not "upload").
    """
    length, other = len(typed), len(meant)
    if _REPEATED.search(typed):
        return _MISTAKES["double"]
    same = Prefix.similarity(typed, meant)
    if length == other + 1 and typed[same] in (typed[same - 1], typed[same + 1 : same + 2]):
        return _MISTAKES["double"]
    if length == other and typed[same + 1 : same + 2] == meant[same] and typed[same] == meant[same + 1 : same + 2]:
        return _MISTAKES["swap"]
    at_end = _LAST_LETTER if same >= max(length, other) - 1 else 0.0
    in_prefix = _PREFIX if prefixed and same <= _LETTERS_OF_PREFIX else 0.0
    return _MISTAKES["drop" if length == other - 1 else "other"] + at_end + in_prefix


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
