"""The written forms of a text, `clean` for encoders, `fold` for keys, `bare` for names, and that of a language's code.

The first three are language-neutral and idempotent, and each is used alike when a registry is built and when a message
comes in; two rules drifting apart is how a matcher goes quietly wrong. `TEXT_VERSION` is part of every cache key
and manifest and changes whenever `clean` or `fold` changes what it returns.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

TEXT_VERSION = 1

# Invisible marks that carry no meaning for matching: direction marks, soft hyphen, zero-width space, byte order
# mark. The zero-width joiner and non-joiner stay: they are part of Persian and Indic spelling and of emoji.
_INVISIBLE = frozenset("\u00ad\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff")
_APOSTROPHES = frozenset("'’‘ʼ＇`")
# Marks that Unicode calls punctuation although they change what is meant ("c#", "50%", "@home").
_MEANINGFUL = frozenset("#@&%§")
# What people leave out or mistake when they type a name: accents, the short vowels of Arabic and Hebrew, tatweel, the
# zero-width non-joiner, and letters that other keyboards have for one another.
_LEFT_OUT = (*range(0x300, 0x370), *range(0x591, 0x5C8), 0x640, *range(0x64B, 0x660), 0x670, 0x200C)
_MISTAKEN = {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "ي": "ی", "ى": "ی", "ك": "ک", "ة": "ه"}


class _CleanTable(dict[int, "str | None"]):
    """Character to its cleaned form, worked out once per character."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        if char in _INVISIBLE:
            value: str | None = None
        elif char.isspace():
            value = " "
        else:
            category = unicodedata.category(char)
            value = None if category == "Cc" else "\ufffd" if category == "Cs" else char
        self[code] = value
        return value


class _FoldTable(dict[int, "str | None"]):
    """Character to what is left of it once case and punctuation are gone, worked out once per character."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        if char in _APOSTROPHES:
            value: str | None = None
        elif char not in _MEANINGFUL and unicodedata.category(char).startswith("P"):
            value = " "
        else:
            value = char
        self[code] = value
        return value


# A registry is cleaned and folded again after every edit, and most of its lines are those of before. What is longer is
# no such line, and would fill the memory.
_REMEMBERED, _LONGEST_REMEMBERED = 1 << 17, 400
_CLEAN = _CleanTable()
_FOLD = _FoldTable()
_BARE = dict.fromkeys(_LEFT_OUT) | str.maketrans(_MISTAKEN)


_BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-[A-Za-z0-9]{5,8})*")


def language_code(code: str) -> str | None:
    """A BCP-47 code in its usual case (`pt_br` is `pt-BR`, `ZH-hant` is `zh-Hant`), or None if it is none."""
    hyphenated = code.replace("_", "-")
    if _LANGUAGE.fullmatch(hyphenated) is None:
        return None
    first, *rest = hyphenated.split("-")
    return "-".join([first.lower(), *(p.title() if len(p) == 4 else p.upper() if len(p) <= 3 else p for p in rest)])


@lru_cache(256)
def language_range(code: str) -> tuple[str, ...]:
    """A language code and what it falls back to: `zh-Hant-TW`, `zh-Hant`, `zh` (the lookup of RFC 4647)."""
    parts = code.split("-")
    return tuple("-".join(parts[:length]) for length in range(len(parts), 0, -1))


def clean(text: str) -> str:
    """The text as encoders see it: NFC, no control or invisible characters, single spaces, case kept.

    Lone surrogates, which no encoder can read, become U+FFFD.
    """
    return _remembered_clean(text) if len(text) <= _LONGEST_REMEMBERED else _cleaned(text)


def _cleaned(text: str) -> str:
    # Most lines by far, of which nothing else can change.
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    return " ".join(unicodedata.normalize("NFC", text.translate(_CLEAN)).split())


def fold(text: str) -> str:
    """The text as a lexical key: `clean`, compatibility forms unified, case folded, punctuation dropped.

    May be empty (a message of question marks), and then stands for nothing.
    """
    return _remembered_fold(text) if len(text) <= _LONGEST_REMEMBERED else _folded(text)


def _folded(text: str) -> str:
    cleaned = clean(text)
    if cleaned.isascii():
        if cleaned.replace(" ", "").isalnum():
            return cleaned.lower()
        return " ".join(cleaned.lower().translate(_FOLD).split())
    folded, settled = _fold_once(cleaned)
    while not settled:
        before = folded
        folded, settled = _fold_once(before)
        settled = settled or folded == before
    return folded


_remembered_clean = lru_cache(_REMEMBERED)(_cleaned)
_remembered_fold = lru_cache(_REMEMBERED)(_folded)


def bare(text: str) -> str:
    """The text as names are compared by: `fold`, without what people leave out when they type ("Malaga" for "Málaga").

    Two names that mean different things may have one form; where both are there, `fold` tells them apart.
    """
    folded = fold(text)
    if folded.isascii():
        return folded
    stripped = unicodedata.normalize("NFD", folded).translate(_BARE)
    return " ".join(unicodedata.normalize("NFC", stripped).split())


def _fold_once(text: str) -> tuple[str, bool]:
    """The text folded, and whether that is known to be all: so it is where NFKC finds nothing to do at the end.

    Otherwise case folding and NFKC may each have opened new work for the other, which is rare.
    """
    # NFKC would tear "´", typed for an apostrophe, into a space and a combining mark.
    plain = unicodedata.normalize("NFKC", text.replace("´", "")).casefold().translate(_FOLD)
    settled = unicodedata.is_normalized("NFKC", plain)
    return " ".join((plain if settled else unicodedata.normalize("NFKC", plain)).split()), settled


def in_words(name: str) -> str:
    """A name as one would say it: `order_status`, `OrderStatus` and `order/status` are all "order status"."""
    return " ".join(_BETWEEN_WORDS.sub(" ", name).split()).lower()
