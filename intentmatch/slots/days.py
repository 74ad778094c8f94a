"""Slots of kind "date": dates in digits, by name, and relative to today."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from intentmatch.core import plugins
from intentmatch.languages.structure import structure_of
from intentmatch.slots.date_words import date_words, month_names, month_pattern, order_of_dates, short_weekday_names
from intentmatch.slots.digits import ascii_digits
from intentmatch.slots.lists import declines
from intentmatch.slots.message import BUT_FOR_ACCENTS, WITH_AN_ENDING, Message, SlotHit, once
from intentmatch.slots.moment_patterns import LONGEST_GAP, before_hour, patterns
from intentmatch.slots.numbers import numbers
from intentmatch.slots.numerals import numeral, small_number
from intentmatch.slots.ordinals import find_ordinals
from intentmatch.slots.range_words import ends_a_part, is_since, means_others
from intentmatch.slots.relative_days import days_later, days_of_month, modified_weekday, plus_months, same_month
from intentmatch.slots.weekday_dates import Day, Weekday, with_weekdays
from intentmatch.text.normalize import bare

_MONTHS_IN = {"month": 1, "year": 12}
_DAYS_IN = {"day": 1, "week": 7}

# A date in digits is none as a part of a version, a path or a code: "1.2.2026.4", "AB-1/2".
_BEFORE, _AFTER = r"(?<![A-Za-z0-9./-])", r"(?![A-Za-z0-9]|[./-][0-9])"
_YEAR_FIRST = re.compile(rf"{_BEFORE}([0-9]{{4}})([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}}){_AFTER}")
_YEAR_LAST = re.compile(rf"{_BEFORE}([0-9]{{1,2}})([-/.])([0-9]{{1,2}})\2([0-9]{{4}}|[0-9]{{2}}){_AFTER}")
_NO_YEAR = re.compile(rf"{_BEFORE}([0-9]{{1,2}})(?:/([0-9]{{1,2}}){_AFTER}|\.([0-9]{{1,2}})\.(?![0-9]))")
# No date where the month stands first.
_ALWAYS = "24/7"
_BEFORE_MONTH = re.compile(r"(?: (?:of|of the|de|di|del|du|da|do|von|van|des)| ?-)? ?$")
_BEHIND_MONTH = re.compile(r",? (?:(?:the|der|den) )?")
_YEAR = re.compile(r",? (?:de |del |of |do )?(?P<year>(?:19|20)[0-9]{2})(?![0-9])")
_LONGEST_GAP = 10
_MOST_DAYS, _MOST_MONTHS = 31, 12
_WEEK = timedelta(7)
_MOST_NEAR = 8
"""Days behind one, overlapping ones included, that may be the end of its range."""
_IN_CHINESE = r"[0-9]{1,2}|[一二三四五六七八九十]{1,3}"
_EAST_ASIAN = re.compile(
    rf"(?:([0-9]{{4}})[年년] ?)?(?<![0-9一二三四五六七八九十])({_IN_CHINESE})[月월] ?({_IN_CHINESE})"
    rf"(?:[日号號일]|(?= ?[-~〜～–—至到] ?(?:{_IN_CHINESE})[日号號일]))"
)
_LAST_DAY = re.compile(
    r"(?P<n>[0-9]{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>(?:19|20)[0-9]{2}))?(?![^\W_]|[%€$£°]|[.:,/-][0-9]| of\b)"
)
"""The last day of a range behind its first: "January 3rd-[7th]"."""


def load_dates(languages: Iterable[str]) -> None:
    """Load the words of languages now; those of others are loaded when they are needed.

    Raises `MissingExtraError` if dateparser is not installed.
    """
    plugins.check_installed("dateparser", what="A slot of kind date", extra="dates")
    for language in languages:
        date_words(language)


def find_dates(message: Message) -> list[SlotHit]:
    """Return dates of the message's language in digits and in words, including overlapping ones."""
    return [SlotHit(one.start, one.end, one.day.isoformat()) for one in days(message) if one.day]


