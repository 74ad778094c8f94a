"""Redact personal data: e-mail addresses, phone, card and bank account numbers, in the digits of any script.

A plain run of digits is usually an order number, which a bot needs, so only the form decides: a card or an account
needs valid check digits, and a phone number the prefix or the grouping of a phone number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

WORDS = EMAIL, PHONE, CARD, IBAN = "‹email›", "‹phone›", "‹card›", "‹iban›"
"""The replacements. They have no template marks, and a matcher reads their quotes as punctuation."""

# Each pattern starts only after a character that it cannot contain, so that a long text is searched once.
_AT, _DOT = r"(?:[@＠]|\s?[\[({]\s?at\s?[\])}]\s?)", r"(?:[.．]|\s?[\[({]\s?dot\s?[\])}]\s?)"
_NAME = r"A-Za-z0-9._%+\-"
_EMAIL = re.compile(rf"(?<![{_NAME}])[{_NAME}]+{_AT}[A-Za-z0-9\-]+(?:{_DOT}[A-Za-z0-9\-]+)*{_DOT}[A-Za-z]{{2,}}", re.I)
_ANY = r"""\s@＠<>()\[\]{},;:"'|„“”«»「」（），；：、。"""
_FOREIGN_EMAIL = re.compile(rf"""(?:"[^"\n]{{1,64}}"|(?<![^{_ANY}])[^{_ANY}]+)[@＠][^{_ANY}]+[.．][^\W\d_][\w-]+""")

_IBAN = re.compile(
    r"(?<![0-9A-Za-z])(?:[A-Za-z]{2}[0-9]{2}[A-Za-z0-9]{11,30}|[A-Z]{2}[0-9]{2}(?:[ \u00a0-][A-Z0-9]{1,4}){3,8})"
    r"(?![0-9A-Za-z])"
)

# Between the digits of a number: spaces, dashes, dots, slashes, brackets and marks of writing direction.
_GAP = r"[\s\u200e\u200f\u202a-\u202e\u2066-\u2069\-\u2010-\u2015\u2212－.·/()（）]"
# Part of a name ("AB-1234") is no number. Only Latin letters count, as some scripts are written without spaces.
_NUMBER = re.compile(rf"(?<![\dA-Za-z_#])(?<![A-Za-z_#][\-_/.])[(（]?(?:[+＋]\s?)?[(（]?\d(?:{_GAP}{{0,3}}\d){{6,}}")
# Number of digits of a card.
_SHORTEST, _LONGEST = 13, 19
_OPEN, _CLOSED = "(（", ")）"
_GROUP = re.compile(r"\d+")
_DATE = re.compile(r"(?:19|20)\d\d([-./])\d{1,2}\1\d{1,2}(?!\d)|(?<!\d)\d{1,2}([-./])\d{1,2}\2(?:19|20)\d\d")
_DOTTED_QUAD = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_DECIMAL = re.compile(r"0\.\d+")
# Numbers without separators in China, North America and Russia, in a form that order numbers rarely have.
_BARE_MOBILE = re.compile(r"1[3-9]\d{9}|89\d{9}")


def redact(text: str) -> str:
    """Return the text with each address and number replaced by one of `WORDS`."""
    text = _FOREIGN_EMAIL.sub(EMAIL, _EMAIL.sub(EMAIL, text))
    text = _IBAN.sub(lambda found: _without_iban(found.group()), text)
    return _NUMBER.sub(lambda found: _without_numbers(found.group()), text)


def _without_iban(text: str) -> str:
    """Redact an IBAN at the start of a text; words may follow the IBAN."""
    ends = [found.end() for found in re.finditer(r"[A-Za-z0-9]+", text)]
    for end in reversed(ends):
        compact = "".join(filter(str.isalnum, text[:end])).upper()
        if 15 <= len(compact) <= 34 and _mod_97(compact) == 1:
            return IBAN + text[end:]
    return text


def _mod_97(account: str) -> int:
    """Return the checksum of an IBAN (ISO 13616, ISO 7064), which is 1 for a valid one."""
    return int("".join(str(int(character, 36)) for character in account[4:] + account[:4])) % 97


