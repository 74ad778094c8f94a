"""Exact search with torch, on a GPU; pays off for many rows and large batches of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intentmatch.core import plugins
from intentmatch.core.types import KeptVectors, Vectors
from intentmatch.encoders import hub
from intentmatch.index.exact import ExactIndex


class DeviceIndex(ExactIndex):
    """Exact index with a copy of the rows on a device, where batches of queries are scored.

    `device` is as in the setting `device`. Raises `MissingExtraError` without torch, and `SettingsError` if there is no
    such device.
    """

    def __init__(self, vectors: KeptVectors, owners: Sequence[int], aggregation: str, device: str = "auto") -> None:
        super().__init__(vectors, owners, aggregation)
        self._torch: Any = plugins.require("torch", what="The index torch", extra="torch")
        self.device = hub.device(device)
        self._rows = self._torch.tensor(self.vectors, dtype=self._torch.float32, device=self.device)
        numbers = np.repeat(np.arange(len(self.owners)), self._sizes)
        self._column_of_row = self._torch.tensor(numbers, device=self.device)

    def _scores_of(self, queries: Vectors, columns: slice, rows: slice) -> Vectors:
        torch = self._torch
        cosines = torch.tensor(queries, device=self.device) @ self._rows[rows].T
        places = (self._column_of_row[rows] - columns.start).expand_as(cosines)
        nothing = torch.full((len(queries), columns.stop - columns.start), -torch.inf, device=self.device)
        best = nothing.scatter_reduce(1, places, cosines, "amax")
        if self._aggregation == "mean2":
            is_best = cosines == best.gather(1, places)
            second = nothing.scatter_reduce(1, places, cosines.masked_fill(is_best, -torch.inf), "amax")
            # As in `exact._second`: with no other row, or one that ties, the best is the second too.
            alone = second.isneginf() | (torch.zeros_like(best).scatter_add(1, places, is_best.to(best.dtype)) > 1)
            best = (best + torch.where(alone, best, second)) / 2
        scores: Vectors = best.cpu().numpy()
        return scores
