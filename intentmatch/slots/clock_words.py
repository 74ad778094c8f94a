"""Words around hours and minutes: "at", "o'clock", "half past", "in the evening"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from intentmatch.languages.tables import Table


class ClockWords(NamedTuple):
    """Words of a language around an hour; bars separate alternatives."""

    before: str = ""
    """Words before the hour; after `=`, one that means an hour only as it is written: "=às", but not "as"; after `~`,
    one that also stands before hours in number: "~kolem"; after `+`, one that needs another word: "à 8 [heures]"."""
    after: str = ""
    """Words after the hour."""
    counted: str = ""
    """Nouns before which a number is no hour: Romanian "la două [persoane]" is for two people."""
    morning: str = ""
    """Parts of the day."""
    afternoon: str = ""
    night: str = ""
    minutes_before: Mapping[str, int] = {}
    minutes_after: Mapping[str, int] = {}
    named: Mapping[str, str] = {}
    hours: Mapping[str, int] = {}
    """Words for hours, beside the numbers; after `=`, ones that need no other word: Hungarian "=nyolckor"."""
    elided: tuple[str, ...] = ()
    """Words before the hour that are written together with it."""
    halves: Mapping[str, int] = {}
    """Words for half an hour before an hour."""
    past: Mapping[str, int] = {}
    """Words between minutes and the hour, with the sign of the minutes: "ten [past] six"."""
    past_words: Mapping[str, int] = {}
    """Such words that need the minutes in words: "2 to 4" is a range."""
    plus: Mapping[str, int] = {}
    """Words between the hour and minutes, with the sign of the minutes."""
    behind: Mapping[str, int] = {}
    """Words behind hour and minutes, with the sign of the minutes."""
    endings: str = ""
    """Regular expression of the endings of an hour, which are no part of it."""
    spoken: Mapping[str, int] = {}
    """Minutes right behind the hour."""
    parts_first: bool = False
    """Whether the part of the day may also come before the hour."""


CLOCK_WORDS: Mapping[str, ClockWords] = Table("clock", lambda words: ClockWords(**words))
"""Words by language."""
