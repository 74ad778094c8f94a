"""The word that makes a text a refusal: "my card was not stolen" reads like one because of "not"."""

from __future__ import annotations

from functools import lru_cache
from math import log
from typing import NamedTuple

from intentmatch.pieces.embedded import embedded_tokenizer
from intentmatch.reading.dialogue_acts import Acts, acts_of, odds
from intentmatch.text.normalize import fold

# Chosen on Amazon's development negations that were carried out all the same, and on right messages of seven
# development sets. With a fall of 3.5, or with 0.05 for a word alone, twice as many of the latter are asked about.
_LEAST_ALONE = 0.3
"""Probability of a refusal from which a word alone may be what refuses."""
_LEAST_FALL = 4.5
"""How much the log odds of a refusal fall, at least, without the word."""
_STILL_REFUSES = 0.5
_MOST_WORDS = 30
_CACHED_WORDS = 8192


class RefusingWord(NamedTuple):
    """A word of a text that refuses."""

    word: str
    without: str
    """The text without the word."""
    acts: Acts
    """What the text does without the word."""


def refusing_word(text: str, refuses: float) -> RefusingWord | None:
    """Return the word without which a cleaned text would be no refusal; None if there is none.

    `refuses` is the probability that the text refuses something.
    """
    words = text.split(" ")
    if not 1 < len(words) <= _MOST_WORDS:
        return None
    found = [
        RefusingWord(word, without, acts_of(without))
        for place, word in enumerate(words)
        if _may_refuse(word) and (without := " ".join(words[:place] + words[place + 1 :]))
    ]
    best = min(found, key=lambda one: one.acts.refuses, default=None)
    if best is None or best.acts.refuses >= _STILL_REFUSES:
        return None
    return best if log(odds(refuses) / odds(best.acts.refuses)) >= _LEAST_FALL else None


@lru_cache(_CACHED_WORDS)
def _may_refuse(word: str) -> bool:
    """Whether a word may refuse: a contraction ("didn't") or a word of few pieces. Names and mistakes mean nothing."""
    known = "'" in word or len(embedded_tokenizer().encode(fold(word), 3)) <= 2
    return known and acts_of(word).refuses >= _LEAST_ALONE
