"""Words that change a number beside them: signs, decimal marks, halves and scales, by language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class NumberForms(NamedTuple):
    """Words of a language; bars separate alternatives."""

    minus: str = ""
    """Words before a negative number; those with `~` stand behind it."""
    point: str = ""
    """Words between a number and its decimals."""
    more: Mapping[str, float] = {}
    """Words behind a number that add to it: "two [and a half]". Behind a scale, they add parts of the scale."""
    parts: Mapping[str, float] = {}
    """Words before a scale that multiply it: "[half a] million"."""
    fixed: Mapping[str, float] = {}
    """Other numbers."""
    scales: Mapping[str, float] = {}
    """Scales behind a number, beside those of the number words."""


_THOUSAND, _MILLION, _BILLION = 1e3, 1e6, 1e9

NOT_MINUS = "".join(f"(?<!{word} )" for word in ("au", "du", "al", "lo", "pelo", "ao", "les", "mas o"))
"""Pattern of what does not stand before "minus": "au moins 5" is "at least 5"."""
SCALES = {"k": _THOUSAND, "bn": _BILLION, "mn": _MILLION}
"""Scales of every language."""

_UNITS_DE = ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf")
_AND_A_HALF = {f"{word}einhalb": number + 0.5 for number, word in enumerate(_UNITS_DE, 1)}

NUMBER_FORMS = {
    "ar": NumberForms(
        "ناقص|سالب|~تحت الصفر", "فاصلة|فاصل", {"ونصف": 0.5, "و نصف": 0.5, "وربع": 0.25, "و ربع": 0.25},
        {"نصف": 0.5, "ربع": 0.25}, {"دزينة": 12}, {"مليار": _BILLION},
    ),
    "cs": NumberForms("minus|mínus", scales={"tis": _THOUSAND, "mil": _MILLION}),
    "da": NumberForms("minus", "komma", scales={"mio": _MILLION, "tusind": _THOUSAND, "millioner": _MILLION}),
    "de": NumberForms(
        "minus|~unter null|~unter dem gefrierpunkt",
        "komma|punkt",
        {"und ein halb": 0.5, "einhalb": 0.5, "und eine halbe": 0.5, "und ein viertel": 0.25,
         "und drei viertel": 0.75},
        {"halbe": 0.5, "halben": 0.5, "halbes": 0.5, "viertel": 0.25, "dreiviertel": 0.75},
        {"anderthalb": 1.5, **_AND_A_HALF, "drei viertel": 0.75, "zwei drittel": 2 / 3, "ein halb": 0.5,
         "ein halbes": 0.5, "ein dutzend": 12},
        {"tsd": _THOUSAND, "mio": _MILLION, "mrd": _BILLION, "dutzend": 12},
    ),
    "en": NumberForms(
        "minus|negative|~below zero|~below freezing",
        "point|dot",
        {"and a half": 0.5, "and one half": 0.5, "and a quarter": 0.25, "and three quarters": 0.75,
         "and a third": 1 / 3},
        {"half a": 0.5, "half": 0.5, "a half": 0.5, "quarter of a": 0.25, "a quarter of a": 0.25, "a quarter": 0.25,
         "three quarters of a": 0.75},
        {"a half": 0.5, "one half": 0.5, "three quarters": 0.75, "three fourths": 0.75, "one third": 1 / 3,
         "two thirds": 2 / 3, "one quarter": 0.25, "a couple": 2, "a dozen": 12},
        {"dozen": 12, "lakh": 1e5, "lakhs": 1e5, "crore": 1e7, "crores": 1e7, "trillion": 1e12},
    ),
    "es": NumberForms(
        "menos|~bajo cero",
        "coma|punto",
        {"y medio": 0.5, "y media": 0.5, "y cuarto": 0.25, "y un cuarto": 0.25},
        {"medio": 0.5, "media": 0.5, "un cuarto de": 0.25},
        {"tres cuartos": 0.75, "dos tercios": 2 / 3, "un tercio": 1 / 3, "una docena": 12},
        {"docena": 12, "docenas": 12},
    ),
    "fa": NumberForms(
        "منفی|~زیر صفر", "ممیز|نقطه", {"و نیم": 0.5, "ونیم": 0.5, "و ربع": 0.25}, {"نیم": 0.5},
        scales={"میلیارد": _BILLION},
    ),
    "fr": NumberForms(
        "moins|~en dessous de zéro|~sous zéro",
        "virgule|point",
        {"et demi": 0.5, "et demie": 0.5, "et quart": 0.25, "et un quart": 0.25},
        {"un demi": 0.5, "demi": 0.5, "un quart de": 0.25},
        {"trois quarts": 0.75, "deux tiers": 2 / 3, "un tiers": 1 / 3, "une douzaine": 12},
        {"douzaine": 12, "douzaines": 12, "milliard": _BILLION, "milliards": _BILLION, "milliers": _THOUSAND},
    ),
    "hi": NumberForms(
        "माइनस|ऋण", "दशमलव", fixed={"डेढ़": 1.5, "ढाई": 2.5, "आधा": 0.5, "दर्जन": 12},
        scales={"हज़ार": _THOUSAND, "हजार": _THOUSAND, "लाख": 1e5, "करोड़": 1e7, "सौ": 100},
    ),
    "id": NumberForms(
        "minus|negatif", "koma", scales={"ribu": _THOUSAND, "rb": _THOUSAND, "juta": _MILLION, "jt": _MILLION}
    ),
    "it": NumberForms(
        "meno|~sotto zero|~sotto lo zero",
        "virgola|punto",
        {"e mezzo": 0.5, "e mezza": 0.5, "e un quarto": 0.25},
        {"mezzo": 0.5, "mezza": 0.5, "un quarto di": 0.25},
        {"tre quarti": 0.75, "due terzi": 2 / 3, "una dozzina": 12},
        {"miliardo": _BILLION, "miliardi": _BILLION, "dozzina": 12, "dozzine": 12},
    ),
    "ja": NumberForms("マイナス|氷点下|負の", "点|コンマ", {"半": 0.5}, scales={"ダース": 12}),
    "ko": NumberForms("마이너스|영하", "점", scales={"천": _THOUSAND, "만": 1e4, "백만": _MILLION, "억": 1e8}),
    "nl": NumberForms(
        "min|minus|~onder nul|~onder het vriespunt",
        "komma|punt",
        {"en een half": 0.5, "en een halve": 0.5, "en een kwart": 0.25},
        {"half": 0.5, "halve": 0.5, "een half": 0.5, "een halve": 0.5, "een kwart": 0.25},
        {"anderhalf": 1.5, "anderhalve": 1.5, "driekwart": 0.75, "twee derde": 2 / 3, "een dozijn": 12},
        {"mln": _MILLION, "mld": _BILLION, "miljard": _BILLION, "dozijn": 12},
    ),
    "no": NumberForms("minus", "komma", scales={"mill": _MILLION, "tusen": _THOUSAND, "millioner": _MILLION}),
    "pl": NumberForms(
        "minus|~poniżej zera",
        "przecinek",
        {"i pół": 0.5, "i ćwierć": 0.25},
        {"pół": 0.5, "ćwierć": 0.25},
        {"półtora": 1.5, "półtorej": 1.5, "trzy czwarte": 0.75, "tuzin": 12},
        {"tys": _THOUSAND, "mln": _MILLION, "mld": _BILLION, "miliard": _BILLION, "miliardy": _BILLION,
         "miliardów": _BILLION},
    ),
    "pt": NumberForms(
        "menos|~negativos|~negativo|~abaixo de zero",
        "vírgula|ponto",
        {"e meio": 0.5, "e meia": 0.5, "e um quarto": 0.25},
        {"meio": 0.5, "meia": 0.5, "um quarto de": 0.25},
        {"três quartos": 0.75, "dois terços": 2 / 3, "uma dúzia": 12, "meia dúzia": 6},
        {"dúzia": 12, "dúzias": 12, "bilhão": _BILLION, "bilhões": _BILLION, "milhar": _THOUSAND, "mi": _MILLION},
    ),
    "ru": NumberForms(
        "минус|~ниже нуля|~мороза",
        "запятая|целых|целая|точка",
        {"с половиной": 0.5, "с четвертью": 0.25},
        {"пол": 0.5, "половина": 0.5, "половину": 0.5, "четверть": 0.25},
        {"полтора": 1.5, "полторы": 1.5, "полутора": 1.5, "три четверти": 0.75, "две трети": 2 / 3, "дюжина": 12,
         "дюжину": 12, "полмиллиона": 5e5},
        {"тыс": _THOUSAND, "млн": _MILLION, "млрд": _BILLION, "миллиард": _BILLION, "миллиарда": _BILLION,
         "миллиардов": _BILLION, "дюжины": 12, "дюжин": 12},
    ),
    "sv": NumberForms(
        "minus|~under noll", "komma", {"och en halv": 0.5, "och ett halvt": 0.5},
        scales={"tusen": _THOUSAND, "miljon": _MILLION, "miljoner": _MILLION, "mkr": _MILLION, "dussin": 12},
    ),
    "tr": NumberForms(
        "eksi|sıfırın altında", "virgül|nokta", {"buçuk": 0.5}, {"yarım": 0.5, "çeyrek": 0.25},
        {"üç çeyrek": 0.75, "bir düzine": 12}, {"milyar": _BILLION, "düzine": 12, "mn": _MILLION},
    ),
    "uk": NumberForms("мінус", "кома", scales={"тис": _THOUSAND, "млн": _MILLION, "млрд": _BILLION}),
    "vi": NumberForms(
        "âm|trừ", "phẩy", scales={"nghìn": _THOUSAND, "ngàn": _THOUSAND, "triệu": _MILLION, "tỷ": _BILLION}
    ),
    "zh": NumberForms("负|負|零下", "点|點", {"半": 0.5}, scales={"打": 12}),
}  # fmt: skip
"""Words by language."""
