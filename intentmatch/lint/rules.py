"""Lines that another line or another intent claims. One function per rule id, named after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from intentmatch.core.errors import NOWHERE, Location, Problem
from intentmatch.core.types import Utterance
from intentmatch.lint.catalogue import problem
from intentmatch.lint.subject import Rows, Subject

# A line is misplaced where the other intent claims it by two thirds of what the clearest tenth of all rightly placed
# lines are claimed by their own. Of lines moved to another intent at random, 70 to 100 in 100 are found on most
# development sets, and 1 to 5 in 100 of all lines are reported besides, many of them with reason; at the median lead a
# few more are found and two to four times as many reported.
_CLEAR = 0.9
_FIRMLY = 2.0 / 3.0
# Fewer errors than this between two intents are a slip of the encoder and not an overlap.
_FEWEST_ERRORS = 3
# From this share of two intents' lines on, a user who writes as the author does is misunderstood too often.
_OVERLAP = 0.1


class Overlap(NamedTuple):
    """Two intents, in the order of their names, that claim each other's lines."""

    first: str
    second: str
    errors: int
    """Lines of either that, left out, are nearer to the other."""
    lines: int
    """Lines of both."""
    worst: Utterance
    """The line that is the furthest in the other intent."""
    near: Utterance
    """The line of that intent that it is nearest to."""
    location: Location
    """Of the intent that `worst` belongs to."""


def misplaced_utterance(subject: Subject) -> Iterator[Problem]:
    """An utterance belongs where its like are."""
    left_out = subject.left_out
    for row in misplaced(subject):
        other = int(left_out.nearest[row])
        own, rival = subject.owner(row).name, subject.owner(other).name
        mine, theirs = left_out.own[row], left_out.own[row] + left_out.lead[row]
        message = (
            f"“{subject.lines[row].text}” is nearer to {rival!r} ({theirs:.2f}) than to its own {own!r} ({mine:.2f}): "
            f"see “{subject.lines[other].text}” at {subject.place(other).short}"
        )
        hint = f"move it to {rival!r}, reword it, or give {own!r} more lines like it"
        yield problem(subject.place(row), "misplaced-utterance", message, hint)


def overlapping_intents(subject: Subject) -> Iterator[Problem]:
    """Two intents that take each other's utterances are one intent, or need a line drawn between them."""
    found = overlaps(subject)
    for rank, pair in enumerate(found, 1):
        message = (
            f"{pair.first!r} and {pair.second!r} overlap: {pair.errors} of their {pair.lines} utterances are nearer to "
            f"the other (number {rank} of {len(found)} such pairs); worst is “{pair.worst.text}” at "
            f"{_short(pair.worst)}, near “{pair.near.text}” at {_short(pair.near)}"
        )
        hint = "merge the two, give each what the other cannot say, or list the other's utterances under `not:`"
        yield problem(pair.location, "overlapping-intents", message, hint)


def near_conflict(subject: Subject) -> Iterator[Problem]:
    """Nearly the same utterance in two intents leaves little to tell them apart by."""
    for row, other in _pairs(subject, subject.near.across):
        own, rival = subject.owner(row).name, subject.owner(other).name
        message = (
            f"“{subject.lines[row].text}” of {own!r} says nearly what “{subject.lines[other].text}” of {rival!r} says "
            f"({subject.place(other).short})"
        )
        yield problem(subject.place(row), "near-conflict", message, "keep one of the two, or reword one")


def near_duplicate(subject: Subject) -> Iterator[Problem]:
    """An utterance that repeats another in other words teaches little."""
    for row, other in _pairs(subject, subject.near.within):
        first, where = subject.lines[other].text, subject.place(other).short
        message = f"“{subject.lines[row].text}” says nearly what “{first}” says ({where})"
        hint = "another way to say it, with other words, would teach more"
        yield problem(subject.place(row), "near-duplicate", message, hint)


def misplaced(subject: Subject) -> list[int]:
    """The rows of misplaced lines."""
    lead = subject.left_out.lead
    right = -lead[lead < 0.0]
    if not len(right):
        return []
    bound = _FIRMLY * float(np.quantile(right, _CLEAR))
    return [int(row) for row in np.flatnonzero(lead > bound)]


def overlaps(subject: Subject) -> list[Overlap]:
    """The pairs of intents that overlap, the one with the most errors first."""
    left_out = subject.left_out
    wrong: dict[tuple[int, int], list[int]] = {}
    for row in np.flatnonzero(left_out.lead > 0.0):
        first, second = sorted((int(subject.owners[row]), int(left_out.rival[row])))
        wrong.setdefault((first, second), []).append(int(row))
    found = []
    for (first, second), rows in wrong.items():
        lines = len(subject.rows(first)) + len(subject.rows(second))
        if len(rows) >= max(_FEWEST_ERRORS, _OVERLAP * lines):
            worst = max(rows, key=lambda row: float(left_out.lead[row]))
            names = subject.registry.intents[first].name, subject.registry.intents[second].name
            lines_of_worst = subject.lines[worst], subject.lines[left_out.nearest[worst]]
            place = subject.owner(worst).location or NOWHERE
            found.append(Overlap(*names, len(rows), lines, *lines_of_worst, place))
    return sorted(found, key=lambda pair: (-pair.errors, pair.lines, pair.first, pair.second))


def _pairs(subject: Subject, near: Rows) -> Iterator[tuple[int, int]]:
    """Each pair of lines once, however many of their sentences are near each other."""
    lines = subject.registry.lines
    told: set[tuple[int, int]] = set()
    for row in np.flatnonzero(near >= 0).tolist():
        other = int(near[row])
        if (pair := (lines[row], lines[other])) not in told:
            told.add(pair)
            yield row, other


def _short(line: Utterance) -> str:
    return (line.location or NOWHERE).short
