"""What the exports of encoders and cross-encoders share: writing, quantising and tidying an ONNX graph."""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from intentmatch.core import plugins
from intentmatch.core.errors import InputError
from intentmatch.encoders import hub

Precision = Literal["float32", "int8"]

WHAT = "Exporting a model"
EXTRA = "onnx-export"
PROBES = (
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
"""Texts whose vectors or scores are compared before an export is kept."""

# The first opset in which attention is one operation. It also has rotary embeddings as one operation, but torch writes
# them in a form that onnxruntime refuses, so such models use the opset before.
_OPSET = 23
# Number of weights that share a quantisation scale. Fewer are more accurate and slower.
_BLOCK = 64
# Products of 8 bits with one scale per input row, so that no text of a batch changes the vector of another.
_INT8_ACCURACY_LEVEL = 4
# Larger "limits" mean that the tokenizer has none.
_NO_LENGTH_LIMIT = 1_000_000


def tokenizer_of(model: Any, name: str) -> Any:
    """Return the model's tokenizer, with truncation and padding as in sentence-transformers."""
    library = plugins.require("tokenizers", what=WHAT, extra=EXTRA)
    original = model.tokenizer
    backend = getattr(original, "backend_tokenizer", None)
    if backend is None:
        raise InputError(
            f"{name} is not a transformer with a fast tokenizer; use a static model without export: static:FOLDER"
        )
    tokenizer = library.Tokenizer.from_str(backend.to_str())
    limit = model.max_seq_length
    # The file may hold another limit than sentence-transformers uses.
    tokenizer.no_truncation()
    if limit is not None and limit < _NO_LENGTH_LIMIT:
        tokenizer.enable_truncation(limit)
    tokenizer.enable_padding(pad_id=original.pad_token_id, pad_token=original.pad_token)
    return tokenizer


def write_graph(graph: Any, inputs: Mapping[str, Any], file: Path, *, output: str, name: str) -> None:
    """Write a torch module as an ONNX graph whose inputs have free batch and length.

    `graph` takes the tensors `inputs` by position and returns one tensor, called `output`; `name` is the model's name
    for errors. Raises `InputError` if torch cannot export it.
    """
    torch = plugins.require("torch", what=WHAT, extra=EXTRA)
    rotary = any("Rotary" in type(part).__name__ for part in graph.modules())
    free = dict.fromkeys((0, 1), torch.export.Dim.DYNAMIC)
    try:
        with quietly(), torch.no_grad():
            torch.onnx.export(
                graph,
                tuple(inputs.values()),
                str(file),
                dynamo=True,
                verbose=False,
                opset_version=_OPSET - rotary,
                input_names=list(inputs),
                output_names=[output],
                dynamic_shapes=(tuple(free for _ in inputs),),
            )
    except Exception as error:
        raise InputError(f"{name} cannot be exported; torch says: {str(error).strip()}") from error


def quantise(file: Path) -> None:
    """Replace the float32 weights of a graph by int8 weights."""
    onnx = plugins.require("onnx", what=WHAT, extra=EXTRA)
    library = plugins.require("onnxruntime.quantization.matmul_nbits_quantizer", what=WHAT, extra=EXTRA)
    config = library.DefaultWeightOnlyQuantConfig(
        block_size=_BLOCK, is_symmetric=True, accuracy_level=_INT8_ACCURACY_LEVEL, bits=8
    )
    with quietly():
        quantizer = library.MatMulNBitsQuantizer(onnx.load(file), algo_config=config)
        quantizer.process()
        # The float32 weights beside the graph would stay, and be most of the folder.
        for old in file.parent.glob(f"{file.name}*"):
            old.unlink()
        quantizer.model.save_model_to_file(str(file), use_external_data_format=True)


def tidy(file: Path) -> None:
    """Remove source locations from the graph, and give the weights file the mode of the graph file."""
    onnx = plugins.require("onnx", what=WHAT, extra=EXTRA)
    model = onnx.load(file, load_external_data=False)
    # Paths of the exporting machine stand in these, and the same model would give other bytes elsewhere.
    for part in (model.graph, *model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output):
        del part.metadata_props[:]
        part.doc_string = ""
    onnx.save(model, file)
    for weights in file.parent.glob(f"{file.name}?*"):
        shutil.copymode(file, weights)


def copy_card(source: Path, folder: Path) -> None:
    """Copy model card and licence, which belong to the weights: languages, licence, authors."""
    for file in source.iterdir():
        if file.is_file() and file.stem.upper() in {"README", "LICENSE", "LICENCE", "NOTICE"}:
            shutil.copyfile(file, folder / file.name)


def origin_of_weights(name: str, folder: Path) -> dict[str, Any]:
    """Return the name and the licence of a model. Of a local path only the folder's name: others do not have it."""
    model = Path(name).resolve().name if Path(name).is_dir() else name
    return {"model": model, "licence": hub.card_entry(folder, "license")}


def megabytes(folder: Path) -> float:
    """Return the size of the files in a folder."""
    return sum(file.stat().st_size for file in folder.iterdir()) / 1e6


@contextmanager
def quietly() -> Iterator[None]:
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
