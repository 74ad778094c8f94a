"""What users say that is nobody's business: e-mail addresses, phone, card and bank account numbers, in any digits.

A run of digits alone tells little: it may as well be an order, and orders are what bots are about. So a number is taken
for what its form says: a card or an account where its check digits are right, a phone number where it begins as one
dials it or is grouped as one writes it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

WORDS = EMAIL, PHONE, CARD, IBAN = "‹email›", "‹phone›", "‹card›", "‹iban›"
"""What stands in place of each: no marks of templates, and punctuation to a matcher."""

# Each pattern begins where no such sign stands before it, so that a long text is gone through once.
_AT, _DOT = r"(?:[@＠]|\s?[\[({]\s?at\s?[\])}]\s?)", r"(?:[.．]|\s?[\[({]\s?dot\s?[\])}]\s?)"
_NAME = r"A-Za-z0-9._%+\-"
_EMAIL = re.compile(rf"(?<![{_NAME}])[{_NAME}]+{_AT}[A-Za-z0-9\-]+(?:{_DOT}[A-Za-z0-9\-]+)*{_DOT}[A-Za-z]{{2,}}", re.I)
_ANY = r"""\s@＠<>()\[\]{},;:"'|„“”«»「」（），；：、。"""
_FOREIGN_EMAIL = re.compile(rf"""(?:"[^"\n]{{1,64}}"|(?<![^{_ANY}])[^{_ANY}]+)[@＠][^{_ANY}]+[.．][^\W\d_][\w-]+""")

_IBAN = re.compile(
    r"(?<![0-9A-Za-z])(?:[A-Za-z]{2}[0-9]{2}[A-Za-z0-9]{11,30}|[A-Z]{2}[0-9]{2}(?:[ \u00a0-][A-Z0-9]{1,4}){3,8})"
    r"(?![0-9A-Za-z])"
)

# Between the digits of a number: spaces, dashes, dots, slashes, brackets, and what turns the direction of writing.
_GAP = r"[\s\u200e\u200f\u202a-\u202e\u2066-\u2069\-\u2010-\u2015\u2212－.·/()（）]"
# What is part of a name ("AB-1234") is no number. Scripts that are written without spaces put letters right before it.
_NUMBER = re.compile(rf"(?<![\dA-Za-z_#])(?<![A-Za-z_#][\-_/.])[(（]?(?:[+＋]\s?)?[(（]?\d(?:{_GAP}{{0,3}}\d){{6,}}")
# Digits of a card.
_SHORTEST, _LONGEST = 13, 19
_OPEN, _CLOSED = "(（", ")）"
_GROUP = re.compile(r"\d+")
_DATE = re.compile(r"(?:19|20)\d\d([-./])\d{1,2}\1\d{1,2}(?!\d)|(?<!\d)\d{1,2}([-./])\d{1,2}\2(?:19|20)\d\d")
_DOTTED_QUAD = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_DECIMAL = re.compile(r"0\.\d+")
# As more than a billion people write their mobile number, and hardly anybody an order: in China, America and Russia.
_BARE_MOBILE = re.compile(r"1[3-9]\d{9}|89\d{9}")


def redact(text: str) -> str:
    """The text with a word in place of each address and number."""
    text = _FOREIGN_EMAIL.sub(EMAIL, _EMAIL.sub(EMAIL, text))
    text = _IBAN.sub(lambda found: _without_iban(found.group()), text)
    return _NUMBER.sub(lambda found: _without_numbers(found.group()), text)


def _without_iban(text: str) -> str:
    """The text, which may be an account number with words behind it."""
    ends = [found.end() for found in re.finditer(r"[A-Za-z0-9]+", text)]
    for end in reversed(ends):
        compact = "".join(filter(str.isalnum, text[:end])).upper()
        if 15 <= len(compact) <= 34 and _mod_97(compact) == 1:
            return IBAN + text[end:]
    return text


def _mod_97(account: str) -> int:
    """The check of ISO 7064 that ISO 13616 asks of an account number."""
    return int("".join(str(int(sign, 36)) for sign in account[4:] + account[:4])) % 97


def _without_numbers(text: str) -> str:
    """A run of digits and what stands between them, without the cards and phones among it."""
    said, position = "", 0
    for start, end, word in _found(text):
        said += text[position:start] + word
        position = end
    return said + text[position:]


