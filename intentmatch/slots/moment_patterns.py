"""Patterns that find periods, ranges and lengths from now around days and times, by language."""

from __future__ import annotations

import re
from functools import lru_cache

from intentmatch.languages.own import shipped_code
from intentmatch.languages.structure import structure_of
from intentmatch.slots.clock_words import CLOCK_WORDS, ClockWords
from intentmatch.slots.message import Message, plain
from intentmatch.slots.moment_words import LATER_WEEKDAYS, MOMENT_WORDS, MomentWords
from intentmatch.slots.word_patterns import any_of, any_phrase, beside

LONGEST_GAP = 24
"""Characters between a day and its time, and between the ends of a range."""
_ARTICLES = ("the", "dem", "den", "zum", "el", "le", "il", "o", "de", "dia", "del", "al")
"""Words between the two ends of a range, behind "to"."""


class Patterns:
    """Patterns of a language, in plain form."""

    def __init__(self, language: str) -> None:
        own = MOMENT_WORDS.get(language, MomentWords())
        meanings = ((own.next, 1), (own.this, 0), (own.last, -1), (own.after_next, 2))
        self.which = {plain(word): number for words, number in meanings for word in words.split("|") if word}
        """Words that say of which week, month or year something is: 1 for the next one."""
        units = ("week", "month", "year", "weekend")
        self.units = {plain(word): unit for unit in units for word in getattr(own, unit).split("|") if word}
        at, around = any_phrase(own.at), any_phrase(own.around)
        between, ended = beside(own.between)
        which, unit, article = any_of(self.which), any_of(self.units), any_of(_ARTICLES)
        each = f"(?P<which>{which}) ?(?P<unit>{unit})"
        behind = f"(?P<unit_before>{unit}) (?P<which_behind>{which})"
        ending_from = f"(?<={own.ending_from})" if own.ending_from else "(?!)"
        joint = f"[-~〜～]|{ending_from}|{any_phrase(own.to)}"
        to = f" ?(?:{joint}) ?(?:{article})? ?"
        number = r"(?<![0-9.,:/-])(?P<n>[0-9]{1,2})(?:\.|st|nd|rd|th|er|º|°|h)?"
        second = r"(?P<n2>[0-9]{1,2})(?![0-9.,:/-]*[0-9])"
        both = f" ?(?:{any_phrase(own.both)}) ?(?:{article})? ?"
        opened = f"(?:{between}) ?(?:{at})? ?(?:{article})? ?"
        # Without a word before them, two numbers are hours only where an ending says "from".
        before_hours = "" if own.ending_from else f"(?:{at}) "
        hours = rf"(?:{before_hours}{number}{to}|(?:{opened}){number.replace('<n>', '<n3>')}{both}){second}"
        number_behind = r"(?P<n>[0-9]{1,2})(?:\.(?= |$)|st|nd|rd|th|º|°)?(?![0-9.,:/-]*[0-9]|[^\W\d_])"
        self.periods = re.compile(f"{each}|{behind}|{any_phrase(own.weekend)}")
        """A period; one of the groups which and which_behind, and one of unit and unit_before takes part, or none."""
        self.in_month, self.month_in = _sides(own.in_month)
        """Words before and behind a month that stands for all its days."""
        self.at = re.compile(f" ?,? ?(?:{at}|{around}|{between})?(?: ?{article})? ?")
        self.at_word = re.compile(any_phrase(own.at, own.to, own.around))
        self.around = re.compile(rf"(?:{around}) (?P<n>[0-9]{{1,2}})(?![0-9.,:/%-]*[0-9%]|[^\W\d_])")
        """An hour behind words that are enough beside a day; the group n is the hour."""
        self.of = re.compile(r" ?,? ?(?:of|of the|in|del|de|de la|de l'|du|dell[ao']|di|el|des|van|の|的)? ?")
        """What stands between a day of the month and its month."""
        self.to = re.compile(f"{to}(?:{at})? ?")
        self.from_day = re.compile(f" ?(?:{joint}) ?" if own.ending_from else "(?!)")
        """What ends a day, or stands behind it, that a length behind it counts from, in languages that end it alike
        for the start of a range: "cumadan iki gün önce"."""
        self.both, self.between, self.ended = re.compile(both), re.compile(f"{opened}$"), re.compile(f" ?{ended}")
        """Words between the ends of a range, before them, and behind them."""
        self.number_before = re.compile(f"{number}{to}$")
        self.first_day = _first_day(own, language, to, f"(?:{opened})(?P<n3>[0-9]{{1,2}})(?:st|nd|rd|th|\\.)?{both}")
        """The day of the month that a range begins with; n, n2 or n3 is the day."""
        self.number_both = re.compile(f"{opened}{number}{both}$")
        self.number_ended = re.compile(f"{number}{both}$")
        """The first end of a range that a word behind it ends: "9 और 11 बजे के बीच"."""
        self.number_behind = re.compile(f"{to}{number_behind}")
        self.both_number = re.compile(f"{both}(?:{at})? ?{number_behind}")
        self.hours_before = re.compile(rf"(?<![^\W_]){hours},? ?(?:{at})? ?$")
        """Two hours before a day: "from 9 to 5 tomorrow"; their groups are those of `hours_behind`."""
        self.hours_behind = re.compile(rf",? ?{hours}")
        self.later, self.ago = _sides(own.later), _sides(own.ago)
        """Words before and behind a length that counts from now."""
        self._read_weekdays(own, language)

    def _read_weekdays(self, own: MomentWords, language: str) -> None:
        self.days_more = {plain(word): days for word, days in LATER_WEEKDAYS.get(language, {}).items()}
        """Words behind a weekday that move it by days."""
        self.which_weekday = self.which | dict.fromkeys(self.days_more, 1)
        weeks, adjective = any_phrase(own.week), any_of(self.which_weekday)
        # "The day after next Friday."
        ahead = any_of(word for word in self.which_weekday if not word.startswith("after "))
        of_week = f"(?:(?P<week>{adjective}) ?(?:{weeks})|(?:{weeks}) (?P<week_behind>{adjective}))"
        gap = "の?" if shipped_code(language) == "ja" else " ?,? ?(?:(?:el|le|am|il|on) )?"
        self.before_weekday = re.compile(f"(?:{of_week}{gap}|(?P<which>{ahead}) ?)$")
        """One of the groups `which`, `week` and `week_behind` takes part in a match."""
        of = "(?:of |of the |de la |della |da |der |в )?"
        self.behind_weekday = re.compile(f" (?:{of}{of_week}|(?P<which>{adjective}))")
        day = rf"(?:{own.day_of_month or '(?!)(?P<n>)'})(?![.,:/-][0-9])"
        self.day_of_month = re.compile(
            day if "unspaced" in structure_of(language) else rf"(?<![\w.,:/-])(?:{day})(?![^\W_])"
        )


