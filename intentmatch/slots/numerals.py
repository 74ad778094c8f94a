"""Chinese and Japanese numerals, also with digits among them: "三千五百", "1.5万", "3万5千"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from intentmatch.languages.structure import structure_of
from intentmatch.slots.message import Message, NumberAt
from intentmatch.text.normalize import base_language

_MOST_DIGITS = 18
_NUMERALS = {char: number for number, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_TENS = {"十": 10, "百": 100, "千": 1000}
_NUMERAL_SET = frozenset(_NUMERALS).union("0123456789")
_MYRIADS = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
NUMERALS = "".join((*_NUMERALS, *_TENS, *_MYRIADS))
"""Characters of Chinese and Japanese numerals."""
_UNIT_AHEAD = f"(?=[{''.join((*_TENS, *_MYRIADS))}])"
_NUMERAL_RUN = re.compile(
    rf"(?<![0-9a-z.,])(?:[0-9]{{1,9}}(?:[.,][0-9]{{1,6}})?{_UNIT_AHEAD})?"
    rf"[{NUMERALS}](?:[{NUMERALS}]|[0-9]{{1,4}}{_UNIT_AHEAD})*"
)
_NUMERAL_PART = re.compile(f"[0-9][0-9.,]*|[{NUMERALS}]")
# Counters that must follow a single numeral: numerals are also part of other words ("三明治").
_COUNTERS = frozenset("个個张張人位名份杯点點天日次件块塊元円枚本台回歳月年週时時号號只隻双雙条條瓶盒袋斤つ")


def numbers_in_numerals(message: Message) -> Iterator[NumberAt]:
    """Yield Chinese and Japanese numbers, also with digits; a lone numeral that no counter follows is a loose one."""
    text = message.plain
    colloquial = message.language is not None and "last_unit_unsaid" in structure_of(base_language(message.language))
    for found in _NUMERAL_RUN.finditer(text):
        run, after = found[0], text[found.end() : found.end() + 1]
        certain = len(run) > 1 and (run[0] in _NUMERALS or run[0] == "十" or not _NUMERAL_SET.isdisjoint(run))
        value = _numeral(run, colloquial)
        if value is not None:
            article = run == "一" and after in ("个", "個")
            is_loose = article or not (certain or (after and after in _COUNTERS))
            yield NumberAt(*found.span(), value, is_loose=is_loose)


def numeral(run: str) -> int | None:
    """Return the number that a run of `NUMERALS` means, None if it is not a number."""
    value = _numeral(run)
    return value if isinstance(value, int) else None


def small_number(run: str) -> int:
    """Return the number that digits or a run of `NUMERALS` mean, 0 if it is not a number."""
    return int(run) if run.isdecimal() else numeral(run) or 0


def _numeral(run: str, colloquial: bool = False) -> int | float | None:
    """Return the number of a run in which digits may stand for numerals: "1.5万", "3万5千".

    If `colloquial`, the last numeral of "三万五" counts thousands.
    """
    # Read digit by digit, as years and numbers of telephones are: "二〇二六".
    if all(char in _NUMERALS for char in run):
        return int("".join(str(_NUMERALS[char]) for char in run)) if len(run) <= _MOST_DIGITS else None
    total: int | float = 0
    group: int | float = 0
    digit: int | float = -1
    unit = below = 1
    for part in _NUMERAL_PART.findall(run):
        if part in _TENS:
            # "十" alone is ten.
            group, digit, unit = group + (1 if digit < 0 else digit) * _TENS[part], -1, _TENS[part]
        elif part in _MYRIADS:
            unit = _MYRIADS[part]
            below_it, group, digit = group + max(digit, 0), 0, -1
            # A unit multiplies what stands before it, but not a larger unit: "三亿二千万" adds, "三千万亿" multiplies.
            total = total + below_it * unit if total >= unit else (total + below_it) * unit
        else:
            # Two digits in a row are no number beside units.
            if digit > 0:
                return None
            digit, below = _NUMERALS[part] if part in _NUMERALS else _decimal(part), unit
            unit = 1
    # "三万五" is 35,000: its last unit goes unsaid.
    if colloquial and digit > 0 and below >= 100 and run[-1] in _NUMERALS:
        digit *= below // 10
    value = total + group + max(digit, 0)
    return (int(value) if value == int(value) else round(value, 6)) or None


def _decimal(digits: str) -> int | float:
    digits = digits.replace(",", "")
    return float(digits) if "." in digits else int(digits)