@once
def days(message: Message) -> list[Day]:
    """Return the dates of a message, including overlapping ones, and those that are in no calendar ("April 31")."""
    written, of_range = written_days(message), _days_of_range(message)
    in_month = [_at(message, (start, end), day, has_month=False) for start, end, day in days_of_month(message)]
    in_month = [_in_month_of_range(message, one, written) for one in in_month if not _overlaps(one, of_range)]
    written = _in_order(message, (one for one in written if not _overlaps(one, of_range)))
    behind = list(_with_weekdays(message, written, in_month))
    found = [*written, *of_range, *_counted(message), *in_month, *behind]
    none = [one for one in found if one.day is None]
    # A weekday and a date that contradict each other are no day, and neither of them alone is meant.
    apart = [one for one in behind if one.day is None]
    return none + [
        _last_such(message, one)
        for one in found
        if one.day and not _overlaps(one, apart) and not any(_is_part(one, other) for other in none)
    ]


@once
def written_days(message: Message) -> list[Day]:
    """Return the dates in digits and by name, including overlapping ones: "30 December", "Friday"; not "in 3 days"."""
    named = [*_in_words(message), *_spoken(message)]
    # "30 December, two of us": the month has its day already.
    within = {place for one in named for place in range(one.start + 1, one.end)}
    return [*_in_digits(message), *(one for one in named if one.start not in within)]


@once
def days_with_numbers(message: Message) -> list[Day]:
    """Return the dates whose numbers count nothing: "30.12.", "20th to 23rd of December". "1/2" may be a half.

    A day of the month alone may be any ordinal.
    """
    written = [one for one in written_days(message) if "/" not in message.plain[one.start : one.end]]
    if not any(_has_figures(message, one) for one in written):
        return written
    in_month = [_at(message, (start, end), day) for start, end, day in days_of_month(message)]
    return [*written, *_days_of_range(message), *in_month]


def _last_such(message: Message, one: Day) -> Day:
    """Return the last such day instead of the next one for a day that has been: "since Monday", "since 5 May"."""
    today, day = message.now.date(), one.day
    if day is None or day <= today or not is_since(message, one.start, one.end):
        return one
    if any(weekday.start <= one.start and one.end <= weekday.end for weekday in weekdays_of(message)):
        ahead = (day - today).days
        return one._replace(day=days_later(today, ahead - 7 if ahead < 7 else -7))
    return one if one.has_year else one._replace(day=_day(0, day.month, day.day, message, past=True))


def _in_order(message: Message, written: Iterable[Day]) -> list[Day]:
    """Return days with those of ranges in order: "20 November to 2 December", said in between, "Tuesday to Monday".

    The first day lies behind if the range has begun, and a weekday is the first such day behind the other.
    """
    found = sorted(written, key=lambda one: one[:2])
    weekdays = {weekday.start for weekday in weekdays_of(message)}
    to = patterns(message).to
    for place, first in enumerate(found):
        for number in range(place + 1, min(place + 1 + _MOST_NEAR, len(found))):
            last = found[number]
            if not (first.day and last.day) or first.day <= last.day or not 0 < last.start - first.end <= LONGEST_GAP:
                continue
            if not to.fullmatch(message.plain, first.end, last.start):
                continue
            if not first.has_year:
                found[place] = first._replace(day=_valid(first.day.year - 1, first.day.month, first.day.day))
            elif last.start in weekdays and first.day - last.day < _WEEK:
                found[number] = last._replace(day=days_later(last.day, 7))
    return found


@once
def impossible_days(message: Message) -> list[tuple[int, int]]:
    """Return the spans of days that are in no calendar, such as "April 31", and of no other day."""
    possible = [one for one in days(message) if one.day]
    return [one[:2] for one in days(message) if one.day is None and not _overlaps(one, possible)]


