"""Dot products of float32 queries with rows in float32 or float16; cosines, if all are unit vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.types import KeptVectors, Vectors
from intentmatch.runtime.block_sizes import HALF_PRODUCT_ROWS

HALF = {"what": "Keeping vectors as float16", "extra": "ann"}
"""Arguments of `plugins.require` for packages that float16 rows need."""


class Products(NamedTuple):
    """Functions that compute dot products of rows with one query or many. The caller may change the results."""

    one_query: Callable[[KeptVectors, NDArray[np.float32]], NDArray[np.float32]]
    """Rows of shape `(rows, dim)` and a query of shape `(dim,)` give shape `(rows,)`."""
    many_queries: Callable[[Vectors, KeptVectors], Vectors]
    """Queries of shape `(queries, dim)` and rows of shape `(rows, dim)` give shape `(queries, rows)`."""


def products(rows: KeptVectors) -> Products:
    """Return the functions for rows in float32 or float16. Raises `MissingExtraError` for float16 without numkong."""
    if rows.dtype == np.float16:
        half = _HalfProducts(plugins.require("numkong", **HALF))
        return Products(half.one_query, half.many_queries)
    # `dot` has half the overhead of `@`, which matters for few rows.
    return Products(np.ndarray.dot, _many_queries)


class _HalfProducts:
    """Dot products of float16 rows by numkong; numpy is slow at multiplying float16 and at converting it."""

    def __init__(self, numkong: Any) -> None:
        self._numkong = numkong

    def one_query(self, rows: KeptVectors, query: NDArray[np.float32]) -> NDArray[np.float32]:
        cosines = np.empty(len(rows), dtype=np.float32)
        # numkong multiplies only arrays of the same type.
        half = query[None].astype(np.float16)
        # float64 is numkong's own output type; writing float32 takes five times as long.
        output = np.empty((1, min(HALF_PRODUCT_ROWS, len(rows))), dtype=np.float64)
        for start in range(0, len(rows), HALF_PRODUCT_ROWS):
            block = rows[start : start + HALF_PRODUCT_ROWS]
            self._numkong.cdist(half, block, "dot", out=output[:, : len(block)])
            cosines[start : start + len(block)] = output[0, : len(block)]
        return cosines

    def many_queries(self, queries: Vectors, rows: KeptVectors) -> Vectors:
        if len(queries) == 1:
            return self.one_query(rows, queries[0])[None]
        wide = np.empty(rows.shape, dtype=np.float32)
        self._numkong.astype(rows, "float32", out=wide)
        return _many_queries(queries, wide)


def _many_queries(queries: Vectors, rows: KeptVectors) -> Vectors:
    cosines: Vectors = np.matmul(queries, rows.T)
    return cosines
