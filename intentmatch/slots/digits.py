"""Numbers in digits of any script, with separators, and fractions.

How separators are read:

- Of two kinds, the last one separates decimals: "1,234.5", "1.234,5".
- One kind that occurs several times separates thousands: "1.234.567", "12,34,567".
- A single separator separates decimals, unless three digits follow it and the language uses it for thousands: "1.234"
  is 1234 in German and 1.234 in English. "1,0000" is no number in English: it may be 1,000 or 10,000, mistyped.
- Apostrophes and spaces separate thousands only; a plain space in a language that uses a comma does so only in round
  thousands and in several groups ("1 000", "1 234 567").
- "1/2", "2 1/2" and "2½" are fractions if the whole is from 2 to 10.
- Digits joined in any other way are not a number but a date, a time, a version or a name ("AB-12").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from intentmatch.languages.own import shipped_code
from intentmatch.slots.message import Message, NumberAt
from intentmatch.text.normalize import CharacterTable, language_range
from intentmatch.text.scripts import kind

# Languages and regions with a comma for thousands and a point for decimals; all others use them the other way round.
_COMMA_LANGUAGES = (
    "am ar bn en fa fil gu he hi ja kn ko ml mr ms my ne pa si sw ta te th tl ur yue zh zu "
    "de-CH de-LI it-CH es-419 es-DO es-GT es-HN es-MX es-NI es-PA es-PE es-PR es-SV es-US"
)
_COMMA = frozenset(_COMMA_LANGUAGES.split())
_MARKS = dict(zip("٫٬．，－−–＋’＇：／⁄\u2007\u2009\u202f", ".,.,---+''://\u00a0\u00a0\u00a0", strict=True))
# Longer digits are an account or a card, and beyond what a float or a 64-bit number holds.
_MOST_DIGITS = 18


# Codes that are written together with an amount: "EUR500", as "Rp500.000" is.
_CURRENCIES = "USD|EUR|GBP|CHF|JPY|CNY|INR|IDR|AUD|CAD|SGD|HKD|BRL|MXN|PLN|SEK|NOK|DKK|CZK|HUF|ZAR|AED|KRW|THB|VND"


def _pattern(spaces: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?<![A-Za-z0-9])(?<![A-Za-z0-9][_-])|(?i:(?<=\bRp)|(?<=\b(?:{_CURRENCIES}))))(?P<sign>[+-])?"
        rf"(?P<number>[1-9][0-9]{{0,2}}(?:{spaces})(?:[.,][0-9]+)?|[0-9]+(?:[.,'/:-][0-9]+)*|(?<!\.)\.[0-9]+|(?<![^\s(€$£¥]),[0-9]+)"
        r"(?![0-9]|[.,'/:-][0-9]|[A-Za-z]+[0-9])"
    )


_WITH_COMMAS = _pattern("(?:\u00a0[0-9]{3})+|(?: [0-9]{3}){2,3}(?! [0-9])|(?: 000)(?! [0-9])")
_WITH_SPACES = _pattern("(?:[\u00a0 ][0-9]{3})+")
_FRACTION = re.compile(
    r"(?P<minus>(?<![^\W_])(?<![^\W_][_-])-)?(?<![0-9a-z.,:/])(?:(?P<whole>[0-9]{1,6})[ \u00a0-]?)?"
    r"(?:(?P<sign>[½¼¾⅓⅔])|(?<![0-9])(?P<over>[1-9])/(?P<under>[2-9]|10)(?![0-9./:-]))"
)
_SIGNS = {"½": 1 / 2, "¼": 1 / 4, "¾": 3 / 4, "⅓": 1 / 3, "⅔": 2 / 3}
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:([.,' \u00a0])[0-9]{3})(?:\1[0-9]{3})*|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}")


def ascii_digits(text: str) -> str:
    """Replace digits and separators of all scripts by ASCII ones, character by character."""
    return text if text.isascii() else text.translate(_DIGITS)


_DIGITS = CharacterTable(lambda char: _MARKS.get(char) or str(unicodedata.decimal(char, char)))


def _ascii_letters(text: str) -> str:
    """Replace non-ASCII letters of scripts with spaces by "a", character by character."""
    # The patterns look for letters beside digits as ASCII: "№5" is a number, and "д5" is a code.
    return text if text.isascii() else "".join("a" if kind(char) == "letter" else char for char in text)


def numbers_in_digits(message: Message) -> Iterator[NumberAt]:
    """Yield the numbers of a message in digits, including overlapping ones."""
    yield from _fractions(ascii_digits(message.plain))
    text = _ascii_letters(ascii_digits(message.text))
    comma = message.language is None or any(code in _COMMA for code in language_range(shipped_code(message.language)))
    for found in (_WITH_COMMAS if comma else _WITH_SPACES).finditer(text):
        start, end = found.span("number")
        # "3-5" are two numbers, and "2024-2025-2026" or a telephone number none.
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
            yield NumberAt(begins, place + len(digits), -value if negative else value)


def _fractions(text: str) -> Iterator[NumberAt]:
    for found in _FRACTION.finditer(text):
        part = _SIGNS.get(found["sign"]) or int(found["over"]) / int(found["under"])
        # "3/2" is a date or a score rather than one and a half.
        if part < 1:
            value = int(found["whole"] or 0) + part
            yield NumberAt(*found.span(), -value if found["minus"] else value)


def _value(digits: str, thousands: str) -> int | float | None:
    """Return the number for digits with separators, None if invalid; `thousands` is the language's separator."""
    marks = [char for char in digits if not char.isdigit()]
    if len(digits) - len(marks) > _MOST_DIGITS:
        return None
    if not marks:
        return int(digits)
    last = marks[-1]
    whole, _, decimals = digits.rpartition(last)
    alone = marks == [last]
    if alone and last == thousands and len(decimals) > 3 and decimals.endswith("000"):
        return None
    if last in ".," and marks.count(last) == 1 and not (alone and last == thousands and _THOUSANDS.fullmatch(digits)):
        return float(f"{_whole(whole)}.{decimals}") if alone or _THOUSANDS.fullmatch(whole) else None
    return _whole(digits) if _THOUSANDS.fullmatch(digits) else None


def _whole(digits: str) -> int:
    return int("".join(filter(str.isdigit, digits)) or 0)
