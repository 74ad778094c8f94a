"""Which of several choices an answer means, by its number or in its words."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence

from rapidfuzz import fuzz

from intentmatch.text.normalize import fold

_SAME_WORDS = 85.0
# What makes an emoji of a digit: 1️⃣.
_NO_KEYCAP = dict.fromkeys([0xFE0F, 0x20E3])


def choice_by_number(answer: str, count: int) -> int | None:
    """The number from 1 to `count` that an answer is, in any script's digits and with any punctuation; else None."""
    folded = fold(answer.translate(_NO_KEYCAP))
    if not folded or len(folded) > 3 or not all(unicodedata.decimal(letter, None) is not None for letter in folded):
        return None
    number = int("".join(str(unicodedata.decimal(letter)) for letter in folded))
    return number if 1 <= number <= count else None


def choice_by_words(answer: str, choices: Sequence[Collection[str]]) -> int | None:
    """The number, from 1, of the choice that has a name so like the answer that no other comes near; else None."""
    key = fold(answer)
    if not key:
        return None
    alike = [max((fuzz.ratio(key, fold(name)) for name in names), default=0.0) for names in choices]
    best = max(alike, default=0.0)
    near = [number for number, likeness in enumerate(alike, 1) if likeness >= (100.0 if best == 100.0 else _SAME_WORDS)]
    return near[0] if len(near) == 1 else None
