"""Vectors of single pieces from the embedded model, which word alignment uses whatever the encoder."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.core.types import Vectors
from intentmatch.pieces.embedded import EMBEDDED
from intentmatch.storage.safetensors import tensors_within

DIM = 64
"""Dimensions of a piece's vector: the first of the embedded model's, whose variance falls from first to last. On
development sets 48 to 96 separate out-of-scope messages as well as all 256, in a quarter of the time."""

# Some rare characters have no weight in the model. So a text of them still has a length.
_LEAST_LENGTH = np.float32(1e-6)


class PieceVectors:
    """Unit vectors of the embedded tokenizer's pieces. Immutable, safe to use from many threads."""

    def __init__(self, rows: NDArray[Any], row_of_piece: NDArray[Any], weights: NDArray[np.float32]) -> None:
        self._rows, self._row_of_piece, self._weights = rows[:, :DIM], row_of_piece, weights

    def unit(self, pieces: NDArray[np.integer[Any]]) -> Vectors:
        """Return the unit vectors of pieces by their ids, shape `(len(pieces), DIM)`."""
        vectors: Vectors = self._rows[self._row_of_piece.take(pieces)].astype(np.float32)
        vectors /= np.sqrt(np.add.reduce(vectors * vectors, axis=1, keepdims=True))
        return vectors

    def lengths(self, pieces: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """Return the lengths that the vectors have in the model, shape `(len(pieces),)`: what counts is long.

        All are positive.
        """
        vectors = self._rows[self._row_of_piece.take(pieces)].astype(np.float32)
        lengths: NDArray[np.float32] = np.sqrt(np.add.reduce(vectors * vectors, axis=1)) * self._weights.take(pieces)
        return np.maximum(lengths, _LEAST_LENGTH, out=lengths)


@lru_cache(1)
def embedded_content() -> NDArray[np.uint8]:
    """Return the bytes of the embedded model's tensors, mapped into memory once per process.

    Only the pages in use take memory, and processes share them. Raises `ModelUnavailableError` if the file is missing
    or damaged.
    """
    file = EMBEDDED / "model.safetensors"
    try:
        with safe_open(file, framework="numpy"):
            return np.asarray(np.memmap(file, np.uint8, "r"))
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelUnavailableError(f"{file} is damaged ({error}); reinstall intentmatch") from None


@lru_cache(1)
def embedded_piece_vectors() -> PieceVectors:
    """Return the vectors of the embedded model, loaded once per process. Raises `ModelUnavailableError`."""
    tensors = tensors_within(embedded_content())
    return PieceVectors(tensors["embeddings"], tensors["mapping"], tensors["weights"])
