"""Three-way merge of texts by lines, so that two people who edit one file lose nothing.

The method is that of `merge3` in GNU diffutils: lines that both sides kept divide the text into parts; a part that only
one side changed is taken from that side, and a part that both changed differently is a conflict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

MINE, BETWEEN, THEIRS = "<<<<<<< mine", "=======", ">>>>>>> theirs"
"""Lines around a conflict, as git writes them."""


@dataclass(frozen=True, slots=True)
class Merged:
    """Result of a merge."""

    text: str
    """The merged text; each conflict has both sides between the lines `MINE`, `BETWEEN` and `THEIRS`."""
    conflicts: int


def merge(base: str, mine: str, theirs: str) -> Merged:
    """Merge two texts that were both made from `base`."""
    old, ours, other = (text.splitlines(keepends=True) for text in (base, mine, theirs))
    lines: list[str] = []
    conflicts = 0
    done = (0, 0, 0)
    for kept in _kept_by_both(old, ours, other):
        (b_end, b_next), (m_end, m_next), (t_end, t_next) = kept
        before, left, right = old[done[0] : b_end], ours[done[1] : m_end], other[done[2] : t_end]
        if right in (left, before):
            lines += left
        elif left == before:
            lines += right
        else:
            conflicts += 1
            lines += [f"{MINE}\n", *_ended(left), f"{BETWEEN}\n", *_ended(right), f"{THEIRS}\n"]
        lines += old[b_end:b_next]
        done = (b_next, m_next, t_next)
    return Merged("".join(lines), conflicts)


class Replaced(NamedTuple):
    """Lines of a text, counted from 0, and what stands in their place."""

    start: int
    end: int
    lines: list[str]


def replacements(old: str, new: str) -> list[Replaced]:
    """Return which lines make one text of another one; lines end at line feeds, as in the editor."""
    before, after = old.split("\n"), new.split("\n")
    opcodes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [Replaced(start, end, after[first:last]) for kind, start, end, first, last in opcodes if kind != "equal"]


_Span = tuple[int, int]


def _kept_by_both(
    old: Sequence[str], ours: Sequence[str], other: Sequence[str]
) -> Iterator[tuple[_Span, _Span, _Span]]:
    """Yield the spans of lines that both sides kept, in all three texts; the last ones are empty, at the ends."""
    # Without `autojunk`, which takes lines that a file has often, such as `utterances:`, for noise.
    mine = SequenceMatcher(None, old, ours, autojunk=False).get_matching_blocks()
    theirs = SequenceMatcher(None, old, other, autojunk=False).get_matching_blocks()
    first = second = 0
    while first < len(mine) and second < len(theirs):
        a, b = mine[first], theirs[second]
        start, end = max(a.a, b.a), min(a.a + a.size, b.a + b.size)
        if start < end:
            yield (
                (start, end),
                (a.b + start - a.a, a.b + end - a.a),
                (b.b + start - b.a, b.b + end - b.a),
            )
        # The block that ends first cannot meet any further one.
        if a.a + a.size < b.a + b.size:
            first += 1
        else:
            second += 1
    yield (len(old), len(old)), (len(ours), len(ours)), (len(other), len(other))


def _ended(lines: Sequence[str]) -> list[str]:
    """The lines, the last one with an end."""
    # The mark of a conflict stands on a line of its own.
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]
