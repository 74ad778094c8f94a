"""Forms that a text takes when it is typed without its accents.

An accent here is a mark that writers drop where their keyboard makes it hard to type: accents of Latin and Greek
letters, short vowels of Arabic and Hebrew, the dots of "ё". Marks that make another letter to their readers stay ("й"),
as do the vowels of Indic scripts and of Thai.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import TypeVar

_Key = TypeVar("_Key")

_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]+")
# Letters that Unicode does not decompose, and Arabic letters that keyboards and habit confuse.
_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "þ": "th"} | dict(zip("øłđðıŀґأإآٱيىكة", "olddilгااااییکه", strict=True))
)
# NFD splits these as well, and their readers know them as letters of their own: "й" is no "и".
_OWN_LETTERS = {"и\u0306": "й", "і\u0308": "ї", "у\u0306": "ў"}
_OWN = re.compile("|".join(_OWN_LETTERS))
# "Fuer" and "aal": what German and Scandinavian writers type on a keyboard without these letters.
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})


def unaccented(folded: str) -> str:
    """Return a folded text without its accents: "ate logo" for "até logo"."""
    if folded.isascii():
        return folded
    decomposed = unicodedata.normalize("NFD", folded.translate(_LETTERS))
    kept = _OWN.sub(lambda found: _OWN_LETTERS[found[0]], decomposed)
    return unicodedata.normalize("NFC", _MARKS.sub("", kept))


def typed_without_accents(folded: str) -> tuple[str, ...]:
    """Return the forms of a folded text without accents: none, one, or two where umlauts may be spelled out.

    "für" is typed "fur" or "fuer".
    """
    if folded.isascii():
        return ()
    forms = dict.fromkeys((unaccented(folded), unaccented(folded.translate(_SPELLED_OUT))))
    return tuple(form for form in forms if form != folded)


def by_form_without_accents(texts: Iterable[tuple[str, _Key]]) -> dict[str, list[_Key]]:
    """Return the keys of folded texts by the forms that these take without accents."""
    found: dict[str, list[_Key]] = {}
    for text, key in texts:
        for form in typed_without_accents(text):
            found.setdefault(form, []).append(key)
    return found
