"""How languages join the parts of a number: the ways have names, and a language's file picks some of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

AND, TIMES_TEN, PLUS_TEN = -1, -2, -3
"""Parts that are words: "and", "puluh" and "belas"."""
MULTIPLIERS = (1000, 1_000_000, 1_000_000_000)
_LEAST_TENS_OF_THOUSANDS = 10_000


class Sum(NamedTuple):
    """A partly read number."""

    total: int
    """Completed thousands and above."""
    group: int
    """The current group below a thousand, which a multiplier may follow."""
    joined: bool = False
    """Whether the last word was an "and"."""


def plus(ways: Collection[str], so_far: Sum | None, part: int) -> Sum | None:
    """Extend a number by one part; return None if the part cannot follow.

    `ways` are those of `languages.sections.COMPOUNDING` that the language picks.
    """
    if so_far is None:
        return None if part < 0 else Sum(part, 0) if part >= 1000 else Sum(0, part)
    if part < 0:
        return _with_word(so_far, part)
    if "scales_first" in ways and 0 < part <= 100:
        return _behind_scale(ways, so_far, part)
    return _multiplied(ways, so_far, part) or _added(ways, so_far, part)


def _with_word(so_far: Sum, part: int) -> Sum | None:
    """Extend a number by "and", or make tens of its units: "dua puluh" is 20, and "dua belas" is 12."""
    total, group, _ = so_far
    if part == AND:
        return Sum(total, group, joined=True)
    units = group % 100
    more = units * 9 if part == TIMES_TEN else 10
    return Sum(total, group + more) if 0 < units < 10 else None


def _multiplied(ways: Collection[str], so_far: Sum, part: int) -> Sum | None:
    """Multiply the group by a part behind it; None for a part that does not."""
    total, group, _ = so_far
    # Scales fall: "three thousand two million" are two numbers.
    if part in MULTIPLIERS and group > 0 and total % (part * 1000) == 0:
        return Sum(total + group * part, 0)
    if part == 100 and 0 < group < 100:
        return Sum(total, group * 100)
    if "vigesimal" in ways and part == 20 and group % 100 == 4:
        return Sum(total, group - 4 + 80)
    return None


def _behind_scale(ways: Collection[str], so_far: Sum, part: int) -> Sum | None:
    """Extend a number by a part up to a hundred that multiplies the scale before it: "hundred two" is 200.

    "Thousand hundred two" and "thousand ten and five" have two meanings each, and are two numbers.
    """
    total, group, joined = so_far
    if not joined and group == 100 and part < 10:
        return Sum(total, 100 * part)
    if not joined and group == 0 and total in MULTIPLIERS:
        return Sum(total * part, 0) if part < 100 else None
    if group == 0 and total % 1_000_000 >= _LEAST_TENS_OF_THOUSANDS and part < 100:
        return None
    return _added(ways, so_far, part)


def _added(ways: Collection[str], so_far: Sum, part: int) -> Sum | None:
    return Sum(so_far.total, so_far.group + part) if _fits(ways, so_far, part) else None


def _fits(ways: Collection[str], so_far: Sum, part: int) -> bool:
    """Return whether a part below a thousand can follow a partly read number."""
    tens = so_far.group % 100
    # "Nought" is a number of its own: "twenty zero" are two, and so are "zero five".
    if part == 0 or part >= 1000 or so_far == (0, 0, so_far.joined):
        return False
    if part >= 100:
        return so_far.group == 0
    if "ten_behind_units" in ways and part == 10:
        return tens < 10
    if "units_first" in ways and 0 < tens < 10:
        return part >= 20 and so_far.joined
    if "vigesimal" in ways and tens in (60, 80):
        return part < 20
    has_tens = tens >= 20 or (tens == 10 and ("ten_and_units" if so_far.joined else "ten_before_units") in ways)
    return tens == 0 or (has_tens and tens % 10 == 0 and part < 10)
