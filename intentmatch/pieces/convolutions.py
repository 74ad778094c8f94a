"""Two convolutions over the pieces of a text, with which the networks of this package begin.

The first reads the row of a piece and of its two neighbours, the second what the first makes of them. What the first
makes of a piece does not depend on the text, so it is computed once per piece and then looked up. The second may pass
through fewer numbers (`widened` makes as many of them again), which saves most of its time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SIZE_SCALE = 0.2
LEAST_SIZE = 1e-4
"""The network reads the logarithm of a piece's length in the model, at least `LEAST_SIZE`, times `SIZE_SCALE`."""

GAP = -1
"""The piece between two texts, the last of a table, whose numbers are all zero."""

# An array, because numpy would convert a number each time.
_ZERO = np.zeros((), dtype=np.float32)
_FIRST_CAPACITY = 1024
_CACHED_WEIGHTS = 256
_TOGETHER = 8
# With 300 texts of 32 pieces, both ways of reducing them take the same time.
_LONG = 32


class Block(NamedTuple):
    """Texts side by side, a gap after each."""

    hidden: NDArray[np.float32]
    """What the convolutions make of each piece, shape `(pieces, width)`; zero in gaps."""
    vectors: NDArray[np.float32]
    """The vectors of the pieces in the model, shape `(pieces, dim)`, if they are kept; zero in gaps."""
    starts: NDArray[np.intp]
    """Where each text starts."""
    lengths: NDArray[np.intp]
    """Number of pieces of each text."""

    @property
    def gaps(self) -> NDArray[np.intp]:
        """Where the gaps are."""
        return self.starts + self.lengths

    def pooled(self) -> NDArray[np.float32]:
        """Return what `pooled` does for each text, shape `(texts, 2 * width)`."""
        sums, greatest = self.reduced(self.hidden, np.add, np.maximum)
        return np.concatenate([sums / self.lengths[:, None].astype(np.float32), greatest], axis=1)

    def reduced(self, rows: NDArray[np.float32], *how: np.ufunc) -> list[NDArray[np.float32]]:
        """Return what each function makes of the rows of each text's pieces, shape `(texts, numbers of a row)` each.

        For short texts the first pieces of all texts are taken together, then the second ones: this takes a tenth of
        the time of `reduceat`.
        """
        if self.lengths.max() > _LONG:
            begins = np.column_stack([self.starts, self.gaps]).ravel()
            return [function.reduceat(rows, begins, axis=0)[::2] for function in how]
        order = np.argsort(-self.lengths, kind="stable")
        begins, longest_first = self.starts[order], self.lengths[order]
        found = [rows.take(begins, axis=0) for _ in how]
        for place in range(1, longest_first.item(0)):
            longer = int(np.searchsorted(-longest_first, -place))
            some = rows.take(begins[:longer] + place, axis=0)
            for function, result in zip(how, found, strict=True):
                function(result[:longer], some, out=result[:longer])
        back = np.argsort(order, kind="stable")
        return [result.take(back, axis=0) for result in found]


