"""Slots of kind "time": times of day in digits, or in the words of sixteen languages.

"18:30" is a time in every language. An hour alone is a time only with a word before it ("um 8"), after it ("18 Uhr",
"18h") or with a part of the day ("6pm", "6 вечера", "下午6点"). Without a part of the day, it is on the 24-hour clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from intentmatch.slots.message import Message, SlotHit
from intentmatch.slots.number_words import NUMERALS, numeral, small_numbers
from intentmatch.slots.numbers import ascii_digits
from intentmatch.slots.scripts import kind
from intentmatch.text.normalize import bare, language_range


class _Phrases(NamedTuple):
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
    parts_first: bool = False
    """Whether the part of the day may also come before the hour."""


_PHRASES = {
    "en": _Phrases(
        "at",
        "o'clock|h",
        "am|a.m.|in the morning",
        "pm|p.m.|in the afternoon|in the evening",
        "at night",
        {"half past": 30, "quarter past": 15, "quarter to": -15},
        named={"noon": "12:00", "midday": "12:00", "midnight": "00:00"},
    ),
    "de": _Phrases(
        "um|gegen",
        "Uhr|h",
        "morgens|vormittags|früh|am Morgen|in der Früh",
        "nachmittags|abends|mittags|am Nachmittag|am Abend",
        "nachts|in der Nacht",
        {"halb": -30, "viertel nach": 15, "viertel vor": -15, "dreiviertel": -15},
        named={"Mittag": "12:00", "Mitternacht": "00:00"},
    ),
    "nl": _Phrases(
        "om|rond",
        "uur|u|h",
        "'s ochtends|'s morgens|in de ochtend",
        "'s middags|'s avonds|in de middag|in de avond",
        "'s nachts",
        {"half": -30, "kwart over": 15, "kwart voor": -15},
        named={"middernacht": "00:00"},
    ),
    "sv": _Phrases(
        "kl|klockan",
        morning="på morgonen",
        afternoon="på eftermiddagen|på kvällen",
        minutes_before={"halv": -30, "kvart över": 15, "kvart i": -15},
        named={"midnatt": "00:00"},
    ),
    "fr": _Phrases(
        "vers",
        "h|heure|heures",
        "du matin",
        "de l'après-midi|du soir",
        minutes_after={"et demie": 30, "et quart": 15, "moins le quart": -15},
        named={"midi": "12:00", "minuit": "00:00"},
    ),
    "es": _Phrases(
        "a las|a la|las",
        "h|hs|horas|en punto",
        "de la mañana",
        "de la tarde",
        "de la noche",
        minutes_after={"y media": 30, "y cuarto": 15, "menos cuarto": -15},
        named={"mediodía": "12:00", "medianoche": "00:00"},
    ),
    "it": _Phrases(
        "alle|alle ore|ore",
        "h|in punto",
        "di mattina|del mattino",
        "di pomeriggio|del pomeriggio|di sera",
        "di notte",
        minutes_after={"e mezza": 30, "e mezzo": 30, "e un quarto": 15, "meno un quarto": -15},
        named={"mezzogiorno": "12:00", "mezzanotte": "00:00"},
    ),
    "pt": _Phrases(
        "pelas",
        "h|hs|horas|em ponto",
        "da manhã",
        "da tarde",
        "da noite",
        minutes_after={"e meia": 30, "e um quarto": 15},
        named={"meio-dia": "12:00", "meia-noite": "00:00"},
    ),
    "tr": _Phrases(
        "saat", "", "sabah", "öğleden sonra|akşam|öğlen", "gece", minutes_after={"buçuk": 30}, parts_first=True
    ),
    "ru": _Phrases(
        "в|к|около", "час|часа|часов|ч", "утра", "дня|вечера", "ночи", named={"полдень": "12:00", "полночь": "00:00"}
    ),
    "pl": _Phrases("o|około", "h", "rano", "po południu|wieczorem", "w nocy", named={"północ": "00:00"}),
    "ar": _Phrases("الساعة", "", "صباحا", "ظهرا|عصرا|مساء", "ليلا", minutes_after={"والنصف": 30, "والربع": 15}),
    "fa": _Phrases("ساعت", "", "صبح", "ظهر|بعد از ظهر|عصر", "شب", minutes_after={"و نیم": 30, "و ربع": 15}),
    "zh": _Phrases(
        "",
        "点|點|点钟|點鐘|时|時",
        "上午|早上|早晨|凌晨",
        "中午|下午|傍晚|晚上",
        minutes_after={"半": 30, "一刻": 15},
        named={"中午": "12:00", "正午": "12:00", "半夜": "00:00"},
        parts_first=True,
    ),
    "ja": _Phrases(
        "",
        "時",
        "午前|朝",
        "午後|夕方|夜",
        "深夜",
        minutes_after={"半": 30},
        named={"正午": "12:00"},
        parts_first=True,
    ),
    "ko": _Phrases(
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
# Not behind "12." or "2026-", but behind "9:00-" and "14-".
_NOT_IN_A_NUMBER = (
    "(?:(?<![0-9][.,:/-])|(?<=:[0-9][0-9]-)|(?<=[^0-9.,:/-][0-9]-)|(?<=[^0-9.,:/-][0-9][0-9]-)"
    "|(?<=^[0-9]-)|(?<=^[0-9][0-9]-))"
)
_PART_BEFORE = frozenset(["ja", "ko", "zh"])
"""Languages where the part of the day never follows the hour: in "星期五晚上七点", 五 is no hour."""
_ANYWHERE = _Phrases(morning="am|a.m.", afternoon="pm|p.m.")
_DAY = 24 * 60
_NEVER = "(?!)"
_PAUSES = frozenset(",;!?()…،؛؟、。，；！？")


class TimeFinder:
    """Finds times of day; values have the form "18:30"."""

    def find(self, message: Message) -> list[SlotHit]:
        """Return times in digits and in words, including overlapping ones."""
        if TimeFinder in message.memo:
            return message.memo[TimeFinder]
        words = _words(language_range(message.language)[-1] if message.language else "en")
        text = _with_signs(message)
        found = [(found.span(), words.named[found[0]]) for found in words.names.finditer(text)]
        for match in words.clock.finditer(text):
            minutes = _minutes(match, words)
            if minutes is not None:
                start = min(match.start(group) for group in ("part", "shift", "hour") if match[group])
                found.append(((start, match.end()), f"{minutes // 60:02}:{minutes % 60:02}"))
        hits = [SlotHit(*span, value) for place, value in found if (span := _span(message, *place))]
        message.memo[TimeFinder] = hits
        return hits


class _Words(NamedTuple):
    """Patterns and words of a language, in bare form."""

    clock: re.Pattern[str]
    parts: Mapping[str, str]
    shifts: Mapping[str, int]
    hours: Mapping[str, int]
    names: re.Pattern[str]
    named: Mapping[str, str]


@lru_cache(maxsize=64)
def _words(language: str) -> _Words:
    phrases = _PHRASES.get(language, _ANYWHERE)
    parts = {
        bare(word): part
        for part, words in (
            ("morning", phrases.morning),
            ("afternoon", phrases.afternoon),
            ("night", phrases.night),
        )
        for word in (words.split("|") if words else ())
    }
    shifts_before = {bare(word): minutes for word, minutes in phrases.minutes_before.items()}
    shifts_after = {bare(word): minutes for word, minutes in phrases.minutes_after.items()}
    hours = small_numbers(language)
    part, hour = _any_of(parts), f"[0-9]{{1,2}}|[{NUMERALS}]{{1,3}}|{_any_of(hours)}"
    part_after = _NEVER if language in _PART_BEFORE else part
    clock = re.compile(
        rf"(?:(?P<before>{_any_of(phrases.before.split('|'))}) )?"
        rf"(?:(?P<part>{part if phrases.parts_first else _NEVER}) ?)?"
        rf"(?:(?P<shift>{_any_of(shifts_before)}) )?{_NOT_IN_A_NUMBER}(?P<hour>{hour})"
        rf"(?:(?P<mark>[:.])(?P<marked>[0-5][0-9]))?"
        rf"(?: ?(?P<after>{_any_of(phrases.after.split('|'))})(?: ?(?P<minute>[0-5][0-9])(?: ?[分분])?)?)?"
        rf"(?: ?(?P<shifted>{_any_of(shifts_after)}))?(?: ?(?P<part_after>{part_after}))?"
    )
    named = {bare(word): value for word, value in phrases.named.items()}
    return _Words(clock, parts, {**shifts_before, **shifts_after}, hours, re.compile(_any_of(named)), named)


def _any_of(words: Iterable[str]) -> str:
    longest_first = sorted({bare(word) for word in words} - {""}, key=len, reverse=True)
    return "|".join(map(_whole, longest_first)) or _NEVER


def _whole(word: str) -> str:
    """Return a pattern for a whole word; word boundaries apply only to scripts with spaces."""
    before, after = ("(?<![^\\W\\d_])" * (kind(word[0]) == "letter"), "(?![^\\W\\d_])" * (kind(word[-1]) == "letter"))
    return before + re.escape(word) + after


def _with_signs(message: Message) -> str:
    """Return the bare form with the characters between digits restored and pauses as bars, at the same length."""
    letters = list(ascii_digits(message.bare))
    for place in [place for place, letter in enumerate(letters) if letter == " "]:
        signs = ascii_digits(message.aligned.between(place, place + 1) or " ")
        if len(signs) == 1 and letters[place - 1].isdecimal() and letters[place + 1].isdecimal():
            letters[place] = signs
        elif not _PAUSES.isdisjoint(signs):
            letters[place] = "|"
    return "".join(letters)


def _minutes(match: re.Match[str], words: _Words) -> int | None:
    """Return the minutes since midnight, or None if the match is not a time."""
    written = match["hour"]
    hour = int(written) if written.isdecimal() else words.hours.get(written) or numeral(written)
    around = [match[group] for group in ("before", "part", "shift", "after", "shifted", "part_after") if match[group]]
    # "12.30" alone is a number, and "一点" is "a little".
    fits = match["mark"] == ":" or len(around) > (written == "一")
    part = words.parts.get(match["part"] or match["part_after"])
    hour = _on_the_clock(hour, part) if fits and hour is not None else None
    if hour is None:
        return None
    shift = words.shifts.get(match["shift"] or match["shifted"], 0)
    return (hour * 60 + int(match["marked"] or match["minute"] or 0) + shift) % _DAY


def _on_the_clock(hour: int, part: str | None) -> int | None:
    """Return the hour on the 24-hour clock, None if invalid."""
    if hour > 24:
        return None
    if (part == "afternoon" and hour < 12) or (part == "night" and 6 <= hour < 12):
        return hour + 12
    return 0 if hour == 24 or (hour == 12 and part in ("morning", "night")) else hour


def _span(message: Message, start: int, end: int) -> tuple[int, int] | None:
    return message.aligned.span(start, end) if message.bounds(start, end) else None
