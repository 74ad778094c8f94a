"""Slots of kind "date": dates in digits, by name, and relative to today.

The words of about two hundred languages (months, weekdays, "tomorrow", "in 3 days") come from the data of the package
dateparser, which extend those of Unicode CLDR. Its parser is not used: it expects the exact span of a date, and reads
"um 18 Uhr" as the 18th and "à 18 heures" as 18 hours ago.
"""

from __future__ import annotations

import calendar
import importlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from intentmatch.core import plugins
from intentmatch.slots.day_parts import WEEKDAY_PARTS, days_of_parts
from intentmatch.slots.digits import ascii_digits
from intentmatch.slots.function_words import function_words
from intentmatch.slots.lists import ListFinder, Name, declines
from intentmatch.slots.message import MISTYPED, WITH_AN_ENDING, Message, SlotHit, plain
from intentmatch.slots.number_words import small_numbers
from intentmatch.slots.numbers import numbers
from intentmatch.slots.numerals import NUMERALS, numeral
from intentmatch.slots.ordinals import OrdinalFinder
from intentmatch.slots.relative_days import days_of_month, modified_weekday
from intentmatch.slots.weekday_dates import Day, Weekday, with_weekdays
from intentmatch.slots.word_patterns import any_of
from intentmatch.text.normalize import bare, base_language, language_range
from intentmatch.text.scripts import kind

_MONTHS = [name.lower() for name in calendar.month_name[1:]]
_WEEKDAYS = [name.lower() for name in calendar.day_name]
_MONTHS_IN = {"month": 1, "year": 12}
_DAYS_IN = {"day": 1, "week": 7}
_NEVER = "(?!)"
_NO_MATCH = re.compile(_NEVER)
# Words that CLDR lacks, with their distance from today in days.
_MORE_DAYS = {
    "en": {"tmrw": 1, "tmr": 1},
    "ar": {"بعد غد": 2, "بعد الغد": 2},
    "es": {"pasado mañana": 2},
    "fa": {"پس فردا": 2},
    "it": {"dopodomani": 2},
    "ko": {"모레": 2},
    "pt": {"depois de amanhã": 2},
    "tr": {"öbür gün": 2},
    "zh": {"大后天": 3, "大後天": 3},
}
# Forms of Monday to Sunday that CLDR lacks: "from Friday to Sunday", "by Thursday".
_MORE_WEEKDAYS = {
    "en": ["monday tues weds thurs friday saturday sunday"],
    "pl": ["poniedziałku wtorku środy czwartku piątku soboty niedzieli"],
    "ru": [
        "понедельника вторника среды четверга пятницы субботы воскресенья",
        "понедельнику вторнику среде четвергу пятнице субботе воскресенью",
        "понедельником вторником средой четвергом пятницей субботой воскресеньем",
    ],
    "tr": ["pazartesiden salıdan çarşambadan perşembeden cumadan cumartesiden pazardan"],
}
# Cases of January to December that CLDR lacks: "in December".
_MORE_MONTHS = {
    "pl": "styczniu lutym marcu kwietniu maju czerwcu lipcu sierpniu wrześniu październiku listopadzie grudniu",
    "ru": "январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре",
}
_MONTH_FIRST = frozenset(["en", "en-US", "en-PH", "fil"])
"""Languages that write the month before the day (11/22), besides those that put the year first."""
_SHORTEST_WEEKDAY = 4
"""In letters; shorter names of weekdays are also other words ("so", "sun", "mit")."""

_BEFORE, _AFTER = r"(?<![A-Za-z0-9./-])", r"(?![A-Za-z0-9]|[./-][0-9])"
_YEAR_FIRST = re.compile(rf"{_BEFORE}([0-9]{{4}})([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}}){_AFTER}")
_YEAR_LAST = re.compile(rf"{_BEFORE}([0-9]{{1,2}})([-/.])([0-9]{{1,2}})\2([0-9]{{4}}|[0-9]{{2}}){_AFTER}")
_NO_YEAR = re.compile(rf"{_BEFORE}([0-9]{{1,2}})(?:/([0-9]{{1,2}}){_AFTER}|\.([0-9]{{1,2}})\.(?![0-9]))")
_BEFORE_MONTH = re.compile(r"(?: (?:of|of the|de|di|del|du|da|do|von|van|des)| ?-)? ?$")
_BEHIND_MONTH = re.compile(r",? (?:(?:the|der|den) )?")
_YEAR = re.compile(r",? (?:de |del |of |do )?(?P<year>(?:19|20)[0-9]{2})(?![0-9])")
_LONGEST_GAP = 10
_MOST_DAYS = 31
_EAST_ASIAN = re.compile(r"(?:([0-9]{4})[年년] ?)?(?<![0-9])([0-9]{1,2})[月월] ?([0-9]{1,2})[日号號일]")