@once
def weekdays_of(message: Message) -> list[Weekday]:
    """Return the names of weekdays in a message, and their abbreviations."""
    words = date_words(message.language or "en")
    if words is None:
        return []
    names = [hit for hit in words.names.find(message) if hit.distance <= _farthest(message)]
    names = [hit for hit in names if str(hit.value).startswith("next")]
    named = [Weekday(hit.start, hit.end, int(str(hit.value).split()[1])) for hit in names]
    short = [Weekday(start, end, day.weekday(), is_short=True) for start, end, day in short_weekdays(message)]
    return [*named, *short]


def short_weekdays(message: Message) -> Iterator[tuple[int, int, date]]:
    """Yield abbreviated weekdays that are too short to be dates alone ("Fri", "Mo"), with the next such day."""
    language = message.language or "en"
    pattern, numbers = short_weekday_names(language)
    for found in pattern.finditer(message.plain):
        day = _named(f"next {numbers[found[0]]}", message.now.date())
        if day:
            yield *found.span(), day


def _in_digits(message: Message) -> Iterator[Day]:
    text = ascii_digits(message.text)
    for found in _YEAR_FIRST.finditer(text):
        yield _at(message, found.span(), _day(int(found[1]), int(found[3]), int(found[4])))
    for found in _EAST_ASIAN.finditer(text):
        yield _dated(message, found.span(), int(found[1] or 0), *map(small_number, found.group(2, 3)))
    others = [(found, found[1], found[3], found[4]) for found in _YEAR_LAST.finditer(text)]
    of_language = order_of_dates(message.language) == "DMY"
    some = (found for found in _NO_YEAR.finditer(text) if of_language or found[0] != _ALWAYS)
    others += [(found, found[1], found[2] or found[3], "") for found in some]
    pairs = [(int(first), int(second)) for _, first, second, _ in others]
    is_day_first = _is_day_first(pairs, of_language)
    for (found, *_, year), (first, second) in zip(others, pairs, strict=True):
        # No month is above 12, whatever the order of the language: "22/11" is clear in English too.
        swaps = min(first, second) <= _MOST_MONTHS < (second if is_day_first else first)
        day, month = (first, second) if is_day_first != swaps else (second, first)
        if year:
            yield _at(message, found.span(), _day(int(year) + (2000 if len(year) == 2 else 0), month, day))
        else:
            yield _dated(message, found.span(), 0, month, day)


def _is_day_first(pairs: Iterable[tuple[int, int]], of_language: bool) -> bool:
    """Return whether the day stands first in the dates of a message: where one date says so, in all of them."""
    said = {first > _MOST_MONTHS for first, second in pairs if (first > _MOST_MONTHS) != (second > _MOST_MONTHS)}
    return said.pop() if len(said) == 1 else of_language


def _in_words(message: Message) -> Iterator[Day]:
    words = date_words(message.language or "en")
    if words is None:
        return
    today = message.now.date()
    for hit in words.names.find(message):
        if hit.distance <= _farthest(message):
            which, _, number = str(hit.value).partition(" ")
            if which == "next" and (named := modified_weekday(message, hit.start, hit.end, int(number))):
                # Indonesian "minggu" is Sunday, and "minggu depan" next week.
                if message.plain[hit.start : hit.end] not in patterns(message).units:
                    yield _at(message, named[:2], named[2])
            else:
                yield _at(message, (hit.start, hit.end), _named(str(hit.value), today))
    for found in words.days.finditer(ascii_digits(message.bare)):
        month = words.months[found["first"] or found["second"]]
        span = message.aligned.span(*found.span()) if message.bounds(*found.span()) else None
        if span is not None:
            yield _dated(message, span, int(found["year"] or 0), month, int(found["before"] or found["after"]))


def _farthest(message: Message) -> int:
    """Return how far a word may be from the name of a day, which is short and near other words.

    An ending is believed only where the language declines, and does not list all forms.
    """
    is_listed = "weekdays_in_full" in structure_of(message.base_language)
    return WITH_AN_ENDING if declines(message.language) and not is_listed else BUT_FOR_ACCENTS


