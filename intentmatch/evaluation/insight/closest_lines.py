"""Pairs of intents that take each other's lines, with the closest lines of both side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from intentmatch.core.types import Utterance
from intentmatch.lint.moving import may_move
from intentmatch.lint.subject import Subject

MOST_PAIRS = 100
"""Pairs of intents that are returned at most."""
LINES = 6
"""Pairs of lines that are returned for each pair of intents."""


class Side(NamedTuple):
    """One of two lines that are close to each other."""

    intent: str
    line: Utterance
    misplaced: bool
    """Whether the line is nearer to the other intent than to its own, when it is left out."""
    movable: bool
    """Whether it may be moved to the other intent; see `lint.moving.may_move`."""


class ClosePair(NamedTuple):
    """A line of each intent."""

    first: Side
    second: Side
    cosine: float


@dataclass(frozen=True, slots=True)
class OverlappingIntents:
    """Two intents, in the order of the registry."""

    first: str
    second: str
    errors: tuple[int, int]
    """Lines of the first, and of the second, that are nearer to the other intent."""
    lines: tuple[int, int]
    """Lines of the first, and of the second."""
    closest: tuple[ClosePair, ...]
    """Misplaced lines beside the line that attracts them, then the closest other lines; the closest first."""

    @property
    def share(self) -> float:
        """Share of the lines of both that are nearer to the other intent."""
        return sum(self.errors) / sum(self.lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "intents": [self.first, self.second],
            "errors": list(self.errors),
            "utterances": list(self.lines),
            "closest": [
                {"cosine": round(pair.cosine, 4), "lines": [_side(pair.first), _side(pair.second)]}
                for pair in self.closest
            ],
        }


def overlapping_intents(subject: Subject, most: int = MOST_PAIRS, lines: int = LINES) -> list[OverlappingIntents]:
    """Return the pairs of intents with lines that are nearer to the other one, the pair with the most such lines first.

    `lint` reports only those pairs in which a tenth of the lines are; here one line suffices.
    """
    subject = subject.per_line
    left_out = subject.left_out
    wrong: dict[tuple[int, int], list[int]] = {}
    for row in np.flatnonzero(left_out.lead > 0.0).tolist():
        pair = sorted((int(subject.owners[row]), int(left_out.rival[row])))
        wrong.setdefault((pair[0], pair[1]), []).append(row)
    sizes = np.bincount(subject.owners, minlength=len(subject.registry)).tolist()

    def rank(pair: tuple[int, int]) -> tuple[int, int, tuple[int, int]]:
        return -len(wrong[pair]), sizes[pair[0]] + sizes[pair[1]], pair

    return [_overlap(subject, pair, set(wrong[pair]), lines) for pair in sorted(wrong, key=rank)[:most]]


def _overlap(subject: Subject, pair: tuple[int, int], wrong: set[int], most: int) -> OverlappingIntents:
    first, second = (subject.rows(intent) for intent in pair)
    cosines = subject.vectors[first] @ subject.vectors[second].T
    # Stable, so that equal cosines come in the order of the file.
    ranked = np.dstack(np.unravel_index(np.argsort(-cosines, axis=None, kind="stable"), cosines.shape))[0]
    pairs = [((int(first[one]), int(second[other])), float(cosines[one, other])) for one, other in ranked.tolist()]
    chosen: list[tuple[tuple[int, int], float]] = []
    shown = set[int]()
    for rows, cosine in pairs:
        # Misplaced lines first, each with the line that attracts it: they are why the pair is listed.
        stray = wrong.intersection(rows) - shown
        if stray and len(chosen) < most:
            shown |= stray
            chosen.append((rows, cosine))
    shown.update(row for rows, _ in chosen for row in rows)
    for rows, cosine in pairs:
        # Each line is shown once: an utterance that is close to everything would fill the list.
        if len(chosen) < most and shown.isdisjoint(rows):
            shown.update(rows)
            chosen.append((rows, cosine))
    names = [subject.registry.intents[intent].name for intent in pair]

    def side(row: int) -> Side:
        return Side(subject.owner(row).name, subject.lines[row], row in wrong, row in wrong and may_move(subject, row))

    return OverlappingIntents(
        names[0],
        names[1],
        (sum(row in wrong for row in first.tolist()), sum(row in wrong for row in second.tolist())),
        (len(first), len(second)),
        tuple(ClosePair(side(one), side(other), cosine) for (one, other), cosine in chosen),
    )


def _side(side: Side) -> dict[str, Any]:
    line = side.line
    place = line.location
    return {
        "intent": side.intent,
        "text": line.text,
        "language": line.language,
        "location": None if place is None else [place.path, place.line, place.column],
        "misplaced": side.misplaced,
    }
