"""Words around days and times: "next", "week", "evening", "from ... to", "in ... hours"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from intentmatch.languages.tables import Table


class MomentWords(NamedTuple):
    """Words of a language; bars separate alternatives."""

    next: str = ""
    """"Next" before or behind a weekday, week, month or year."""
    this: str = ""
    last: str = ""
    after_next: str = ""
    """The one behind the next: "the week [after next]"."""
    week: str = ""
    month: str = ""
    year: str = ""
    weekend: str = ""
    morning: str = ""
    """Parts of the day, as they stand beside a day ("tomorrow [morning]")."""
    afternoon: str = ""
    evening: str = ""
    night: str = ""
    at: str = ""
    """Words between a day and a time, in either order."""
    around: str = ""
    """Words before an hour that are enough beside a day: "tomorrow [around] 9"."""
    to: str = ""
    """Words between the ends of a range."""
    between: str = ""
    """Words before a range whose ends `both` joins, or behind it with `~`."""
    both: str = ""
    later: str = ""
    """Words before a length that count it from now on; `~` stands for the length where they stand behind it."""
    ago: str = ""
    in_month: str = ""
    """Words before a month that stands for all its days, behind it with `~`: "[in] December"."""
    day_of_month: str = ""
    """Regular expression of a day of the month without its month, in plain form; the group n is the day."""
    ending_from: str = ""
    """Regular expression of three letters at most that end the first of two days for "from" ("cumadan pazara")."""


MOMENT_WORDS: Mapping[str, MomentWords] = Table("moments", lambda words: MomentWords(**words))
"""Words by language."""

LATER_WEEKDAYS: Mapping[str, Mapping[str, int]] = Table("weekday_moves")
"""Words behind a weekday that move it by days."""

DAY_PARTS: Mapping[str, Mapping[str, tuple[int, str]]] = Table(
    "day_parts", lambda own: {word: _day_and_part(*meaning.split()) for word, meaning in own.items()}
)
"""Words for a part of a day near today that need no word for the day, with the days from today and the part."""

WEEKDAY_PARTS: Mapping[str, Mapping[str, str]] = Table("weekday_parts")
"""Parts of the day that are written together with a weekday: "Freitagabend"."""


def _day_and_part(days: str, part: str) -> tuple[int, str]:
    return int(days), part