def _counted(message: Message) -> Iterator[Day]:
    """Yield days at a length from today: "in 3 days"."""
    words = date_words(message.language or "en")
    if words is None:
        return
    text = ascii_digits(message.bare)
    for pattern, unit, sign in words.spans:
        for found in pattern.finditer(text):
            number = found[found.lastindex or 0]
            count = int(number) if number.isdecimal() else words.numbers.get(number) or numeral(number)
            day = None if count is None else _from_today(message.now.date(), unit, sign * count)
            if span := message.aligned.span(*found.span()) if message.bounds(*found.span()) else None:
                yield _at(message, span, day)


def _spoken(message: Message) -> Iterator[Day]:
    """Yield dates whose day is in words: "the first of May", "December the twenty-second"."""
    months = month_names(message.language or "en")
    if not months or not (named := list(month_pattern(message.language or "en").finditer(message.plain))):
        return
    to = patterns(message).to
    until: dict[int, tuple[int, int]] = {}
    at: dict[int, tuple[int, int]] = {}
    said = [(one.start, one.end, one.value) for one in numbers(message)]
    said += [(hit.start, hit.end, hit.value) for hit in find_ordinals(message) if isinstance(hit.value, int)]
    for start, end, day in sorted(said, key=lambda one: one[1] - one[0]):  # the longest one counts
        in_words = not any(map(str.isdigit, message.text[start:end]))
        if in_words and isinstance(day, int) and 1 <= day <= _MOST_DAYS:
            until[end], at[start] = (start, day), (end, day)
    until |= {end: (start, day.day) for start, end, day in days_of_month(message)}  # "30-го декабря"
    for name in named:
        before = _BEFORE_MONTH.search(message.plain, max(name.start() - _LONGEST_GAP, 0), name.start())
        behind = _BEHIND_MONTH.match(message.plain, name.end())
        year = _YEAR.match(message.plain, name.end())
        if before and before.start() in until:
            start, day = until[before.start()]
            end = year.end() if year else name.end()
            # The first day of a range may be in words, too: "from the fifteenth to the eighteenth of March".
            for place in range(max(start - LONGEST_GAP, 0), start):
                first, number = until.get(place, (place, day))
                if number < day and to.fullmatch(message.plain, place, start):
                    its_year = int(year["year"]) if year else 0
                    yield _dated(message, (first, place), its_year, months[bare(name[0])], number)
        elif behind and behind.end() in at:
            start, (end, day) = name.start(), at[behind.end()]
            year = _YEAR.match(message.plain, end)
            end = year.end() if year else end
        else:
            continue
        yield _dated(message, (start, end), int(year["year"]) if year else 0, months[bare(name[0])], day)


@once
def _days_of_range(message: Message) -> list[Day]:
    """Return the days of ranges that only say the month of their other day: "from [20] to 23 December"."""
    written = written_days(message)
    found: list[Day] = []
    for one in written:
        if one.day and message.plain[one.start].isdecimal():
            found += _first_of_range(message, one, one.day)
        elif one.day and _has_figures(message, one):
            found += _with_last_of_range(message, one, one.day)
    return [one for one in found if one[:2] in {other[:2] for other in written} or not _overlaps(one, written)]


def _first_of_range(message: Message, last: Day, month: date) -> Iterator[Day]:
    found = patterns(message).first_day.search(message.plain, max(last.start - LONGEST_GAP, 0), last.start)
    if found:
        group = found.lastgroup or "n"
        day = same_month(month, int(found[group].rstrip(".")))
        if day and day < month:
            yield _at(message, found.span(group), day)