def _without_numbers(text: str) -> str:
    """Redact the cards and phone numbers in a run of digits and separators."""
    redacted, position = "", 0
    for start, end, word in _found(text):
        redacted += text[position:start] + word
        position = end
    return redacted + text[position:]


def _found(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and replacement of each card and phone number."""
    groups = [found.span() for found in _GROUP.finditer(text)]
    last_end = 0
    for first, (begin, _) in enumerate(groups):
        if begin >= last_end and (found := _longest(text, groups, first)) is not None:
            yield found
            last_end = found[1]


def _longest(text: str, groups: Sequence[tuple[int, int]], first: int) -> tuple[int, int, str] | None:
    """Return the longest card or phone number that begins with a group of digits."""
    if first and not _is_border(text[groups[first - 1][1] : groups[first][0]]):
        return None
    begin = groups[first][0] - (text[groups[first][0] - 1] in _OPEN) if first else 0
    for last in range(_reach(groups, first), first - 1, -1):
        end = groups[last][1]
        if last + 1 < len(groups) and not _is_border(text[end : groups[last + 1][0]]):
            continue
        # An opening bracket belongs to the number only if it is closed within the number.
        start = begin + (text[begin] in _OPEN and _is_open(text[begin:end]))
        digits = [_decimal(text[a:b]) for a, b in groups[first : last + 1]]
        word = _kind(text[start:end], digits, alone=not first)
        if word is not None:
            return start, end, word
    return None


def _is_open(text: str) -> bool:
    return sum(character in _OPEN for character in text) > sum(character in _CLOSED for character in text)


def _reach(groups: Sequence[tuple[int, int]], first: int) -> int:
    """Return the last group that a number of at most 19 digits from this group can include."""
    count, last = 0, first
    for position in range(first, len(groups)):
        count += groups[position][1] - groups[position][0]
        if count > _LONGEST:
            break
        last = position
    return last


def _is_border(gap: str) -> bool:
    """Whether one number may end and another begin at a separator."""
    return "/" in gap or any(map(str.isspace, gap))


def _decimal(digits: str) -> str:
    """Return digits of any script as 0 to 9."""
    return "".join(str(unicodedata.decimal(digit)) for digit in digits)


def _kind(text: str, groups: Sequence[str], *, alone: bool) -> str | None:
    """Return CARD or PHONE, or None for other numbers; `alone`: no digits stand directly before the number."""
    digits = "".join(groups)
    if _is_card(digits, groups):
        return CARD
    return PHONE if _is_phone(unicodedata.normalize("NFKC", text), digits, groups, alone=alone) else None


def _is_card(digits: str, groups: Sequence[str]) -> bool:
    """Whether 13 to 19 digits, in one group or with a first group of four, pass the Luhn check (ISO/IEC 7812)."""
    if not _SHORTEST <= len(digits) <= _LONGEST or digits[0] in "017" or (len(groups) > 1 and len(groups[0]) != 4):
        return False
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _is_phone(text: str, digits: str, groups: Sequence[str], *, alone: bool) -> bool:
    count = len(digits)
    if text.lstrip("(").startswith("+"):
        return 7 <= count <= 15  # ITU-T E.164
    if _DATE.search(text) or _DOTTED_QUAD.fullmatch(text) or _DECIMAL.fullmatch(text):
        return False
    if digits[0] == "0":
        return _is_dialled(digits)
    if len(groups) == 1:
        return _BARE_MOBILE.fullmatch(digits) is not None
    lengths = [len(group) for group in groups]
    return (text.startswith("(") and 8 <= count <= 12) or (alone and 9 <= count <= 12 and _is_grouped(lengths))


def _is_dialled(digits: str) -> bool:
    """Whether a number starts with a trunk prefix (0) or an international prefix (00), then another digit than 0."""
    abroad = digits.startswith("00")
    return digits[1 + abroad] != "0" and 9 <= len(digits) <= (17 if abroad else 12)


def _is_grouped(lengths: Sequence[int]) -> bool:
    """Whether groups look like 415 555 2671, 98765 43210 or 8 912 345 67 89, and not like 1 234 567 890 or 4 4 4."""
    amount = lengths[0] < 3 and all(length == 3 for length in lengths[1:])
    return list(lengths) == [5, 5] or (3 <= len(lengths) <= 6 and lengths[0] <= 3 and max(lengths) <= 5 and not amount)
