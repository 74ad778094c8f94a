"""Vector indexes: from a message's vector to a score for every intent, or for the nearest intents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.types import KeptVectors
from intentmatch.index.approximate import ApproximateIndex, make_graph
from intentmatch.index.device import DeviceIndex
from intentmatch.index.exact import ExactIndex
from intentmatch.index.half import HalfIndex
from intentmatch.index.products import HALF
from intentmatch.storage.postgres.address import Address

__all__ = ["ApproximateIndex", "DeviceIndex", "ExactIndex", "HalfIndex", "check_extras", "load_index", "make_graph"]


_EXTRAS = {"usearch": "ann", "torch": "torch", "pgvector": "postgres"}
"""Index (and package of the same name) to the extra that installs it."""


def check_extras(index: str, vectors: str) -> None:
    """Raise `MissingExtraError` if these values of the settings `index` and `vectors` need a missing package."""
    if index in _EXTRAS:
        plugins.check_installed(index, what=f"The index {index}", extra=_EXTRAS[index])
    if vectors == "float16":
        for package in ("numkong", "faiss"):
            plugins.check_installed(package, **HALF)


def load_index(
    kind: str,
    vectors: KeptVectors,
    owners: Sequence[int],
    aggregation: str,
    *,
    graph: NDArray[np.uint8] | None = None,
    device: str = "auto",
    database: Address | None = None,
) -> ExactIndex:
    """Create the index that the setting `index` names.

    `graph` serves "usearch" only, `device` "torch", and `database` "pgvector", which is exact without one.

    Raises `MissingExtraError`, `SettingsError` if there is no such device, or `DatabaseError`.
    """
    if kind == "pgvector" and database is not None:
        from intentmatch.index.pgvector import PgvectorIndex  # needs psycopg

        return PgvectorIndex(vectors, owners, aggregation, database)
    if kind == "usearch":
        return ApproximateIndex(vectors, owners, aggregation, graph)
    if kind == "torch":
        return DeviceIndex(vectors, owners, aggregation, device)
    if vectors.dtype == np.float16:
        return HalfIndex(vectors, owners, aggregation)
    return ExactIndex(vectors, owners, aggregation)
