"""Words around hours and minutes: "at", "o'clock", "half past", "in the evening", in eighteen languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class ClockWords(NamedTuple):
    """Words of a language around an hour; bars separate alternatives."""

    before: str = ""
    """Words before the hour."""
    after: str = ""
    """Words after the hour."""
    morning: str = ""
    """Parts of the day."""
    afternoon: str = ""
    night: str = ""
    minutes_before: Mapping[str, int] = {}
    minutes_after: Mapping[str, int] = {}
    named: Mapping[str, str] = {}
    hours: Mapping[str, int] = {}
    """Words for hours, beside the numbers."""
    elided: tuple[str, ...] = ()
    """Words before the hour that are written together with it."""
    halves: Mapping[str, int] = {}
    """Words for half an hour before an hour."""
    past: Mapping[str, int] = {}
    """Words between minutes and the hour, with the sign of the minutes: "ten [past] six"."""
    past_words: Mapping[str, int] = {}
    """Such words that need the minutes in words: "2 to 4" is a range."""
    plus: Mapping[str, int] = {}
    """Words between the hour and minutes, with the sign of the minutes."""
    behind: Mapping[str, int] = {}
    """Words behind hour and minutes, with the sign of the minutes."""
    endings: str = ""
    """Regular expression of the endings of an hour, which are no part of it."""
    spoken: Mapping[str, int] = {}
    """Minutes right behind the hour."""
    parts_first: bool = False
    """Whether the part of the day may also come before the hour."""


def _numbered(words: str) -> dict[str, int]:
    """Return words with their numbers from 1 on."""
    return {word: number for number, word in enumerate(words.split(), 1)}


CLOCK_WORDS = {
    "en": ClockWords(
        "at",
        "o'clock|h",
        "am|a.m.|in the morning",
        "pm|p.m.|in the afternoon|in the evening",
        "at night",
        {
            **dict.fromkeys(["half past", "half after"], 30),
            **dict.fromkeys(["quarter past", "a quarter past", "quarter after", "a quarter after"], 15),
            **dict.fromkeys(["quarter to", "a quarter to", "quarter of"], -15),
        },
        named={"noon": "12:00", "midday": "12:00", "midnight": "00:00"},
        past={"past": 1, "minutes past": 1, "minutes after": 1, "minutes to": -1},
        past_words={"to": -1},
        spoken={"fifteen": 15, "thirty": 30, "forty five": 45},
    ),
    "de": ClockWords(
        "um|gegen",
        "Uhr|h",
        "morgens|vormittags|früh|am Morgen|in der Früh",
        "nachmittags|abends|mittags|am Nachmittag|am Abend",
        "nachts|in der Nacht",
        {"halb": -30, "viertel nach": 15, "viertel vor": -15, "viertel": -45, "dreiviertel": -15, "drei viertel": -15},
        named={"Mittag": "12:00", "mittags": "12:00", "Mitternacht": "00:00"},
        past={"nach": 1, "vor": -1, "Minuten nach": 1, "Minuten vor": -1},
    ),
    "nl": ClockWords(
        "om|rond",
        "uur|u|h",
        "'s ochtends|'s morgens|in de ochtend",
        "'s middags|'s avonds|in de middag|in de avond",
        "'s nachts",
        {"half": -30, "kwart over": 15, "kwart voor": -15},
        named={"middernacht": "00:00"},
        past={"over": 1, "voor": -1},
    ),
    "da": ClockWords(
        "kl|klokken",
        morning="om morgenen",
        afternoon="om eftermiddagen|om aftenen",
        minutes_before={"halv": -30, "kvart over": 15, "kvart i": -15},
        hours=_numbered("et to tre fire fem seks syv otte ni ti elleve tolv"),
    ),
    "hi": ClockWords("", "बजे", "सुबह", "शाम|दोपहर", "रात", parts_first=True),
    "sv": ClockWords(
        "kl|klockan",
        hours=_numbered("ett två tre fyra fem sex sju åtta nio tio elva tolv"),
        morning="på morgonen",
        afternoon="på eftermiddagen|på kvällen",
        minutes_before={"halv": -30, "kvart över": 15, "kvart i": -15},
        named={"midnatt": "00:00"},
    ),
    "fr": ClockWords(
        "vers|à partir de",
        "h|heure|heures",
        "du matin",
        "de l'après-midi|du soir",
        minutes_after={"et demie": 30, "et demi": 30, "et quart": 15, "moins le quart": -15, "moins quart": -15},
        named={"midi": "12:00", "minuit": "00:00"},
        plus={"moins": -1},
    ),
    "es": ClockWords(
        "a las|a la|las",
        "h|hs|horas|en punto",
        "de la mañana|de la madrugada",
        "de la tarde|del mediodía",
        "de la noche",
        minutes_after={"y media": 30, "y cuarto": 15, "menos cuarto": -15},
        named={"mediodía": "12:00", "medianoche": "00:00"},
        plus={"y": 1, "menos": -1},
    ),
    "it": ClockWords(
        "alle|alle ore|ore|all'|le|dalle",
        "h|in punto",
        "di mattina|del mattino",
        "di pomeriggio|del pomeriggio|di sera",
        "di notte",
        minutes_after={"e mezza": 30, "e mezzo": 30, "e un quarto": 15, "meno un quarto": -15},
        named={"mezzogiorno": "12:00", "mezzanotte": "00:00"},
        hours={"una": 1, "all'una": 1, "dall'una": 1},
        elided=("all'", "dall'"),
        plus={"e": 1, "meno": -1},
    ),
    "pt": ClockWords(
        "pelas",
        "h|hs|horas|em ponto",
        "da manhã",
        "da tarde",
        "da noite",
        minutes_after={"e meia": 30, "e um quarto": 15, "e quinze": 15},
        named={"meio-dia": "12:00", "meia-noite": "00:00"},
        plus={"e": 1, "menos": -1},
    ),
    "tr": ClockWords(
        "saat",
        "",
        "sabah",
        "öğleden sonra|akşam|akşamı|öğlen|öğle",
        "gece",
        minutes_after={"buçuk": 30},
        named={"öğlen": "12:00", "öğle vakti": "12:00", "gece yarısı": "00:00"},
        hours={
            **_numbered("biri ikiyi üçü dördü beşi altıyı yediyi sekizi dokuzu onu"),
            **_numbered("bire ikiye üçe dörde beşe altıya yediye sekize dokuza ona"),
        },
        behind={"geçe": 1, "kala": -1, "var": -1},
        endings="[dt][ae]n?|y?[ae]",
        parts_first=True,
    ),
    "ru": ClockWords(
        "в|к|около",
        "час|часа|часов|ч",
        "утра",
        "дня|вечера",
        "ночи",
        {
            **dict.fromkeys(["половина", "половине", "половину", "пол"], -30),
            **dict.fromkeys(["четверть", "пятнадцать минут"], -45),
            "без четверти": -15,
            "без пяти": -5,
            "без десяти": -10,
            "без двадцати": -20,
            "пять минут": -55,
            "десять минут": -50,
            "двадцать минут": -40,
        },
        minutes_after={"тридцать": 30, "пятнадцать": 15, "сорок пять": 45},
        named={"полдень": "12:00", "полночь": "00:00", "час дня": "13:00", "час ночи": "01:00"},
        hours=_numbered(
            "первого второго третьего четвёртого пятого шестого седьмого восьмого девятого десятого одиннадцатого "
            "двенадцатого"
        ),
        halves=_numbered(
            "полпервого полвторого полтретьего полчетвёртого полпятого полшестого полседьмого полвосьмого "
            "полдевятого полдесятого пол-одиннадцатого полдвенадцатого"
        ),
    ),
    "pl": ClockWords("o|około", "h", "rano", "po południu|wieczorem", "w nocy", named={"północ": "00:00"}),
    "ar": ClockWords(
        "الساعة",
        "",
        "صباحا|فجرا",
        "ظهرا|عصرا|مساء|بعد الظهر",
        "ليلا",
        minutes_after={
            **dict.fromkeys(["والنصف", "ونصف"], 30),
            **dict.fromkeys(["والربع", "وربع"], 15),
            **dict.fromkeys(["إلا ربعا", "إلا ربع", "الا ربع"], -15),
            "والثلث": 20,
        },
        named={"منتصف الليل": "00:00", "عند الظهر": "12:00"},
        hours=_numbered("الواحدة الثانية الثالثة الرابعة الخامسة السادسة السابعة الثامنة التاسعة العاشرة"),
    ),
    "fa": ClockWords("ساعت", "", "صبح", "ظهر|بعد از ظهر|عصر", "شب", minutes_after={"و نیم": 30, "و ربع": 15}),
    "zh": ClockWords(
        "",
        "点|點|点钟|點鐘|时|時",
        "上午|早上|早晨|清晨|凌晨",
        "中午|下午|傍晚|晚上",
        minutes_after={"半": 30, "一刻": 15, "三刻": 45},
        named={"午夜": "00:00", "中午": "12:00", "正午": "12:00", "半夜": "00:00"},
        parts_first=True,
    ),
    "ja": ClockWords(
        "",
        "時",
        "午前|朝",
        "午後|夕方|夜",
        "深夜",
        minutes_after={"半": 30},
        named={"正午": "12:00"},
        parts_first=True,
    ),
    "ko": ClockWords(
        "",
        "시",
        "오전|아침|새벽",
        "오후|저녁",
        "밤",
        minutes_after={"반": 30},
        named={"정오": "12:00", "자정": "00:00"},
        parts_first=True,
    ),
}
"""Words by language."""
