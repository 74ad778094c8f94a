"""Exact search of rows of float16: a scan leaves most rows out, and the owners of the others are looked at.

An owner's score is at most the cosine of its nearest row. So where some owners reach a score, rows that lie further off
than that belong to none that does better by them. One pass finds the others in little more time than reading all takes:
it neither writes cosines down nor seeks the best one of every owner.
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

# Of fewer rows all cosines take less time than the looks that they spare.
_ROWS_TO_SCAN = 1 << 16
# A look rounds the query to float16, and a scan does not.
_APART = 1e-3


class HalfIndex(ExactIndex):
    """As `ExactIndex`, of rows of float16. Raises `MissingExtraError` without faiss."""

    def __init__(self, vectors: KeptVectors, owners: Sequence[int], aggregation: str) -> None:
        super().__init__(vectors, owners, aggregation)
        plugins.check_installed("faiss", **HALF)

    def best_owners(
        self, queries: Vectors, count: int, among: NDArray[np.int64] | None = None
    ) -> list[NDArray[np.int64]]:
        """As in `ExactIndex`; of one query, among all of many rows, by a scan."""
        if len(queries) == 1 and among is None and count < len(self.owners) and len(self.vectors) >= _ROWS_TO_SCAN:
            return [self._leaders_of(queries[0], count)]
        return super().best_owners(queries, count, among)

    def _leaders_of(self, query: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        near = np.argpartition(-(self._centres @ query), count)[:count]
        scores = {column: self.score_column(query, column)[0] for column in near.tolist()}
        least = min(scores.values())
        rows, cosines = self._scan.above(query, least - _APART)
        column_of_row = np.searchsorted(self._starts, rows, side="right") - 1
        columns, starts, sizes = np.unique(column_of_row, return_index=True, return_counts=True)
        at_most = self._aggregated(cosines[None], starts, sizes)[0]
        for place in np.argsort(-at_most):
            if at_most[place] < least - _APART:
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
    """By faiss, whose products do not wait for the memory; rows stay where they are."""

    def __init__(self, rows: KeptVectors) -> None:
        faiss = self._faiss = plugins.require("faiss", **HALF)
        self._codes = rows.view(np.uint8)
        dim = rows.shape[1]
        kind = faiss.ScalarQuantizer.QT_fp16
        # An index of one list without anything in it: what it is for is to say how a list is scanned.
        self._index = faiss.IndexIVFScalarQuantizer(
            faiss.IndexFlatIP(dim), dim, 1, kind, faiss.METRIC_INNER_PRODUCT, False
        )
        # A scanner is for one query at a time, and faiss never gives its memory back.
        self._idle: list[Any] = []

    def above(self, query: NDArray[np.float32], least: float) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The rows whose cosine to a query, shape `(dim,)`, is more than `least`, in their order, and those cosines."""
        at = self._faiss.swig_ptr
        of_all_queries = self._faiss.RangeSearchResult(1)
        found = self._faiss.RangeSearchPartialResult(of_all_queries)
        of_query = found.new_result(0)
        try:
            scanner = self._idle.pop()
        except IndexError:
            scanner = self._index.get_InvertedListScanner(True, None, None)
        try:
            scanner.set_query(at(query))
            scanner.set_list(0, 0.0)
            scanner.scan_codes_range(len(self._codes), at(self._codes), None, least, of_query)
        finally:
            self._idle.append(scanner)
        rows, cosines = np.empty(of_query.nres, dtype=np.int64), np.empty(of_query.nres, dtype=np.float32)
        found.copy_range(0, of_query.nres, at(rows), at(cosines))
        return rows, cosines
