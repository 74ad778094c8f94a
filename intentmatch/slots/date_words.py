"""Words of a language for dates: months, weekdays, "tomorrow", "in 3 days", and the order of day and month.

The words of about two hundred languages come from the data of the package dateparser, which extend those of Unicode
CLDR. Its parser is not used: it expects the exact span of a date, and reads "um 18 Uhr" as the 18th and "à 18 heures"
as 18 hours ago.
"""

from __future__ import annotations

import calendar
import importlib
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from intentmatch.languages.own import shipped_code
from intentmatch.languages.structure import structure_of
from intentmatch.languages.tables import Table
from intentmatch.slots.function_words import function_words
from intentmatch.slots.lists import ListFinder, Name
from intentmatch.slots.message import plain
from intentmatch.slots.moment_words import DAY_PARTS, WEEKDAY_PARTS
from intentmatch.slots.number_words import small_numbers
from intentmatch.slots.numerals import NUMERALS
from intentmatch.slots.word_patterns import any_of, either
from intentmatch.text.normalize import bare, base_language, language_range
from intentmatch.text.scripts import kind

_MONTHS = [name.lower() for name in calendar.month_name[1:]]
_WEEKDAYS = [name.lower() for name in calendar.day_name]
_UNITS = ("day", "week", "month", "year")

# Words that CLDR lacks, with their distance from today in days.
_MORE_DAYS = Table[Mapping[str, int]]("days")
# Forms of Monday to Sunday that CLDR lacks: "from Friday to Sunday", "by Thursday".
_MORE_WEEKDAYS = Table[tuple[str, ...]]("weekdays")
# The last such day of Monday to Sunday, where that is a word: "i fredags".
_LAST_WEEKDAYS = Table[tuple[str, ...]]("last_weekdays")
# Cases and spellings of January to December that CLDR lacks: "in December".
_MORE_MONTHS = Table[str]("months")
_MONTH_FIRST = frozenset(["en-US", "en-PH", "fil"])
"""Regions, and languages without a file, that write the month before the day (11/22)."""
_SHORTEST_WEEKDAY = 4
"""In letters; shorter names of weekdays are also other words ("so", "sun", "mit")."""


class DateWords(NamedTuple):
    """Words and patterns of a language for dates, in bare form."""

    names: ListFinder
    """"day 1" for "tomorrow", "next 4" and "last 4" for Fridays."""
    spans: list[tuple[re.Pattern[str], str, int]]
    """Patterns of "in 3 days" and "3 days ago", each with its unit and sign; the number is the only group that takes
    part in a match."""
    numbers: Mapping[str, int]
    days: re.Pattern[str]
    """"22 November", "Nov 22nd, 2026" and the like."""
    months: Mapping[str, int]


@lru_cache(maxsize=256)
def date_words(language: str) -> DateWords | None:
    """Return the words of a language or of its fallbacks, None if there are none."""
    info = _info(language)
    if info is None:
        return None
    numbers = small_numbers(base_language(language)) | {
        bare(word): int(number)
        for simplification in info.get("simplifications", ())
        for word, number in simplification.items()
        # The simplifications of dateparser also hold patterns and words that are no numbers.
        if word.isalpha() and number.isdecimal()
    }
    words = function_words(base_language(language))
    months = {name: number for number, month in enumerate(_MONTHS, 1) for name in _names_of_a_month(info[month], words)}
    more = _MORE_MONTHS.get(base_language(language), "").split()
    months |= {text: number for number, name in enumerate(more, 1) if (text := bare(name))}
    return DateWords(ListFinder(_names(language, info)), _spans(info, numbers), numbers, _days(info, months), months)


def month_names(language: str) -> Mapping[str, int]:
    """Return the names of the months in a language, in bare form, with their numbers."""
    words = date_words(language)
    return {} if words is None else words.months


@lru_cache(maxsize=64)
def month_pattern(language: str) -> re.Pattern[str]:
    """Return a pattern for the names of the months in a language, in plain form."""
    return re.compile(any_of(map(plain, month_names(language))))


@lru_cache(maxsize=64)
def short_weekday_names(language: str) -> tuple[re.Pattern[str], Mapping[str, int]]:
    """Return a pattern for weekdays too short to be dates alone, in plain form, and their numbers from Monday on."""
    info = _info(language) or {}
    taken = function_words(base_language(language))
    numbers = {
        plain(name): number
        for number, day in enumerate(_WEEKDAYS)
        for name in info.get(day, ())
        if 1 < len(bare(name)) < _SHORTEST_WEEKDAY and kind(bare(name)[:1]) == "letter" and bare(name) not in taken
    }
    return re.compile(any_of(numbers)), numbers


def order_of_dates(language: str | None) -> str:
    """Return the order of day, month and year in digits: "DMY", "MDY" or one that puts the year first."""
    if language is None or shipped_code(language) in _MONTH_FIRST or "month_first" in structure_of(language):
        return "MDY"
    info = _info(language)
    order = str(info.get("date_order", "DMY")) if info else "DMY"
    # CLDR gives the order of the United States for all of English; the regions and languages that have it are ours.
    return "DMY" if order == "MDY" else order


