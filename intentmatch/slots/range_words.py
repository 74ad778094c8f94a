"""Words that join two values: the ends of a range ("20 to 30", "Montag bis Freitag"), or a choice ("20 or 30")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from intentmatch.languages.tables import Table
from intentmatch.slots.alternatives import joined_by_or
from intentmatch.slots.function_words import function_words
from intentmatch.slots.message import Message, plain
from intentmatch.slots.moment_patterns import patterns
from intentmatch.slots.moment_words import MOMENT_WORDS, MomentWords
from intentmatch.slots.word_patterns import any_of, beside
from intentmatch.text.normalize import bare

_LONGEST = 12
_MARKS = ",.;!?"
_LONGEST_EXCEPTION = 32


def joined_as_range(message: Message, start: int, end: int) -> bool:
    """Return whether `text[start:end]`, between two values, makes them the ends of a range."""
    words = patterns(message).to
    return start < end <= start + _LONGEST and words.fullmatch(message.plain, start, end) is not None


def leads_to_time(message: Message, start: int, end: int) -> bool:
    """Return whether `text[start:end]`, between a number and a time, also stands before a time: "per due [alle] 21"."""
    return start < end <= start + _LONGEST and patterns(message).at.fullmatch(message.plain, start, end) is not None


def leads(message: Message, start: int) -> bool:
    """Return whether a word that stands before days and times also stands before a number: "[de] 9"."""
    place = max(start - _LONGEST, 0)
    return any(found.end() == start - 1 for found in patterns(message).at_word.finditer(message.plain, place, start))


def joined(message: Message, first: tuple[int, int], start: int) -> bool:
    """Return whether a value and the one that begins at `start` are the ends of a range or a choice: "20 or 30"."""
    return joined_as_range(message, first[1], start) or joined_as_choice(message, first, start)


def joined_as_choice(message: Message, first: tuple[int, int], start: int) -> bool:
    """Return whether "or", or "between" and "and", join a value and the one that begins at `start`."""
    end = first[1]
    if joined_by_or(message.text, end, start, message.language):
        return True
    if not end < start <= end + _LONGEST:
        return False
    words = patterns(message)
    is_opened = words.between.search(message.plain, max(first[0] - _LONGEST, 0), first[0])
    return is_opened is not None and words.both.fullmatch(message.plain, end, start) is not None


def ends_a_part(message: Message, place: int) -> bool:
    """Return whether the message, or a part of it, ends at a place: before a mark or a function word."""
    after = message.tokens_after(place, 1)
    # Another word means that the number counts something: "20 euros, 3 people".
    return not after or after[0].bare in function_words(message.language) or message.text[place] in _MARKS


def means_others(message: Message, start: int, end: int) -> bool:
    """Return whether words beside a name mean others than that: "anyone but the doctor", "the lamp, not the heater"."""
    ahead, behind = relation_words(message.base_language).other_than
    first = max(start - _LONGEST_EXCEPTION, 0)
    # What a text begins with begins as a clause does.
    found = ahead.search(f"{message.plain[first:start]}" if first else f", {message.plain[:start]}")
    if found and function_words(message.language).issuperset(map(bare, found["between"].split())):
        return True
    return behind.match(message.plain, end) is not None


class RelationWords:
    """Patterns of words of a language that join a value with another one: "to", "before", "after", "from", "in"."""

    def __init__(self, language: str) -> None:
        own, anchors = MOMENT_WORDS.get(language, MomentWords()), ANCHORS.get(language, Anchors())
        words = "|".join([anchors.before, anchors.after, own.to, own.later, own.ago])
        either = any_of(plain(word.lstrip("~")) for word in words.split("|"))
        self.before, self.behind = re.compile(f"(?:{either}|[-~])$"), re.compile(f"(?:{either}|[-~])")
        self.not_on = _sides(anchors.not_on, " ?(?:the )?")
        """Words before and behind a day that exclude it: "before Monday"."""
        self.other_than = _sides(anchors.other_than, r"(?P<between>(?: ?[^\W\d_]+){0,2}) ?")
        """Words before and behind a name that mean others than this one."""
        self.since = _sides(anchors.since, r" (?:[^\W\d_]{1,4} )?")
        """Words before and behind a day that say that it has been."""
        counted = (beside(words)[0] for words in (anchors.after, anchors.before))
        self.after, self.ago = (re.compile(f" (?:{words})(?= )") for words in counted)
        """Words behind a length that count it on and back from the day behind them."""


relation_words = lru_cache(maxsize=64)(RelationWords)


def _sides(words: str, gap: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns for words before something, across a gap, and behind it."""
    ahead, behind = beside(words)
    return re.compile(f"(?:{ahead}){gap}$"), re.compile(f"(?:'?[a-z]{{2,3}})? ?(?:{behind})")


def is_since(message: Message, start: int, end: int) -> bool:
    """Return whether words beside a day say that it has been: "since Monday", "pazartesiden beri"."""
    ahead, behind = relation_words(message.base_language).since
    return ahead.search(message.plain, max(start - _LONGEST_EXCEPTION, 0), start) is not None or (
        behind.match(message.plain, end) is not None
    )


class Anchors(NamedTuple):
    """Words that count a length from a day or time: "two days [before] Friday"; `~` if they stand behind the day."""

    after: str = ""
    before: str = ""
    not_on: str = ""
    """Words before a day, or behind it with `~`, that mean other days than this one."""
    other_than: str = ""
    """Words before a name, or behind it with `~`, that mean others than this one: "anyone [but] Martin"."""
    since: str = ""
    """Words before a day, or behind it with `~`, that mean the last such day: "[since] Monday"."""


ANCHORS: Mapping[str, Anchors] = Table("anchors", lambda words: Anchors(**words))