class DateFinder:
    """Finds dates in the message's language; values are ISO 8601 dates."""

    def __init__(self, languages: Iterable[str] = ()) -> None:
        """Load the words of `languages` now; other languages are loaded when needed.

        Raises `MissingExtraError` if dateparser is not installed.
        """
        plugins.check_installed("dateparser", what="A slot of kind date", extra="dates")
        for language in languages:
            _words(language)

    def find(self, message: Message) -> list[SlotHit]:
        """Return dates in digits and in words, including overlapping ones."""
        if DateFinder not in message.memo:
            days = [*_in_digits(message), *_in_words(message), *_spoken(message)]
            in_month = [*_in_the_month(message)]
            message.memo[DateFinder] = [*days, *in_month, *_with_weekdays(message, days, in_month)]
        return message.memo[DateFinder]


def month_names(language: str) -> Mapping[str, int]:
    """Return the names of the months in a language, in bare form, with their numbers."""
    words = _words(language)
    more = _MORE_MONTHS.get(base_language(language), "").split()
    return {} if words is None else {**words.months, **{bare(name): number for number, name in enumerate(more, 1)}}


@lru_cache(maxsize=64)
def month_pattern(language: str) -> re.Pattern[str]:
    """Return a pattern for the names of the months in a language, in plain form."""
    return re.compile(any_of(map(plain, month_names(language))))


def short_weekdays(message: Message) -> Iterator[tuple[int, int, date]]:
    """Yield abbreviated weekdays that are too short to be dates alone ("Fri", "Mo"), with the next such day."""
    language = message.language or "en"
    info = _info(language)
    pattern, numbers = _short_weekdays(language) if info else (_NO_MATCH, {})
    for found in pattern.finditer(message.plain):
        day = _named(f"next {numbers[found[0]]}", message.now.date())
        if day:
            yield *found.span(), day


@lru_cache(maxsize=64)
def _short_weekdays(language: str) -> tuple[re.Pattern[str], Mapping[str, int]]:
    info = _info(language) or {}
    taken = function_words(base_language(language))
    numbers = {
        plain(name): number
        for number, day in enumerate(_WEEKDAYS)
        for name in info.get(day, ())
        if 1 < len(bare(name)) < _SHORTEST_WEEKDAY and kind(bare(name)[:1]) == "letter" and bare(name) not in taken
    }
    return re.compile(any_of(numbers)), numbers


def _in_digits(message: Message) -> Iterator[SlotHit]:
    text = ascii_digits(message.text)
    order = _order(message.language)
    for found in _YEAR_FIRST.finditer(text):
        yield from _hit(message, found.span(), _day(int(found[1]), int(found[3]), int(found[4])))
    for found in _EAST_ASIAN.finditer(text):
        yield from _hit(message, found.span(), _day(int(found[1] or 0), int(found[2]), int(found[3]), message))
    for found in _YEAR_LAST.finditer(text):
        year = int(found[4]) + (2000 if len(found[4]) == 2 else 0)
        yield from _hit(message, found.span(), _day(year, *_month_and_day(found[1], found[3], order)))
    for found in _NO_YEAR.finditer(text):
        month, day = _month_and_day(found[1], found[2] or found[3], order)
        yield from _hit(message, found.span(), _day(0, month, day, message))


def _in_words(message: Message) -> Iterator[SlotHit]:
    words = _words(message.language or "en")
    if words is None:
        return
    today = message.now.date()
    for hit in words.names.find(message):
        if hit.distance < (MISTYPED if declines(message.language) else WITH_AN_ENDING):
            which, _, number = str(hit.value).partition(" ")
            if which == "next" and (named := modified_weekday(message, hit.start, hit.end, int(number))):
                yield from _hit(message, named[:2], named[2])
            else:
                yield from _hit(message, (hit.start, hit.end), _named(str(hit.value), today))
    text = ascii_digits(message.bare)
    for pattern, unit, sign in words.spans:
        for found in pattern.finditer(text):
            number = found[found.lastindex or 0]
            count = int(number) if number.isdecimal() else words.numbers.get(number) or numeral(number)
            day = None if count is None else _from_today(today, unit, sign * count)
            yield from _bare_hit(message, found.span(), day)
    for found in words.days.finditer(text):
        month = words.months[found["first"] or found["second"]]
        day = _day(int(found["year"] or 0), month, int(found["before"] or found["after"]), message)
        yield from _bare_hit(message, found.span(), day)


