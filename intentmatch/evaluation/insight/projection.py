"""A map of vectors in two dimensions, on which neighbours stay together.

The method is t-SNE (van der Maaten and Hinton 2008, "Visualizing Data using t-SNE"), in the form that is fast for
thousands of points:

- attraction between the nearest neighbours alone, all with the same weight (Böhm, Berens and Kobak 2022,
  "Attraction-Repulsion Spectrum in Neighbor Embeddings");
- repulsion by Fourier transforms on a grid (Linderman et al. 2019, "Fast interpolation-based t-SNE for improved
  visualization of single-cell RNA-seq data"), here with linear weights between the points of the grid;
- the principal components as the start, which keeps the large structure and needs no random numbers (Kobak and Berens
  2019, "The art of using t-SNE for single-cell transcriptomics").
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.runtime import steps

Positions = NDArray[np.float64]
"""Positions on a map, shape `(points, 2)`."""

_NEIGHBOURS = 15
_ROUNDS, _EARLY_ROUNDS = 300, 100
# Attraction is stronger at first, so that groups form before they are pushed apart.
_EARLY_ATTRACTION = 12.0
_MOMENTUM, _EARLY_MOMENTUM = 0.8, 0.5
_LEAST_GAIN = 0.01
_START_SPREAD = 1e-2
# Distance between the points of the grid, in units of the map; the repulsion has a width of about 1.
_SPACING = 0.5
_CELLS = (16, 32, 48, 64, 96, 128, 160, 200, 256, 320, 400)
"""Sizes of the grid: of numbers with small factors, whose Fourier transforms are fast."""
_BLOCK = 1024
# Up to so many points the principal components alone are the map: each point would be a neighbour of most others.
_FEW = 60


def project(vectors: Vectors, *, rounds: int = _ROUNDS) -> Positions:
    """Return a position from -1 to 1 for each vector, shape `(rows, 2)`; near vectors get near positions.

    `vectors` has shape `(rows, dim)`, with rows of unit length or zero. Deterministic: the same vectors give the same
    map. 10,000 vectors take some seconds on one core.
    """
    start = _principal_components(vectors)
    if len(vectors) <= _FEW:
        return _scaled(start)
    edges = _neighbour_edges(vectors)
    deviation = max(float(start[:, 0].std()), 1e-12)
    return _scaled(_descend(start / deviation * _START_SPREAD, *edges, rounds=rounds))


def _principal_components(vectors: Vectors) -> Positions:
    """Return the first two principal components, shape `(rows, 2)`, with signs that do not depend on the library."""
    wide = np.asarray(vectors, dtype=np.float64)
    if not len(wide):
        return np.empty((0, 2))
    centred = wide - wide.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    axes = directions[:, ::-1][:, :2]
    # An eigenvector may point either way: the largest component is made positive.
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0.0, -1.0, 1.0)
    found = np.zeros((len(wide), 2))
    found[:, : axes.shape[1]] = centred @ axes
    return found


def _neighbour_edges(vectors: Vectors) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return pairs of neighbours in both directions, and the weight of each pair; all weights add up to 1.

    Each row has its nearest `_NEIGHBOURS` rows by cosine similarity; a pair counts twice if both are near each other.
    """
    count = len(vectors)
    each = min(_NEIGHBOURS, count - 1)
    nearest = np.empty((count, each), dtype=np.int64)
    for begin in range(0, count, _BLOCK):
        steps.report("finding neighbours", begin, count)
        rows = np.arange(begin, min(begin + _BLOCK, count))
        cosines = vectors[rows] @ vectors.T
        # A row is no neighbour of its own.
        cosines[np.arange(len(rows)), rows] = -np.inf
        nearest[rows] = _largest(cosines, each)
    one, other = np.repeat(np.arange(count, dtype=np.int64), each), nearest.ravel()
    # Each pair as one number, so that those in both directions can be counted.
    pairs, times = np.unique(np.concatenate([one * count + other, other * count + one]), return_counts=True)
    weights: NDArray[np.float64] = times / times.sum()
    return pairs // count, pairs % count, weights


