"""Exact search: one matrix product over every row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import KeptVectors, Vectors
from intentmatch.index.products import products
from intentmatch.runtime.block_sizes import SEARCH_COSINES, SEARCH_QUERIES


class ExactIndex:
    """Rows of unit vectors, grouped by owner; an owner is an intent's position in the registry.

    `vectors` has shape `(rows, dim)`, of float32 or float16; `owners[row]` never falls from one row to the next.
    """

    def __init__(self, vectors: KeptVectors, owners: Sequence[int], aggregation: str = "mean2") -> None:
        self.vectors = np.ascontiguousarray(vectors)
        self._of_one, self._of_many = products(self.vectors)
        owner_of_row = np.asarray(owners, dtype=np.int64)
        self.owners, self._starts = np.unique(owner_of_row, return_index=True)
        """`owners` lists each owner once, in the order of the columns that `scores` returns."""
        ends = np.append(self._starts[1:], len(owner_of_row))
        self._sizes = ends - self._starts
        self._spans = list(map(slice, self._starts.tolist(), ends.tolist()))
        self._parts = [self.vectors[span] for span in self._spans]
        self._aggregation = aggregation

    def scores(self, queries: Vectors) -> tuple[Vectors, Vectors]:
        """Cosine of each query to each owner, shape `(queries, owners)`, and to each row, `(queries, rows)`."""
        cosines = self._of_many(queries, self.vectors)
        return self.aggregate(cosines), cosines

    def aggregate(self, cosines: Vectors) -> Vectors:
        """Cosines to rows, shape `(queries, rows)`, as one score for each owner, shape `(queries, owners)`.

        A cosine of -inf stands for a row that is left out; so does the score of an owner without any other.
        """
        if not len(self.owners):
            return np.empty((len(cosines), 0), dtype=np.float32)
        return self._aggregated(cosines, self._starts, self._sizes)

    def _aggregated(self, cosines: Vectors, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Vectors:
        best: Vectors = np.maximum.reduceat(cosines, starts, axis=1)
        if self._aggregation == "max":
            return best
        mean: Vectors = (best + _second(cosines, best, starts, sizes)) / np.float32(2.0)
        return mean

    def search(self, query: NDArray[np.float32], count: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The `count` nearest rows, best first, and their cosines; of equal rows the earlier lead."""
        cosines = self._of_one(self.vectors, query)
        rows = np.argsort(-cosines, kind="stable")[:count]
        return rows, cosines[rows]

    def best_owners(
        self, queries: Vectors, count: int, among: NDArray[np.int64] | None = None
    ) -> list[NDArray[np.int64]]:
        """For each query the columns of the owners worth a look, of those `among`, or of all: the `count` that lead."""
        some = [queries[start : start + SEARCH_QUERIES] for start in range(0, len(queries), SEARCH_QUERIES)]
        return [leaders for queries_of in some for leaders in self._leaders(queries_of, count, among)]

    def _leaders(self, queries: Vectors, count: int, among: NDArray[np.int64] | None) -> NDArray[np.int64]:
        scores = np.empty((len(queries), len(self.owners)), dtype=np.float32)
        for columns, rows in self._blocks(SEARCH_COSINES // len(queries)):
            scores[:, columns] = self._scores_of(queries, columns, rows)
        if among is not None:
            scores = scores[:, among]
        order = np.argpartition(-scores, min(count, scores.shape[1]) - 1, axis=1)[:, :count]
        return order if among is None else among[order]

    def _blocks(self, rows: int) -> Iterator[tuple[slice, slice]]:
        """All columns, and their rows, in blocks of about so many rows."""
        begin = 0
        while begin < len(self.owners):
            end = max(begin + 1, int(np.searchsorted(self._starts, self._starts[begin] + rows)))
            yield slice(begin, end), slice(self._spans[begin].start, self._spans[end - 1].stop)
            begin = end

    def _scores_of(self, queries: Vectors, columns: slice, rows: slice) -> Vectors:
        """The scores of a run of owners, whose rows these are, shape `(queries, columns)`."""
        starts = self._starts[columns]
        return self._aggregated(self._of_many(queries, self.vectors[rows]), starts - starts[0], self._sizes[columns])

    def score_column(self, query: NDArray[np.float32], column: int) -> tuple[float, int]:
        """The score of one owner (by its column) and the row that is nearest, without a look at the others."""
        cosines = self._of_one(self._parts[column], query)
        nearest = int(cosines.argmax())
        best = float(cosines[nearest])
        if self._aggregation == "mean2" and len(cosines) > 1:
            cosines[nearest] = -np.inf
            best = (best + float(cosines[cosines.argmax()])) / 2.0
        return best, self._spans[column].start + nearest

    def score_column_many(self, queries: Vectors, column: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """As `look` for each of some queries: scores and nearest rows, shapes `(queries,)`."""
        cosines = self._of_many(queries, self._parts[column])
        nearest = cosines.argmax(axis=1)
        each = np.arange(len(queries))
        best: NDArray[np.float32] = cosines[each, nearest]
        if self._aggregation == "mean2" and cosines.shape[1] > 1:
            cosines[each, nearest] = -np.inf
            best = (best + cosines.max(axis=1)) / np.float32(2.0)
        return best, self._spans[column].start + nearest

    def centres(self) -> Vectors:
        """The mean of each owner's vectors, shape `(owners, dim)`."""
        # One by one, because `reduceat` along the rows takes several times as long.
        means = np.empty((len(self._spans), self.vectors.shape[1]), dtype=np.float32)
        for mean, part in zip(means, self._parts, strict=True):
            part.mean(axis=0, dtype=np.float32, out=mean)
        return means

    def nearest(self, cosines: NDArray[np.float32], column: int) -> int:
        """The row of an owner (by its column) that lies nearest to one query, given that query's cosines."""
        span = self._spans[column]
        return span.start + int(cosines[span].argmax())  # type: ignore[no-any-return]

    def nearest_rows(self, query: NDArray[np.float32], column: int, count: int) -> list[int]:
        """The `count` rows of an owner that are nearest to one query, best first; fewer where it has fewer."""
        order = np.argsort(-self._of_one(self._parts[column], query), kind="stable")[:count]
        return (self._spans[column].start + order).tolist()  # type: ignore[no-any-return]


def _second(cosines: Vectors, best: Vectors, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Vectors:
    """The second largest cosine of each owner; of an owner with one row, or one that counts, that row's."""
    is_best = cosines == np.repeat(best, sizes, axis=1)
    second = np.maximum.reduceat(np.where(is_best, np.float32(-np.inf), cosines), starts, axis=1)
    tied = np.add.reduceat(is_best, starts, axis=1, dtype=np.int64) > 1
    return np.where(tied | np.isneginf(second), best, second)