def _spoken(message: Message) -> Iterator[SlotHit]:
    """Yield dates whose day is in words: "the first of May", "December the twenty-second"."""
    months = month_names(message.language or "en")
    if not months or not (named := list(month_pattern(message.language or "en").finditer(message.plain))):
        return
    until: dict[int, tuple[int, int]] = {}
    at: dict[int, tuple[int, int]] = {}
    said = [(one.start, one.end, one.value) for one in numbers(message)]
    said += [(hit.start, hit.end, hit.value) for hit in OrdinalFinder().find(message) if isinstance(hit.value, int)]
    for start, end, day in sorted(said, key=lambda one: one[1] - one[0]):  # the longest one counts
        in_words = not any(map(str.isdigit, message.text[start:end]))
        if in_words and isinstance(day, int) and 1 <= day <= _MOST_DAYS:
            until[end], at[start] = (start, day), (end, day)
    for name in named:
        before = _BEFORE_MONTH.search(message.plain, max(name.start() - _LONGEST_GAP, 0), name.start())
        behind = _BEHIND_MONTH.match(message.plain, name.end())
        year = _YEAR.match(message.plain, name.end())
        if before and before.start() in until:
            start, day = until[before.start()]
            end = year.end() if year else name.end()
        elif behind and behind.end() in at:
            start, (end, day) = name.start(), at[behind.end()]
            year = _YEAR.match(message.plain, end)
            end = year.end() if year else end
        else:
            continue
        yield from _hit(
            message, (start, end), _day(int(year["year"]) if year else 0, months[bare(name[0])], day, message)
        )


def _in_the_month(message: Message) -> Iterator[SlotHit]:
    for start, end, day in days_of_month(message):
        yield from _hit(message, (start, end), day)


def _with_weekdays(message: Message, days: Iterable[SlotHit], in_month: Iterable[SlotHit]) -> Iterator[SlotHit]:
    words = _words(message.language or "en")
    if words is None:
        return
    weekdays = []
    for hit in words.names.find(message):
        which, _, number = str(hit.value).partition(" ")
        if which == "next" and hit.distance < MISTYPED:
            weekdays.append(Weekday(hit.start, hit.end, int(number)))
    weekdays += [Weekday(start, end, day.weekday(), is_short=True) for start, end, day in short_weekdays(message)]
    if weekdays:
        written = (hit for hit in days if any(map(str.isdigit, message.text[hit.start : hit.end])))
        known = [Day(hit.start, hit.end, date.fromisoformat(str(hit.value))) for hit in written]
        whole = {day.start for day in known}
        known += (
            Day(hit.start, hit.end, date.fromisoformat(str(hit.value)), has_month=False)
            for hit in in_month
            if hit.start not in whole
        )
        for day in with_weekdays(message, weekdays, known):
            yield SlotHit(day.start, day.end, day.day.isoformat())


def _hit(message: Message, span: tuple[int, int], day: date | None) -> Iterator[SlotHit]:
    if day is not None:
        yield SlotHit(*message.aligned.widened(*span), day.isoformat())


def _bare_hit(message: Message, place: tuple[int, int], day: date | None) -> Iterator[SlotHit]:
    span = message.aligned.span(*place) if message.bounds(*place) else None
    if span is not None and day is not None:
        yield SlotHit(*span, day.isoformat())


def _day(year: int, month: int, day: int, message: Message | None = None) -> date | None:
    """Return the date, None if invalid; without a year, the next such day from today on."""
    if message is None or year:
        return _valid(year, month, day)
    today = message.now.date()
    years = (_valid(today.year + more, month, day) for more in range(9))
    return next((found for found in years if found and found >= today), None)


