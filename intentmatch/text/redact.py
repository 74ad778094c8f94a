"""Redact personal data: e-mail addresses, phone, card and bank account numbers, in the digits of any script.

A plain run of digits is usually an order number, which a bot needs, so only the form decides: a card or an account
needs valid check digits, and a phone number the prefix or the grouping of a phone number.
"""

from __future__ import annotations

import re

from intentmatch.text.personal_numbers import NUMBER, personal_numbers

WORDS = EMAIL, PHONE, CARD, IBAN = "‹email›", "‹phone›", "‹card›", "‹iban›"
"""The replacements. They have no template marks, and a matcher reads their quotes as punctuation."""

# Each pattern starts only after a character that it cannot contain, so that a long text is searched once.
_AT = r"(?:[ \u00a0]{0,2}[@＠][ \u00a0]{0,2}|\s?[\[({]\s?(?:at|ät)\s?[\])}]\s?)"
_DOT = r"(?:[.．。]|\s?[\[({]\s?dot\s?[\])}]\s?)"
_LETTER = r"A-Za-zＡ-Ｚａ-ｚ"
_NAME, _LABEL = rf"{_LETTER}0-9０-９.．_%+\-", rf"[{_LETTER}0-9０-９\-]+"
_EMAIL = re.compile(rf"(?<![{_NAME}])[{_NAME}]+{_AT}{_LABEL}(?:{_DOT}{_LABEL})*{_DOT}[{_LETTER}]{{2,}}", re.I)
_ANY = r"""\s@＠<>()\[\]{},;:"'|„“”«»「」（），；：、。"""
_FOREIGN_EMAIL = re.compile(rf"""(?:"[^"\n]{{1,64}}"|(?<![^{_ANY}])[^{_ANY}]+)[@＠][^{_ANY}]+[.．][^\W\d_][\w-]+""")
# "@" and "." as people say them. Both words of one language are needed: "look at this point in time" is no address.
_SPOKEN = {
    "at": "dot", "at|ät": "punkt", "arobase": "point", "arroba": "punto|ponto", "chiocciola": "punto",
    "apenstaartje": "punt", "małpa|malpa": "kropka", "zavináč": "tečka", "собака": "точка", "snabela": "punktum",
}  # fmt: skip
_SPOKEN_AT = re.compile(rf"\s(?:{'|'.join(_SPOKEN)})\s", re.I)
_SPOKEN_EMAIL = re.compile(
    "|".join(
        rf"(?<![\w.%+\-])[\w.%+\-]+(?:\s(?:{dot})\s[\w.%+\-]+){{0,3}}\s(?:{at})(?:\s[\w\-]+\s(?:{dot})){{1,3}}\s"
        r"(?:com|net|org|info|edu|gov|biz|app|dev|[a-z]{2})\b"
        for at, dot in _SPOKEN.items()
    ),
    re.I,
)

# Characters of an account by country: the IBAN registry (ISO 13616), and countries that use the form unregistered.
_IBAN_LENGTHS = {
    country: int(length)
    for country, length in re.findall(
        r"([A-Z]{2})(\d\d)",
        "AD24 AE23 AL28 AO25 AT20 AZ28 BA20 BE16 BF28 BG22 BH22 BI27 BJ28 BR29 BY28 CF27 CG27 CH21 CI28 CM27 CR22 CV25 "
        "CY28 CZ24 DE22 DJ27 DK18 DO28 DZ26 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GA27 GB22 GE22 GI23 GL18 GQ27 GR27 GT28 "
        "GW25 HN28 HR21 HU28 IE22 IL23 IQ23 IR26 IS26 IT27 JO30 KM27 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MA28 "
        "MC27 MD24 ME22 MG27 MK19 ML28 MN20 MR27 MT31 MU30 MZ25 NE28 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 "
        "RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SN28 SO23 ST25 SV28 TD27 TG28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 "
        "YE30",
    )
}
_FEWEST_DIGITS = 10
_IBAN = re.compile(r"(?:(?<![0-9A-Za-z])|(?<=iban))[A-Z]{2}[\s\-]?\d{2}(?:[\s.\-\u2010-\u2015]?[A-Z0-9]){11,30}", re.I)


def redact(text: str) -> str:
    """Return the text with each address and number replaced by one of `WORDS`."""
    text = _FOREIGN_EMAIL.sub(EMAIL, _EMAIL.sub(EMAIL, text))
    if _SPOKEN_AT.search(text):
        text = _SPOKEN_EMAIL.sub(EMAIL, text)
    text = _IBAN.sub(lambda found: _without_iban(found.group()), text)
    return NUMBER.sub(_without_numbers, text)


def _without_iban(text: str) -> str:
    """Redact an IBAN at the start of a text; words may follow the IBAN."""
    ends = [found.end() for found in re.finditer(r"[A-Za-z\d]", text)]
    length = _IBAN_LENGTHS.get(text[:2].upper(), len(ends) + 1)
    if length > len(ends) or text[ends[length - 1] :][:1].isalnum():
        return text
    account, rest = "".join(filter(str.isalnum, text[: ends[length - 1]])).upper(), text[ends[length - 1] :]
    is_valid = sum(map(str.isdecimal, account)) >= _FEWEST_DIGITS and _mod_97(account) == 1
    return IBAN + rest if is_valid else text


def _mod_97(account: str) -> int:
    """Return the checksum of an IBAN (ISO 13616, ISO 7064), which is 1 for a valid one."""
    return int("".join(str(int(character, 36)) for character in account[4:] + account[:4])) % 97


def _without_numbers(found: re.Match[str]) -> str:
    """Redact the cards and phone numbers in a run of digits and separators."""
    text, redacted, position = found.group(), "", 0
    for start, end, kind in personal_numbers(found):
        redacted += text[position:start] + (CARD if kind == "card" else PHONE)
        position = end
    return redacted + text[position:]