def _found(text: str) -> Iterator[tuple[int, int, str]]:
    """Where cards and phone numbers stand, and the word for each."""
    groups = [found.span() for found in _GROUP.finditer(text)]
    behind = 0
    for first, (begin, _) in enumerate(groups):
        if begin >= behind and (found := _longest(text, groups, first)) is not None:
            yield found
            behind = found[1]


def _longest(text: str, groups: Sequence[tuple[int, int]], first: int) -> tuple[int, int, str] | None:
    """The longest card or phone number that begins with a group of digits."""
    if first and not _is_border(text[groups[first - 1][1] : groups[first][0]]):
        return None
    begin = groups[first][0] - (text[groups[first][0] - 1] in _OPEN) if first else 0
    for last in range(_reach(groups, first), first - 1, -1):
        end = groups[last][1]
        if last + 1 < len(groups) and not _is_border(text[end : groups[last + 1][0]]):
            continue
        # A bracket that does not close in the number is not of it.
        start = begin + (text[begin] in _OPEN and _is_open(text[begin:end]))
        digits = [_decimal(text[a:b]) for a, b in groups[first : last + 1]]
        word = _kind(text[start:end], digits, alone=not first)
        if word is not None:
            return start, end, word
    return None


def _is_open(text: str) -> bool:
    return sum(sign in _OPEN for sign in text) > sum(sign in _CLOSED for sign in text)


def _reach(groups: Sequence[tuple[int, int]], first: int) -> int:
    """The last group that may belong to a number that begins with this one."""
    count, last = 0, first
    for position in range(first, len(groups)):
        count += groups[position][1] - groups[position][0]
        if count > _LONGEST:
            break
        last = position
    return last


def _is_border(gap: str) -> bool:
    """Whether one number may end before what stands between digits, and another begin behind it."""
    return "/" in gap or any(map(str.isspace, gap))


def _decimal(digits: str) -> str:
    """Digits of any script as 0 to 9."""
    return "".join(str(unicodedata.decimal(digit)) for digit in digits)


def _kind(text: str, groups: Sequence[str], *, alone: bool) -> str | None:
    """What a number is; `alone` if no other digits stand right before it."""
    digits = "".join(groups)
    if _is_card(digits, groups):
        return CARD
    return PHONE if _is_phone(unicodedata.normalize("NFKC", text), digits, groups, alone=alone) else None


def _is_card(digits: str, groups: Sequence[str]) -> bool:
    """13 to 19 digits, in groups of four or alone, with the check digit of Luhn (ISO/IEC 7812)."""
    if not _SHORTEST <= len(digits) <= _LONGEST or digits[0] in "017" or (len(groups) > 1 and len(groups[0]) != 4):
        return False
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _is_phone(text: str, digits: str, groups: Sequence[str], *, alone: bool) -> bool:
    count = len(digits)
    if text.lstrip("(").startswith("+"):
        return 7 <= count <= 15  # as ITU-T E.164 has it
    if _DATE.search(text) or _DOTTED_QUAD.fullmatch(text) or _DECIMAL.fullmatch(text):
        return False
    if digits[0] == "0":
        return _is_dialled(digits)
    if len(groups) == 1:
        return _BARE_MOBILE.fullmatch(digits) is not None
    lengths = [len(group) for group in groups]
    return (text.startswith("(") and 8 <= count <= 12) or (alone and 9 <= count <= 12 and _is_grouped(lengths))


def _is_dialled(digits: str) -> bool:
    """Whether a number begins as one calls another place or country, whose own numbers never begin with a zero."""
    abroad = digits.startswith("00")
    return digits[1 + abroad] != "0" and 9 <= len(digits) <= (17 if abroad else 12)


def _is_grouped(lengths: Sequence[int]) -> bool:
    """415 555 2671, 98765 43210, 8 912 345 67 89; not 1 234 567 890, nor the 4 4 4 of many an order."""
    amount = lengths[0] < 3 and all(length == 3 for length in lengths[1:])
    return list(lengths) == [5, 5] or (3 <= len(lengths) <= 6 and lengths[0] <= 3 and max(lengths) <= 5 and not amount)
