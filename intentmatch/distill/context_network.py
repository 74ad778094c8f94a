"""The network of `encoders.context` in torch, over many texts at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from intentmatch.core import plugins
from intentmatch.core.errors import InputError
from intentmatch.distill.corpus import StepProgress
from intentmatch.distill.student import TokenVectors
from intentmatch.pieces.convolutions import LEAST_SIZE, SIZE_SCALE
from intentmatch.storage import atomic

_GAP = np.array([-1], dtype=np.int32)
# Pieces of rare tokens may be empty; their direction does not matter.
_LEAST_LENGTH = 1e-6
_STEPS_BETWEEN_UPDATES = 20


def convolution_parameters(width: int, dim: int, seed: int, narrow: int = 0) -> dict[str, Any]:
    """Return initial parameters of the convolutions; with `narrow`, the second passes through so many numbers."""
    torch = plugins.require("torch", what="Distillation", extra="distill")
    draw = torch.Generator().manual_seed(seed)

    def drawn(rows: int, columns: int, fan_in: int) -> Any:
        return torch.randn(rows, columns, generator=draw) * (2 / fan_in) ** 0.5

    return {
        "first": drawn(dim + 1, 3 * width, 3 * (dim + 1)) * 4,
        "first_bias": torch.zeros(width),
        "second": drawn(3 * width, narrow or width, 3 * width) * 0.5,
        **({"widened": drawn(narrow, width, narrow)} if narrow else {}),
        "second_bias": torch.zeros(width),
    }


def parameters(width: int, dim: int, seed: int) -> dict[str, Any]:
    """Return initial parameters, with which the network changes nothing: every salience is 1, the residual 0."""
    torch = plugins.require("torch", what="Distillation", extra="distill")
    return convolution_parameters(width, dim, seed) | {
        "question": torch.zeros(2 * width, width),
        "question_bias": torch.zeros(width),
        "salience_bias": torch.zeros(1),
        "residual": torch.zeros(2 * width, dim),
    }


def train_steps(step_once: Callable[[int], float], steps: int, progress: StepProgress | None) -> None:
    """Train step by step and report the loss that each returns."""
    for step in range(steps):
        loss = step_once(step)
        if progress is not None and (step + 1) % _STEPS_BETWEEN_UPDATES == 0:
            progress(f"training the network (loss {loss:.3f})", step + 1, steps)


def arrays(weights: Mapping[str, Any]) -> dict[str, NDArray[np.float32]]:
    """Return a copy of the weights by name."""
    return {name: weight.detach().numpy().copy() for name, weight in weights.items()}


def save_network(file: Path, tensors: Mapping[str, NDArray[np.float32]]) -> None:
    """Write the tensors as float16."""
    atomic.write_file(file, save({name: tensor.astype(np.float16) for name, tensor in tensors.items()}))


def read_network(file: Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a file by name. Raises `InputError`."""
    try:
        return load_file(file)
    except (SafetensorError, OSError) as error:
        raise InputError(f"{file} is no network: {error}") from None


class Batch(NamedTuple):
    """Pieces of texts in one row, with a gap after each text."""

    pieces: Any
    """Distinct pieces."""
    places: Any
    """Place of each piece of the row in `pieces`; a gap has `len(pieces)`."""
    lengths: Any
    """Number of pieces of each text, gap included."""


