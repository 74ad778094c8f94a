"""The neighbour law: a value is refused if a word beside it changes it and its finder did not take that word in.

"Five" is no number in "minus five", "April 31st" is not the next 31st, and "two weeks from today" is not today: where
the finders do not read such words, the value is not found, and the bot asks. The law is the same for all finders.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain

from intentmatch.core import plugins
from intentmatch.core.types import DAY_KINDS
from intentmatch.slots.addresses import house_numbers
from intentmatch.slots.alternatives import joined_by_or
from intentmatch.slots.clock import times
from intentmatch.slots.durations import CALENDAR_UNITS, CLOCK_UNITS, lengths, unit_words
from intentmatch.slots.message import Message, SlotHit, plain
from intentmatch.slots.moment_patterns import before_hour
from intentmatch.slots.number_forms import NO_PEOPLE, NOT_MINUS, NUMBER_FORMS, NumberForms
from intentmatch.slots.numbers import numbers
from intentmatch.slots.ordinals import find_ordinals
from intentmatch.slots.range_words import (
    ends_a_part,
    joined,
    joined_as_range,
    leads,
    leads_to_time,
    means_others,
    relation_words,
)
from intentmatch.slots.relative_days import days_of_month
from intentmatch.slots.word_patterns import any_of, any_phrase, beside

_ARITHMETIC = frozenset(["number", "sign"])
_CALENDAR = frozenset(["number", "ordinal", "month", "day"])
_CLASSES: Mapping[str, frozenset[str]] = {
    "number": _ARITHMETIC | {"month"},
    "duration": _ARITHMETIC,
    "money": _ARITHMETIC,
    "temperature": _ARITHMETIC | {"compared"},
    "ordinal": _CALENDAR | {"sign", "hour"},
    "date": _CALENDAR,
    "datetime": _CALENDAR | {"minus"},
    "time": _CALENDAR | {"minus", "sign"},
    "phone": frozenset(["number"]),
    "email": frozenset(),
    "url": frozenset(),
}
"""Classes of words that change a value of a kind from right beside it."""
_LINKED = DAY_KINDS | {"time"}
"""Kinds that a length changes from behind "before", "after" or "from"."""
_ALWAYS = frozenset(["day", "minus"])
"""Classes that change a value that begins or ends with any word; others need another class there."""
_WITH_UNITS = frozenset(["duration", "money", "temperature"])
"""Kinds whose values begin or end with a unit: any number beside them may belong to them."""
_WITH_ONE_UNIT = _WITH_UNITS | _LINKED
"""Kinds whose unit, month or half of the day two numbers may share."""
_COUNTED = frozenset(["number", "ordinal"])
_SMALL_WORDS = (
    "a an the of ein eine einen einem einer der die das den dem des un une le la les du el los las una del il lo gli i "
    "di della o os as um uma do da een de het van"
)
"""Articles, and prepositions between a day and its month."""
_BETWEEN = "|".join(_SMALL_WORDS.split())
_BEFORE = re.compile(rf"(?:(?<![^\W_])(?:{_BETWEEN}) ){{0,2}}$")
_BEHIND = re.compile(rf"(?: (?:{_BETWEEN})(?![^\W_])){{0,2}}")
_BEFORE_DATES = frozenset(["ngay"])
"""Units that also stand before the day of the month: Vietnamese "ngày 15" is the 15th."""
_COUNTERS = re.compile("(?![시분초일월년주])[\uac00-\ud7a3]")
"""What begins a counter behind a number: Korean "저녁 8시 4명" is four people at eight."""
_GAPS = " \u00a0-"
_GLUE = frozenset("-/.:,_@#+'\\=&")
_LONGEST_ARTICLES = 16
_LONGEST_LINK = 16
_LONGEST_CHOICE = 40


class NeighbourLaw:
    """What stands where in a message, and which values it lets stand."""

    def __init__(self, message: Message, hits: Mapping[str, Sequence[SlotHit]]) -> None:
        """`hits` are the possible values of each slot, without those of free text."""
        self._message = message
        self._language, self._text = message.base_language, message.plain
        self._hits = hits
        self._excluded_of: dict[str, bytearray] = {}

    # All of these are marks for each character, so that judging hundreds of values stays linear.
    # Nothing is looked for before a value is judged; those of patterns never are.
    @cached_property
    def _spans(self) -> Sequence[tuple[str, int, int]]:
        return [(name, *span) for name, spans in _classes(self._message) for span in spans]

    @cached_property
    def _counted(self) -> Sequence[tuple[int, int]]:
        """Numbers and the like, by position."""
        return sorted((start, end) for name, start, end in self._spans if name in _COUNTED)

    @cached_property
    def _starts(self) -> Mapping[int, set[str]]:
        return _names_at((start, name) for name, start, _ in self._spans)

    @cached_property
    def _ends(self) -> Mapping[int, set[str]]:
        return _names_at((end, name) for name, _, end in self._spans)

    @cached_property
    def _taken(self) -> Mapping[str, bytearray]:
        return {slot: self._message.marked(hit[:2] for hit in found) for slot, found in self._hits.items()}

    def _excluded(self, slot: str) -> bytearray:
        """Return marks for names of a slot that are said not to be meant; parts of these may be names too."""
        if (marks := self._excluded_of.get(slot)) is None:
            spans = (hit[:2] for hit in self._hits[slot] if means_others(self._message, hit.start, hit.end))
            marks = self._excluded_of[slot] = self._message.marked(spans)
        return marks

    @cached_property
    def _explained(self) -> bytearray:
        message = self._message
        return self._message.marked(chain((at[:2] for at in times(message)), house_numbers(message)))

    @cached_property
    def _dated(self) -> bytearray:
        """Marks for dates: "30.12.", "30th of December"."""
        if not plugins.installed("dateparser"):
            return self._message.marked(())
        from intentmatch.slots.days import days_with_numbers

        return self._message.marked(day[:2] for day in days_with_numbers(self._message))

    @cached_property
    def _counting(self) -> frozenset[str]:
        """Slots with a value that is no day of the month and no part of a time."""
        taken = self._in_month, self._dated, self._explained
        return frozenset(
            slot for slot, hits in self._hits.items() if any(not any(one[hit.start] for one in taken) for hit in hits)
        )

    @cached_property
    def _in_month(self) -> bytearray:
        """Marks for days of the month without their month: "dia 19", "12日"."""
        return self._message.marked(day[:2] for day in days_of_month(self._message))

    @cached_property
    def _weekdays(self) -> tuple[frozenset[int], frozenset[int]]:
        """Where weekdays begin, and where they end."""
        from intentmatch.slots.days import weekdays_of

        found = weekdays_of(self._message)
        return frozenset(weekday.start for weekday in found), frozenset(weekday.end for weekday in found)

    def allows(self, slot: str, kind: str, hit: SlotHit) -> bool:
        """Return whether the words beside a value leave it as it is."""
        if kind == "list":
            return not self._excluded(slot)[hit.start]
        classes = _CLASSES.get(kind)
        if classes is None:
            return True
        if self._is_glued(slot, hit.start, -1) or self._is_glued(slot, hit.end, 1):
            return False
        if self._before(slot, kind, classes, hit) or self._behind(slot, kind, classes, hit):
            return False
        if self._is_denied(kind, hit) or self._is_of_date(slot, kind, hit):
            return False
        return kind not in _WITH_ONE_UNIT or not self._is_one_of_several(slot, kind, hit)

    def _is_glued(self, slot: str, place: int, side: int) -> bool:
        """Return whether a value is a part of a code, a version or the like: what is written together with a number."""
        sign = place - 1 if side < 0 else place
        other = sign + side
        if min(sign, other) < 0 or max(sign, other) >= len(self._text):
            return False
        # "AB-12", "1.2.3" and "5:30:1": a sign between a value and a digit makes both parts of something longer.
        if self._text[sign] not in _GLUE or not self._text[other].isdecimal():
            return False
        return not self._is_taken(slot, other, is_linked=True)

    def _is_taken(self, slot: str, place: int, *, is_linked: bool) -> bool:
        """Return whether a place is in a time, an address or a value: of another slot, or if `is_linked` of any."""
        taken = (one for name, one in self._taken.items() if is_linked or name != slot)
        return any(one[place] for one in chain(taken, (self._explained,)))

    def _before(self, slot: str, kind: str, classes: frozenset[str], hit: SlotHit) -> bool:
        end = self._skip_back(hit.start)
        touching = hit.start in self._starts or kind in _WITH_UNITS
        classes = classes if touching else classes & _ALWAYS
        article = _BEFORE.search(self._text, max(hit.start - _LONGEST_ARTICLES, 0), hit.start)
        for place in {end, self._skip_back(article.start()) if article else end}:
            if kind == "time" and self._is_count_before_time(place, hit.start) and not self._is_from(place):
                continue  # "24 décembre à 19h30"
            near = classes if place == end or _has_clock(kind, hit) else classes - {"number"}
            if self._changes(slot, near.intersection(self._ends.get(place, ())), (place, hit.start), place - 1):
                return True
        relation = relation_words(self._language).before.search(self._text, max(end - _LONGEST_LINK, 0), end)
        if relation is None:
            return False
        end = self._skip_back(relation.start())
        if kind in _LINKED and self._is_count_before_time(end, hit.start):
            return False
        return self._links(slot, kind, self._ends.get(end, ()), (end, hit.start), end - 1)

    def _behind(self, slot: str, kind: str, classes: frozenset[str], hit: SlotHit) -> bool:
        start = self._skip(hit.end)
        touching = hit.end in self._ends or kind in _WITH_UNITS
        classes = classes if touching else classes & _ALWAYS
        for place in {start, self._skip_articles(hit.end)}:
            # "9h le 15 décembre": the number is a day.
            is_other = place == start or (_has_clock(kind, hit) and not any(self._dated[place : place + 1]))
            near = classes if is_other else classes - {"number"}
            if self._changes(slot, near.intersection(self._starts.get(place, ())), (hit.end, place), place):
                return True
        relation = relation_words(self._language).behind.match(self._text, start)
        if relation is None or self._leads_to_hour(kind, start, relation.end()):
            return False
        start = self._skip_articles(relation.end())
        return self._links(slot, kind, self._starts.get(start, ()), (hit.end, start), start)

    def _changes(self, slot: str, found: Collection[str], gap: tuple[int, int], place: int) -> bool:
        """Return whether there are words of these classes at a place, across a gap, that no value took in."""
        if not found:
            return False
        is_linked = joined_as_range(self._message, *gap) or joined_by_or(
            self._message.text, *gap, self._message.language
        )
        return not self._is_taken(slot, place, is_linked=is_linked)

    def _links(self, slot: str, kind: str, found: Iterable[str], gap: tuple[int, int], place: int) -> bool:
        classes = _CALENDAR if kind in _LINKED else _CLASSES[kind] & {"number"}
        # Only a length counts on from a day: "two weeks on Friday", but "for 4 on Friday".
        if not joined(self._message, (gap[0], gap[0]), gap[1]):
            classes -= _COUNTED
        return self._changes(slot, classes.intersection(found), gap, place)

    def _is_one_of_several(self, slot: str, kind: str, hit: SlotHit) -> bool:
        """Return whether a number that is no value of the slot offers another value: "2 or 3 weeks"."""
        first = bisect_left(self._counted, (hit.start - _LONGEST_CHOICE,))
        last = bisect_left(self._counted, (hit.end + _LONGEST_CHOICE,))
        for start, end in self._counted[first:last]:
            # That number is a value too, and the question lists all values.
            if self._taken[slot][start]:
                continue
            # "Five to ten minutes" has no time.
            is_explained = self._explained[start] and not self._explained[hit.start]
            if kind in _LINKED and (is_explained or self._is_count_before_time(end, hit.start)):
                continue
            if hit.end <= start and self._leads_to_hour(kind, hit.end, start):
                continue
            if end <= hit.start and joined(self._message, (start, end), hit.start):
                return True
            if hit.end <= start and joined(self._message, hit[:2], start) and ends_a_part(self._message, end):
                return True
        return False

    def _is_denied(self, kind: str, hit: SlotHit) -> bool:
        """Return whether another value than this is meant: "five instead of three", "before Monday"."""
        if _CLASSES[kind] and means_others(self._message, hit.start, hit.end):
            return True
        return kind in DAY_KINDS and self._is_not_on(hit)

    def _is_of_date(self, slot: str, kind: str, hit: SlotHit) -> bool:
        """Return whether a value is a part of a date that its finder did not take in."""
        if kind in DAY_KINDS:
            return self._is_numbered_weekday(slot, hit)
        if kind == "number" and (any(self._dated[hit.start : hit.end]) or self._is_day_beside_count(slot, hit)):
            return True
        return kind in ("number", "time") and self._begins_days(hit)

    def _is_day_beside_count(self, slot: str, hit: SlotHit) -> bool:
        """Return whether a number is a day of the month, and another one is none: "mesa para 7 no dia 19"."""
        return bool(self._in_month[hit.start]) and slot in self._counting

    def _begins_days(self, hit: SlotHit) -> bool:
        """Return whether a number is the first of days whose month stands behind the last: "20 to 23 December"."""
        hit_end = hit.end + self._text.startswith(".", hit.end)
        first = bisect_left(self._counted, (hit_end,))
        last = bisect_left(self._counted, (hit_end + _LONGEST_LINK,))
        return any(
            "month" in self._starts.get(self._skip_articles(end), ())
            and joined(self._message, (hit.start, hit_end), start)
            for start, end in self._counted[first:last]
        )

    def _leads_to_hour(self, kind: str, end: int, start: int) -> bool:
        """Return whether words behind a day also stand before an hour: French "mardi à 7" is no range."""
        return kind in DAY_KINDS and before_hour(self._language).search(self._text, end, start) is not None

    def _is_count_before_time(self, end: int, start: int) -> bool:
        """Return whether a number ends before a word that leads to a time: Italian "per due alle 21" is no range."""
        is_time = start < len(self._explained) and self._explained[start] and not self._explained[end - 1]
        return bool(is_time) and leads_to_time(self._message, end, start)

    def _is_from(self, end: int) -> bool:
        """Return whether a number that ends at a place follows a word that begins a range: "de 9 à 11h"."""
        first, last = (bisect_left(self._counted, (place,)) for place in (end - _LONGEST_CHOICE, end))
        return any(leads(self._message, start) for start, its_end in self._counted[first:last] if its_end == end)

    def _is_not_on(self, hit: SlotHit) -> bool:
        """Return whether other days than the value are meant: "before Monday"; "after 3 pm" is 3 pm."""
        before, behind = relation_words(self._language).not_on
        if isinstance(hit.value, str) and "T" in hit.value:
            return False
        ahead = before.search(self._text, max(hit.start - _LONGEST_LINK, 0), hit.start)
        return (ahead or behind.match(self._text, hit.end)) is not None

    def _is_numbered_weekday(self, slot: str, hit: SlotHit) -> bool:
        """Return whether a number that is no value says which weekday is meant: "lunes 12", "the second Tuesday"."""
        starts, ends = self._weekdays
        before, place = self._skip_back(hit.start), self._skip(hit.end)
        if place in starts and ("ordinal", hit.start, hit.end) in self._spans:
            return True
        if hit.start in starts and "ordinal" in self._ends.get(before, ()):
            return not self._is_taken(slot, before - 1, is_linked=False)
        if hit.end not in ends or "number" not in self._starts.get(place, ()):
            return False
        end = next(end for name, start, end in self._spans if name == "number" and start == place)
        return ends_a_part(self._message, end) and not self._is_taken(slot, place, is_linked=True)

    def _skip_back(self, place: int) -> int:
        while place and self._text[place - 1] in _GAPS:
            place -= 1
        return place

    def _skip_articles(self, place: int) -> int:
        article = _BEHIND.match(self._text, place)
        return self._skip(article.end() if article else place)

    def _skip(self, place: int) -> int:
        while place < len(self._text) and self._text[place] in _GAPS:
            place += 1
        return place


def _has_clock(kind: str, hit: SlotHit) -> bool:
    """Return whether a value is a time: "lunes 12 a las 5". Other numbers go on without an article: "pour 2 le 23"."""
    return kind == "time" or (isinstance(hit.value, str) and "T" in hit.value)


def _names_at(places: Iterable[tuple[int, str]]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for place, name in places:
        found.setdefault(place, set()).add(name)
    return found


def _classes(message: Message) -> Iterable[tuple[str, list[tuple[int, int]]]]:
    """Yield the classes with the spans of their words."""
    language = message.base_language
    text = message.plain
    counted = (one for one in numbers(message) if not one.is_loose and not _COUNTERS.match(text, one.end))
    counted = (one for one in counted if text[one.start : one.end] != "one")
    yield "number", [one[:2] for one in counted]  # "one" is a pronoun in "the third one"
    yield "ordinal", [hit[:2] for hit in find_ordinals(message)]
    for length in lengths(message):
        yield "day" if set(length.parts).issubset(CALENDAR_UNITS) else "hour", [(length.start, length.end)]
    for name, pattern in _patterns(language).items():
        yield name, [found.span() for found in pattern.finditer(text)]


@lru_cache(maxsize=64)
def _patterns(language: str) -> Mapping[str, re.Pattern[str]]:
    forms = NUMBER_FORMS.get(language, NumberForms())
    minus, _ = beside(forms.minus)
    signs = [word.lstrip("~") for word in f"{forms.minus}|{forms.point}".split("|")]
    months: Iterable[str] = ()
    if plugins.installed("dateparser"):
        from intentmatch.slots.date_words import month_names

        # These are other words as well: "may I have 5", "march 3 miles".
        months = (name for name in month_names(language) if name not in ("may", "march", "mar", "sun"))
    return {
        "number": re.compile(any_of(map(plain, chain(forms.parts, forms.scales)))),
        "sign": re.compile(NOT_MINUS + any_of(map(plain, signs)) + NO_PEOPLE),
        "minus": re.compile(f"{NOT_MINUS}{minus}(?= ?[^ ])"),
        "compared": re.compile(any_phrase(forms.compared)),
        "day": re.compile(any_of(unit_words(language, CALENDAR_UNITS) - _BEFORE_DATES)),
        "hour": re.compile(any_of(unit_words(language, CLOCK_UNITS))),
        "month": re.compile(f"{any_of(map(plain, months))}|(?<![0-9])[0-9]{{1,2}} ?[月월]"),
        # In no class of `_CLASSES`: it only marks values that begin or end with a figure, whose neighbours may belong
        # to them.
        "clock": re.compile("(?<![0-9])[0-9]{1,4} ?[日号號일点點時时시]" + NO_PEOPLE),
    }
