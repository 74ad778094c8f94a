"""Read a short answer as a sequence of known words and nothing else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from intentmatch.text.normalize import bare, fold
from intentmatch.text.scripts import kind

_K = TypeVar("_K")

LONGEST = 120
"""Characters of an answer that is read; longer ones say more than yes or the number of a choice."""
_UNSPACED = ("ideograph", "katakana", "hangul", "unspaced")
_LENGTHENED = re.compile(r"([^\W\d_])\1{2,}")  # "yesss"
# Variation selectors, joiners, skin tones and keycaps change the look of an emoji; "№" would become the word "no".
_PLAIN = dict.fromkeys([0xFE0E, 0xFE0F, 0x200D, 0x20E3, *range(0x1F3FB, 0x1F400)]) | {ord("№"): "#"}
_MARKS = "~^#"  # "yes~", "^^", "#2"


def coverings(answer: str, words: Mapping[str, Collection[_K | None]]) -> set[frozenset[_K]]:
    """Return the sets of meanings by which words cover the whole answer; none if something of it is left over.

    `words` have one meaning or several; None is the meaning of a word that adds nothing, such as "please". Case,
    punctuation, lengthened letters and missing accents make no difference, unless words that mean different things
    would become equal without accents.
    """
    if len(answer) > LONGEST:
        return set()
    plain = answer.translate(_PLAIN)
    exact = _by_form(words, fold)
    return _covered(_form(fold(plain)), exact) or _covered(_form(bare(plain)), _without_accents(words))


def _by_form(words: Mapping[str, Collection[_K | None]], fold: Callable[[str], str]) -> dict[str, set[_K | None]]:
    found: dict[str, set[_K | None]] = {}
    for word, meanings in words.items():
        found.setdefault(_form(fold(word)), set()).update(meanings)
    found.pop("", None)
    return found


def _without_accents(words: Mapping[str, Collection[_K | None]]) -> dict[str, set[_K | None]]:
    """Return words without accents; "dung" is left out if one word is "yes" and another one "don't"."""
    found = _by_form(words, bare)
    meant: dict[str, set[frozenset[_K]]] = {}
    for word, meanings in words.items():
        meant.setdefault(_form(bare(word)), set()).add(frozenset(meanings) - {None})  # type: ignore[arg-type]
    return {word: meanings for word, meanings in found.items() if len(meant[word] - {frozenset()}) < 2}


def _form(folded: str) -> str:
    """Return a folded text with signs apart, digits in ASCII, and no spaces in scripts that write none."""
    spaced = "".join(_spaced(char) for char in _LENGTHENED.sub(r"\1", folded))
    joined: list[str] = []
    for word in spaced.split():
        if joined and not (is_unspaced(joined[-1][-1]) and is_unspaced(word[0])):
            joined.append(" ")
        joined.append(word)
    return "".join(joined)


def _spaced(char: str) -> str:
    if char in _MARKS:
        return " "
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    return f" {char} " if unicodedata.category(char)[0] == "S" else char


def is_unspaced(char: str) -> bool:
    """Whether words of the letter's script stand side by side."""
    return kind(char) in _UNSPACED


def _covered(text: str, words: Mapping[str, Iterable[_K | None]]) -> set[frozenset[_K]]:
    # For each place, the sets of meanings of all ways to cover the text before it with words.
    reached: dict[int, set[frozenset[_K]]] = {0: {frozenset()}}
    for start in range(len(text)):
        if start not in reached:
            continue
        for word, meanings in words.items():
            # Whole words only, except in scripts that write no spaces.
            if not text.startswith(word, start) or not _ends(text, start + len(word)):
                continue
            end = start + len(word)
            end += text.startswith(" ", end)
            more = {before | ({meaning} - {None}) for before in reached[start] for meaning in meanings}
            reached.setdefault(end, set()).update(more)  # type: ignore[arg-type]
    return reached.get(len(text), set()) if text else set()


def _ends(text: str, end: int) -> bool:
    return end == len(text) or text[end] == " " or is_unspaced(text[end - 1]) or is_unspaced(text[end])
