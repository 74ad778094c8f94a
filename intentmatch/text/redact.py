"""Redact personal data: e-mail addresses, phone, card and bank account numbers, in the digits of any script.

A plain run of digits is usually an order number, which a bot needs, so only the form decides: a card or an account
needs valid check digits, and a phone number the prefix or the grouping of a phone number.
"""

from __future__ import annotations

import re
import unicodedata

from intentmatch.text.personal_numbers import NUMBER, personal_numbers

WORDS = EMAIL, PHONE, CARD, IBAN = "‹email›", "‹phone›", "‹card›", "‹iban›"
"""The replacements. They have no template marks, and a matcher reads their quotes as punctuation."""

# Each pattern starts only after a character that it cannot contain, so that a long text is searched once.
_SPACES = r"[ \t\u00a0\u2000-\u200f\u202f\u205f\u2060\u3000\ufeff]{0,3}"
_SIGN = re.compile("[@＠﹫]")
_AT = r"(?:[ \u00a0]{0,2}[@＠﹫][ \u00a0]{0,2}|\s?[\[({]\s?(?:at|ät)\s?[\])}]\s?)"
_DOT = r"(?:[.．。｡]|\s?[\[({]\s?dot\s?[\])}]\s?)"
_LETTER = r"A-Za-zＡ-Ｚａ-ｚ"
_NAME, _LABEL = rf"{_LETTER}0-9０-９.．_%+\-", rf"[{_LETTER}0-9０-９\-]+"
_EMAIL = re.compile(rf"(?<![{_NAME}])[{_NAME}]+{_AT}{_LABEL}(?:{_DOT}{_LABEL})*{_DOT}[{_LETTER}]{{2,}}", re.I)
_ANY = r"""\s@＠﹫<>()\[\]{},;:"'|„“”«»「」（），；：、。"""
_FOREIGN_EMAIL = re.compile(rf"""(?:"[^"\n]{{1,64}}"|(?<![^{_ANY}])[^{_ANY}]+)[@＠﹫][^{_ANY}]+[.．][^\W\d_][\w-]+""")
# "@" and "." as people say them. Both words of one language are needed: "look at this point in time" is no address.
_SPOKEN = {
    "at": "dot", "at|ät": "punkt", "arobase": "point", "arroba": "punto|ponto", "chiocciola": "punto",
    "apenstaartje": "punt", "małpa|malpa": "kropka", "zavináč": "tečka", "собака": "точка", "snabela": "punktum",
}  # fmt: skip
_SPOKEN_AT = re.compile(rf"\s(?:{'|'.join(_SPOKEN)})\s", re.I)
_ORGANISATIONS = "com|net|org|info|edu|gov|biz|app|dev"
_SPOKEN_EMAIL = re.compile(
    "|".join(
        rf"(?<![\w.%+\-])[\w.%+\-]+(?:\s(?:{dot})\s[\w.%+\-]+){{0,3}}\s(?:{at})(?:\s[\w\-]+\s(?:{dot})){{1,3}}\s"
        rf"(?:{_ORGANISATIONS}|[a-z]{{2}})\b"
        for at, dot in _SPOKEN.items()
    ),
    re.I,
)
# An address with spaces around its dots. After such a dot the next sentence may begin: `_ends_address` decides.
_DOTS = r".．｡"
_PART = rf"[^{_ANY}{_DOTS}‹›]+"
_SPACED_DOT = rf"{_SPACES}(?:[{_DOTS}]|\s(?:{'|'.join(_SPOKEN.values())})(?=\s)){_SPACES}"
_SPACED_EMAIL = re.compile(
    rf"(?<![^{_ANY}{_DOTS}‹›])(?P<name>{_PART}(?:{_SPACES}[{_DOTS}]{_SPACES}{_PART}){{0,3}})"
    rf"(?P<at>{_SPACES}[@＠﹫]{_SPACES})(?P<domain>{_PART}(?:{_SPACED_DOT}{_PART}){{1,4}})",
    re.I,
)
_LAST_DOTS = re.compile(rf"(?P<dot>{_SPACED_DOT})(?P<top>xn--[\w-]+|[{_LETTER}]{{2,}}|[^\W\d_]{{2,}})", re.I)
_SENTENCE_END = re.compile(rf"[{_DOTS}]\s+")
# Words of these scripts have no spaces between them.
_AFTER_OTHER_SCRIPT = re.compile(rf"(?<=[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])[{_NAME}]+\Z")
TOP_LEVEL = (
    "com net org info biz io dev app ai edu gov mil int eu online site shop store blog cloud tech xyz club live news "
    "example test local ac ae ar at au be bg bo br by ca cc ch cl cn co cr cz de dk ec ee eg es fi fm fr gg gr hk hr "
    "hu id ie il ir it jp ke kr kz lt lu lv ma mx my ng nl nz pe pk pl pt ro rs ru sa se sg si sk th tn tr tv tw ua uk "
    "uy vn za рф"
)
"""Top-level domains that are known without a prefix such as "www."; words that end sentences are absent."""
_BEGIN_SENTENCES = (
    "ai app at au be blog by ca club co cloud es example id int it live local ma my news online pe sa se shop si site "
    "store tech test th"
)
_KNOWN = frozenset(TOP_LEVEL.split())
_SURE = _KNOWN.difference(_BEGIN_SENTENCES.split())

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
    # Most messages have no such sign, and need none of these patterns.
    if _SIGN.search(text):
        text = _SPACED_EMAIL.sub(_without_spaced_email, text)
        text = _FOREIGN_EMAIL.sub(EMAIL, _EMAIL.sub(EMAIL, text))
    else:
        text = _EMAIL.sub(EMAIL, text)
    if _SPOKEN_AT.search(text):
        text = _SPOKEN_EMAIL.sub(EMAIL, text)
    # Before the numbers, which would take the digits of an account for a card or a telephone.
    text = _IBAN.sub(lambda found: _without_iban(found.group()), text)
    return NUMBER.sub(_without_numbers, text)


