"""Slots of kind "temperature", as `{"amount": 21, "unit": "C"}`; the unit is C, F, K or None if none is said."""

from __future__ import annotations

import re
from functools import lru_cache

from intentmatch.languages.own import with_english
from intentmatch.languages.tables import Table
from intentmatch.slots.message import Message, SlotHit, plain
from intentmatch.slots.numbers import below_zero, ends_below_zero, numbers
from intentmatch.slots.quantities import Quantity, Units
from intentmatch.slots.range_words import ends_a_part
from intentmatch.slots.word_patterns import any_of

_DEGREES = Table[str]("degrees")
_DEGREE_SIGNS = ("°", "º")
_SCALES = {
    "C": "celsius centigrade centígrados centigrados centigradi ℃ цельсия سيليزية مئوية سلسیوس سانتیگراد "
    "santigrat celsjusza 摄氏度 摄氏 摂氏",
    "F": "fahrenheit ℉ фаренгейта فهرنهايت فارنهایت 华氏度 华氏 華氏",
    "K": "kelvin кельвин кельвина кельвинов kelwina 开尔文",
}
_BEFORE = {"摄氏": "C", "摂氏": "C", "华氏": "F", "華氏": "F"}
"""Scales before the number."""
_LETTERS = {"c": "C", "f": "F", "k": "K", "ц": "C", "ф": "F"}
"""Scales of one letter: read after a degree, right behind a digit ("20C"), or as a capital at the end ("20 C")."""
_BY_WORD = {plain(word): unit for unit, words in _SCALES.items() for word in words.split()} | _LETTERS
_SCALE = re.compile(rf" ?(?P<scale>{any_of(_BY_WORD)})")
"""A scale behind a degree; the group `scale` is in `_BY_WORD`."""
_SCALE_BEFORE = re.compile(f"(?P<scale>{any_of(_BEFORE)})$")
_LONGEST_SCALE = 4
_KELVIN = re.compile(r"(?<![^\W\d_])k$")
"""The end of a number that is a thousand elsewhere: "300K"."""


def find_temperatures(message: Message) -> list[SlotHit]:
    """Return numbers with degrees or a scale, in the message's language."""
    text = message.plain
    hits = []
    quantities = list(_units(message.base_language).find(message))
    # Two numbers may share a letter: "20 to 25C".
    letters = {one.unit for one in quantities if one.unit in _LETTERS and _is_scale(message, one)}
    for one in quantities:
        unit, end = one.unit, one.end
        if unit in _LETTERS:
            if unit not in letters:
                continue
            unit = _LETTERS[unit]
        elif unit == "degree":
            scale = _SCALE.match(text, end)
            unit, end = (_BY_WORD[scale["scale"]], scale.end()) if scale else ("", end)
        start, value = one.start, one.value
        if (below := below_zero(message, end)) > end:
            value, end = -abs(value), below
        place = max(start - _LONGEST_SCALE, 0)
        if not unit and (before := _SCALE_BEFORE.search(text[place:start])):
            start, unit = place + before.start(), _BEFORE[before["scale"]]
        hits.append(SlotHit(*message.aligned.widened(start, end), {"amount": value, "unit": unit or None}))
    for number in numbers(message):
        span = message.aligned.widened(*number[:2])
        if _KELVIN.search(text, number.start, number.end) and ends_a_part(message, number.end):
            kelvin = number.value / 1000
            hits.append(SlotHit(*span, {"amount": int(kelvin) if kelvin.is_integer() else kelvin, "unit": "K"}))
        if number.value < 0 and ends_below_zero(message, number):
            hits.append(SlotHit(*span, {"amount": number.value, "unit": None}))
    return hits


def _is_scale(message: Message, one: Quantity) -> bool:
    """Return whether a quantity ends with a letter that is a scale: "20 c" may be anything."""
    letter = one.end - 1
    if message.plain[letter] != one.unit:
        return False
    is_capital = message.text[letter].isupper() and ends_a_part(message, one.end)
    return is_capital or message.text[letter - 1].isdigit()


@lru_cache(maxsize=64)
def _units(language: str) -> Units:
    """Return the words for degrees in a language, the scales, and the letters of scales, which stand for themselves."""
    said = (word for code in with_english(language) for word in _DEGREES.get(code, "").split())
    degrees = dict.fromkeys((*_DEGREE_SIGNS, *said), "degree")
    return Units({**_BY_WORD, **{letter: letter for letter in _LETTERS}, **degrees})
