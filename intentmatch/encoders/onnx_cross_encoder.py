"""Reranker for cross-encoders exported by `export-onnx`, run by onnxruntime without torch or transformers.

The sigmoid is part of the graph. This module tokenizes pairs and batches pairs of similar length.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.errors import IntentMatchError, ModelUnavailableError
from intentmatch.core.settings import Settings
from intentmatch.encoders import hub
from intentmatch.encoders.onnx import GRAPH, TOKENIZER, open_graph, open_tokenizer
from intentmatch.runtime.block_sizes import ONNX_ROWS
from intentmatch.storage.regular_files import home_path, is_file

CONFIG = "reranker.json"
"""File that tells an exported cross-encoder from an exported encoder. Graph and tokenizer are named alike."""

WHAT = "The reranker onnx"
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def load(model: str, settings: Settings) -> OnnxCrossEncoder:
    """Load the reranker of an `onnx:FOLDER` setting. Raises the same errors as `OnnxCrossEncoder`."""
    if not model:
        raise ModelUnavailableError(
            "the reranker onnx needs a folder: write onnx:FOLDER, with a folder made by `intentmatch export-onnx`"
        )
    return OnnxCrossEncoder(model, threads=settings.threads)


class OnnxCrossEncoder:
    """A `Reranker` that runs an exported cross-encoder on the CPU. Safe to use from many threads.

    A call of `score` uses its own thread and `threads` - 1 more. Raises `MissingExtraError`, or
    `ModelUnavailableError` if the folder holds no exported cross-encoder.
    """

    def __init__(self, folder: str | Path, *, threads: int = Settings.threads) -> None:
        onnxruntime = plugins.require("onnxruntime", what=WHAT, extra="onnx")
        tokenizers = plugins.require("tokenizers", what=WHAT, extra="onnx")
        self._folder = home_path(folder)
        self.name = f"onnx:{folder}"
        hub.check_files(self._folder)
        for name in (CONFIG, GRAPH, TOKENIZER):
            if not is_file(self._folder / name):
                raise self._not_a_model(f"it has no {name}")
        try:
            self.precision = str(json.loads((self._folder / CONFIG).read_text(encoding="utf-8"))["precision"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            raise self._not_a_model(f"{CONFIG} cannot be read or lacks the precision") from None
        self._tokenizer, self._padding = open_tokenizer(tokenizers, self._folder, self._not_a_model)
        self._session = open_graph(onnxruntime, self._folder, threads, self._not_a_model)
        self._inputs = [node.name for node in self._session.get_inputs()]
        shapes = [node.shape for node in self._session.get_outputs()]
        if not set(self._inputs) <= set(_INPUTS) or [shape[1:] for shape in shapes] != [[1]]:
            raise self._not_a_model(f"{GRAPH} does not turn {', '.join(_INPUTS)} into one score a pair")

    def score(self, message: str, utterances: Sequence[str]) -> NDArray[np.float32]:
        """Return scores in [0, 1], shape `(len(utterances),)`. Raises `IntentMatchError` if onnxruntime fails."""
        pairs = [self._tokenizer.encode(message, utterance) for utterance in utterances]
        scores = np.empty(len(pairs), dtype=np.float32)
        # Longest first, so that batches hold pairs of similar length and need little padding.
        order = sorted(range(len(pairs)), key=lambda row: -len(pairs[row].ids))
        for start in range(0, len(order), ONNX_ROWS):
            rows = order[start : start + ONNX_ROWS]
            scores[rows] = self._run([pairs[row] for row in rows])
        return scores

    def _run(self, pairs: Sequence[Any]) -> NDArray[np.float32]:
        """Return the scores of tokenized pairs, shape `(pairs,)`. The first pair must be the longest."""
        longest = len(pairs[0].ids)

        def padded(some: Sequence[int], padding: int) -> list[int]:
            return [*some, *[padding] * (longest - len(some))]

        features = {
            "input_ids": [padded(pair.ids, self._padding) for pair in pairs],
            "attention_mask": [padded(pair.attention_mask, 0) for pair in pairs],
            "token_type_ids": [padded(pair.type_ids, 0) for pair in pairs],
        }
        inputs = {name: np.array(features[name], dtype=np.int64) for name in self._inputs}
        try:
            scores: NDArray[np.float32] = self._session.run(None, inputs)[0][:, 0]
        except Exception as error:  # noqa: BLE001 - onnxruntime's errors have no other common base class
            raise IntentMatchError(f"{self.name} failed: {str(error).strip()}") from None
        return scores

    def _not_a_model(self, why: str) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"{self._folder} is not an exported cross-encoder: {why}. Make one with `intentmatch export-onnx MODEL -o "
            "FOLDER`, where MODEL is a cross-encoder."
        )