def _names(language: str, info: Mapping[str, Any]) -> list[Name]:
    relative: Mapping[str, list[str]] = info.get("relative-type", {})
    names = [Name(f"day {days}", text) for text, days in _MORE_DAYS.get(base_language(language), {}).items()]
    names += [Name(f"day {days}", text) for text, (days, _) in DAY_PARTS.get(base_language(language), {}).items()]
    for which, weekdays in (("next", _MORE_WEEKDAYS), ("last", _LAST_WEEKDAYS)):
        for cases in weekdays.get(base_language(language), ()):
            names += [Name(f"{which} {number}", text) for number, text in enumerate(cases.split())]
    for number, day in enumerate(_WEEKDAYS):
        texts = [*info[day], *relative.get(f"this {day}", ()), *relative.get(f"next {day}", ())]
        shortest = {text: _SHORTEST_WEEKDAY if kind(bare(text)[:1] or " ") == "letter" else 2 for text in texts}
        names += [Name(f"next {number}", text) for text in texts if len(bare(text)) >= shortest[text]]
        names += [
            Name(f"next {number}", name.lower() + part)
            for name in info[day]
            for part in WEEKDAY_PARTS.get(base_language(language), ())
            if len(name) >= _SHORTEST_WEEKDAY
        ]
        names += [Name(f"last {number}", text) for text in relative.get(f"last {day}", ())]
    # One word may mean both the day before and the day after; prefer the future one, which comes first.
    for meaning, texts in sorted(relative.items(), key=lambda item: item[0].endswith("ago")):
        if found := re.fullmatch(r"in ([0-9]+) days?|([0-9]+) days? ago", meaning):
            names += [Name(f"day {int(found[1] or 0) - int(found[2] or 0)}", text) for text in texts]
    return names


def _spans(info: Mapping[str, Any], numbers: Mapping[str, int]) -> list[tuple[re.Pattern[str], str, int]]:
    number = f"[0-9]{{1,4}}|[{NUMERALS}]{{1,3}}|{either(numbers)}"
    found = []
    for unit in _UNITS:
        for key, sign in ((f"in \\1 {unit}", 1), (f"\\1 {unit} ago", -1)):
            patterns = [_bare_pattern(text, number) for text in info.get("relative-type-regex", {}).get(key, ())]
            if longest_first := sorted(filter(None, patterns), key=len, reverse=True):
                found.append((re.compile("|".join(longest_first)), unit, sign))
    return found


def _bare_pattern(text: str, number: str) -> str:
    r"""Convert a pattern of dateparser, such as `in (\d+) days`, for bare text; "" for more complex patterns."""
    before, digits, after = re.split(r"(\(\\d[^)]*\))", text, maxsplit=1)
    # Such a pattern is for text with accents and marks, and would not mean the same in bare form.
    if re.search(r"[\\?*+|(]", before + after) or not digits:
        return ""
    head, tail = re.escape(bare(before)), re.escape(bare(after))
    return head + (" " if before.endswith(" ") else "") + f"({number})" + (" " if after.startswith(" ") else "") + tail


def _days(info: Mapping[str, Any], months: Mapping[str, int]) -> re.Pattern[str]:
    # Dateparser skips these words between a day and its month.
    small = {bare(word) for word in (*info.get("skip", ()), *info.get("pertain", ()), "of", "the")} - {""}
    between = f"(?:(?:{either(small)}) ){{0,2}}"
    month, day, ordinal = either(months), "[0-3]?[0-9]", r"(?:[^\W\d_]{1,3})?"
    before = rf"(?P<before>{day}){ordinal} ?{between}(?P<first>{month})"
    after = rf"(?P<second>{month}) {between}(?P<after>{day}){ordinal}"
    return re.compile(rf"(?:{before}|{after})(?: {between}(?P<year>(?:19|20)[0-9]{{2}}))?")


def _names_of_a_month(names: Iterable[str], words: Collection[str]) -> list[str]:
    """Return the names of a month, in bare form, without those that are too short ("me", "du") or function `words`.

    "Pro" is short for December in Czech, and "for". In scripts from Devanagari to Ethiopic a letter is a syllable, so
    that May may have two.
    """
    texts = [text for name in names if not any(map(str.isdigit, text := bare(name)))]
    longest = max(map(len, texts), default=0)
    texts = [text for text in texts if len(text) == longest or text not in words]
    return [text for text in texts if len(text) > 2 or (len(text) == longest and "\u0900" <= text < "\u1400")]


@lru_cache(maxsize=256)
def _info(language: str) -> Mapping[str, Any] | None:
    """Return dateparser's data of a language or of its fallbacks, None if there are none."""
    language = shipped_code(language)
    known = importlib.import_module("dateparser.data.languages_info").language_order
    for code in language_range(language):
        if code in known:
            info = importlib.import_module(f"dateparser.data.date_translation_data.{code}").info
            # A region adds to the words of its language, and replaces none.
            more = info.get("locale_specific", {}).get(language, {})
            return {**info, **{key: [*info.get(key, ()), *more[key]] for key in more if isinstance(more[key], list)}}
    return None
