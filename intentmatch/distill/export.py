"""Write a student as a folder for the `static` encoder, sentence-transformers and model2vec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from intentmatch.distill.student import TokenVectors
from intentmatch.distill.teacher import principal_axes
from intentmatch.encoders.checksums import write_checksums

_CONFIG = {"model_type": "model2vec", "normalize": True, "max_length": 512, "embedding_dtype": "int8"}
_MODULES = [
    {"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"},
    {"idx": 1, "name": "1", "path": "1_Normalize", "type": "sentence_transformers.models.Normalize"},
]
_LARGEST = 127


def save_model(folder: Path, table: TokenVectors, tokenizer: dict[str, Any], silent: set[int]) -> None:
    """Write the tokenizer and the table; the vectors of `silent` tokens become zero.

    Rows are quantized to int8, and the scale of a row is multiplied into the weights of its tokens.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scales = np.abs(table.rows).max(axis=1) / _LARGEST
    # A row may be all zeros, such as that of a token that no text has.
    rows = np.rint(table.rows / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    weights = (table.weights * scales[table.mapping]).astype(np.float32)
    weights[sorted(silent)] = 0.0
    tensors = {"embeddings": rows, "weights": weights}
    if not np.array_equal(table.mapping, np.arange(len(rows))):
        tensors["mapping"] = table.mapping
    save_file(tensors, folder / "model.safetensors")
    _write(folder / "tokenizer.json", tokenizer, (",", ":"))
    _write(folder / "config.json", _CONFIG)
    _write(folder / "modules.json", _MODULES)
    write_checksums(folder)


def flatten(table: NDArray[np.float32], vectors: NDArray[np.float32], power: float) -> NDArray[np.float32]:
    """Rotate a table to the principal axes of sample vectors, strongest first, and weaken the strong axes.

    `table` has the shape `(rows, dim)`, `vectors` has unit rows of shape `(samples, dim)`. An axis of variance v is
    scaled by v ** (-power / 2): 0 only rotates, 1 gives all axes the same variance (whitening; Su et al. 2021,
    "Whitening Sentence Representations for Better Semantics and Faster Retrieval"). The map is linear and a text is a
    sum of rows, so it applies to every text.
    """
    strength, axes = principal_axes(vectors.T.astype(np.float64) @ vectors / len(vectors))
    return (table @ (axes * strength.clip(1e-9) ** (-power / 2))).astype(np.float32)


def _write(file: Path, content: Any, separators: tuple[str, str] | None = None) -> None:
    indent = None if separators else 4
    file.write_text(json.dumps(content, ensure_ascii=False, indent=indent, separators=separators) + "\n", "utf-8")
