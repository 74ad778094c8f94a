"""From a message's vector to a score for every intent, or for those that are worth a look."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from intentmatch.index.approximate import ApproximateIndex, check_extra, make_graph
from intentmatch.index.exact import ExactIndex
from intentmatch.types import Vectors

__all__ = ["ApproximateIndex", "ExactIndex", "check_extra", "load_index", "make_graph"]


def load_index(
    kind: str, vectors: Vectors, owners: Sequence[int], aggregation: str, graph: NDArray[np.uint8] | None
) -> ExactIndex:
    """The index that the setting `index` names. Raises `MissingExtraError`."""
    if kind == "exact":
        return ExactIndex(vectors, owners, aggregation)
    return ApproximateIndex(vectors, owners, aggregation, graph)