def _without_spaced_email(found: re.Match[str]) -> str:
    """Redact an address at the end of `name`, up to the last dot of `domain` that belongs to it."""
    name, domain = found["name"], found["domain"]
    dots = list(_LAST_DOTS.finditer(domain))
    for dot in reversed(dots):
        rest = found.string[found.start("domain") + dot.end() :]
        has_spaced_at = any(map(str.isspace, found["at"]))
        is_whole = any(not before["dot"][-1:].isspace() for before in dots if before.start() < dot.start())
        top = unicodedata.normalize("NFKC", dot["top"]).lower()
        if _ends_address(top, dot["dot"], rest, has_spaced_at=has_spaced_at, is_whole=is_whole):
            return _before_address(name, spaced=dot["dot"][-1:].isspace()) + EMAIL + domain[dot.end() :]
    return found.group()


def _before_address(name: str, *, spaced: bool) -> str:
    """Return what stands before an address in `name`. If its dots are `spaced`, no sentence ends at one in the name."""
    if other := _AFTER_OTHER_SCRIPT.search(name):
        return name[: other.start()]
    ends = [] if spaced else [found.end() for found in _SENTENCE_END.finditer(name)]
    return name[: ends[-1]] if ends else ""


def _ends_address(top: str, dot: str, rest: str, *, has_spaced_at: bool, is_whole: bool) -> bool:
    """Whether an address goes on with a dot and a top-level domain.

    `rest` follows, and `is_whole` says that the address could have ended before the dot.
    """
    before, after = dot[:1].isspace(), dot[-1:].isspace()
    if not after:
        return not before or top in _KNOWN or (len(top) == 2 and not has_spaced_at)
    if is_whole and not before:
        return False
    ends = re.match(r"[^\S\n]*[A-Za-zÀ-ɏ0-9]", rest) is None
    if top in _SURE and (before or not has_spaced_at or ends or top in _ORGANISATIONS.split("|")):
        return True
    return ends and (before and top in _KNOWN if has_spaced_at else top in _KNOWN or len(top) == 2)


def _without_iban(text: str) -> str:
    """Redact an IBAN at the start of a text; words may follow the IBAN."""
    ends = [found.end() for found in re.finditer(r"[A-Za-z\d]", text)]
    # A country without a length is longer than the text, and so is no account.
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