def _valid(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _month_and_day(first: str, second: str, order: str) -> tuple[int, int]:
    month, day = (int(first), int(second)) if order != "DMY" else (int(second), int(first))
    return (day, month) if month > 12 >= day else (month, day)


def _order(language: str | None) -> str:
    if language is None or language in _MONTH_FIRST:
        return "MDY"
    info = _info(language)
    order = str(info.get("date_order", "DMY")) if info else "DMY"
    return "DMY" if order == "MDY" else order


def _named(meaning: str, today: date) -> date | None:
    """Return the date of a meaning in `_Words.names`: a number of days from today, or a weekday."""
    which, _, number = meaning.partition(" ")
    if which == "day":
        return _from_today(today, "day", int(number))
    ahead = (int(number) - today.weekday() - 1) % 7 + 1
    return _from_today(today, "day", ahead if which == "next" else ahead - (7 if ahead < 7 else 14))


def _from_today(today: date, unit: str, count: int) -> date | None:
    try:
        if unit in _DAYS_IN:
            return today + timedelta(days=count * _DAYS_IN[unit])
        year, month = divmod(today.year * 12 + today.month - 1 + count * _MONTHS_IN[unit], 12)
        return date(year, month + 1, min(today.day, calendar.monthrange(year, month + 1)[1]))
    except (ValueError, OverflowError):
        return None


class _Span(NamedTuple):
    """Pattern of "in 3 days" or "3 days ago"; the number is the only group that takes part in a match."""

    pattern: re.Pattern[str]
    unit: str
    sign: int


class _Words(NamedTuple):
    """Words and patterns of a language for dates, in bare form."""

    names: ListFinder
    """"day 1" for "tomorrow", "next 4" and "last 4" for Fridays."""
    spans: list[_Span]
    numbers: Mapping[str, int]
    days: re.Pattern[str]
    """"22 November", "Nov 22nd, 2026" and the like."""
    months: Mapping[str, int]


@lru_cache(maxsize=256)
def _words(language: str) -> _Words | None:
    info = _info(language)
    if info is None:
        return None
    numbers = small_numbers(base_language(language)) | {
        bare(word): int(number)
        for simplification in info.get("simplifications", ())
        for word, number in simplification.items()
        if word.isalpha() and number.isdecimal()
    }
    months = {
        bare(name): number for number, month in enumerate(_MONTHS, 1) for name in info[month] if _names_a_month(name)
    }
    return _Words(ListFinder(_names(language, info)), _spans(info, numbers), numbers, _days(info, months), months)


def _names(language: str, info: Mapping[str, Any]) -> list[Name]:
    relative: Mapping[str, list[str]] = info.get("relative-type", {})
    names = [Name(f"day {days}", text) for text, days in _MORE_DAYS.get(base_language(language), {}).items()]
    names += [Name(f"day {days}", text) for text, days in days_of_parts(base_language(language)).items()]
    for cases in _MORE_WEEKDAYS.get(base_language(language), ()):
        names += [Name(f"next {number}", text) for number, text in enumerate(cases.split())]
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


def _spans(info: Mapping[str, Any], numbers: Mapping[str, int]) -> list[_Span]:
    number = "|".join(["[0-9]{1,4}", f"[{NUMERALS}]{{1,3}}", *sorted(map(re.escape, numbers), key=len, reverse=True)])
    found = []
    for unit in (*_DAYS_IN, *_MONTHS_IN):
        for key, sign in ((f"in \\1 {unit}", 1), (f"\\1 {unit} ago", -1)):
            patterns = [_bare_pattern(text, number) for text in info.get("relative-type-regex", {}).get(key, ())]
            if longest_first := sorted(filter(None, patterns), key=len, reverse=True):
                found.append(_Span(re.compile("|".join(longest_first)), unit, sign))
    return found


def _bare_pattern(text: str, number: str) -> str:
    r"""Convert a pattern of dateparser, such as `in (\d+) days`, for bare text; "" for more complex patterns."""
    before, digits, after = re.split(r"(\(\\d[^)]*\))", text, maxsplit=1)
    if re.search(r"[\\?*+|(]", before + after) or not digits:
        return ""
    head, tail = re.escape(bare(before)), re.escape(bare(after))
    return head + (" " if before.endswith(" ") else "") + f"({number})" + (" " if after.startswith(" ") else "") + tail


def _days(info: Mapping[str, Any], months: Mapping[str, int]) -> re.Pattern[str]:
    small = {bare(word) for word in (*info.get("skip", ()), *info.get("pertain", ()), "of", "the")} - {""}
    between = f"(?:(?:{_any_of(small)}) ){{0,2}}"
    month, day, ordinal = _any_of(months), "[0-3]?[0-9]", r"(?:[^\W\d_]{1,3})?"
    before = rf"(?P<before>{day}){ordinal} ?{between}(?P<first>{month})"
    after = rf"(?P<second>{month}) {between}(?P<after>{day}){ordinal}"
    return re.compile(rf"(?:{before}|{after})(?: {between}(?P<year>(?:19|20)[0-9]{{2}}))?")


def _any_of(texts: Collection[str]) -> str:
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True))) or _NEVER


def _names_a_month(name: str) -> bool:
    text = bare(name)
    return len(text) > 2 and not any(map(str.isdigit, text))


@lru_cache(maxsize=256)
def _info(language: str) -> Mapping[str, Any] | None:
    """Return dateparser's data of a language or of its fallbacks, None if there are none."""
    known = importlib.import_module("dateparser.data.languages_info").language_order
    for code in language_range(language):
        if code in known:
            info = importlib.import_module(f"dateparser.data.date_translation_data.{code}").info
            more = info.get("locale_specific", {}).get(language, {})
            return {**info, **{key: [*info.get(key, ()), *more[key]] for key in more if isinstance(more[key], list)}}
    return None