def _largest(numbers: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the columns of the `count` largest numbers of each row, in any order; shape `(rows, count)`."""
    # Numbers are partitioned in a tenth of the time that their places take.
    least = np.partition(numbers, -count, axis=1)[:, -count]
    among = numbers >= least[:, None]
    for row in np.flatnonzero(np.count_nonzero(among, axis=1) > count):
        among[row] = False
        among[row, np.argpartition(-numbers[row], count - 1)[:count]] = True
    found: NDArray[np.int64] = np.flatnonzero(among).reshape(len(numbers), count) % numbers.shape[1]
    return found


def _descend(
    start: Positions, one: NDArray[np.int64], other: NDArray[np.int64], weights: NDArray[np.float64], *, rounds: int
) -> Positions:
    """Move positions down the gradient of the divergence between neighbours and positions, with momentum and gains.

    The learning rate is the number of points divided by the early attraction (Belkina et al. 2019, "Automated optimized
    parameters for T-distributed stochastic neighbor embedding"). Gains are those of Jacobs 1988.
    """
    position, count = start.copy(), len(start)
    velocity, gains = np.zeros_like(position), np.ones_like(position)
    rate = max(count / _EARLY_ATTRACTION, 1.0)
    begins = np.searchsorted(one, np.arange(count))
    neighbours = np.diff(begins, append=len(one))
    for turn in range(rounds):
        if turn % 10 == 0:
            steps.report("drawing the map", turn, rounds)
        # Few rounds still end with ones of normal attraction.
        early = turn < min(_EARLY_ROUNDS, rounds // 2)
        attraction = _attraction(position, begins, neighbours, other, weights)
        gradient = 4.0 * ((_EARLY_ATTRACTION if early else 1.0) * attraction - _repulsion(position))
        same = np.sign(gradient) == np.sign(velocity)
        gains = np.maximum(np.where(same, gains * 0.8, gains + 0.2), _LEAST_GAIN)
        velocity = (_EARLY_MOMENTUM if early else _MOMENTUM) * velocity - rate * gains * gradient
        position += velocity
        # Otherwise the whole map drifts.
        position -= position.mean(axis=0)
    return position


def _attraction(
    position: Positions,
    begins: NDArray[np.int64],
    neighbours: NDArray[np.int64],
    other: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> Positions:
    """Return the pull of the neighbours on each point, shape `(points, 2)`.

    `other` holds the neighbours of each point in turn; those of a point start at `begins`.
    """
    across, up = (np.repeat(axis, neighbours) - axis[other] for axis in position.T)
    pull = weights / (1.0 + across * across + up * up)
    return np.stack([np.add.reduceat(pull * away, begins) for away in (across, up)], axis=1)


def _repulsion(position: Positions) -> Positions:
    """Return the push of all points on each point, shape `(points, 2)`.

    The points are spread over the corners of their cells, and the kernels are convolved with them on the grid.
    """
    low = position.min(axis=0)
    span = float((position.max(axis=0) - low).max())
    cells = next((size for size in _CELLS if span < (size - 1) * _SPACING), _CELLS[-1])
    # A map wider than the largest grid gets a coarser one.
    spacing = max(_SPACING, span / (cells - 1.5))
    place = (position - low) / spacing
    corner = place.astype(np.intp)
    part = place - corner
    corners, shares = [], []
    for right, up in ((0, 0), (0, 1), (1, 0), (1, 1)):
        corners.append((corner[:, 0] + right) * cells + corner[:, 1] + up)
        across = part[:, 0] if right else 1.0 - part[:, 0]
        shares.append(across * (part[:, 1] if up else 1.0 - part[:, 1]))
    mass = np.bincount(np.concatenate(corners), np.concatenate(shares), cells * cells).reshape(cells, cells)
    # Twice the cells, so that the grid does not wrap around.
    spectrum = np.fft.rfft2(mass, (2 * cells, 2 * cells))
    felt = []
    for kernel in _kernels(cells, spacing):
        on_grid = np.fft.irfft2(spectrum * kernel, (2 * cells, 2 * cells))[:cells, :cells].ravel()
        felt.append(sum(share * on_grid[at] for share, at in zip(shares, corners, strict=True)))
    # What each point adds to the closeness at its own place is no push.
    total = max(float(felt[0].sum()) - _own_closeness(shares, spacing), 1e-12)
    return np.stack(felt[1:], axis=1) / total


def _own_closeness(shares: Sequence[NDArray[np.float64]], spacing: float) -> float:
    """Return the closeness of all points to themselves, after each was spread over the four corners of its cell."""
    low_left, up_left, low_right, up_right = shares
    same = sum(float((share * share).sum()) for share in shares)
    beside = float(((low_left + up_right) * (up_left + low_right)).sum())
    across = float((low_left * up_right + up_left * low_right).sum())
    return same + 2.0 * beside / (1.0 + spacing**2) + 2.0 * across / (1.0 + 2.0 * spacing**2)


@lru_cache(maxsize=2 * len(_CELLS))
def _kernels(cells: int, spacing: float) -> tuple[NDArray[np.complex128], ...]:
    """Return the transforms of the closeness of two points, and of the push along each axis."""
    size = 2 * cells
    offset = np.fft.fftfreq(size, 1.0 / size) * spacing
    closeness = 1.0 / (1.0 + offset[:, None] ** 2 + offset[None, :] ** 2)
    kernels = closeness, offset[:, None] * closeness**2, offset[None, :] * closeness**2
    return tuple(np.fft.rfft2(kernel) for kernel in kernels)


def _scaled(position: Positions) -> Positions:
    """Return the positions moved and scaled into the square from -1 to 1."""
    if not len(position):
        return position
    low, high = position.min(axis=0), position.max(axis=0)
    scaled: Positions = (position - (low + high) / 2.0) / max(float((high - low).max()) / 2.0, 1e-12)
    return scaled
