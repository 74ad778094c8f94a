"""Rules about lines that are too near to another line or intent. One function per rule id, of the same name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.types import Utterance
from intentmatch.lint.catalogue import problem
from intentmatch.lint.moving import may_move
from intentmatch.lint.subject import Rows, Subject

# A line is misplaced if the other intent leads by more than two thirds of the 90th percentile of well-placed lines'
# leads. Measured on most development sets: 70 to 100 % of the lines moved to another intent at random are found, and
# 1 to 5 % of all other lines are reported, many of them rightly. With the median instead of the 90th percentile, a few
# more are found and two to four times as many are reported.
_QUANTILE = 0.9
_SHARE_OF_LEAD = 2.0 / 3.0
# Fewer errors than this between two intents may be noise of the encoder.
_FEWEST_ERRORS = 3
# From this error rate on, users who write like the author are misunderstood too often.
_OVERLAP = 0.1


class Overlap(NamedTuple):
    """Two intents, in the order of their names, with lines that are nearer to the other one."""

    first: str
    second: str
    errors: int
    """Lines of both that are nearer to the other intent when they are left out."""
    lines: int
    """Lines of both."""
    worst: Utterance
    """The line by which the other intent leads most."""
    near: Utterance
    """The line of the other intent that is nearest to `worst`."""
    location: Location
    """The place of the intent of `worst`."""


def misplaced_utterance(subject: Subject) -> Iterator[Problem]:
    """Find utterances that are much nearer to another intent than to their own."""
    left_out = subject.left_out
    for row in misplaced(subject):
        other = int(left_out.nearest[row])
        own, rival = subject.owner(row).name, subject.owner(other).name
        mine, theirs = left_out.own[row], left_out.own[row] + left_out.lead[row]
        message = (
            f"“{subject.lines[row].text}” is nearer to {rival!r} ({theirs:.2f}) than to its own {own!r} ({mine:.2f}): "
            f"see “{subject.lines[other].text}” at {subject.place(other).short}"
        )
        hint = f"give {own!r} more lines like it, or reword it"
        if may_move(subject, row):
            hint = f"give {own!r} more lines like it, reword it, or move it to {rival!r}"
        yield problem(subject.place(row), "misplaced-utterance", message, hint)


def overlapping_intents(subject: Subject) -> Iterator[Problem]:
    """Find pairs of intents that take each other's utterances: make the difference clear, or merge them."""
    found = overlaps(subject)
    for rank, pair in enumerate(found, 1):
        message = (
            f"{pair.first!r} and {pair.second!r} overlap: {pair.errors} of their {pair.lines} utterances are nearer to "
            f"the other intent (number {rank} of {len(found)} such pairs); the worst is “{pair.worst.text}” at "
            f"{_short(pair.worst)}, near “{pair.near.text}” at {_short(pair.near)}"
        )
        hint = (
            "give both more utterances like these, reword those that could mean both, or merge them if users mean alike"
        )
        yield problem(pair.location, "overlapping-intents", message, hint)


def near_conflict(subject: Subject) -> Iterator[Problem]:
    """Find nearly the same utterance in two intents."""
    for row, other in _pairs(subject, subject.near.across):
        own, rival = subject.owner(row).name, subject.owner(other).name
        message = (
            f"“{subject.lines[row].text}” of {own!r} is nearly the same as “{subject.lines[other].text}” of {rival!r} "
            f"({subject.place(other).short})"
        )
        yield problem(subject.place(row), "near-conflict", message, "remove or reword one of them")


def near_duplicate(subject: Subject) -> Iterator[Problem]:
    """Find utterances that are nearly the same as another one of their intent, and so add little."""
    for row, other in _pairs(subject, subject.near.within):
        first, where = subject.lines[other].text, subject.place(other).short
        message = f"“{subject.lines[row].text}” is nearly the same as “{first}” ({where})"
        hint = "replace it by an utterance with other words"
        yield problem(subject.place(row), "near-duplicate", message, hint)


def misplaced(subject: Subject) -> list[int]:
    """Return the rows of misplaced lines."""
    lead = subject.left_out.lead
    well_placed = -lead[lead < 0.0]
    if not len(well_placed):
        return []
    bound = _SHARE_OF_LEAD * float(np.quantile(well_placed, _QUANTILE))
    return [int(row) for row in np.flatnonzero(lead > bound)]


def overlaps(subject: Subject) -> list[Overlap]:
    """Return the pairs of intents that overlap, the pair with the most errors first."""
    left_out = subject.left_out
    wrong: dict[tuple[int, int], list[int]] = {}
    for row in np.flatnonzero(left_out.lead > 0.0):
        first, second = sorted((int(subject.owners[row]), int(left_out.rival[row])))
        wrong.setdefault((first, second), []).append(int(row))
    found = []
    for (first, second), rows in wrong.items():
        sizes = len(subject.rows(first)), len(subject.rows(second))
        lines = sum(sizes)
        # A single utterance has nothing of its own to be near to.
        if min(sizes) > 1 and len(rows) >= max(_FEWEST_ERRORS, _OVERLAP * lines):
            worst = max(rows, key=lambda row: float(left_out.lead[row]))
            names = subject.registry.intents[first].name, subject.registry.intents[second].name
            lines_of_worst = subject.lines[worst], subject.lines[left_out.nearest[worst]]
            place = subject.owner(worst).location or NOWHERE
            found.append(Overlap(*names, len(rows), lines, *lines_of_worst, place))
    # Names last, so that two runs list equal pairs in one order.
    return sorted(found, key=lambda pair: (-pair.errors, pair.lines, pair.first, pair.second))


def _pairs(subject: Subject, near: Rows) -> Iterator[tuple[int, int]]:
    """Yield each pair of lines once, even if many of their template sentences are near each other."""
    lines = subject.registry.lines
    seen: set[tuple[int, int]] = set()
    for row in np.flatnonzero(near >= 0).tolist():
        other = int(near[row])
        if (pair := (lines[row], lines[other])) not in seen:
            seen.add(pair)
            yield row, other


def _short(line: Utterance) -> str:
    return (line.location or NOWHERE).short