class TorchNetwork:
    """The network and the static model below it, in torch."""

    def __init__(self, table: TokenVectors, weights: dict[str, Any]) -> None:
        torch = plugins.require("torch", what="Distillation", extra="distill")
        self._torch, self.weights = torch, weights
        lengths = np.linalg.norm(table.rows, axis=1).clip(_LEAST_LENGTH)
        self._rows = torch.from_numpy(table.rows)
        self._units = torch.from_numpy(table.rows / lengths[:, None])
        self._row_of = torch.from_numpy(table.mapping.astype(np.int64))
        self._scales = torch.from_numpy(table.weights)
        sizes = np.log((lengths[table.mapping] * table.weights).clip(LEAST_SIZE)) * SIZE_SCALE
        self._sizes = torch.from_numpy(sizes.astype(np.float32))

    @property
    def dim(self) -> int:
        """Dimension of the vectors."""
        return int(self._rows.shape[1])

    def batch(self, texts: Sequence[NDArray[np.int32]]) -> Batch:
        """Put the pieces of texts into one row."""
        torch = self._torch
        # In one row, texts of different lengths need no padding; the gap keeps the convolutions of neighbours apart.
        row = np.concatenate([part for text in texts for part in (text, _GAP)])
        distinct, places = np.unique(row, return_inverse=True)  # the gap comes first
        return Batch(
            torch.from_numpy(distinct[1:].astype(np.int64)),
            torch.from_numpy((places - 1) % len(distinct)),
            torch.from_numpy(np.array([len(text) + 1 for text in texts])),
        )

    def static(self, batch: Batch) -> Any:
        """Return unit vectors of the static model."""
        return self._torch.nn.functional.normalize(self._sums(batch, self._mask(batch)))

    def hidden(self, batch: Batch, dropout: float = 0.0) -> Any:
        """Return what the convolutions make of each piece, shape `(pieces, width)`; zero in gaps."""
        w = self.weights
        function = self._torch.nn.functional
        mask = self._mask(batch)
        rows = self._row_of[batch.pieces]
        inputs = self._torch.cat([self._units[rows], self._sizes[batch.pieces, None]], 1)
        inputs = function.dropout(inputs, dropout) if dropout else inputs
        looked_up = function.pad(inputs @ w["first"], (0, 0, 0, 1))
        before, here, after = function.embedding(batch.places, looked_up).chunk(3, 1)
        x = here + _shifted(self._torch, before, 1) + _shifted(self._torch, after, -1) + w["first_bias"]
        x = self._torch.relu(x) * mask[:, None]
        before, here, after = w["second"].chunk(3)
        y = x @ here + _shifted(self._torch, x, 1) @ before + _shifted(self._torch, x, -1) @ after
        y = (y @ w["widened"] if "widened" in w else y) + w["second_bias"]
        return (x + self._torch.relu(y)) * mask[:, None]

    def vectors(self, batch: Batch) -> Any:
        """Return unit vectors, shape `(texts, dim)`."""
        torch, w = self._torch, self.weights
        function = torch.nn.functional
        mask, y = self._mask(batch), self.hidden(batch)
        counts = (batch.lengths - 1).clamp(min=1)[:, None]
        context = torch.cat([self._reduce(y, batch, "sum") / counts, self._reduce(y, batch, "max")], 1)
        question = context @ w["question"] + w["question_bias"]
        asked = torch.repeat_interleave(question, batch.lengths, 0)
        salience = 2 * torch.sigmoid((y * asked).sum(1) + w["salience_bias"]) * mask
        weighed = y * salience[:, None]
        total = self._reduce(salience[:, None], batch, "sum").clamp(min=1e-3)
        pooled = torch.cat([self._reduce(weighed, batch, "sum") / total, self._reduce(weighed, batch, "max")], 1)
        return function.normalize(function.normalize(self._sums(batch, salience)) + pooled @ w["residual"])

    def _mask(self, batch: Batch) -> Any:
        return (batch.places < len(batch.pieces)).float()

    def _sums(self, batch: Batch, salience: Any) -> Any:
        """Return the sums of the pieces' vectors, each weighed by its salience."""
        # A gap needs some piece to look up; its salience is 0.
        pieces = self._torch.cat([batch.pieces, batch.pieces[:1]])[batch.places]
        return self._torch.nn.functional.embedding_bag(
            self._row_of[pieces],
            self._rows,
            self._torch.cumsum(batch.lengths, 0) - batch.lengths,
            mode="sum",
            per_sample_weights=self._scales[pieces] * salience,
        )

    def _reduce(self, values: Any, batch: Batch, how: str) -> Any:
        return self._torch.segment_reduce(values, how, lengths=batch.lengths, unsafe=True)


def _shifted(torch: Any, values: Any, by: int) -> Any:
    """Move rows down by 1, or up by -1; the row that comes free is zero. Gaps keep texts apart."""
    return torch.nn.functional.pad(values[:-1] if by > 0 else values[1:], (0, 0, 1, 0) if by > 0 else (0, 0, 0, 1))
