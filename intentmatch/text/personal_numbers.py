"""Find card and phone numbers in runs of digits and separators: see `redact`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

Kind = Literal["card", "phone"]

# Between the digits of a number: spaces, dashes, dots, slashes, brackets, and marks that nobody sees.
_GAP = (
    r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0f\ufeff\u20e3"
    r"\-\u2010-\u2015\u2212\u30fc－ｰ.·_/()（）]"
)
NUMBER = re.compile(rf"(?<!\d)[(（]?(?:[+＋]\s?)?[(（]?\d(?:{_GAP}{{0,4}}\d){{6,}}\ufe0f?\u20e3?")
"""A run of at least seven digits with their separators."""

# Part of a name ("AB-1234") is no phone number. Only Latin letters count: some scripts are written without spaces.
_IN_NAME = re.compile(r"[A-Za-z_#][\-_/]?\Z")
# Number of digits of a card, and of the shortest phone number.
# ISO/IEC 7812 allows at most 19 digits of a card; payment cards have 13 at least.
_SHORTEST, _LONGEST, _FEWEST = 13, 19, 7
_OPEN, _CLOSED = "(（", ")）"
_GROUP = re.compile(r"\d+")
_DATE = re.compile(
    r"(?:19|20)\d\d([-./_])\d{1,2}\1\d{1,2}(?!\d)"
    r"|(?<!\d)(?:\d{1,2}([-./_])\d{1,2}\2|[0-3]?\d [01]?\d |\d+/\d{1,2}/)(?:19|20)\d\d(?!\d)"
)
_DOTTED_QUAD = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})")
# A single digit between dots is part of a version: 115.0.5790.170.
_VERSION = re.compile(r"\d+(?:\.\d+)*\.\d(?:\.\d+)*")
_DECIMALS = re.compile(r"0\.\d+|\d{1,3}\.\d+(?:\s+\d{1,3}\.\d+)+")
_AMOUNT = re.compile(r"\d{1,3}(?:[\s.]\d{3})*[\s.]000")
_ISBN = re.compile(r"\d{1,5}-\d{1,7}-\d{1,7}-\d")
# Numbers without separators in China, North America and Russia, in a form that order numbers rarely have.
_BARE_MOBILE = re.compile(r"1[3-9]\d{9}|89\d{9}")
_BRACKETED = re.compile(r"[1-9]?\d?\(\d{2,4}\)\d{5,8}")


def personal_numbers(run: re.Match[str]) -> Iterator[tuple[int, int, Kind]]:
    """Yield start and end, within a match of `NUMBER`, and kind of each card and phone number."""
    text, whole = run.group(), run.string
    # An amount of money is no telephone number, however it is grouped.
    if _has_currency(whole, run.start(), run.end()):
        return
    groups = [found.span() for found in _GROUP.finditer(text)]
    digits = [_decimal(text[start:end]) for start, end in groups]
    # Up to the first border, the run may belong to a name before it.
    first_free = 0
    if text[0].isdecimal() and _IN_NAME.search(whole, max(0, run.start() - 2), run.start()):
        first_free = next((n for n in range(1, len(groups)) if _is_border(_gap(text, groups, n))), len(groups))
    last_end = 0
    for first, (begin, _) in enumerate(groups):
        if begin >= last_end and (found := _longest(text, groups, digits, first, first_free)) is not None:
            yield found
            last_end = found[1]


def _has_currency(text: str, start: int, end: int) -> bool:
    """Whether the symbol of a currency stands before or after a number."""
    around = text[max(0, start - 2) : start].rstrip()[-1:] + text[end : end + 2].lstrip()[:1]
    return any(unicodedata.category(character) == "Sc" for character in around)


def _longest(
    text: str, groups: Sequence[tuple[int, int]], digits: Sequence[str], first: int, first_free: int
) -> tuple[int, int, Kind] | None:
    """Return the longest card or phone number that begins with a group of digits."""
    if first and not _is_border(_gap(text, groups, first)):
        return None
    begin = groups[first][0] - (text[groups[first][0] - 1] in _OPEN) if first else 0
    # From the longest candidate down: a card must not be redacted as a telephone number and four digits.
    last, count = _reach(digits, first)
    while count >= _FEWEST:
        if last + 1 == len(groups) or _is_border(_gap(text, groups, last + 1)):
            end = groups[last][1]
            # An opening bracket belongs to the number only if it is closed within the number.
            start = begin + (text[begin] in _OPEN and _is_open(text[begin:end]))
            joined = _joined(groups[first : last + 1], digits[first : last + 1])
            if count >= _SHORTEST and "+" not in text[start:end] and _is_card("".join(joined), joined):
                return start, _end(text, end), "card"
            alone = first <= first_free and not _goes_on(text, groups, first, last)
            if first >= first_free and _is_phone(_plain(text[start:end]), joined, alone=alone):
                return start, _end(text, end), "phone"
        count -= len(digits[last])
        last -= 1
    return None


def _goes_on(text: str, groups: Sequence[tuple[int, int]], first: int, last: int) -> bool:
    """Whether a number with spaces goes on after its last group, as a row of numbers or a longer number does."""
    if last == first or last + 1 == len(groups) or not _gap(text, groups, last).isspace():
        return False
    # A time or a price may follow a phone number.
    length, before = (groups[position][1] - groups[position][0] for position in (last + 1, last))
    return length == before or length > 4


def _end(text: str, end: int) -> int:
    """Return the end of a number with the marks of a keycap, which follow the digit."""
    return end + len(text[end:]) - len(text[end:].lstrip("\ufe0f\u20e3"))


def _gap(text: str, groups: Sequence[tuple[int, int]], second: int) -> str:
    """Return the characters between a group of digits and the group before it."""
    return text[groups[second - 1][1] : groups[second][0]]


def _joined(groups: Sequence[tuple[int, int]], digits: Sequence[str]) -> Sequence[str]:
    """Return groups of digits. Digits that are written one by one are joined at the narrowest gaps."""
    if len(digits) < 2 or max(map(len, digits)) > 1:
        return digits
    gaps = [start - end for (_, end), (start, _) in pairwise(groups)]
    narrow = min(gaps)
    if narrow == max(gaps):
        return ["".join(digits)]
    joined = [digits[0]]
    for gap, digit in zip(gaps, digits[1:], strict=True):
        if gap == narrow:
            joined[-1] += digit
        else:
            joined.append(digit)
    return joined


def _is_open(text: str) -> bool:
    return sum(character in _OPEN for character in text) > sum(character in _CLOSED for character in text)


def _reach(digits: Sequence[str], first: int) -> tuple[int, int]:
    """Return the last group that a number of at most 19 digits from this group can include, and its digits."""
    count, last = 0, first - 1
    while last + 1 < len(digits) and count + len(digits[last + 1]) <= _LONGEST:
        last += 1
        count += len(digits[last])
    return last, count


def _is_border(gap: str) -> bool:
    """Whether one number may end and another begin at a separator."""
    return "/" in gap or any(map(str.isspace, gap))


def _decimal(digits: str) -> str:
    """Return digits of any script as 0 to 9."""
    return "".join(str(unicodedata.decimal(digit)) for digit in digits)


def _plain(text: str) -> str:
    """Return a number without marks that nobody sees, and with the usual form of other characters."""
    if text.isascii():
        return text
    return "".join(each for each in unicodedata.normalize("NFKC", text) if unicodedata.category(each) != "Cf")


def _is_card(digits: str, groups: Sequence[str]) -> bool:
    """Whether 13 to 19 digits pass the Luhn check (ISO/IEC 7812) and are grouped as those of a card, or not at all."""
    # By ISO/IEC 7812, 0 is for standards, 1 for airlines and 7 for petroleum.
    if not _SHORTEST <= len(digits) <= _LONGEST or digits[0] in "017":
        return False
    pairs = len(digits) == 16 and all(len(group) == 2 for group in groups)
    if len(groups) > 1 and len(groups[0]) != 4 and not pairs:
        return False
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _is_phone(text: str, groups: Sequence[str], *, alone: bool) -> bool:
    """Whether a number has the prefix or the grouping of a phone number.

    `alone`: no digits that may belong to it stand directly before or after the number.
    """
    digits = "".join(groups)
    count = len(digits)
    if text.lstrip("(").startswith("+"):
        return 7 <= count <= 15  # ITU-T E.164
    if digits[0] == "0":
        found = _is_dialled(digits, grouped=len(groups) > 1)
    elif len(groups) == 1:
        found = _BARE_MOBILE.fullmatch(digits) is not None
    elif text.startswith("(") or _BRACKETED.fullmatch(text):
        found = 8 <= count <= 12
    else:
        found = alone and 8 <= count <= 12 and _is_grouped([len(group) for group in groups])
    return found and not _is_other(text)


def _is_other(text: str) -> bool:
    """Whether a number is a date, an IP address, a version, an amount, an ISBN or a row of decimals."""
    if _DATE.search(text) or any(other.fullmatch(text) for other in (_DECIMALS, _AMOUNT, _VERSION)):
        return True
    if len(re.sub(r"\D", "", text)) == 10 and _ISBN.fullmatch(text) and _is_isbn(text):
        return True
    quad = _DOTTED_QUAD.fullmatch(text)
    return quad is not None and _is_address(quad.groups())


def _is_isbn(text: str) -> bool:
    """Whether ten digits with dashes have the check digit of an ISBN (ISO 2108)."""
    digits = [int(character) for character in text if character != "-"]
    return sum(weight * digit for weight, digit in zip(range(10, 0, -1), digits, strict=True)) % 11 == 0


def _is_address(octets: Sequence[str]) -> bool:
    """Whether four numbers are an IP address: at most 255, and without leading zeros unless all have three digits."""
    padded = all(len(octet) == 3 for octet in octets)
    return all(int(octet) <= 255 and (padded or octet == str(int(octet))) for octet in octets)


def _is_dialled(digits: str, *, grouped: bool) -> bool:
    """Whether a number starts with a trunk prefix (0) or an international prefix (00), then another digit than 0."""
    abroad = digits.startswith("00")
    shortest = 12 if abroad and not grouped else 9
    return shortest <= len(digits) <= (17 if abroad else 12) and digits[1 + abroad] != "0"


def _is_grouped(lengths: Sequence[int]) -> bool:
    """Whether groups look like 415 555 2671, 98765 43210 or 8 912 345 67 89, and not like 1 234 567 890 or 4 4 4."""
    if list(lengths) in ([5, 5], [3, 7], [1, 3, 7], [3, 2, 3]):
        return True
    amount = lengths[0] < 3 and all(length == 3 for length in lengths[1:])
    # 1 234 567 890 counts something, and a last group of one digit is a check digit.
    if amount or list(lengths[:2]) == [1, 5] or lengths[-1] == 1:
        return False
    return sum(lengths) > 8 and 3 <= len(lengths) <= 6 and lengths[0] <= 3 and max(lengths) <= 5