def _with_last_of_range(message: Message, first: Day, month: date) -> Iterator[Day]:
    """Yield the last day of a range, and the first one if the year of the last one is another: "Jan 3-7, 2031"."""
    words, text = patterns(message), message.plain
    is_between = words.between.search(text, max(first.start - LONGEST_GAP, 0), first.start)
    to = (words.both if is_between else words.to).match(text, first.end)
    # "Enero 3 a las 7" is a time, and "May 3-7 people" have come.
    found = _LAST_DAY.match(text, to.end()) if to and not before_hour(message.base_language).search(to[0]) else None
    if not found or not ends_a_part(message, found.end()):
        return
    # The first day of a range that has begun lies behind.
    year = int(found["year"] or (month.year if first.has_year else 0))
    last = _day(year, month.month, int(found["n"]), None if year else message)
    day = same_month(last, month.day) if last else None
    if last is None or day is None or day >= last or means_others(message, *first[:2]):
        return
    if day != month:
        yield first._replace(day=day, has_year=True)
    yield _at(message, found.span(), last)


def _in_month_of_range(message: Message, day: Day, written: Iterable[Day]) -> Day:
    """Return a day of a month in the month that the other end of its range says: "del 3 al 7 de enero".

    It is none if that month has no such day.
    """
    to = patterns(message).to
    for one in written:
        is_behind = 0 < one.start - day.end <= LONGEST_GAP and to.fullmatch(message.plain, day.end, one.start)
        is_before = 0 < day.start - one.end <= LONGEST_GAP and to.fullmatch(message.plain, one.end, day.start)
        other = one.day if is_behind or is_before else None
        if other is None or day.day is None or not _has_figures(message, one):
            continue
        same = same_month(other, day.day.day)
        if same is None:
            return day._replace(day=None)
        if is_behind:
            return day._replace(day=same) if same < other else day
        return day._replace(day=same if same > other else _from_today(same, "month", 1))
    return day


def _with_weekdays(message: Message, written: Iterable[Day], in_month: Iterable[Day]) -> Iterator[Day]:
    if weekdays := weekdays_of(message):
        known = [one for one in written if one.day and _has_figures(message, one)]
        whole = {one.start for one in known}
        known += (one for one in in_month if one.start not in whole)
        for one in with_weekdays(message, weekdays, known):
            yield _at(message, one[:2], one.day)


def _has_figures(message: Message, day: Day) -> bool:
    return any(char.isdigit() or char == "月" for char in message.text[day.start : day.end])


def _is_part(day: Day, of: Day) -> bool:
    return of.start <= day.start and day.end <= of.end and day[:2] != of[:2]


def _overlaps(day: Day, others: Iterable[Day]) -> bool:
    return any(day.start < other.end and other.start < day.end for other in others)


def _dated(message: Message, span: tuple[int, int], year: int, month: int, day: int) -> Day:
    """Return a day of a month; without a year (0), the next such day."""
    return _at(message, span, _day(year, month, day, message), has_year=year > 0)


def _at(
    message: Message, span: tuple[int, int], day: date | None, *, has_month: bool = True, has_year: bool = True
) -> Day:
    return Day(*message.aligned.widened(*span), day, has_month, has_year)


def _day(year: int, month: int, day: int, message: Message | None = None, *, past: bool = False) -> date | None:
    """Return the date, None if invalid; without a year, the next such day from today on, or the last one."""
    if message is None or year:
        return _valid(year, month, day)
    today = message.now.date()
    # 29 February is at most eight years away: 2096 and 2104.
    years = (_valid(today.year + (-more if past else more), month, day) for more in range(9))
    return next((found for found in years if found and (found <= today if past else found >= today)), None)


def _valid(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _named(meaning: str, today: date) -> date | None:
    """Return the date of a meaning in `DateWords.names`: a number of days from today, or a weekday."""
    which, _, number = meaning.partition(" ")
    if which == "day":
        return days_later(today, int(number))
    ahead = (int(number) - today.weekday() - 1) % 7 + 1
    return days_later(today, ahead if which == "next" else ahead - (7 if ahead < 7 else 14))


def _from_today(today: date, unit: str, count: int) -> date | None:
    if unit in _DAYS_IN:
        return days_later(today, count * _DAYS_IN[unit])
    try:
        # A month from 31 January is the last day of February.
        return plus_months(today, count * _MONTHS_IN[unit])
    except (ValueError, OverflowError):
        return None
