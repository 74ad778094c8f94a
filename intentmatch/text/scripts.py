"""Word boundaries in scripts with and without spaces between words."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

Kind = Literal["letter", "digit", "katakana", "hangul", "ideograph", "unspaced", "sign"]
"""Class of a character; a "sign" is not part of any word."""

# Scripts without spaces between words, by first and last code point: Thai, Lao, Tibetan, Burmese, Khmer, Tai, kana.
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x0F00, 0x0FFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x1950, 0x1AAF),
    (0x3040, 0x309F),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAADF),
)
_IDEOGRAPHS = ((0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF))
_MORE_IDEOGRAPHS = 0x20000
_KATAKANA = ((0x30A0, 0x30FF), (0x31F0, 0x31FF))
_ONE_WORD = ("letter", "digit")
_HANGUL = ((0x1100, 0x11FF), (0x3130, 0x318F), (0xA960, 0xA97F), (0xAC00, 0xD7FF))


@lru_cache(maxsize=4096)
def kind(char: str) -> Kind:
    """Return the class of a character of a bare text."""
    category = unicodedata.category(char)
    code = ord(char)
    if category[0] not in "LMN":
        return "sign"
    if _among(code, _IDEOGRAPHS) or code >= _MORE_IDEOGRAPHS:
        return "ideograph"
    # After ideographs: numerals such as "三" are letters to Unicode, but "〇" is a number.
    if category[0] == "N":
        return "digit"
    if _among(code, _UNSPACED):
        return "unspaced"
    if _among(code, _KATAKANA):
        return "katakana"
    return "hangul" if _among(code, _HANGUL) else "letter"


def is_boundary(before: str, after: str) -> bool:
    """Return whether a word may end between two characters.

    It may in scripts without spaces, where the script changes, and after a digit ("10kg").
    """
    first, second = kind(before), kind(after)
    # "10kg" is two words, and "B12" is one.
    if first in ("letter", "digit") and second in ("letter", "digit"):
        return first == "digit" and second == "letter"
    return first != second or first in ("sign", "ideograph", "unspaced")


def words(bare: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words of scripts with spaces in a bare text; letters and digits form one word."""
    return ((start, end) for start, end in tokens(bare) if kind(bare[start]) in _ONE_WORD)


def tokens(bare: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the words of a bare text; in scripts without spaces, each character is a word."""
    start = 0
    for end in range(1, len(bare) + 1):
        if end == len(bare) or not _continues(bare[end - 1], bare[end]):
            if kind(bare[start]) != "sign":
                yield start, end
            start = end


def _continues(before: str, after: str) -> bool:
    first, second = kind(before), kind(after)
    return (first in _ONE_WORD and second in _ONE_WORD) or (first == second and first in ("katakana", "hangul"))


def _among(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)
