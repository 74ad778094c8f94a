"""Exact search: one matrix product over every row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.settings import Settings
from intentmatch.core.types import KeptVectors, Vectors
from intentmatch.index.products import products
from intentmatch.runtime.block_sizes import SEARCH_COSINES, SEARCH_QUERIES


class ExactIndex:
    """Exact search over unit vectors grouped by owner. An owner is an intent's position in the registry.

    `vectors` has shape `(rows, dim)`, float32 or float16. `owners` names the owner of each row, in ascending order.
    `aggregation` is "mean2" (mean of the two largest cosines) or "max". A column is an owner's position in `owners`.
    Raises `MissingExtraError` for float16 without numkong.
    """

    def __init__(self, vectors: KeptVectors, owners: Sequence[int], aggregation: str = Settings.aggregation) -> None:
        self.vectors = np.ascontiguousarray(vectors)
        self._one_query, self._many_queries = products(self.vectors)
        owner_of_row = np.asarray(owners, dtype=np.int64)
        self.owners, self._starts = np.unique(owner_of_row, return_index=True)
        """`owners` lists each owner once, in the order of the columns of `scores`."""
        ends = np.append(self._starts[1:], len(owner_of_row))
        self._sizes = ends - self._starts
        self._spans = list(map(slice, self._starts.tolist(), ends.tolist()))
        self._parts = [self.vectors[span] for span in self._spans]
        self._aggregation, self._is_mean = aggregation, aggregation == "mean2"

    def scores(self, queries: Vectors) -> tuple[Vectors, Vectors]:
        """Return the score of each owner, shape `(queries, owners)`, and the cosines, shape `(queries, rows)`."""
        cosines = self._many_queries(queries, self.vectors)
        return self.aggregate(cosines), cosines

    def aggregate(self, cosines: Vectors) -> Vectors:
        """Aggregate cosines of shape `(queries, rows)` to scores of shape `(queries, owners)`.

        A row with cosine -inf is left out. An owner whose rows are all left out scores -inf.
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
        """Return the `count` nearest rows, best first, and their cosines. Of equal rows, the first comes first."""
        cosines = self._one_query(self.vectors, query)
        rows = np.argsort(-cosines, kind="stable")[:count]
        return rows, cosines[rows]

    def best_owners(
        self, queries: Vectors, count: int, among: NDArray[np.int64] | None = None
    ) -> list[NDArray[np.int64]]:
        """Return, per query, the columns of the `count` owners with the highest scores, in any order.

        `among` restricts the search to some columns.
        """
        blocks = [queries[start : start + SEARCH_QUERIES] for start in range(0, len(queries), SEARCH_QUERIES)]
        return [columns for block in blocks for columns in self._best_columns(block, count, among)]

    def _best_columns(self, queries: Vectors, count: int, among: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Return the columns of the best owners, shape `(queries, count)`."""
        scores = np.empty((len(queries), len(self.owners)), dtype=np.float32)
        for columns, rows in self._blocks(SEARCH_COSINES // len(queries)):
            scores[:, columns] = self._scores_of(queries, columns, rows)
        if among is not None:
            scores = scores[:, among]
        order = np.argpartition(-scores, min(count, scores.shape[1]) - 1, axis=1)[:, :count]
        return order if among is None else among[order]

    def _blocks(self, rows: int) -> Iterator[tuple[slice, slice]]:
        """Yield all columns and their rows, in blocks of about `rows` rows."""
        begin = 0
        while begin < len(self.owners):
            end = max(begin + 1, int(np.searchsorted(self._starts, self._starts[begin] + rows)))
            yield slice(begin, end), slice(self._spans[begin].start, self._spans[end - 1].stop)
            begin = end

    def _scores_of(self, queries: Vectors, columns: slice, rows: slice) -> Vectors:
        """Return the scores of consecutive owners, shape `(queries, columns)`; `rows` are their rows."""
        starts = self._starts[columns]
        cosines = self._many_queries(queries, self.vectors[rows])
        return self._aggregated(cosines, starts - starts[0], self._sizes[columns])

    def score_column(self, query: NDArray[np.float32], column: int) -> tuple[float, int]:
        """Return the score of one owner, by its column, and its nearest row."""
        return self.score_columns(query, (column,))[0]

    def score_columns(self, query: NDArray[np.float32], columns: Iterable[int]) -> list[tuple[float, int]]:
        """Return what `score_column` returns for each of some columns."""
        parts, spans, product, is_mean = self._parts, self._spans, self._one_query, self._is_mean
        found = []
        for column in columns:
            cosines = product(parts[column], query)
            nearest = int(cosines.argmax())
            best: float = cosines.item(nearest)
            if is_mean and len(cosines) > 1:
                cosines[nearest] = -np.inf
                best = (best + cosines.item(cosines.argmax())) / 2.0
            found.append((best, spans[column].start + nearest))
        return found

    def score_rows(self, query: NDArray[np.float32], rows: Sequence[int]) -> tuple[float, int]:
        """Return the score that an owner would have with only these of its rows, and the nearest of them."""
        cosines = self._one_query(self.vectors[rows], query)
        order = np.argsort(-cosines, kind="stable")[:2]
        best = float(cosines[order[0]])
        if self._aggregation == "mean2" and len(order) > 1:
            best = (best + float(cosines[order[1]])) / 2.0
        return best, rows[int(order[0])]

    def score_column_many(self, queries: Vectors, column: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return the scores and nearest rows of one owner for many queries, both of shape `(queries,)`."""
        cosines = self._many_queries(queries, self._parts[column])
        nearest = cosines.argmax(axis=1)
        each = np.arange(len(queries))
        best: NDArray[np.float32] = cosines[each, nearest]
        if self._aggregation == "mean2" and cosines.shape[1] > 1:
            cosines[each, nearest] = -np.inf
            best = (best + cosines.max(axis=1)) / np.float32(2.0)
        return best, self._spans[column].start + nearest

    def centres(self) -> Vectors:
        """Return the mean of each owner's vectors, float32 of shape `(owners, dim)`, not scaled to unit length."""
        # A loop, because `reduceat` along the rows takes several times as long.
        means = np.empty((len(self._spans), self.vectors.shape[1]), dtype=np.float32)
        for mean, part in zip(means, self._parts, strict=True):
            part.mean(axis=0, dtype=np.float32, out=mean)
        return means

    def span(self, column: int) -> slice:
        """Return the rows of one owner, by its column."""
        return self._spans[column]

    def nearest(self, cosines: NDArray[np.float32], column: int) -> int:
        """Return an owner's nearest row, by its column, given the cosines of one query, shape `(rows,)`."""
        span = self._spans[column]
        return span.start + int(cosines[span].argmax())  # type: ignore[no-any-return]

    def nearest_rows(self, query: NDArray[np.float32], column: int, count: int) -> list[int]:
        """Return the `count` nearest rows of an owner, best first; fewer if it has fewer."""
        order = np.argsort(-self._one_query(self._parts[column], query), kind="stable")[:count]
        return (self._spans[column].start + order).tolist()  # type: ignore[no-any-return]


def _second(cosines: Vectors, best: Vectors, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Vectors:
    """Return the second largest cosine of each owner; the largest if no other row counts."""
    is_best = cosines == np.repeat(best, sizes, axis=1)
    second = np.maximum.reduceat(np.where(is_best, np.float32(-np.inf), cosines), starts, axis=1)
    # The mask takes every row with the largest cosine: where there are several, the largest is also the second largest.
    tied = np.add.reduceat(is_best, starts, axis=1, dtype=np.int64) > 1
    return np.where(tied | np.isneginf(second), best, second)
