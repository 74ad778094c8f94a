"""Variations of a message as people type it: with typing mistakes, without accents, in shorthand.

All functions are pure: the same arguments always give the same text. `text.refusals.negated` is the fourth variation.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache

from intentmatch.text.normalize import fold
from intentmatch.text.shorthand import shorthand_of

TYPO_LETTERS = 4
"""Messages with fewer letters get no typing mistakes."""

_KEYBOARDS: Mapping[str, tuple[str, ...]] = {
    "Latin": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "Cyrillic": ("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
    "Greek": ("ςερτυθιοπ", "ασδφγηξκλ", "ζχψωβνμ"),
    "Hebrew": ("  קראטוןםפ", "שדגכעיחלךף", "זסבהנמצתץ"),
    "Arabic": ("ضصثقفغعهخحجد", "شسيبلاتنمكط", "ئءؤرىةوزظ"),
}
"""Rows of letters of the most common keyboard of a script, from top to bottom; each row is half a key further right.

A space is a key without a letter.
"""

# Marks that accents are written with. Vowel signs of Indic scripts and voicing marks of Japanese are no accents.
_ACCENTS = range(0x300, 0x370)
# Letters with a stroke or without a dot, which people without these keys type as the plain letter.
_PLAIN = str.maketrans("ıłŁøØđĐ", "ilLoOdD")
# й is a letter of its own on every Russian keyboard, not и with an accent.
_KEPT = frozenset("йЙ")


def with_typos(text: str, count: int, seed: int = 0, *, keyboard: bool = False) -> str:
    """Return the text with `count` typing mistakes; the same text and seed give the same mistakes.

    Each mistake swaps two letters, drops one, doubles one, or replaces one. It is replaced by another letter of the
    text or, with `keyboard`, by a neighbour on the keyboard of its script if the keyboard is known. A text with fewer
    than `TYPO_LETTERS` letters stays as it is.
    """
    if sum(map(str.isalpha, text)) < TYPO_LETTERS:
        return text
    # A message may hold a lone surrogate.
    chance = random.Random(f"{seed} {text}".encode("utf-8", "surrogatepass"))  # noqa: S311 - mistakes, not secrets
    for _ in range(count):
        text = _typo(text, chance, keyboard)
    return text


def _typo(text: str, chance: random.Random, keyboard: bool) -> str:
    letters = [place for place, letter in enumerate(text) if letter.isalpha()]
    if not letters:
        return text
    kind, place = chance.choice(("swap", "drop", "double", "replace")), chance.choice(letters)
    if kind == "drop":
        return text[:place] + text[place + 1 :]
    if kind == "replace" and (others := _replacements(text, place, letters, keyboard)):
        return text[:place] + chance.choice(others) + text[place + 1 :]
    # Swapping equal letters would be no mistake.
    pairs = [p for p in letters if text[p + 1 : p + 2].isalpha() and text[p] != text[p + 1]]
    if kind == "swap" and pairs:
        place = chance.choice(pairs)
        return text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    return text[:place] + text[place] + text[place:]


def _replacements(text: str, place: int, letters: Sequence[int], keyboard: bool) -> Sequence[str]:
    """Return the letters that may be typed instead of the letter at `place`."""
    typed = text[place]
    neighbours = _NEIGHBOURS.get(typed.lower(), "") if keyboard else ""
    if neighbours:
        return neighbours.upper() if typed.isupper() else neighbours
    return sorted({text[other] for other in letters} - {typed})


def _neighbours() -> dict[str, str]:
    """Return the letters beside, above and below each letter of a keyboard."""
    found = {}
    for rows in _KEYBOARDS.values():
        for down, row in enumerate(rows):
            for across, letter in enumerate(row):
                near = [(down, across - 1), (down, across + 1)]
                near += [(down - 1, across), (down - 1, across + 1), (down + 1, across - 1), (down + 1, across)]
                inside = ((d, a) for d, a in near if 0 <= d < len(rows) and 0 <= a < len(rows[d]))
                found[letter] = "".join(rows[d][a] for d, a in inside).replace(" ", "")
    return found


_NEIGHBOURS = _neighbours()


def without_accents(text: str) -> str:
    """Return the text typed on a keyboard without accents: "até logo" becomes "ate logo"; case and signs stay.

    Accents are combining marks on Latin, Greek and Cyrillic letters. Letters with a stroke lose it ("ł", "ø", "đ"), and
    the dotless "ı" becomes "i".
    """
    composed = unicodedata.normalize("NFC", text)
    return "".join(map(_without_accent, composed)).translate(_PLAIN)


def _without_accent(letter: str) -> str:
    if letter.isascii() or letter in _KEPT:
        return letter
    parts = unicodedata.normalize("NFD", letter)
    return unicodedata.normalize("NFC", "".join(part for part in parts if ord(part) not in _ACCENTS))


def in_shorthand(text: str, language: str) -> str:
    """Return the text with every word that has a shorthand in this language replaced by it: "thx" for "thanks".

    The text stays as it is if none of its words has one. Of several shorthands for a word the shortest is taken, then
    the first in the alphabet.
    """
    pattern, shorts = _shorts(language)
    return pattern.sub(lambda found: shorts[fold(found[0])], text) if shorts else text


@cache
def _shorts(language: str) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return the pattern of all words and phrases that have a shorthand, and their shorthands by folded word."""
    shorts: dict[str, str] = {}
    longs: dict[str, str] = {}
    for short, long in shorthand_of(language, {}).items():
        key = fold(long)
        longs[key] = long
        shorts[key] = min(shorts.get(key, short), short, key=lambda one: (len(one), one))
    # The longest first, so that a phrase is replaced before one of its words.
    words = sorted(map(re.escape, longs.values()), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE), shorts
