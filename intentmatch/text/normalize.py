"""Text normalisation: `clean` for encoders, `fold` for lexical keys, `bare` for names; and language codes.

The three forms are language-neutral and idempotent. The build and the matcher use the same functions, so that they
cannot drift apart. `TEXT_VERSION` is part of every cache key and manifest; change it whenever `clean` or `fold` returns
something else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

TEXT_VERSION = 1

# Invisible marks without meaning for matching: direction marks, soft hyphen, zero-width space, byte order mark.
# The zero-width joiner and non-joiner stay: they are part of Persian and Indic spelling and of emoji.
_INVISIBLE = frozenset("\u00ad\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff")
_APOSTROPHES = frozenset("'’‘ʼ＇`")
# Characters that Unicode classes as punctuation but that change the meaning ("c#", "50%", "@home").
_MEANINGFUL = frozenset("#@&%§")
# Often left out or confused when a name is typed: accents, Arabic and Hebrew short vowels, tatweel, the zero-width
# non-joiner, and letters that other keyboards replace by similar ones.
_LEFT_OUT = (*range(0x300, 0x370), *range(0x591, 0x5C8), 0x640, *range(0x64B, 0x660), 0x670, 0x200C)
_MISTAKEN = {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "ي": "ی", "ى": "ی", "ك": "ک", "ة": "ه"}


class CharacterTable(dict[int, "str | None"]):
    """Table for `str.translate`, whose entries are computed once per character."""

    def __init__(self, form_of: Callable[[str], str | None]) -> None:
        super().__init__()
        self._form_of = form_of

    def __missing__(self, code: int) -> str | None:
        form = self[code] = self._form_of(chr(code))
        return form


def _clean_form(char: str) -> str | None:
    if char in _INVISIBLE:
        return None
    if char.isspace():
        return " "
    category = unicodedata.category(char)
    # No encoder can read a lone surrogate, and some raise an error for one.
    return None if category == "Cc" else "\ufffd" if category == "Cs" else char


def _without_punctuation(char: str) -> str | None:
    if char in _APOSTROPHES:
        return None
    return " " if char not in _MEANINGFUL and unicodedata.category(char)[0] == "P" else char


# After an edit, the registry is cleaned and folded again, and most lines are unchanged: cache them. Messages get in
# too, so both numbers bound the memory: 30 MB with texts of 40 characters, 110 MB at most. Lines are rarely longer.
_CACHED_TEXTS, _LONGEST_CACHED = 1 << 16, 120
_CLEAN, _FOLD = CharacterTable(_clean_form), CharacterTable(_without_punctuation)
_BARE = dict.fromkeys(_LEFT_OUT) | str.maketrans(_MISTAKEN)


_MOST_MARKS = 30
"""Combining marks in a row that are kept, as in the stream-safe format of UAX #15: normalisation sorts such a row, in
quadratic time. No word of any language has more than a few."""
_BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")
# The codes of Norwegian and of its two written forms are used interchangeably.
_MACROLANGUAGES = {"nb": "no", "nn": "no"}
_SAME_LANGUAGE = {"nb": ("no",), "nn": ("no", "nb"), "no": ("nb",)}
# Codes that older systems send, and regions that write Chinese in the traditional script.
_RENAMED = {"in": "id", "iw": "he", "ji": "yi"}
_TRADITIONAL = frozenset({"zh-TW", "zh-HK", "zh-MO"})
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-[A-Za-z0-9]{5,8})*")


def language_code(code: str) -> str | None:
    """Return a BCP-47 code in canonical form (`pt_br` gives `pt-BR`, `iw` `he`), or None if it is no language code."""
    hyphenated = code.replace("_", "-")
    if _LANGUAGE.fullmatch(hyphenated) is None:
        return None
    first, *rest = hyphenated.split("-")
    first = _RENAMED.get(first.lower(), first.lower())
    return "-".join([first, *(p.title() if len(p) == 4 else p.upper() if len(p) <= 3 else p for p in rest)])


@lru_cache(256)
def language_range(code: str) -> tuple[str, ...]:
    """Return a language code and its fallbacks: `zh-Hant-TW`, `zh-Hant`, `zh` (lookup of RFC 4647).

    `zh-TW` has the same fallbacks. Codes of one language follow: `nb-NO`, `nb`, `no`.
    """
    parts = code.split("-")
    shorter = ["-".join(parts[:length]) for length in range(len(parts), 0, -1)]
    if code in _TRADITIONAL:
        shorter.insert(1, "zh-Hant")
    return (*shorter, *_SAME_LANGUAGE.get(parts[0], ()))


def base_language(code: str) -> str:
    """Return the language subtag without region and script; `no` for `nb` and `nn`."""
    first = code.split("-", 1)[0]
    return _MACROLANGUAGES.get(first, first)


def clean(text: str) -> str:
    """Return the text for encoders: NFC, no control or invisible characters, single spaces, case kept.

    Lone surrogates, which no encoder can read, become U+FFFD.
    """
    return _cached_clean(text) if len(text) <= _LONGEST_CACHED else _cleaned(text)


def _cleaned(text: str) -> str:
    # The most common case: only spaces can change.
    if text.isascii() and text.isprintable():
        return _once(" ".join(text.split()), text)
    return _once(" ".join(unicodedata.normalize("NFC", _with_few_marks(text.translate(_CLEAN))).split()), text)


def _once(text: str, known: str) -> str:
    """Return `known` if both are equal, so that the cache keeps one string instead of two."""
    return known if text == known else text


def _with_few_marks(text: str) -> str:
    """Return a text without the marks after the first `_MOST_MARKS` in a row."""
    if len(text) <= _MOST_MARKS:
        return text
    combining = unicodedata.combining
    if not any(map(combining, text)):
        return text
    kept: list[str] = []
    marks = 0
    for char in text:
        marks = marks + 1 if combining(char) else 0
        if marks <= _MOST_MARKS:
            kept.append(char)
    return text if len(kept) == len(text) else "".join(kept)


def fold(text: str) -> str:
    """Return the lexical key of a text: `clean`, NFKC, case folded, without punctuation.

    The key is empty for a text of punctuation only; an empty key matches nothing.
    """
    return _cached_fold(text) if len(text) <= _LONGEST_CACHED else _folded(text)


def _folded(text: str) -> str:
    cleaned = clean(text)
    if cleaned.isascii():
        if cleaned.replace(" ", "").isalnum():
            return _once(cleaned.lower(), cleaned)
        return " ".join(cleaned.lower().translate(_FOLD).split())
    folded, stable = _fold_once(cleaned)
    # Case folding and NFKC may each enable the other again, and a form must be the same when it is folded twice.
    while not stable:
        before = folded
        folded, stable = _fold_once(before)
        stable = stable or folded == before
    return _once(folded, cleaned)


_cached_clean = lru_cache(_CACHED_TEXTS)(_cleaned)
_cached_fold = lru_cache(_CACHED_TEXTS)(_folded)


def bare(text: str) -> str:
    """Return the form that names are compared by: `fold` without accents and the like ("Malaga" for "Málaga").

    Different names may have the same bare form; `fold` distinguishes them.
    """
    folded = fold(text)
    if folded.isascii():
        return folded
    # Accents are characters of their own only in NFD; NFC joins the marks that stay.
    stripped = unicodedata.normalize("NFD", folded).translate(_BARE)
    return " ".join(unicodedata.normalize("NFC", stripped).split())


def _fold_once(text: str) -> tuple[str, bool]:
    """Return the folded text, and whether it is known to be stable: folding it again would change nothing.

    It is stable if it is in NFKC after case folding. Otherwise, which is rare, each may enable the other again.
    """
    # NFKC would split "´", typed as an apostrophe, into a space and a combining mark.
    plain = unicodedata.normalize("NFKC", text.replace("´", "")).casefold().translate(_FOLD)
    plain = _with_few_marks(plain)
    stable = unicodedata.is_normalized("NFKC", plain)
    return " ".join((plain if stable else unicodedata.normalize("NFKC", plain)).split()), stable


def in_words(name: str) -> str:
    """Return a name as words: `order_status`, `OrderStatus` and `order/status` give "order status"."""
    return " ".join(_BETWEEN_WORDS.sub(" ", name).split()).lower()
