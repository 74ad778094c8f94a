"""Exact search: one matrix product over every row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from intentmatch.types import Vectors

_NEAREST_OF_MEAN3 = 3


class ExactIndex:
    """Rows of unit vectors, grouped by owner; an owner is an intent's position in the registry.

    `vectors` has shape `(rows, dim)`; `owners[row]` never falls from one row to the next.
    """

    def __init__(self, vectors: Vectors, owners: Sequence[int], aggregation: str = "max") -> None:
        self.vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        owner_of_row = np.asarray(owners, dtype=np.int64)
        self.owners, self._starts = np.unique(owner_of_row, return_index=True)
        """`owners` lists each owner once, in the order of the columns that `scores` returns."""
        self._ends = np.append(self._starts[1:], len(owner_of_row))
        self._aggregation = aggregation

    def scores(self, queries: Vectors) -> tuple[Vectors, Vectors]:
        """Cosine of each query to each owner, shape `(queries, owners)`, and to each row, `(queries, rows)`."""
        cosines = queries @ self.vectors.T
        return self.aggregate(cosines), cosines

    def aggregate(self, cosines: Vectors) -> Vectors:
        """Cosines to rows, shape `(queries, rows)`, as one score for each owner, shape `(queries, owners)`."""
        if not len(self.owners):
            return np.empty((len(cosines), 0), dtype=np.float32)
        if self._aggregation == "max":
            best: Vectors = np.maximum.reduceat(cosines, self._starts, axis=1)
            return best
        return np.stack(
            [_mean_of_largest(cosines[:, start:end]) for start, end in zip(self._starts, self._ends, strict=True)], axis=1
        )

    def nearest(self, cosines: NDArray[np.float32], column: int) -> int:
        """The row of an owner (by its column) that lies nearest to one query, given that query's cosines."""
        start = int(self._starts[column])
        return start + int(np.argmax(cosines[start : self._ends[column]]))


def _mean_of_largest(cosines: Vectors) -> Vectors:
    """Mean of the three largest numbers of each row, of all where there are fewer."""
    count = min(_NEAREST_OF_MEAN3, cosines.shape[1])
    largest = np.partition(cosines, -count, axis=1)[:, -count:]
    mean: Vectors = largest.mean(axis=1, dtype=np.float32)
    return mean