class Convolutions:
    """The convolutions with the table of their model. Safe to use from many threads."""

    def __init__(
        self,
        tensors: Mapping[str, NDArray[Any]],
        rows: NDArray[Any],
        row_of_piece: NDArray[np.intp] | None,
        weights: NDArray[np.float32] | None,
        *,
        keeps_vectors: bool,
    ) -> None:
        """Raises `ValueError` if a tensor is missing or does not fit the model."""
        self._rows, self._row_of_piece, self._weights = rows, row_of_piece, weights
        self.width = width = len(tensors.get("first_bias", ()))
        dim = rows.shape[1]
        shapes = {"first": (dim + 1, 3 * width), "first_bias": (width,), "second": (3 * width, width)}
        if "widened" in tensors:
            narrow = tensors["widened"].shape[:1]
            shapes |= {"second": (3 * width, *narrow), "widened": (*narrow, width)}
        own = checked(tensors, {**shapes, "second_bias": (width,)})
        self._first, self._first_bias = own["first"], own["first_bias"]
        self._second, self._second_bias = own["second"], own["second_bias"]
        self._widened = own.get("widened")
        self._kept = dim if keeps_vectors else 0
        pieces = len(rows) if row_of_piece is None else len(row_of_piece)
        self._place_of_piece = np.full(pieces + 1, -1, dtype=np.int32)
        self._place_of_piece[GAP] = 0
        self._known = np.zeros((_FIRST_CAPACITY, 3 * width + self._kept), dtype=np.float32)
        self._count = 1
        self._lock = threading.Lock()

    def read(self, pieces: Sequence[int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return what is made of each piece of a text, shape `(pieces, width)`, and the vectors of the pieces."""
        looked_up = self._look_up(np.array([GAP, *pieces, GAP], dtype=np.intp))
        return self._hidden(looked_up), looked_up[1:-1, 3 * self.width :]

    def read_block(self, texts: Sequence[Sequence[int]]) -> Block:
        """Read texts side by side."""
        lengths = np.fromiter(map(len, texts), np.intp, len(texts))
        pieces = chain([GAP], chain.from_iterable((*text, GAP) for text in texts), [GAP])
        gaps = np.cumsum(lengths + 1) - 1
        looked_up = self._look_up(np.fromiter(pieces, np.intp, int(lengths.sum()) + len(texts) + 2))
        return Block(self._hidden(looked_up, gaps), looked_up[1:-1, 3 * self.width :], gaps - lengths, lengths)

    def _hidden(self, looked_up: NDArray[np.float32], gaps: NDArray[np.intp] | None = None) -> NDArray[np.float32]:
        """Return what the convolutions make of pieces in a row, between two gaps.

        The result is zero in `gaps`, which part texts from each other.
        """
        width, count = self.width, len(looked_up) - 2
        padded = np.zeros((count + 2, width), dtype=np.float32)
        x = np.add(looked_up[:-2, :width], looked_up[1:-1, width : 2 * width], out=padded[1:-1])
        x += looked_up[2:, 2 * width : 3 * width]
        np.maximum(x, _ZERO, out=x)
        if gaps is not None:
            x[gaps] = 0.0
        y: NDArray[np.float32] = _windows(padded, count).dot(self._second)
        if self._widened is not None:
            y = y.dot(self._widened)
        y += self._second_bias
        np.maximum(y, _ZERO, out=y)
        y += x
        if gaps is not None:
            y[gaps] = 0.0
        return y

    def _look_up(self, pieces: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return what the first layer makes of each piece, and the piece's vector; a copy."""
        # The places first: those that another thread adds may lie beyond the end of the table before.
        places, known = self._place_of_piece.take(pieces), self._known
        # Most texts have only pieces that were read before, and these need no lock.
        if places.item(places.argmin()) < 0:
            with self._lock:
                # Not `np.unique`, which imports the masked arrays of numpy.
                self._add(np.array(sorted({*pieces[places < 0].tolist()}), dtype=np.intp))
                known, places = self._known, self._place_of_piece.take(pieces)
        return known.take(places, axis=0)

    def _add(self, pieces: NDArray[np.intp]) -> None:
        pieces = pieces[self._place_of_piece[pieces] < 0]
        if not len(pieces):
            return  # another thread has added them
        rows = pieces if self._row_of_piece is None else self._row_of_piece[pieces]
        vectors = self._rows[rows].astype(np.float32)
        # Marks without a meaning have a vector of zeros.
        lengths = np.sqrt(np.add.reduce(vectors * vectors, axis=1)).clip(1e-6)
        weights = np.ones(len(pieces), np.float32) if self._weights is None else self._weights[pieces]
        sizes = np.log((lengths * weights).clip(LEAST_SIZE)) * SIZE_SCALE
        width = self.width
        first = _rows_alone(np.concatenate([vectors / lengths[:, None], sizes[:, None]], axis=1), self._first)
        first[:, width : 2 * width] += self._first_bias
        end = self._count + len(pieces)
        if end > len(self._known):
            # A new array instead of a resized one: other threads still read the old one. Doubling keeps the copies few.
            larger = np.empty((2 * end, self._known.shape[1]), dtype=np.float32)
            larger[: self._count] = self._known[: self._count]
            self._known = larger
        self._known[self._count : end, : 3 * width] = first
        if self._kept:
            self._known[self._count : end, 3 * width :] = vectors * weights[:, None]
        # Last, because other threads read a place without the lock.
        self._place_of_piece[pieces] = np.arange(self._count, end)
        self._count = end


def _rows_alone(rows: NDArray[np.float32], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return `rows @ matrix`, each row to the last bit the same whatever the others are.

    BLAS rounds a row otherwise among 3 rows than among 300: what is remembered of a piece would depend on the texts
    that a process has read before, and so would all that is trained. So each product has `_TOGETHER` rows.
    """
    count = len(rows)
    padded = np.zeros((-(-count // _TOGETHER), _TOGETHER, rows.shape[1]), dtype=np.float32)
    padded.reshape(-1, rows.shape[1])[:count] = rows
    return np.concatenate([some.dot(matrix) for some in padded])[:count]


def pooled(hidden: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the means of the numbers of a text's pieces, followed by the largest ones, shape `(2 * width,)`."""
    count, width = hidden.shape
    found = np.empty(2 * width, dtype=np.float32)
    _equal_weights(count).dot(hidden, out=found[:width])
    np.maximum.reduce(hidden, axis=0, out=found[width:])
    return found


@lru_cache(_CACHED_WEIGHTS)
def _equal_weights(count: int) -> NDArray[np.float32]:
    return np.full(count, 1 / count, dtype=np.float32)


def logistic(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn scores into probabilities, in their place."""
    np.negative(scores, out=scores)
    np.exp(scores, out=scores)
    scores += 1.0
    return np.reciprocal(scores, out=scores)


def blocks(texts: Sequence[Sequence[int]], pieces: int) -> Iterator[slice]:
    """Yield which texts are read together: as many as have so many pieces in all, at least one."""
    start = count = 0
    for number, text in enumerate(texts):
        if number > start and count + len(text) > pieces:
            yield slice(start, number)
            start, count = number, 0
        count += len(text)
    if start < len(texts):
        yield slice(start, len(texts))


def checked(
    tensors: Mapping[str, NDArray[Any]], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, NDArray[np.float32]]:
    """Return the tensors with these shapes. Raises `ValueError` if one is missing, empty or has another shape."""
    for name, shape in shapes.items():
        if name not in tensors or tensors[name].shape != shape or 0 in shape:
            raise ValueError(f"its tensor {name!r} is missing or has the wrong shape")
    return {name: np.ascontiguousarray(tensors[name], dtype=np.float32) for name in shapes}


def _windows(padded: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Return each row with the one before and after it, shape `(count, 3 * width)`, without a copy."""
    width = padded.shape[1]
    return np.ndarray((count, 3 * width), np.float32, padded, strides=padded.strides)
