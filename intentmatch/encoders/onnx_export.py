"""Export a sentence-transformers model for the `onnx` encoder, and compare its vectors before writing it."""

from __future__ import annotations

import json
import logging
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from intentmatch.core import plugins
from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.encoders import hub
from intentmatch.encoders.onnx import CONFIG, GRAPH, TOKENIZER, OnnxEncoder
from intentmatch.encoders.sentence_transformer import SentenceTransformerEncoder
from intentmatch.storage import atomic

Precision = Literal["float32", "int8"]

_WHAT = "Exporting a model"
_EXTRA = "onnx-export"
# The first opset in which attention is one operation. It also has rotary embeddings as one operation, but torch writes
# them in a form that onnxruntime refuses, so such models use the opset before.
_OPSET = 23
# Number of weights that share a quantisation scale. Fewer are more accurate and slower.
_BLOCK = 64
# Products of 8 bits with one scale per input row, so that no text of a batch changes the vector of another.
_INT8_ACCURACY_LEVEL = 4
# Larger "limits" mean that the tokenizer has none.
_NO_LENGTH_LIMIT = 1_000_000
# Accepted difference from sentence-transformers: of a number in float32, and the smallest cosine in int8.
_MOST_DIFFERENCE, _LEAST_COSINE = 1e-5, 0.99
_PROBES = (
    "where is my package",
    "Please CANCEL the order no. 12-345, I don't want it any more!",
    "no",
    "wo ist mein Paket?",
    "siparişim nerede",
    "我的包裹在哪里",
    "أين طردي",
    "👩‍👩‍👧 family, e\u0301te\u0301",
    "a message that goes on and on, " * 200,
)


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


def export_onnx(model: str, output: Path, precision: Precision = "float32") -> Exported:
    """Export a model, given by hub name or folder, to the folder `output`. The folder is replaced atomically.

    Raises `InputError` if `output` holds anything else or the model cannot be exported, `IntentMatchError` if the
    vectors differ from those of sentence-transformers, and the errors of `SentenceTransformerEncoder`.
    """
    for package in ("onnx", "onnxruntime", "onnxscript", "tokenizers", "torch"):
        plugins.check_installed(package, what=_WHAT, extra=_EXTRA)
    if output.exists() and not (output / CONFIG).is_file() and not (output.is_dir() and not any(output.iterdir())):
        raise InputError(
            f"{output} exists and is not an exported model; name a new folder, an empty one or an exported model"
        )
    encoder = SentenceTransformerEncoder(model, device="cpu", precision="float32")
    tokenizer = _tokenizer(encoder.model, model)
    try:
        with atomic.folder_aside(output) as folder:
            tokenizer.save(str(folder / TOKENIZER))
            _write_graph(encoder, folder / GRAPH, model)
            if precision == "int8":
                _quantise(folder / GRAPH)
            _tidy(folder / GRAPH)
            _write_config(encoder, folder, precision)
            difference, similarity = _compare(encoder, OnnxEncoder(folder))
            if not (difference <= _MOST_DIFFERENCE if precision == "float32" else similarity >= _LEAST_COSINE):
                raise IntentMatchError(
                    f"{model} cannot be exported: in {precision} its vectors differ from those of "
                    f"sentence-transformers (largest difference {difference:.2g}, smallest cosine {similarity:.4f}). "
                    "Nothing was written."
                )
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    except OSError as error:
        raise InputError(f"{output} cannot be written: {error}") from None
    return Exported(output, encoder.dim, difference, similarity, size)


def _tokenizer(model: Any, name: str) -> Any:
    """Return the model's tokenizer, with truncation and padding as in sentence-transformers."""
    library = plugins.require("tokenizers", what=_WHAT, extra=_EXTRA)
    original = model.tokenizer
    backend = getattr(original, "backend_tokenizer", None)
    if backend is None:
        raise InputError(
            f"{name} is not a transformer with a fast tokenizer; use a static model without export: static:FOLDER"
        )
    tokenizer = library.Tokenizer.from_str(backend.to_str())
    limit = model.max_seq_length
    tokenizer.no_truncation()
    if limit is not None and limit < _NO_LENGTH_LIMIT:
        tokenizer.enable_truncation(limit)
    tokenizer.enable_padding(pad_id=original.pad_token_id, pad_token=original.pad_token)
    return tokenizer


