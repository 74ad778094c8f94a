"""Find the choice that an answer means, by its number or its words, and whether it is a yes or a no."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from rapidfuzz import fuzz

from intentmatch.text.normalize import fold

_SAME_WORDS = 85.0
# Code points that turn a digit into an emoji: 1️⃣.
_NO_KEYCAP = dict.fromkeys([0xFE0F, 0x20E3])


class YesOrNo(NamedTuple):
    """What an answer to a yes-or-no question begins with."""

    yes: bool
    rest: str
    """The folded words after it; empty if there are none."""


def yes_or_no(answer: str, yes: Iterable[str], no: Iterable[str]) -> YesOrNo | None:
    """Read an answer that begins with one of the words for yes or for no; None if it begins with neither."""
    said = {fold(words): True for words in yes} | {fold(words): False for words in no}
    rest, found = fold(answer), None
    while (first := _first(rest, said)) and found in (None, said[first]):
        found, rest = said[first], rest[len(first) :].lstrip()
    return None if found is None else YesOrNo(found, rest)


def _first(folded: str, phrases: Collection[str]) -> str:
    """Return the longest of the phrases that the text begins with, as whole words; empty if there is none."""
    begun = (phrase for phrase in phrases if phrase and f"{folded} ".startswith(f"{phrase} "))
    return max(begun, key=len, default="")


def choice_by_number(answer: str, count: int) -> int | None:
    """Read an answer as a number from 1 to `count`, in the digits of any script; None if it is no such number."""
    folded = fold(answer.translate(_NO_KEYCAP))
    if not folded or len(folded) > 3 or not all(unicodedata.decimal(letter, None) is not None for letter in folded):
        return None
    number = int("".join(str(unicodedata.decimal(letter)) for letter in folded))
    return number if 1 <= number <= count else None


def choice_by_words(answer: str, choices: Sequence[Collection[str]]) -> int | None:
    """Return the number, from 1, of the only choice with a name similar to the answer; None if there is no such one."""
    key = fold(answer)
    if not key:
        return None
    similarities = [max((fuzz.ratio(key, fold(name)) for name in names), default=0.0) for names in choices]
    required = 100.0 if max(similarities, default=0.0) == 100.0 else _SAME_WORDS
    similar = [number for number, similarity in enumerate(similarities, 1) if similarity >= required]
    return similar[0] if len(similar) == 1 else None
