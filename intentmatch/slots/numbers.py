"""Slots of kind "number": digits of any script with their marks, and number words.

Marks. Of two kinds the last parts the decimals ("1,234.5", "1.234,5"). One kind that stands several times parts
thousands ("1.234.567", "12,34,567"). One mark alone parts the decimals, unless three digits follow it and the language
parts thousands with it ("1.234" is 1234 in German and 1.234 in English). Apostrophes and spaces part thousands only, a
plain space where the language does not use the comma for that. Digits that are joined in another way are no number but
a date, a time, a version or a name ("AB-12").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from intentmatch.slots.message import Message, SlotHit
from intentmatch.slots.number_words import spoken
from intentmatch.slots.scripts import kind
from intentmatch.text.normalize import language_range

# Languages, and regions of others, that part thousands with a comma and decimals with a point; the rest do it the other
# way round.
_COMMA_LANGUAGES = (
    "am ar bn en fa fil gu he hi ja kn ko ml mr ms my ne pa si sw ta te th tl ur yue zh zu "
    "de-CH de-LI it-CH es-419 es-DO es-GT es-HN es-MX es-NI es-PA es-PE es-PR es-SV es-US"
)
_COMMA = frozenset(_COMMA_LANGUAGES.split())
_MARKS = dict(zip("٫٬．，－−＋’＇：／\u2007\u2009\u202f", ".,.,--+'':/\u00a0\u00a0\u00a0", strict=True))
_MOST_DIGITS = 18


def _pattern(spaces: str) -> re.Pattern[str]:
    return re.compile(
        r"(?<![A-Za-z0-9])(?<![A-Za-z0-9][_-])(?P<sign>[+-])?"
        rf"(?P<number>[1-9][0-9]{{0,2}}(?:[{spaces}][0-9]{{3}})+(?:[.,][0-9]+)?|[0-9]+(?:[.,'/:-][0-9]+)*|(?<!\.)\.[0-9]+)"
        r"(?![0-9]|[.,'/:-][0-9]|[A-Za-z]+[0-9])"
    )


_WITH_COMMAS = _pattern("\u00a0")
_WITH_SPACES = _pattern("\u00a0 ")
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:([.,' \u00a0])[0-9]{3})(?:\1[0-9]{3})*|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}")


class NumberFinder:
    """Finds every number; whole ones are `int`, others `float`."""

    def find(self, message: Message) -> list[SlotHit]:
        """In digits and in words."""
        return [*_in_digits(message), *spoken(message)]


def ascii_digits(text: str) -> str:
    """Character for character: digits of every script, and their marks, as ASCII has them."""
    return text if text.isascii() else "".join(map(_ascii_digit, text))


def _ascii_digit(char: str) -> str:
    digit = unicodedata.decimal(char, None)
    return _MARKS.get(char, char) if digit is None else str(digit)


def _ascii_letters(text: str) -> str:
    """Character for character: "a" for the letters of other scripts that put spaces between words."""
    return text if text.isascii() else "".join("a" if kind(char) == "letter" else char for char in text)


def _in_digits(message: Message) -> Iterator[SlotHit]:
    text = _ascii_letters(ascii_digits(message.text))
    comma = message.language is None or any(code in _COMMA for code in language_range(message.language))
    for found in (_WITH_COMMAS if comma else _WITH_SPACES).finditer(text):
        start, end = found.span("number")
        first, *others = found["number"].split("-")
        if len(others) > 1:
            continue
        parts = [(start, first), *((end - len(other), other) for other in others)]
        for place, digits in parts:
            value = _value(digits, "," if comma else ".")
            if value is None:
                continue
            begins = found.start() if place == start else place
            negative = found["sign"] == "-" and place == start
            span = message.aligned.widened(begins, place + len(digits))
            yield SlotHit(*span, -value if negative else value)


def _value(digits: str, thousands: str) -> int | float | None:
    """The number that digits with marks stand for, if any; `thousands` is the mark that may part them alone."""
    marks = [char for char in digits if not char.isdigit()]
    if len(digits) - len(marks) > _MOST_DIGITS:
        return None
    if not marks:
        return int(digits)
    last = marks[-1]
    whole, _, decimals = digits.rpartition(last)
    alone = marks == [last]
    if last in ".," and marks.count(last) == 1 and not (alone and last == thousands and _THOUSANDS.fullmatch(digits)):
        return float(f"{_whole(whole)}.{decimals}") if alone or _THOUSANDS.fullmatch(whole) else None
    return _whole(digits) if _THOUSANDS.fullmatch(digits) else None


def _whole(digits: str) -> int:
    return int("".join(filter(str.isdigit, digits)) or 0)