def _write_graph(encoder: SentenceTransformerEncoder, file: Path, name: str) -> None:
    torch = plugins.require("torch", what=_WHAT, extra=_EXTRA)
    model = encoder.model.eval()
    pooling = next((module for module in model if hasattr(module, "pooling_mode")), None)
    if pooling is None:
        raise InputError(f"{name} has no pooling layer, so it does not give one vector per text")
    if not pooling.include_prompt and any(encoder.prompts.values()):
        raise InputError(f"{name} leaves its prompts out of the pooling, which the encoder onnx cannot do")

    rotary = any("Rotary" in type(part).__name__ for part in model.modules())

    class Graph(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Token ids to unit vectors."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            features = dict(zip(pieces, inputs, strict=True))
            vectors = self.model(features)["sentence_embedding"][:, : model.truncate_dim]
            return torch.nn.functional.normalize(vectors, dim=-1)

    # Two texts of different length, so that torch treats neither dimension as constant 1.
    pieces = dict(model.tokenizer(["a text", "a text that is longer"], padding=True, return_tensors="pt"))
    free = dict.fromkeys((0, 1), torch.export.Dim.DYNAMIC)
    try:
        with _quietly(), torch.no_grad():
            torch.onnx.export(
                Graph(),
                tuple(pieces.values()),
                str(file),
                dynamo=True,
                verbose=False,
                opset_version=_OPSET - rotary,
                input_names=list(pieces),
                output_names=["vectors"],
                dynamic_shapes=(tuple(free for _ in pieces),),
            )
    except Exception as error:
        raise InputError(f"{name} cannot be exported; torch says: {str(error).strip()}") from error


def _quantise(file: Path) -> None:
    """Replace the float32 weights of a graph by int8 weights."""
    onnx = plugins.require("onnx", what=_WHAT, extra=_EXTRA)
    library = plugins.require("onnxruntime.quantization.matmul_nbits_quantizer", what=_WHAT, extra=_EXTRA)
    config = library.DefaultWeightOnlyQuantConfig(
        block_size=_BLOCK, is_symmetric=True, accuracy_level=_INT8_ACCURACY_LEVEL, bits=8
    )
    with _quietly():
        quantizer = library.MatMulNBitsQuantizer(onnx.load(file), algo_config=config)
        quantizer.process()
        for old in file.parent.glob(f"{file.name}*"):
            old.unlink()
        quantizer.model.save_model_to_file(str(file), use_external_data_format=True)


def _tidy(file: Path) -> None:
    """Remove source locations from the graph, and give the weights file the mode of the graph file."""
    onnx = plugins.require("onnx", what=_WHAT, extra=_EXTRA)
    model = onnx.load(file, load_external_data=False)
    for part in (model.graph, *model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output):
        del part.metadata_props[:]
        part.doc_string = ""
    onnx.save(model, file)
    for weights in file.parent.glob(f"{file.name}?*"):
        shutil.copymode(file, weights)


def _write_config(encoder: SentenceTransformerEncoder, folder: Path, precision: Precision) -> None:
    name = encoder.name.partition(":")[2]
    config = {
        "dim": encoder.dim,
        "precision": precision,
        "max_length": encoder.model.max_seq_length,
        "prompts": encoder.prompts,
        "pooling": next(module.pooling_mode for module in encoder.model if hasattr(module, "pooling_mode")),
        "weights": {
            # A local path has no meaning on another machine; keep the folder's name only.
            "model": Path(name).resolve().name if Path(name).is_dir() else name,
            "fingerprint": encoder.fingerprint,
            "licence": hub.card_entry(encoder.folder, "license"),
        },
    }
    (folder / CONFIG).write_text(json.dumps(config, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    # Keep the model card with the weights: languages, licence, authors.
    for file in encoder.folder.iterdir():
        if file.is_file() and file.stem.upper() in {"README", "LICENSE", "LICENCE", "NOTICE"}:
            shutil.copyfile(file, folder / file.name)


def _compare(original: SentenceTransformerEncoder, exported: OnnxEncoder) -> tuple[float, float]:
    """Return the largest difference of two numbers and the smallest cosine, over probes that the export can read."""
    differences, cosines = [], []
    for kind in original.prompts:
        expected, found = original.encode(_PROBES, kind=kind), exported.encode(_PROBES, kind=kind)
        known = found.any(axis=1)
        differences.append(np.abs(expected - found)[known].max(initial=0.0 if known.any() else np.inf))
        cosines.append((expected * found).sum(axis=1)[known].min(initial=1.0))
    return float(max(differences)), float(min(cosines))


@contextmanager
def _quietly() -> Iterator[None]:
    """Suppress the exporter's warnings and log messages."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir", "onnxruntime.quantization")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
