"""Exact search of float16 rows: a scan finds the rows above a bound, and only their owners are scored.

The score of an owner is at most the cosine of its nearest row. If `count` owners reach some score, rows with a lower
cosine cannot raise another owner above it. One scan finds the remaining rows in little more time than reading all rows
takes, because it neither stores cosines nor looks for the best row of every owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from heapq import nlargest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.types import KeptVectors, Vectors
from intentmatch.index.exact import ExactIndex
from intentmatch.index.products import HALF

# For fewer rows, computing all cosines is faster than a scan.
_LEAST_ROWS_TO_SCAN = 1 << 16
# Largest difference between cosines of a scan and of `score_column`, which rounds the query to float16.
_ROUNDING = 1e-3


class HalfIndex(ExactIndex):
    """Exact index of float16 rows. Raises `MissingExtraError` without faiss or numkong."""

    def __init__(self, vectors: KeptVectors, owners: Sequence[int], aggregation: str) -> None:
        super().__init__(vectors, owners, aggregation)
        plugins.check_installed("faiss", **HALF)

    def best_owners(
        self, queries: Vectors, count: int, among: NDArray[np.int64] | None = None
    ) -> list[NDArray[np.int64]]:
        """Return the same as `ExactIndex.best_owners`; a single query among many rows uses a scan."""
        # If all owners are wanted, no bound leaves a row out.
        scannable = len(queries) == 1 and among is None and count < len(self.owners)
        if scannable and len(self.vectors) >= _LEAST_ROWS_TO_SCAN:
            return [self._best_by_scan(queries[0], count)]
        return super().best_owners(queries, count, among)

    def _best_by_scan(self, query: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        near = np.argpartition(-(self._centres @ query), count)[:count]
        scores = {column: self.score_column(query, column)[0] for column in near.tolist()}
        least = min(scores.values())
        rows, cosines = self._scan.above(query, least - _ROUNDING)
        column_of_row = np.searchsorted(self._starts, rows, side="right") - 1
        columns, starts, sizes = np.unique(column_of_row, return_index=True, return_counts=True)
        # Upper bounds: rows below the bound are missing here, and could only lower a mean.
        bounds = self._aggregated(cosines[None], starts, sizes)[0]
        for place in np.argsort(-bounds):
            if bounds[place] < least - _ROUNDING:
                break
            if (column := int(columns[place])) not in scores:
                scores[column] = self.score_column(query, column)[0]
                least = nlargest(count, scores.values())[-1]
        return np.array(nlargest(count, scores, key=scores.__getitem__))

    @cached_property
    def _scan(self) -> Scan:
        return Scan(self.vectors)

    @cached_property
    def _centres(self) -> Vectors:
        return self.centres()


class Scan:
    """Scan of float16 rows by faiss, without a copy of the rows. Safe to use from many threads."""

    def __init__(self, rows: KeptVectors) -> None:
        faiss = self._faiss = plugins.require("faiss", **HALF)
        self._codes = rows.view(np.uint8)
        dim = rows.shape[1]
        kind = faiss.ScalarQuantizer.QT_fp16
        # An empty index; it is needed only to create scanners for this kind of vector.
        self._index = faiss.IndexIVFScalarQuantizer(
            faiss.IndexFlatIP(dim), dim, 1, kind, faiss.METRIC_INNER_PRODUCT, False
        )
        # A scanner serves one query at a time. Reuse scanners, because faiss never frees their memory.
        self._idle: list[Any] = []

    def above(self, query: NDArray[np.float32], least: float) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the rows whose cosine to a query of shape `(dim,)` exceeds `least`, in row order, and the cosines."""
        pointer = self._faiss.swig_ptr
        result = self._faiss.RangeSearchResult(1)
        partial_result = self._faiss.RangeSearchPartialResult(result)
        query_result = partial_result.new_result(0)
        try:
            scanner = self._idle.pop()
        except IndexError:
            scanner = self._index.get_InvertedListScanner(True, None, None)
        try:
            scanner.set_query(pointer(query))
            scanner.set_list(0, 0.0)
            scanner.scan_codes_range(len(self._codes), pointer(self._codes), None, least, query_result)
        finally:
            self._idle.append(scanner)
        count = query_result.nres
        rows, cosines = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.float32)
        partial_result.copy_range(0, count, pointer(rows), pointer(cosines))
        return rows, cosines