def patterns(message: Message) -> Patterns:
    """Return the patterns of the language of a message; those of English without a language."""
    return _patterns(message.base_language)


_patterns = lru_cache(maxsize=64)(Patterns)


@lru_cache(maxsize=64)
def before_hour(language: str) -> re.Pattern[str]:
    """Return a pattern of a word at the end of a text behind which a number is an hour: "a las"."""
    return re.compile(rf"(?<!\S)(?:{any_of(map(plain, _before_hours(language)))}) ?$")


def _before_hours(language: str) -> list[str]:
    """Return the words that stand before an hour, without their marks."""
    return re.sub("[~=+]", "", CLOCK_WORDS.get(language, ClockWords()).before).split("|")


def _first_day(own: MomentWords, language: str, to: str, between: str) -> re.Pattern[str]:
    # A number alone may be an hour or count something before "to": "at 8 to ...", Swedish "för 2 till 4 december".
    opening = any_of(plain(word) for word in own.at.split("|") if word not in _before_hours(language))
    number = r"(?<![0-9.,:/-])(?P<n2>[0-9]{1,2}(?:\.|(?=-)))"
    from_day = rf"(?:(?:{opening}) (?:{any_of(_ARTICLES)} )?(?P<n>[0-9]{{1,2}})|{number})(?:{to})"
    return re.compile(f"(?:{from_day}|{between})$")


def _sides(words: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns for words before and behind a length or a month."""
    before, behind = beside(words)
    return re.compile(f"(?:{before}) ?$"), re.compile(f" ?(?:{behind})")
