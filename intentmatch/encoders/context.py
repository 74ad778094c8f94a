"""The network of a static model: how much each piece of a text counts, and what the pieces mean together.

`context.safetensors` beside the model holds it; `distill/context.py` trains it. A convolution over a piece and its two
neighbours reads the rows of the model, and a second convolution reads the first. They give each piece a *salience* of
0 to 2, which is its factor in the sum, and the text a *residual*, which is added to the sum. What people write around a
request has little salience, and word order counts.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.core.types import Vectors
from intentmatch.pieces.embedded import EMBEDDED
from intentmatch.pieces.vectors import embedded_content
from intentmatch.runtime.block_sizes import CONTEXT_PIECES
from intentmatch.storage import atomic
from intentmatch.storage.regular_files import is_file
from intentmatch.storage.safetensors import tensors_within

FILE = "context.safetensors"
ALGORITHM = b"context/1"
"""Part of the fingerprint. Change it together with any code below that changes vectors."""

SIZE_SCALE = 0.2
LEAST_SIZE = 1e-4
"""The network reads the logarithm of a piece's length in the model, at least `LEAST_SIZE`, times `SIZE_SCALE`."""

_FIRST_CAPACITY = 1024
# The piece between two texts, the last of a table, whose numbers are all zero.
_GAP = -1


