"""Export a cross-encoder for `reranker: onnx:FOLDER`, and compare its scores before writing it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.errors import InputError, IntentMatchError
from intentmatch.encoders import hub
from intentmatch.encoders.checksums import write_checksums
from intentmatch.encoders.onnx import GRAPH, TOKENIZER
from intentmatch.encoders.onnx_cross_encoder import CONFIG, OnnxCrossEncoder
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
from intentmatch.storage import atomic
from intentmatch.storage.unwritable import unwritable

# Accepted difference of a score in [0, 1] from sentence-transformers, over all pairs of probes. The int8 limit only
# catches broken exports; it was not chosen by a measurement on trained models.
_MOST_DIFFERENCE = {"float32": 1e-5, "int8": 0.1}


@dataclass(frozen=True, slots=True)
class ExportedReranker:
    """An exported cross-encoder and how close its scores are to those of sentence-transformers."""

    folder: Path
    difference: float
    """Largest absolute difference between the two scores, in [0, 1], of a pair of texts."""
    megabytes: float


def is_cross_encoder(model: str) -> bool:
    """Whether a model, by hub name or folder, is a cross-encoder. Raises the same errors as `hub.model_folder`."""
    folder = hub.model_folder(model)
    if (folder / "config_sentence_transformers.json").is_file():
        # Written since sentence-transformers 5; models from before it are encoders.
        return _json(folder / "config_sentence_transformers.json").get("model_type") == "CrossEncoder"
    architectures = _json(folder / "config.json").get("architectures") or [""]
    return str(architectures[0]).endswith("ForSequenceClassification") and not (folder / "modules.json").is_file()


def export_cross_encoder(model: str, output: Path, precision: Precision = "float32") -> ExportedReranker:
    """Export a cross-encoder with a single output to the folder `output`, which is replaced atomically.

    Raises `InputError` if the model cannot be exported, `IntentMatchError` if the scores differ from those of
    sentence-transformers, `MissingExtraError` and `ModelUnavailableError`.
    """
    loaded = hub.load("CrossEncoder", model, "cpu", what="A cross-encoder")
    original = loaded.model.eval()
    if original.num_labels != 1:
        raise InputError(f"{model} returns {original.num_labels} numbers for a pair; a reranker must return one")
    tokenizer = tokenizer_of(original, model)
    try:
        with atomic.folder_aside(output) as folder:
            tokenizer.save(str(folder / TOKENIZER))
            _write(original, folder / GRAPH, model)
            if precision == "int8":
                quantise(folder / GRAPH)
            tidy(folder / GRAPH)
            config = {
                "precision": precision,
                "max_length": original.max_seq_length,
                "weights": origin_of_weights(model, loaded.folder),
            }
            (folder / CONFIG).write_text(json.dumps(config, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
            copy_card(loaded.folder, folder)
            difference = _compare(original, OnnxCrossEncoder(folder))
            # Written this way round, so that NaN is refused too.
            if not difference <= _MOST_DIFFERENCE[precision]:
                raise IntentMatchError(
                    f"{model} cannot be exported: in {precision} its scores differ from those of "
                    f"sentence-transformers (largest difference {difference:.2g}). Nothing was written."
                )
            write_checksums(folder)
            size = megabytes(folder)
    except OSError as error:
        raise InputError(unwritable(output, error)) from None
    return ExportedReranker(output, difference, size)


def _write(original: Any, file: Path, name: str) -> None:
    torch = plugins.require("torch", what=WHAT, extra=EXTRA)

    class Graph(torch.nn.Module):  # type: ignore[misc, name-defined]
        """Token ids of pairs to scores in [0, 1], shape `(pairs, 1)`."""

        def __init__(self) -> None:
            super().__init__()
            self.model = original

        def forward(self, *inputs: Any) -> Any:
            features = {**others, **dict(zip(pieces, inputs, strict=True))}
            return torch.sigmoid(self.model(features)["scores"])

    # Two pairs of different length, so that torch treats neither dimension as constant 1.
    features = original.preprocess([("a text", "another"), ("a text that is longer", "and another")])
    pieces = {name: value for name, value in features.items() if isinstance(value, torch.Tensor)}
    others = {name: value for name, value in features.items() if name not in pieces}
    write_graph(Graph(), pieces, file, output="scores", name=name)


def _compare(original: Any, exported: OnnxCrossEncoder) -> float:
    """Return the largest difference of two scores over all pairs of probes."""
    sigmoid = plugins.require("torch", what=WHAT, extra=EXTRA).nn.Sigmoid()
    differences = []
    for probe in PROBES:
        pairs = [(probe, other) for other in PROBES]
        expected: NDArray[np.float32] = original.predict(pairs, activation_fn=sigmoid, show_progress_bar=False)
        differences.append(np.abs(np.reshape(expected, len(pairs)) - exported.score(probe, PROBES)).max())
    return float(max(differences))


def _json(file: Path) -> dict[str, Any]:
    """Return the JSON object of a file; an empty one if it cannot be read."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
