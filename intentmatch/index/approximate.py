"""Approximate search: a graph of near neighbours (HNSW) says which owners are worth a look, and the look is exact.

Malkov & Yashunin 2018, "Efficient and robust approximate nearest neighbor search using hierarchical navigable small
world graphs". Rows are held in the graph as int8; whatever it finds is compared by the vectors themselves. It is made
by one thread, row by row, so that the same rows make the same graph.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.types import KeptVectors, Vectors
from intentmatch.index.exact import ExactIndex

_log = logging.getLogger(__name__)

# Of the ten nearest of a million rows, 99.4 in 100 are found so; with 256 for the search, 98.3 in half the time.
_CONNECTIVITY, _EXPANSION_ADD, _EXPANSION_SEARCH = 16, 128, 512
# Rows that are found, and owners that are looked at besides because their centres are near: a ranking needs rivals.
_ROWS, _CENTRES = 64, 8


def make_graph(vectors: KeptVectors) -> NDArray[np.uint8]:
    """The graph of rows of unit vectors, as bytes for a file. Raises `MissingExtraError`."""
    graph = _empty(vectors.shape[1])
    graph.add(np.arange(len(vectors)), vectors, threads=1)
    return np.frombuffer(bytes(graph.save()), dtype=np.uint8)


class ApproximateIndex(ExactIndex):
    """As `ExactIndex`, with a `graph` of its rows; without one, or with one of another usearch, it is made here."""

    def __init__(
        self, vectors: KeptVectors, owners: Sequence[int], aggregation: str, graph: NDArray[np.uint8] | None = None
    ) -> None:
        super().__init__(vectors, owners, aggregation)
        self._column_of_row = np.repeat(np.arange(len(self.owners)), self._sizes)
        self._centres = self.centres()
        # A search writes down in the graph what it has visited.
        self._one_at_a_time = threading.Lock()
        # The graph is looked at where it is, so that it must stay there.
        self._bytes, self._graph = self._viewed(graph)

    def search(self, query: NDArray[np.float32], count: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """As in `ExactIndex`, of the rows that the graph leads to."""
        with self._one_at_a_time:
            found = self._graph.search(query, max(count, _ROWS), threads=1).keys
        rows = np.sort(np.asarray(found, dtype=np.int64))
        cosines = self._of_one(self.vectors[rows], query)
        order = np.argsort(-cosines, kind="stable")[:count]
        return rows[order], cosines[order]

    def best_owners(
        self, queries: Vectors, count: int, among: NDArray[np.int64] | None = None
    ) -> list[NDArray[np.int64]]:
        """The columns of the owners of the nearest rows and nearest centres; `among` some, as in `ExactIndex`."""
        return (
            [self._nominated(query) for query in queries]
            if among is None
            else super().best_owners(queries, count, among)
        )

    def _nominated(self, query: NDArray[np.float32]) -> NDArray[np.int64]:
        rows, _ = self.search(query, _ROWS)
        near = self._centres @ query
        return np.union1d(self._column_of_row[rows], np.argsort(-near)[:_CENTRES])

    def _viewed(self, graph: NDArray[np.uint8] | None) -> tuple[NDArray[np.uint8], Any]:
        if graph is not None:
            viewed = _empty(self.vectors.shape[1])
            try:
                viewed.view(graph)
            except RuntimeError as error:
                _log.warning("the graph of the index cannot be used (%s); making it again", error)
            else:
                return graph, viewed
        made = make_graph(self.vectors)
        viewed = _empty(self.vectors.shape[1])
        viewed.view(made)
        return made, viewed


def _empty(dim: int) -> Any:
    usearch = plugins.require("usearch.index", what="The index usearch", extra="ann")
    return usearch.Index(
        ndim=dim,
        metric="ip",
        dtype="i8",
        connectivity=_CONNECTIVITY,
        expansion_add=_EXPANSION_ADD,
        expansion_search=_EXPANSION_SEARCH,
    )
