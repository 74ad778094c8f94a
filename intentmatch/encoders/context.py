"""The network of a static model: how much each piece of a text counts, and what the pieces mean together.

`context.safetensors` beside the model holds it; `distill/context.py` trains it. A convolution over a piece and its two
neighbours reads the rows of the model, and a second convolution reads the first. They give each piece a *salience* of
0 to 2, which is its factor in the sum, and the text a *residual*, which is added to the sum. What people write around a
request has little salience, and word order counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.core.types import Vectors
from intentmatch.pieces.convolutions import Convolutions, blocks, checked, logistic, pooled
from intentmatch.pieces.embedded import EMBEDDED
from intentmatch.pieces.vectors import embedded_content
from intentmatch.runtime.block_sizes import CONTEXT_PIECES
from intentmatch.storage.regular_files import is_file
from intentmatch.storage.safetensors import tensors_within

FILE = "context.safetensors"
ALGORITHM = b"context/1"
"""Part of the fingerprint. Change it together with any code below, or in `Convolutions`, that changes vectors."""

# A sum of pieces that is shorter says nothing: its text has only blanks and marks without a vector.
_LEAST_LENGTH = 1e-6
# Fewer texts take less time one by one.
_FEWEST_IN_A_BLOCK = 4


class Context:
    """The network with the table of its model. Safe to use from many threads."""

    def __init__(
        self,
        tensors: Mapping[str, NDArray[Any]],
        rows: NDArray[Any],
        row_of_piece: NDArray[np.intp] | None,
        weights: NDArray[np.float32] | None,
    ) -> None:
        """Raises `ValueError` if a tensor is missing or does not fit the model."""
        self._convolutions = Convolutions(tensors, rows, row_of_piece, weights, keeps_vectors=True)
        self._width, self._dim = width, dim = self._convolutions.width, rows.shape[1]
        own = checked(
            tensors,
            {
                "question": (2 * width, width),
                "question_bias": (width,),
                "salience_bias": (1,),
                "residual": (2 * width, dim),
            },
        )
        self._question, self._question_bias = own["question"], own["question_bias"]
        self._salience_bias = float(own["salience_bias"][0])
        self._residual = own["residual"]
        self._last: tuple[tuple[int, ...], NDArray[np.float32], NDArray[np.float32]] | None = None

    def read(self, pieces: Sequence[int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the unit vector of a text, shape `(dim,)`, and the salience of each of its pieces; both read-only.

        The vector is zero if no piece has one.

        The last text is remembered: encoder and word alignment ask for the same one.
        """
        # Read once, because another thread may replace it between the comparison and the return.
        key, last = tuple(pieces), self._last
        if last is not None and last[0] == key:
            return last[1:]
        found = self._read(key)
        self._last = (key, *found)
        return found

    def _read(self, pieces: Sequence[int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Do what `read_many` does for one text, in less time."""
        width = self._width
        y, vectors = self._convolutions.read(pieces)
        context = pooled(y)
        question = context.dot(self._question)
        question += self._question_bias
        salience = self._salience(y.dot(question))
        total = salience.dot(vectors)
        mean = salience.dot(y, out=context[:width])
        mean /= max(float(np.add.reduce(salience)), 1e-3)
        y *= salience[:, None]
        np.maximum.reduce(y, axis=0, out=context[width:])
        length = float(total.dot(total)) ** 0.5
        if length < _LEAST_LENGTH:
            return np.zeros(self._dim, dtype=np.float32), salience
        vector = context.dot(self._residual)
        vector += total / length
        vector /= max(float(vector.dot(vector)) ** 0.5, 1e-12)
        return vector, salience

    def read_many(self, texts: Sequence[Sequence[int]]) -> tuple[Vectors, NDArray[np.float32]]:
        """Return unit vectors of texts by their pieces, shape `(len(texts), dim)`, and the salience of all pieces.

        No text may be without pieces.
        """
        found = np.empty((len(texts), self._dim), dtype=np.float32)
        saliences = np.empty(sum(map(len, texts)), dtype=np.float32)
        place = 0
        for some in blocks(texts, CONTEXT_PIECES if len(texts) >= _FEWEST_IN_A_BLOCK else 1):
            is_one = some.stop == some.start + 1
            found[some], salience = self.read(texts[some.start]) if is_one else self._block(texts[some])
            saliences[place : place + len(salience)] = salience
            place += len(salience)
        return found, saliences

    def _block(self, texts: Sequence[Sequence[int]]) -> tuple[Vectors, NDArray[np.float32]]:
        """Encode texts side by side, a gap after each. In a gap everything is zero."""
        block = self._convolutions.read_block(texts)
        y, starts, lengths, gaps = block.hidden, block.starts, block.lengths, block.gaps
        questions = block.pooled().dot(self._question)
        questions += self._question_bias
        salience = self._salience(np.einsum("ij,ij->i", y, np.repeat(questions, lengths + 1, axis=0)))
        salience[gaps] = 0.0
        y *= salience[:, None]
        counts = np.add.reduceat(salience, starts)[:, None].clip(1e-3)
        sums, greatest = block.reduced(y, np.add, np.maximum)
        weighed = np.concatenate([sums / counts, greatest], 1)
        own = block.vectors * salience[:, None]
        [vectors] = block.reduced(own, np.add)
        lengths_of_sums = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
        vectors /= lengths_of_sums.clip(_LEAST_LENGTH)
        vectors += weighed.dot(self._residual)
        vectors[lengths_of_sums[:, 0] < _LEAST_LENGTH] = 0.0
        return _unit(vectors), np.delete(salience, gaps)

    def _salience(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        scores += self._salience_bias
        found = logistic(scores)
        found *= 2.0
        return found


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


class NetworkFile(NamedTuple):
    """The file of a network."""

    tensors: Mapping[str, NDArray[Any]]
    content: memoryview
    """Bytes of the file, for the fingerprint of the model."""


def read_context(folder: Path) -> NetworkFile | None:
    """Return the network of a model; None if the folder holds none. Raises `ValueError` if the file is damaged."""
    file = folder / FILE
    if not is_file(file):
        return None
    try:
        with safe_open(file, framework="numpy"):
            content = np.fromfile(file, dtype=np.uint8)
        return NetworkFile(tensors_within(content), content.data)
    except (SafetensorError, ValueError, OSError) as error:
        raise ValueError(f"{FILE} is damaged ({error})") from None


def _unit(vectors: Vectors) -> Vectors:
    vectors /= np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None].clip(1e-12)
    return vectors