class Context:
    """The network with the table of its model. Safe to use from many threads.

    What the first layer makes of a piece does not depend on the text, so it is computed once per piece and then looked
    up, beside the piece's vector.
    """

    def __init__(
        self,
        tensors: Mapping[str, NDArray[Any]],
        rows: NDArray[Any],
        row_of_piece: NDArray[np.intp] | None,
        weights: NDArray[np.float32] | None,
    ) -> None:
        """Raises `ValueError` if a tensor is missing or does not fit the model."""
        self._rows, self._row_of_piece, self._weights = rows, row_of_piece, weights
        dim = rows.shape[1]
        width = len(tensors.get("first_bias", ()))
        shapes = {
            "first": (dim + 1, 3 * width),
            "first_bias": (width,),
            "second": (3 * width, width),
            "second_bias": (width,),
            "question": (2 * width, width),
            "question_bias": (width,),
            "salience_bias": (1,),
            "residual": (2 * width, dim),
        }
        for name, shape in shapes.items():
            if name not in tensors or tensors[name].shape != shape or not width:
                raise ValueError(f"its tensor {name!r} is missing or has the wrong shape")
        own = {name: np.ascontiguousarray(tensors[name], dtype=np.float32) for name in shapes}
        self._width, self._dim = width, dim
        self._first, self._first_bias = own["first"], own["first_bias"]
        self._second, self._second_bias = own["second"], own["second_bias"]
        self._question, self._question_bias = own["question"], own["question_bias"]
        self._salience_bias = float(own["salience_bias"][0])
        self._residual = own["residual"]
        pieces = len(rows) if row_of_piece is None else len(row_of_piece)
        self._place_of_piece = np.full(pieces + 1, -1, dtype=np.int32)
        self._place_of_piece[_GAP] = 0
        self._known = np.zeros((_FIRST_CAPACITY, 3 * width + dim), dtype=np.float32)
        self._count = 1
        self._last: tuple[tuple[int, ...], NDArray[np.float32], NDArray[np.float32]] | None = None
        self._lock = threading.Lock()

    def read(self, pieces: Sequence[int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the unit vector of a text, shape `(dim,)`, and the salience of each of its pieces; both read-only.

        The last text is remembered: encoder and word alignment ask for the same one.
        """
        key, last = tuple(pieces), self._last
        if last is not None and last[0] == key:
            return last[1:]
        found = self._read(np.array(key, dtype=np.intp))
        self._last = (key, *found)
        return found

    def _read(self, pieces: NDArray[np.intp]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Do what `read_many` does for one text, in less time."""
        width, count = self._width, len(pieces)
        looked_up = self._look_up(pieces)
        padded = np.zeros((count + 2, width), dtype=np.float32)
        x = padded[1:-1]
        x += looked_up[:, width : 2 * width]
        x[1:] += looked_up[:-1, :width]
        x[:-1] += looked_up[1:, 2 * width : 3 * width]
        np.maximum(x, 0.0, out=x)
        y = _windows(padded, count).dot(self._second)
        y += self._second_bias
        np.maximum(y, 0.0, out=y)
        y += x
        context = np.empty(2 * width, dtype=np.float32)
        np.full(count, 1 / count, dtype=np.float32).dot(y, out=context[:width])
        np.maximum.reduce(y, axis=0, out=context[width:])
        question = context.dot(self._question)
        question += self._question_bias
        salience = self._salience(y.dot(question))
        total = salience.dot(looked_up[:, 3 * width :])
        salience.dot(y, out=context[:width])
        context[:width] /= max(float(np.add.reduce(salience)), 1e-3)
        y *= salience[:, None]
        np.maximum.reduce(y, axis=0, out=context[width:])
        vector = context.dot(self._residual)
        vector += total / max(float(total.dot(total)) ** 0.5, 1e-12)
        vector /= max(float(vector.dot(vector)) ** 0.5, 1e-12)
        return vector, salience

    def read_many(self, texts: Sequence[Sequence[int]]) -> tuple[Vectors, NDArray[np.float32]]:
        """Return unit vectors of texts by their pieces, shape `(len(texts), dim)`, and the salience of all pieces.

        No text may be without pieces.
        """
        found = np.empty((len(texts), self._dim), dtype=np.float32)
        saliences = np.empty(sum(map(len, texts)), dtype=np.float32)
        ends = list(accumulate(map(len, texts)))
        start = 0
        while start < len(texts):
            before = ends[start - 1] if start else 0
            stop = start + 1
            while stop < len(texts) and ends[stop] - before <= CONTEXT_PIECES:
                stop += 1
            found[start:stop], saliences[before : ends[stop - 1]] = self._block(texts[start:stop])
            start = stop
        return found, saliences

    def _block(self, texts: Sequence[Sequence[int]]) -> tuple[Vectors, NDArray[np.float32]]:
        """Encode texts side by side, a gap after each. In a gap everything is zero."""
        width = self._width
        lengths = np.fromiter(map(len, texts), np.intp, len(texts))
        pieces = np.fromiter(
            chain.from_iterable((*text, _GAP) for text in texts), np.intp, int(lengths.sum()) + len(texts)
        )
        gaps = np.cumsum(lengths + 1) - 1
        starts = gaps - lengths
        looked_up = self._look_up(pieces)
        padded = np.zeros((len(pieces) + 2, width), dtype=np.float32)
        x = padded[1:-1]
        x += looked_up[:, width : 2 * width]
        x[1:] += looked_up[:-1, :width]
        x[:-1] += looked_up[1:, 2 * width : 3 * width]
        np.maximum(x, 0.0, out=x)
        x[gaps] = 0.0
        y = _windows(padded, len(pieces)).dot(self._second)
        y += self._second_bias
        np.maximum(y, 0.0, out=y)
        y += x
        y[gaps] = 0.0
        means = np.add.reduceat(y, starts, axis=0) / lengths[:, None].astype(np.float32)
        questions = np.concatenate([means, np.maximum.reduceat(y, starts, axis=0)], axis=1).dot(self._question)
        questions += self._question_bias
        salience = self._salience(np.einsum("ij,ij->i", y, np.repeat(questions, lengths + 1, axis=0)))
        salience[gaps] = 0.0
        y *= salience[:, None]
        counts = np.add.reduceat(salience, starts)[:, None].clip(1e-3)
        pooled = np.concatenate(
            [np.add.reduceat(y, starts, axis=0) / counts, np.maximum.reduceat(y, starts, axis=0)], 1
        )
        own = looked_up[:, 3 * width :]
        own *= salience[:, None]
        vectors: Vectors = _unit(np.add.reduceat(own, starts, axis=0))
        vectors += pooled.dot(self._residual)
        return _unit(vectors), np.delete(salience, gaps)

    def _salience(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        scores += self._salience_bias
        np.negative(scores, out=scores)
        np.exp(scores, out=scores)
        scores += 1.0
        return np.divide(2.0, scores, out=scores)

    def _look_up(self, pieces: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return what the first layer makes of each piece, and the piece's vector; a copy."""
        known, places = self._known, self._place_of_piece.take(pieces)
        if places.min() < 0:
            with self._lock:
                self._add(np.unique(pieces[places < 0]))
                known, places = self._known, self._place_of_piece.take(pieces)
        return known.take(places, axis=0)

    def _add(self, pieces: NDArray[np.intp]) -> None:
        pieces = pieces[self._place_of_piece[pieces] < 0]
        rows = pieces if self._row_of_piece is None else self._row_of_piece[pieces]
        vectors = self._rows[rows].astype(np.float32)
        lengths = np.sqrt(np.add.reduce(vectors * vectors, axis=1)).clip(1e-6)
        weights = np.ones(len(pieces), np.float32) if self._weights is None else self._weights[pieces]
        sizes = np.log((lengths * weights).clip(LEAST_SIZE)) * SIZE_SCALE
        first = np.concatenate([vectors / lengths[:, None], sizes[:, None]], axis=1).dot(self._first)
        first[:, self._width : 2 * self._width] += self._first_bias
        end = self._count + len(pieces)
        if end > len(self._known):
            larger = np.empty((2 * end, self._known.shape[1]), dtype=np.float32)
            larger[: self._count] = self._known[: self._count]
            self._known = larger
        self._known[self._count : end, : 3 * self._width] = first
        self._known[self._count : end, 3 * self._width :] = vectors * weights[:, None]
        # Last, because other threads read a place without the lock.
        self._place_of_piece[pieces] = np.arange(self._count, end)
        self._count = end


@lru_cache(1)
def embedded_context() -> Context:
    """Return the network of the embedded model, loaded once per process. Raises `ModelUnavailableError`."""
    tensors = tensors_within(embedded_content())
    try:
        network = read_context(EMBEDDED)
        if network is None:
            raise ValueError(f"{FILE} is missing")
        mapping, weights = tensors["mapping"].astype(np.intp), tensors["weights"].astype(np.float32)
        return Context(network.tensors, tensors["embeddings"], mapping, weights)
    except ValueError as error:
        raise ModelUnavailableError(f"{EMBEDDED}: {error}; reinstall intentmatch") from None


class Network(NamedTuple):
    """The file of a network."""

    tensors: Mapping[str, NDArray[Any]]
    content: memoryview
    """Bytes of the file, for the fingerprint of the model."""


def read_context(folder: Path) -> Network | None:
    """Return the network of a model; None if the folder holds none. Raises `ValueError` if the file is damaged."""
    file = folder / FILE
    if not is_file(file):
        return None
    try:
        with safe_open(file, framework="numpy"):
            content = np.fromfile(file, dtype=np.uint8)
        return Network(tensors_within(content), content.data)
    except (SafetensorError, ValueError, OSError) as error:
        raise ValueError(f"{FILE} is damaged ({error})") from None


def save_context(folder: Path, tensors: Mapping[str, NDArray[np.float32]]) -> None:
    """Write the network of a model into its folder, as float16."""
    atomic.write_file(folder / FILE, save({name: tensor.astype(np.float16) for name, tensor in tensors.items()}))


def _windows(padded: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Return each row with the one before and after it, shape `(count, 3 * width)`, without a copy."""
    width = padded.shape[1]
    return np.ndarray((count, 3 * width), np.float32, padded, strides=padded.strides)


def _unit(vectors: Vectors) -> Vectors:
    vectors /= np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None].clip(1e-12)
    return vectors
