"""Patterns that find periods, ranges and lengths from now around days and times, by language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from intentmatch.slots.message import Message, plain
from intentmatch.slots.moment_words import MOMENT_WORDS, MomentWords
from intentmatch.slots.word_patterns import any_of, beside

LONGEST_GAP = 24
"""Characters between a day and its time, and between the ends of a range."""
_ARTICLES = ("the", "dem", "den", "zum", "el", "le", "il", "o", "de", "dia", "del", "al")
"""Words between the two ends of a range, behind "to"."""
_NONE = MomentWords()


class Patterns(NamedTuple):
    """Patterns of a language, in plain form."""

    periods: re.Pattern[str]
    """A period; one of the groups which and which_behind, and one of unit and unit_before takes part, or none."""
    which: Mapping[str, int]
    units: Mapping[str, str]
    in_month: re.Pattern[str]
    """Words before a month that stands for all its days."""
    month_in: re.Pattern[str]
    """Words behind such a month."""
    at: re.Pattern[str]
    at_word: re.Pattern[str]
    around: re.Pattern[str]
    """An hour behind words that are enough beside a day; the group n is the hour."""
    of: re.Pattern[str]
    """What stands between a day of the month and its month."""
    to: re.Pattern[str]
    from_day: re.Pattern[str]
    """What ends a day, or stands behind it, that a length behind it counts from, in languages that end it alike for
    the start of a range: "cumadan iki gün önce"."""
    both: re.Pattern[str]
    between: re.Pattern[str]
    ended: re.Pattern[str]
    """Words behind a range whose ends `both` joins."""
    number_before: re.Pattern[str]
    number_both: re.Pattern[str]
    number_ended: re.Pattern[str]
    """The first end of a range that a word behind it ends: "9 और 11 बजे के बीच"."""
    number_behind: re.Pattern[str]
    both_number: re.Pattern[str]
    hours_before: re.Pattern[str]
    """Two hours before a day: "from 9 to 5 tomorrow"; their groups are those of `hours_behind`."""
    hours_behind: re.Pattern[str]
    later: tuple[re.Pattern[str], re.Pattern[str]]
    """Words before and behind a length that counts from now."""
    ago: tuple[re.Pattern[str], re.Pattern[str]]


def patterns(message: Message) -> Patterns:
    """Return the patterns of the language of a message; those of English without a language."""
    return _patterns(message.base_language)


@lru_cache(maxsize=64)
def _patterns(language: str) -> Patterns:
    own = MOMENT_WORDS.get(language, _NONE)
    meanings = ((own.next, 1), (own.this, 0), (own.last, -1), (own.after_next, 2))
    which = {plain(word): number for words, number in meanings for word in _split(words)}
    units = {plain(word): unit for unit in ("week", "month", "year", "weekend") for word in _split(getattr(own, unit))}
    at, around = (any_of(map(plain, _split(words))) for words in (own.at, own.around))
    between, ended = beside(own.between)
    each = f"(?P<which>{any_of(which)}) ?(?P<unit>{any_of(units)})"
    behind = f"(?P<unit_before>{any_of(units)}) (?P<which_behind>{any_of(which)})"
    ending_from = f"(?<={own.ending_from})" if own.ending_from else "(?!)"
    joint = f"-|{ending_from}|{any_of(map(plain, _split(own.to)))}"
    to = f" ?(?:{joint}) ?(?:{any_of(_ARTICLES)})? ?"
    number = r"(?<![0-9.,:/-])(?P<n>[0-9]{1,2})(?:\.|st|nd|rd|th|er|º|°|h)?"
    second = r"(?P<n2>[0-9]{1,2})(?![0-9.,:/-]*[0-9])"
    both = f" ?(?:{any_of(map(plain, _split(own.both)))}) ?(?:{any_of(_ARTICLES)})? ?"
    opened = f"(?:{between}) ?(?:{at})? ?(?:{any_of(_ARTICLES)})? ?"
    # Without a word before them, two numbers are hours only where an ending says "from".
    before_hours = "" if own.ending_from else f"(?:{at}) "
    hours = rf"(?:{before_hours}{number}{to}|(?:{opened}){number.replace('<n>', '<n3>')}{both}){second}"
    before, after = _sides(own.in_month)
    number_behind = r"(?P<n>[0-9]{1,2})(?:\.(?= |$)|st|nd|rd|th|º|°)?(?![0-9.,:/-]*[0-9]|[^\W\d_])"
    return Patterns(
        re.compile(f"{each}|{behind}|{any_of(map(plain, _split(own.weekend)))}"),
        which,
        units,
        before,
        after,
        re.compile(f" ?,? ?(?:{at}|{around}|{between})?(?: ?{any_of(_ARTICLES)})? ?"),
        re.compile(any_of(map(plain, _split(f"{own.at}|{own.to}|{own.around}")))),
        re.compile(rf"(?:{around}) (?P<n>[0-9]{{1,2}})(?![0-9.,:/%-]*[0-9%]|[^\W\d_])"),
        re.compile(r" ?,? ?(?:of|of the|in|del|de|de la|de l'|du|dell[ao']|di|el|des|van|の|的)? ?"),
        re.compile(f"{to}(?:{at})? ?"),
        re.compile(f" ?(?:{joint}) ?" if own.ending_from else "(?!)"),
        re.compile(both),
        re.compile(f"{opened}$"),
        re.compile(f" ?{ended}"),
        re.compile(f"{number}{to}$"),
        re.compile(f"{opened}{number}{both}$"),
        re.compile(f"{number}{both}$"),
        re.compile(f"{to}{number_behind}"),
        re.compile(f"{both}(?:{at})? ?{number_behind}"),
        re.compile(rf"(?<![^\W_]){hours},? ?(?:{at})? ?$"),
        re.compile(rf",? ?{hours}"),
        _sides(own.later),
        _sides(own.ago),
    )


def _split(words: str) -> list[str]:
    return [word for word in words.split("|") if word]


def _sides(words: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns for words before and behind a length or a month."""
    before, behind = beside(words)
    return re.compile(f"(?:{before}) ?$"), re.compile(f" ?(?:{behind})")
