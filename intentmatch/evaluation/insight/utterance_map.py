"""The map of all utterances: where each line lies among the others, and which ones look misplaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Utterance
from intentmatch.evaluation.insight.held_out_cases import HeldOutCases
from intentmatch.evaluation.insight.projection import Positions, project
from intentmatch.lint.moving import may_move
from intentmatch.lint.rules import misplaced
from intentmatch.lint.subject import Subject


@dataclass(frozen=True, eq=False)
class UtteranceMap:
    """A point for each line; of a template, its most typical sentence. Rows of all arrays are in the same order."""

    lines: tuple[Utterance, ...]
    intents: tuple[str, ...]
    """Names of all intents."""
    owners: NDArray[np.int64]
    """Position of the intent of each line, shape `(lines,)`."""
    positions: Positions
    """From -1 to 1, shape `(lines, 2)`."""
    neighbours: NDArray[np.int64]
    """Of a misplaced line, the nearest line of the intent that it is nearer to; otherwise -1. Shape `(lines,)`."""
    movable: frozenset[int] = frozenset()
    """Rows of misplaced lines that may be moved to that intent; see `lint.moving.may_move`."""

    @property
    def misplaced(self) -> list[int]:
        """The rows of misplaced lines."""
        rows: list[int] = np.flatnonzero(self.neighbours >= 0).tolist()
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values: names of intents and languages once, and numbers into them for each point."""
        languages = sorted({line.language or "" for line in self.lines})
        number = {code: place for place, code in enumerate(languages)}
        points = zip(self.lines, self.owners.tolist(), self.positions.tolist(), self.neighbours.tolist(), strict=True)
        return {
            "intents": list(self.intents),
            "languages": languages,
            "points": [
                {
                    "text": line.text,
                    "location": None if (at := line.location) is None else [at.path, at.line, at.column],
                    "intent": owner,
                    "language": number[line.language or ""],
                    "x": round(x, 4),
                    "y": round(y, 4),
                    "misplaced": near if near >= 0 else None,
                }
                for line, owner, (x, y), near in points
            ],
        }


def utterance_map(subject: Subject) -> UtteranceMap:
    """Return the map of a registry's lines. Deterministic; see `projection.project` for the method and its time."""
    per_line = subject.per_line
    neighbours = np.full(len(per_line.lines), -1)
    rows = misplaced(per_line)
    neighbours[rows] = per_line.left_out.nearest[rows]
    names = tuple(intent.name for intent in per_line.registry)
    movable = frozenset(row for row in rows if may_move(per_line, row))
    return UtteranceMap(per_line.lines, names, per_line.owners, project(per_line.vectors), neighbours, movable)


def misunderstood(shown: UtteranceMap, cases: HeldOutCases) -> NDArray[np.int64]:
    """Return the rows of the map whose lines another intent takes when they are held out, in rising order.

    A line of which a sentence was not held out counts as understood.
    """
    held_out = cases.held_out
    wrong = held_out.known & ~held_out.right & cases.of_lines
    lines = cases.registry.lines
    found = {_key(cases.registry.utterances[lines[row]]) for row in held_out.rows[wrong].tolist()}
    # Most lines differ in their words, which are compared in a tenth of the time.
    words = {key[1] for key in found}
    rows = [row for row, line in enumerate(shown.lines) if _words(line) in words and _key(line) in found]
    return np.array(rows, dtype=np.int64)


def _key(line: Utterance) -> tuple[object, ...]:
    """Return what the sentences of one line of the author have in common."""
    return (line.location, _words(line), None if line.template is not None else line.language)


def _words(line: Utterance) -> str:
    return line.text if line.template is None else line.template
