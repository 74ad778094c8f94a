"""Correlation of two series of numbers: Pearson's, and Spearman's of the ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def pearson(one: Sequence[float] | NDArray[np.float64], other: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Return the correlation coefficient of Pearson (1895), -1 to 1; None if a series is constant or has one number.

    Raises `ValueError` if the series differ in length.
    """
    x, y = (np.asarray(numbers, dtype=np.float64) for numbers in (one, other))
    if x.shape != y.shape:
        raise ValueError(f"series of {len(x)} and {len(y)} numbers have no correlation")
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    x, y = x - x.mean(), y - y.mean()
    # Divided by each norm in turn, so that no product of large numbers overflows.
    return float(np.clip((x / np.linalg.norm(x)) @ (y / np.linalg.norm(y)), -1.0, 1.0))


def spearman(one: Sequence[float] | NDArray[np.float64], other: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Return the rank correlation of Spearman (1904): Pearson's of the ranks; None as for `pearson`.

    Raises `ValueError` if the series differ in length.
    """
    return pearson(ranks(one), ranks(other))


def ranks(numbers: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each number from 1 on, shape `(numbers,)`. Equal numbers share the mean of their ranks."""
    values = np.asarray(numbers, dtype=np.float64)
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((last - counts + 1 + last) / 2)[place]
