"""Country codes and names of languages that authors write where a language code belongs."""

from __future__ import annotations

from collections.abc import Mapping

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

_NAMES = {
    "ar": "arabic العربية",
    "bn": "bengali",
    "cs": "czech čeština",
    "da": "danish dansk",
    "de": "german deutsch",
    "el": "greek ελληνικά",
    "en": "english",
    "es": "spanish español",
    "fa": "persian farsi فارسی",
    "fi": "finnish suomi",
    "fr": "french français",
    "he": "hebrew עברית",
    "hi": "hindi हिन्दी",
    "hu": "hungarian magyar",
    "id": "indonesian",
    "it": "italian italiano",
    "ja": "japanese 日本語",
    "ko": "korean 한국어",
    "nl": "dutch nederlands",
    "no": "norwegian norsk",
    "pl": "polish polski",
    "pt": "portuguese português",
    "ro": "romanian română",
    "ru": "russian русский",
    "sv": "swedish svenska",
    "ta": "tamil",
    "th": "thai ไทย",
    "tr": "turkish türkçe",
    "uk": "ukrainian українська",
    "ur": "urdu",
    "vi": "vietnamese",
    "zh": "chinese 中文 mandarin",
}
LANGUAGE_NAMED: Mapping[str, str] = {name: code for code, names in _NAMES.items() for name in names.split()}
"""Name of a language, in English or in itself, in lower case, to its code."""
