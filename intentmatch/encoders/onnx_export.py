"""Export a sentence-transformers model to ONNX, and compare its vectors or scores before writing it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from intentmatch.core import plugins
from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.encoders import onnx_cross_encoder
from intentmatch.encoders.checksums import write_checksums
from intentmatch.encoders.cross_encoder_export import ExportedReranker, export_cross_encoder, is_cross_encoder
from intentmatch.encoders.onnx import CONFIG, GRAPH, TOKENIZER, OnnxEncoder
from intentmatch.encoders.onnx_graph import (
    EXTRA,
    PROBES,
    WHAT,
    Precision,
    copy_card,
    megabytes,
    origin_of_weights,
    quantise,
    tidy,
    tokenizer_of,
    write_graph,
)
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.storage import atomic
from intentmatch.storage.unwritable import unwritable

# Accepted difference from sentence-transformers: of a number in float32, and the smallest cosine in int8.
_MOST_DIFFERENCE, _LEAST_COSINE = 1e-5, 0.99


@dataclass(frozen=True, slots=True)
class Exported:
    """An exported model and how close its vectors are to those of sentence-transformers."""

    folder: Path
    dim: int
    difference: float
    """Largest absolute difference between numbers of the two vectors of a text."""
    similarity: float
    """Smallest cosine between the two vectors of a text."""
    megabytes: float


def export_onnx(model: str, output: Path, precision: Precision = "float32") -> Exported | ExportedReranker:
    """Export a model, given by hub name or folder, to the folder `output`. The folder is replaced atomically.

    A cross-encoder becomes a folder for `reranker: onnx:FOLDER`, any other model one for `encoder: onnx:FOLDER`.

    Raises `InputError` if `output` holds anything else or the model cannot be exported, `IntentMatchError` if the
    vectors or scores differ from those of sentence-transformers, and the errors of `SentenceTransformerEncoder`.
    """
    for package in ("onnx", "onnxruntime", "onnxscript", "tokenizers", "torch"):
        plugins.check_installed(package, what=WHAT, extra=EXTRA)
    exported = any((output / name).is_file() for name in (CONFIG, onnx_cross_encoder.CONFIG))
    if output.exists() and not exported and not (output.is_dir() and not any(output.iterdir())):
        raise InputError(
            f"{output} exists and is not an exported model; name a new folder, an empty one or an exported model"
        )
    if is_cross_encoder(model):
        return export_cross_encoder(model, output, precision)
    encoder = SentenceTransformerEncoder(model, device="cpu", precision="float32")
    tokenizer = tokenizer_of(encoder.model, model)
    try:
        with atomic.folder_aside(output) as folder:
            tokenizer.save(str(folder / TOKENIZER))
            _write_graph(encoder, folder / GRAPH, model)
            if precision == "int8":
                quantise(folder / GRAPH)
            tidy(folder / GRAPH)
            _write_config(encoder, folder, precision)
            difference, similarity = _compare(encoder, OnnxEncoder(folder))
            if not (difference <= _MOST_DIFFERENCE if precision == "float32" else similarity >= _LEAST_COSINE):
                raise IntentMatchError(
                    f"{model} cannot be exported: in {precision} its vectors differ from those of "
                    f"sentence-transformers (largest difference {difference:.2g}, smallest cosine {similarity:.4f}). "
                    "Nothing was written."
                )
            write_checksums(folder)
            size = megabytes(folder)
    except OSError as error:
        raise InputError(unwritable(output, error)) from None
    return Exported(output, encoder.dim, difference, similarity, size)


def _write_graph(encoder: SentenceTransformerEncoder, file: Path, name: str) -> None:
    torch = plugins.require("torch", what=WHAT, extra=EXTRA)
    model = encoder.model.eval()
    pooling = next((module for module in model if hasattr(module, "pooling_mode")), None)
    if pooling is None:
        raise InputError(f"{name} has no pooling layer, so it does not give one vector per text")
    # The pieces of a prompt would have to be counted for each text, and the graph sees only pieces.
    if not pooling.include_prompt and any(encoder.prompts.values()):
        raise InputError(f"{name} leaves its prompts out of the pooling, which the encoder onnx cannot do")

    class Graph(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Token ids to unit vectors."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            features = dict(zip(pieces, inputs, strict=True))
            # Some models are used with their first dimensions only; `truncate_dim` is None for the others.
            vectors = self.model(features)["sentence_embedding"][:, : model.truncate_dim]
            return torch.nn.functional.normalize(vectors, dim=-1)

    # Two texts of different length, so that torch treats neither dimension as constant 1.
    pieces = dict(model.tokenizer(["a text", "a text that is longer"], padding=True, return_tensors="pt"))
    write_graph(Graph(), pieces, file, output="vectors", name=name)


def _write_config(encoder: SentenceTransformerEncoder, folder: Path, precision: Precision) -> None:
    name = encoder.name.partition(":")[2]
    config = {
        "dim": encoder.dim,
        "precision": precision,
        "max_length": encoder.model.max_seq_length,
        "prompts": encoder.prompts,
        "pooling": next(module.pooling_mode for module in encoder.model if hasattr(module, "pooling_mode")),
        "weights": {**origin_of_weights(name, encoder.folder), "fingerprint": encoder.fingerprint},
    }
    (folder / CONFIG).write_text(json.dumps(config, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    copy_card(encoder.folder, folder)
    if encoder.unseen_messages is not None:
        encoder.unseen_messages.save(folder)


def _compare(original: SentenceTransformerEncoder, exported: OnnxEncoder) -> tuple[float, float]:
    """Return the largest difference of two numbers and the smallest cosine, over probes that the export can read."""
    differences, cosines = [], []
    for kind in original.prompts:
        expected, found = original.encode(PROBES, kind=kind), exported.encode(PROBES, kind=kind)
        # A probe of a script that the tokenizer cannot read is zeros here, and something arbitrary there.
        known = found.any(axis=1)
        differences.append(np.abs(expected - found)[known].max(initial=0.0 if known.any() else np.inf))
        cosines.append((expected * found).sum(axis=1)[known].min(initial=1.0))
    return float(max(differences)), float(min(cosines))
