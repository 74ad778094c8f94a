"""What a small edit does to the registry's own lines: how many find their intent when they are left out.

Each line is compared with all others by cosine similarity, as `lint` does. That takes milliseconds for an edit, so that
hundreds can be compared; `authoring.effect` measures one edit on real answers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from intentmatch.index import ExactIndex
from intentmatch.learning.near_duplicates import SAME_TEXT
from intentmatch.lint.subject import Subject
from intentmatch.runtime import steps
from intentmatch.runtime.block_sizes import LINT_ROWS

_Numbers = NDArray[np.float32]
# An edit changes the scores of two intents: of three best ones, one is always unchanged.
_BEST = 3


class LeftOutScores:
    """Scores of every line against the registry without the line."""

    def __init__(self, subject: Subject) -> None:
        """The subject has one utterance per line, as `Subject.per_line`."""
        self._vectors, self._owners = subject.vectors, subject.owners
        self._aggregation = subject.aggregation
        count, intents = len(subject.lines), len(subject.registry)
        best = min(_BEST, intents)
        self._columns = np.zeros((count, best), dtype=np.int64)
        self._scores = np.full((count, best), -np.inf, dtype=np.float32)
        index = ExactIndex(self._vectors, self._owners.tolist(), self._aggregation) if count else None
        for start in range(0, count if index else 0, LINT_ROWS):
            steps.report("weighing mends", start, count)
            rows = slice(start, min(start + LINT_ROWS, count))
            scores = np.full((rows.stop - start, intents), -np.inf, dtype=np.float32)
            if index is not None:
                scores[:, index.owners] = index.aggregate(self._cosines(rows, slice(None)))
            order = np.argsort(-scores, axis=1, kind="stable")[:, :best]
            self._columns[rows] = order
            self._scores[rows] = np.take_along_axis(scores, order, axis=1)
        self.right: NDArray[np.bool_] = (self._columns[:, :1] == self._owners[:, None]).any(axis=1)
        """Whether each line finds its own intent, shape `(lines,)`."""

    def misread(self, *intents: int) -> int:
        """Return the number of lines of these intents that another intent takes."""
        return int((~self.right & np.isin(self._owners, intents)).sum())

    def gain(self, row: int, to: int | None) -> int:
        """Return how many more lines find their intent if a line moves to an intent, or is removed (None).

        The line itself does not count: it would find the intent that it was moved to because it was moved there.
        """
        source = int(self._owners[row])
        changed = {source: np.setdiff1d(np.flatnonzero(self._owners == source), [row])}
        if to is not None:
            changed[to] = np.append(np.flatnonzero(self._owners == to), row)
        everything = np.arange(len(self._owners))
        # The best intent that does not change, and then those that do.
        unchanged = ~np.isin(self._columns, list(changed))
        first = unchanged.argmax(axis=1)
        there = unchanged.any(axis=1)
        best = np.where(there, self._scores[everything, first], -np.inf)
        found = np.where(there, self._columns[everything, first], -1)
        # One product of matrices for all lines of both intents takes less time than one for each.
        cosines = self._cosines(slice(None), np.concatenate(list(changed.values())))
        begin = 0
        for intent, rows in changed.items():
            scores = self._aggregated(cosines[:, begin : begin + len(rows)])
            begin += len(rows)
            # Of equal scores the first intent wins, as with `argsort` above.
            ahead = (scores > best) | ((scores == best) & (intent < found))
            best, found = np.where(ahead, scores, best), np.where(ahead, intent, found)
        counted = everything != row
        return int(((found == self._owners) & counted).sum()) - int((self.right & counted).sum())

    def _cosines(self, rows: slice, others: NDArray[np.int64] | slice) -> _Numbers:
        # A slice of the vectors is a view: copies of all of them would take most of the time.
        cosines: _Numbers = self._vectors[rows] @ self._vectors[others].T
        cosines[cosines > SAME_TEXT] = -np.inf
        return cosines

    def _aggregated(self, cosines: _Numbers) -> _Numbers:
        """Return the score of one intent from the cosines of its lines, shape `(lines,)`."""
        if not cosines.shape[1]:
            return np.full(len(cosines), -np.inf, dtype=np.float32)
        best: _Numbers = cosines.max(axis=1)
        if self._aggregation == "max" or cosines.shape[1] < 2:
            return best
        second: _Numbers = np.partition(cosines, -2, axis=1)[:, -2]
        return np.where(np.isneginf(second), best, (best + second) / np.float32(2.0))
