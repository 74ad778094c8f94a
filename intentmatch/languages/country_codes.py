"""Country codes and names of languages that authors write where a language code belongs."""

from __future__ import annotations

from collections.abc import Mapping

from intentmatch.languages.tables import Table

LANGUAGE_OF: Mapping[str, str] = {
    "al": "sq",
    "at": "de",
    "bd": "bn",
    "by": "be",
    "cn": "zh",
    "cz": "cs",
    "dk": "da",
    "gb": "en",
    "ge": "ka",
    "gr": "el",
    "il": "he",
    "ir": "fa",
    "jp": "ja",
    "kr": "ko",
    "kz": "kk",
    "mx": "es",
    "np": "ne",
    "pk": "ur",
    "rs": "sr",
    "se": "sv",
    "sp": "es",
    "ua": "uk",
    "us": "en",
    "vn": "vi",
}
"""ISO 3166 country code (and `sp`, which is none) to the ISO 639-1 code of the country's main language.

Country codes that are the code of another large language are left out, such as `sl` and `ar`. Two are codes of small
languages: `se` is Northern Sami and `kr` is Kanuri.
"""

_NAMES = Table[str]("names")


def language_named(name: str) -> str | None:
    """Return the code of a language that is named in English or in itself; None for other words."""
    return next((code for code, names in _NAMES.items() if name.casefold() in names.split()), None)
