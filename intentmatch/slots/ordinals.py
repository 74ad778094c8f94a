"""Slots of kind "ordinal": "third" is 3, "last" is -1, in figures ("3rd", "3º", "第3") and in words.

A word is an ordinal of the table, or a cardinal with an ending ("einundzwanzigste"); the cardinals before it belong to
it ("twenty-first").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from intentmatch.languages.own import shipped_code
from intentmatch.languages.tables import Table
from intentmatch.slots.function_words import elisions, function_words
from intentmatch.slots.message import Message, SlotHit, once, plain
from intentmatch.slots.number_words import cardinal
from intentmatch.slots.numerals import NUMERALS, numeral
from intentmatch.slots.word_patterns import any_of
from intentmatch.text.normalize import bare

_MOST_BEFORE = 3
"""Cardinals before an ordinal that are a part of it."""
_SHORTEST_STEM = 2
_NEVER = "(?!)"


class _Ordinals(NamedTuple):
    """Words of a language for ordinals."""

    words: Mapping[int, str] = {}
    """Words by number, "_" for a space; -1 is the last one. With `endings` they are stems."""
    endings: str = ""
    """Endings of the words; bars separate them."""
    suffix: str = ""
    """Pattern of what makes an ordinal of a cardinal."""
    instead: tuple[str, ...] = ()
    """Letters that the cardinal may have instead of the suffix."""
    figures: str = _NEVER
    """Pattern of an ordinal in figures, in plain form ("й" is "и"); the groups n and n2 are the number."""
    counted: str = ""
    """Pattern of an ordinal in numerals, which `<numerals>` stands for; the group back counts from the end."""
    fixed: Mapping[str, int] = {}
    """Phrases in a script without spaces."""
    part_articles: str = ""
    """Articles before an ordinal that is a part where no noun follows: "a third"."""
    tens_first: bool = False
    """Whether the tens are an ordinal too: "twentieth first"."""


_ORDINALS = Table[_Ordinals]("ordinals", lambda own: _Ordinals(**own))


@once
def find_ordinals(message: Message) -> list[SlotHit]:
    """Return ordinals of the message's language in figures and in words, including overlapping ones."""
    language = message.base_language
    if language not in _ORDINALS:
        language = "en"
    found = [*_in_figures(message, language), *_in_phrases(message, language), *_in_words(message, language)]
    return [SlotHit(*message.aligned.widened(*span), value) for *span, value in found]


def _in_figures(message: Message, language: str) -> Iterator[tuple[int, int, int]]:
    for found in _figures(language).finditer(message.plain):
        yield *found.span(), int(found["n"] or found.groupdict().get("n2") or "")
    if counted := _counted(language):
        for found in counted.finditer(message.text):
            groups = found.groupdict()
            value = numeral(groups["n"] or groups["n2"])
            if value is not None:
                yield *found.span(), -value if groups.get("back") else value


def _in_phrases(message: Message, language: str) -> Iterator[tuple[int, int, int]]:
    pattern, values = _phrases(language)
    for found in pattern.finditer(message.plain):
        yield *found.span(), values[found[0]]


def _in_words(message: Message, language: str) -> Iterator[tuple[int, int, int]]:
    places = [_behind_elision(message, language, *place) for place in message.words]
    words = [message.bare[slice(*place)] for place in places]
    for number, word in enumerate(words):
        value = _value(language, word)
        if value is None or _is_amount(message, language, words, number):
            continue
        first = number
        # The longest run first: "one hundred twenty-first" before "twenty-first".
        for count in range(min(_MOST_BEFORE, number), 0, -1):
            whole = _whole(language, words[number - count : number], value)
            beside = pairwise(places[number - count : number + 1])
            if whole is not None and all(message.adjacent(end, start) for (_, end), (start, _) in beside):
                first, value = number - count, whole
                break
        span = message.aligned.span(places[first][0], places[number][1])
        if span:
            yield *span, value


def _whole(language: str, before: Sequence[str], value: int) -> int | None:
    """Return "twenty" and "first" as 21, None if the words before an ordinal are no part of it."""
    if value < 1:
        return None
    tens = _value(language, before[0]) if _ORDINALS[language].tens_first and len(before) == 1 else None
    if tens is not None:
        return tens + value if tens > 0 and tens % 10 == 0 and value < 10 else None
    return cardinal(language, before, value)


def _behind_elision(message: Message, language: str, start: int, end: int) -> tuple[int, int]:
    """Return the place of an ordinal behind an article that is written together with it: "l'ultimo"."""
    for short in elisions(message.language):
        behind = start + len(short)
        is_article = message.bare.startswith(short, start, end) and message.aligned.dropped(behind)
        if is_article and _value(language, message.bare[behind:end]) is not None:
            return behind, end
    return start, end


def _is_amount(message: Message, language: str, words: Sequence[str], number: int) -> bool:
    """Return whether "a second" is a time and "a third of them" a part: no noun follows."""
    if number == 0 or words[number - 1] not in _ORDINALS[language].part_articles.split():
        return False
    return number + 1 == len(words) or words[number + 1] in function_words(message.language)


@lru_cache(maxsize=4096)
def _value(language: str, word: str) -> int | None:
    """Return the number of an ordinal in bare form; None for other words."""
    forms = _forms(language)
    if word in forms:
        return forms[word]
    own = _ORDINALS[language]
    if not own.suffix:
        masculine = (word[:end] for end in range(5, len(word) - 4) if own.tens_first)
        tens = next((stem for stem in masculine if forms.get(stem, 0) % 10 == 0 and word[len(stem) :] in forms), None)
        return None if tens is None else forms[tens] + forms[word[len(tens) :]]
    found = re.search(own.suffix, word)
    for letters in own.instead if found and found.start() >= _SHORTEST_STEM else ():
        value = cardinal(language, [word[: found.start()] + letters]) if found else None
        if value:
            return value
    for end in range(_SHORTEST_STEM, len(word) - _SHORTEST_STEM):
        if (last := forms.get(word[end:], 0)) > 0 and (whole := cardinal(language, [word[:end]], last)):
            return whole
    return None


@lru_cache(maxsize=64)
def _forms(language: str) -> Mapping[str, int]:
    """Return the single words for ordinals of a language, in bare form, with their numbers."""
    endings = _ORDINALS[language].endings.split("|")
    forms: dict[str, int] = {}
    for word, number in _listed(language):
        if "_" not in word and "-" not in word:
            forms |= {bare(word + ending): number for ending in endings}
            forms |= {bare("ال" + word): number} if shipped_code(language) == "ar" else {}
    return forms


@lru_cache(maxsize=64)
def _phrases(language: str) -> tuple[re.Pattern[str], Mapping[str, int]]:
    texts = {plain(word.replace("_", " ")): number for word, number in _listed(language) if "_" in word or "-" in word}
    texts |= _ORDINALS[language].fixed
    return re.compile(any_of(texts)), texts


def _listed(language: str) -> Iterator[tuple[str, int]]:
    for number, words in _ORDINALS[language].words.items():
        for word in words.split():
            yield word, number


@lru_cache(maxsize=64)
def _counted(language: str) -> re.Pattern[str] | None:
    counted = _ORDINALS[language].counted
    return re.compile(counted.replace("<numerals>", NUMERALS)) if counted else None


@lru_cache(maxsize=64)
def _figures(language: str) -> re.Pattern[str]:
    pattern = _ORDINALS[language].figures
    if _ORDINALS[language].counted:
        return re.compile(f"(?<![0-9])(?:{pattern})")
    return re.compile(rf"(?<![\w.,:/-])(?:{pattern})(?![^\W_])")
