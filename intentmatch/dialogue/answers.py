"""Find the choice that an answer means, by its number or its words."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence

from rapidfuzz import fuzz

from intentmatch.text.normalize import fold

_SAME_WORDS = 85.0
# Code points that turn a digit into an emoji: 1️⃣.
_NO_KEYCAP = dict.fromkeys([0xFE0F, 0x20E3])


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
