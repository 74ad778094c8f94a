"""What the networks of this room share: their two convolutions over the embedded pieces, and how they are loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.pieces.convolutions import Convolutions
from intentmatch.pieces.vectors import embedded_content
from intentmatch.storage.safetensors import tensors_within

Tensors = Mapping[str, NDArray[Any]]
Network = TypeVar("Network")


def embedded_convolutions(tensors: Tensors) -> Convolutions:
    """Return a network's convolutions over the pieces of the embedded model.

    Raises `ValueError` if a tensor is missing or has the wrong shape.
    """
    model = tensors_within(embedded_content())
    mapping, weights = model["mapping"].astype(np.intp), model["weights"].astype(np.float32)
    return Convolutions(tensors, model["embeddings"], mapping, weights, keeps_vectors=False)


def loaded(file: Path, network: Callable[[Tensors], Network]) -> Network:
    """Return the network of a file of this package. Raises `ModelUnavailableError`."""
    try:
        with safe_open(file, framework="numpy"):
            return network(tensors_within(np.fromfile(file, dtype=np.uint8)))
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelUnavailableError(f"{file} is damaged ({error}); reinstall intentmatch") from None
