"""Cosines of messages to rows, in whatever numbers the rows are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.types import KeptVectors, Vectors
from intentmatch.runtime.block_sizes import HALF_PRODUCT_ROWS

HALF = {"what": "Keeping vectors as float16", "extra": "ann"}
"""Why a package is needed that rows of float16 want, and the extra that brings it."""


class Products(NamedTuple):
    """Of unit vectors, these are cosines."""

    of_one: Callable[[KeptVectors, NDArray[np.float32]], NDArray[np.float32]]
    """Of rows, shape `(rows, dim)`, with a query, shape `(dim,)`: shape `(rows,)`, for the caller to change."""
    of_many: Callable[[Vectors, KeptVectors], Vectors]
    """Of queries, shape `(queries, dim)`, with rows: shape `(queries, rows)`."""


def products(rows: KeptVectors) -> Products:
    """For rows of float32 or float16. Raises `MissingExtraError` for the latter where numkong is not installed."""
    if rows.dtype == np.float16:
        half = _HalfProducts(plugins.require("numkong", **HALF))
        return Products(half.of_one, half.of_many)
    # `dot` begins in half the time of `@`, which counts where there is little to do.
    return Products(np.ndarray.dot, _of_many)


class _HalfProducts:
    """By numkong, for numpy has no quick product of float16, nor a quick way to make float32 of it."""

    def __init__(self, numkong: Any) -> None:
        self._numkong = numkong

    def of_one(self, rows: KeptVectors, query: NDArray[np.float32]) -> NDArray[np.float32]:
        cosines = np.empty(len(rows), dtype=np.float32)
        half = query[None].astype(np.float16)
        # Of its own kind, for it takes five times as long to make float32 of each cosine.
        found = np.empty((1, min(HALF_PRODUCT_ROWS, len(rows))), dtype=np.float64)
        for start in range(0, len(rows), HALF_PRODUCT_ROWS):
            some = rows[start : start + HALF_PRODUCT_ROWS]
            self._numkong.cdist(half, some, "dot", out=found[:, : len(some)])
            cosines[start : start + len(some)] = found[0, : len(some)]
        return cosines

    def of_many(self, queries: Vectors, rows: KeptVectors) -> Vectors:
        if len(queries) == 1:
            return self.of_one(rows, queries[0])[None]
        wide = np.empty(rows.shape, dtype=np.float32)
        self._numkong.astype(rows, "float32", out=wide)
        return _of_many(queries, wide)


def _of_many(queries: Vectors, rows: KeptVectors) -> Vectors:
    cosines: Vectors = np.matmul(queries, rows.T)
    return cosines
