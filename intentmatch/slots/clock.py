"""Slots of kind "time": times of day in digits, or in the words of twenty languages.

"18:30" is a time in every language. An hour alone is a time only with a word before it ("um 8"), after it ("18 Uhr",
"18h") or with a part of the day ("6pm", "6 вечера", "下午6点"). Without a part of the day, it is on the 24-hour clock.
A part of the day that stands near an hour counts too, but is not in the span: "tonight at 8" is 20:00.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import time
from functools import lru_cache
from typing import NamedTuple

from intentmatch.languages.structure import structure_of
from intentmatch.slots.clock_words import CLOCK_WORDS, ClockWords
from intentmatch.slots.day_parts import hours_of_parts, in_part, part_beside
from intentmatch.slots.digits import ascii_digits
from intentmatch.slots.message import Message, SlotHit, once
from intentmatch.slots.moment_words import MOMENT_WORDS, MomentWords
from intentmatch.slots.number_words import small_numbers
from intentmatch.slots.numerals import NUMERALS, numeral
from intentmatch.slots.word_patterns import any_of
from intentmatch.text.normalize import bare

# Not behind "12." or "2026-", but behind "9:00-" and "14-".
_NOT_IN_A_NUMBER = (
    "(?:(?<![0-9][.,:/-])|(?<=:[0-9][0-9]-)|(?<=[^0-9.,:/-][0-9]-)|(?<=[^0-9.,:/-][0-9][0-9]-)"
    "|(?<=^[0-9]-)|(?<=^[0-9][0-9]-))"
)
_ANYWHERE = ClockWords(morning="am|a.m.", afternoon="pm|p.m.")
_DAY = 24 * 60
_MIDNIGHTS = ("0", "00")
_MIDNIGHT = 24
_LEAST_MINUTES = 5
"""Fewer in words are said with a nought, or are no minutes."""
_QUARTER = "ceyrek"
"""Turkish for a quarter, where other languages have a word with its preposition."""
_FIRST_OF_EVENING = 4
"""An earlier hour is none of the evening: "a table for two this evening"."""
_NOT_A_RANGE = "(?<!from )(?<!between )"
"""What does not stand before minutes: "from ten to eleven"."""
_NO_LENGTH, _NO_COUNTER = "(?![間间간])", "(?![\u4e00-\u9fff\uac00-\ud7a3])"
"""What follows no hour: "8時間" is a length of time, and "夜4名" a table for four."""
_NEVER = "(?!)"
# An hour and minutes do not belong together across one of these.
_PAUSES = frozenset(",;!?()…،؛؟、。，；！？")


class TimeAt(NamedTuple):
    """A time of day at `text[start:end]`."""

    start: int
    end: int
    clock: time
    is_exact: bool
    """Whether the half of the day is clear: "4 pm", "16:00"."""
    has_half: bool
    """Whether the half of the day is said ("4 pm")."""
    ends_day: bool = False
    """Whether it is the midnight behind its day: "12 at night", "24:00"."""
    is_led: bool = False
    """Whether a word stands before it that leads to no length: "[om] 8 uur"."""


def find_times(message: Message) -> list[SlotHit]:
    """Return times of day in digits and in words, including overlapping ones, in the form "18:30"."""
    return [SlotHit(at.start, at.end, at.clock.isoformat("minutes")) for at in times(message)]


@once
def times(message: Message) -> list[TimeAt]:
    """Return the times of day in digits and in words, including overlapping ones."""
    patterns = _patterns(message.base_language)
    text = _with_signs(message, patterns)
    found = []
    for name in patterns.names.finditer(text):
        if span := _span(message, *name.span()):
            found.append(TimeAt(*span, patterns.named[name[0]], is_exact=True, has_half=True))
    found += (TimeAt(*hour, is_exact=True, has_half=False) for hour in hours_of_parts(message))
    for match in patterns.clock.finditer(text):
        minutes = _minutes(match, patterns)
        if minutes is None:
            continue
        start = min(match.start(group) for group in ("part", "by", "shift", "hour") if match[group])
        # The word is written together with the hour, and is no part of it.
        start += next((len(word) for word in patterns.elided if match["hour"].startswith(word)), 0)
        if span := _span(message, start, match.end(), patterns.endings):
            clock = time(*divmod(minutes, 60))
            has_half = (match["part"] or match["part_after"]) is not None
            # Nobody writes "08:00" for the evening.
            is_exact = has_half or clock.hour > 12 or clock.hour == 0 or match["hour"][0] == "0"
            said = patterns.parts.get(match["part"] or match["part_after"])
            is_late = match["hour"] == str(_MIDNIGHT) or (
                match["hour"] not in _MIDNIGHTS and said in ("evening", "night")
            )
            ends_day = clock.hour == 0 and is_late
            part = None if is_exact else part_beside(message, *span)
            clock = in_part(clock, part) if part else clock
            is_led = match["before"] is not None and match["before"] not in patterns.vague
            found.append(TimeAt(*span, clock, is_exact or part is not None, has_half, ends_day, is_led))
    return found


class _HourPatterns:
    """Patterns and words of a language, in bare form."""

    def __init__(self, language: str) -> None:
        phrases = CLOCK_WORDS.get(language, _ANYWHERE)
        self.parts = {
            bare(word): part
            for part, words in (
                ("morning", phrases.morning),
                ("afternoon", phrases.afternoon),
                ("night", phrases.night),
            )
            for word in (words.split("|") if words else ())
        }
        late = MOMENT_WORDS.get(language, MomentWords())
        late_words = tuple(bare(word) for words in (late.evening, late.night) for word in words.split("|") if word)
        self.parts |= {
            word: "evening" for word, part in self.parts.items() if part == "afternoon" and word.endswith(late_words)
        }
        shifts_before = {bare(word): minutes for word, minutes in phrases.minutes_before.items()}
        shifts_after = {bare(word): minutes for word, minutes in phrases.minutes_after.items()}
        self.numbers = small_numbers(language)
        self.endings = endings = phrases.endings
        named_hours = {
            word: int(value[:2]) or _MIDNIGHT for word, value in phrases.named.items() if value.endswith(":00")
        }
        self.alone = frozenset(bare(word[1:]) for word in phrases.hours if word.startswith("="))
        """Words for hours that are a time without another word: Hungarian "nyolckor"."""
        own_hours = {word.lstrip("="): hour for word, hour in phrases.hours.items()}
        self.hours = self.numbers | _bare_keys(named_hours) | _bare_keys(own_hours)
        self.halves, self.spoken = _bare_keys(phrases.halves), _bare_keys(phrases.spoken)
        past, plus, behind = _bare_keys(phrases.past), _bare_keys(phrases.plus), _bare_keys(phrases.behind)
        past_words = _bare_keys(phrases.past_words)
        part, hour = (
            any_of(self.parts),
            f"[0-9]{{1,2}}|[{NUMERALS}]{{1,3}}|{any_of([*self.hours, *self.halves], endings)}",
        )
        # In "星期五晚上七点", 五 is no hour.
        part_after = _NEVER if "part_of_day_before_hour" in structure_of(language) else part
        in_words = any_of(word for word, number in self.numbers.items() if number % 5 == 0)
        few = f"(?:[1-5]?[05]|{in_words})(?![:.h0-9])"
        to = f"{any_of(past)}|(?<=[^0-9] )(?:{any_of(past_words)})"
        # "Acht Uhr vier" goes on with people or tickets.
        minute_words = any_of(word for word, number in self.numbers.items() if number >= _LEAST_MINUTES)
        minute = rf"[0-5][0-9]|[{NUMERALS}]{{1,3}}(?= ?分)|{minute_words}"
        self.begun = re.compile(f"(?:{any_of(map(bare, late.at.split('|')))}) [0-9]{{1,2}} $")
        """What a range begins with before a word that may lead to its second hour: "das 9 às 11"."""
        before = {word.lstrip("=~+"): word for word in phrases.before.split("|")}
        self.accented = [word for word, marked in before.items() if "=" in marked]
        before = {word if "=" in marked else bare(word): marked for word, marked in before.items()}
        self.vague = frozenset(word for word, marked in before.items() if "~" in marked)
        """Words before an hour that also stand before hours in number: "kolem 8 hodin"."""
        self.weak = frozenset(word for word, marked in before.items() if "+" in marked)
        """Words before an hour that also stand before other numbers: "à 8 heures", but not "à 8"."""
        after, counted = (any_of(map(bare, words.split("|"))) for words in (phrases.after, phrases.counted))
        self.clock = re.compile(
            rf"(?:(?P<before>{any_of(before)}) )?"
            rf"(?:(?P<part>{part if phrases.parts_first else _NEVER}) ?)?"
            rf"(?:{_NOT_A_RANGE}(?P<by>{few}) (?P<past>{to}) )?(?:(?P<shift>{any_of(shifts_before)}) )?"
            rf"{_NOT_IN_A_NUMBER}(?P<hour>{hour})"
            rf"(?:(?P<mark>[:.])(?P<marked>[0-5][0-9])| (?P<spoken>{any_of(self.spoken)}))?"
            rf"(?: ?(?P<after>{after}){_NO_LENGTH}(?: ?(?P<minute>{minute})(?: ?[分분])?)?|{_NO_COUNTER}(?! {counted}))"
            rf"(?: ?(?P<shifted>{any_of(shifts_after, endings)})| (?P<plus>{any_of(plus)}) (?P<more>{few})"
            rf"|(?: ?[a-z]{{1,3}})? (?P<much>{few}|{_QUARTER}) (?P<behind>{any_of(behind)}))?"
            rf"(?: ?(?P<part_after>{part_after}))?"
        )
        self.named = {bare(word): time.fromisoformat(value) for word, value in phrases.named.items()}
        self.names = re.compile(any_of(self.named))
        self.shifts = {**shifts_before, **shifts_after}
        self.signs = {**past, **past_words, **plus, **behind}
        self.elided = tuple(map(bare, phrases.elided))


_patterns = lru_cache(maxsize=64)(_HourPatterns)


def _bare_keys(words: Mapping[str, int]) -> dict[str, int]:
    return {bare(word): number for word, number in words.items()}


def _with_signs(message: Message, patterns: _HourPatterns) -> str:
    """Return the bare form at the same length, with some things restored.

    These are the characters between digits, pauses as bars, and the words before an hour that only accents tell.
    """
    letters = list(ascii_digits(message.bare))
    for word in patterns.accented:
        for found in re.finditer(rf"(?<!\w){bare(word)}(?!\w)", message.bare):
            span = message.aligned.span(*found.span())
            is_written = span is not None and message.text[slice(*span)].lower() == word
            if is_written and not patterns.begun.search(message.bare[: found.start()]):
                letters[slice(*found.span())] = word
    for place in [place for place, letter in enumerate(letters) if letter == " "]:
        signs = ascii_digits(message.aligned.between(place, place + 1) or " ")
        # The bare form has a space for each of these signs, and "9:30", "9.30" and "9 30" are not the same.
        if len(signs) == 1 and letters[place - 1].isdecimal() and letters[place + 1].isdecimal():
            letters[place] = signs
        elif not _PAUSES.isdisjoint(signs):
            letters[place] = "|"
    return "".join(letters)


def _minutes(match: re.Match[str], patterns: _HourPatterns) -> int | None:
    """Return the minutes since midnight, or None if the match is not a time."""
    written = match["hour"]
    hour = patterns.halves.get(written) or _number(written, patterns.hours)
    groups = ("before", "part", "shift", "past", "after", "shifted", "behind", "part_after")
    around = [match[group] for group in groups if match[group] and match[group] not in patterns.weak]
    around += [match["spoken"]] if match["spoken"] and not written.isdecimal() else []
    # "12.30" alone is a number, and "一点" is "a little".
    fits = match["mark"] == ":" or len(around) > (written == "一")
    fits = fits or written in patterns.alone or written in patterns.halves or written.startswith(patterns.elided or "-")
    part = patterns.parts.get(match["part"] or match["part_after"])
    hour = _on_the_clock(hour, part) if fits and hour is not None else None
    if hour is None:
        return None
    minute = match["marked"] or match["minute"]
    minutes = _number(minute, patterns.numbers) if minute else patterns.spoken.get(match["spoken"], 0)
    return None if minutes is None or minutes > 59 else (hour * 60 + minutes + _shift(match, patterns)) % _DAY


def _shift(match: re.Match[str], patterns: _HourPatterns) -> int:
    """Return the minutes that words around the hour add to it."""
    if match["hour"] in patterns.halves:
        return -30
    shift = patterns.shifts.get(match["shift"] or match["shifted"], 0)
    number, sign = match["by"] or match["more"] or match["much"], match["past"] or match["plus"] or match["behind"]
    if not sign:
        return shift
    minutes = 15 if number == _QUARTER else _number(number, patterns.numbers) or 0
    return shift + patterns.signs[sign] * minutes


def _number(written: str, words: Mapping[str, int]) -> int | None:
    return int(written) if written.isdecimal() else words.get(written) or numeral(written)


def _on_the_clock(hour: int, part: str | None) -> int | None:
    """Return the hour on the 24-hour clock, None if invalid."""
    if hour > 24 or (part == "evening" and hour < _FIRST_OF_EVENING):
        return None
    if (part in ("afternoon", "evening") and hour < 12) or (part == "night" and 6 <= hour < 12):
        return hour + 12
    return 0 if hour == 24 or (hour == 12 and part in ("morning", "evening", "night")) else hour


def _span(message: Message, start: int, end: int, endings: str = "") -> tuple[int, int] | None:
    whole = message.bounds(start, end) or (endings and message.begins(start))
    return message.aligned.span(start, end) if whole else None
