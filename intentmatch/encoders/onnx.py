"""Encoder for transformers exported by `export-onnx`, run by onnxruntime without torch or transformers.

Pooling and normalisation are part of the graph. This module tokenizes texts and batches texts of similar length.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np

from intentmatch.core import plugins
from intentmatch.core.errors import IntentMatchError, ModelUnavailableError, SettingsError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Kind, Vectors
from intentmatch.encoders import hub
from intentmatch.encoders.translations import Translations, translations_beside
from intentmatch.encoders.unseen_messages import UnseenMessages, read_unseen_messages
from intentmatch.runtime.block_sizes import ONNX_ROWS
from intentmatch.storage.regular_files import blocks, home_path, is_file

GRAPH, TOKENIZER, CONFIG = "model.onnx", "tokenizer.json", "encoder.json"
"""Files of an exported model. Weights may be in a separate file whose name begins with the graph's."""

WHAT = "The encoder onnx"
# Part of the fingerprint. Change it together with any code below that changes vectors.
_ALGORITHM = b"onnx/1"
# 8-bit kernels differ between CPUs; a CPU without them computes in float32 from the same weights.
_TOLERANCES = {"float32": 1e-5, "int8": 2e-2}
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# onnxruntime's log level for fatal errors only.
_FATAL = 4
_FRAME = 8
"""Pieces that may frame a text, such as [CLS]."""


def load(model: str, settings: Settings) -> OnnxEncoder:
    """Load the encoder of an `onnx:FOLDER` setting. Raises the same errors as `OnnxEncoder`, and `SettingsError`."""
    if not model:
        raise ModelUnavailableError(
            "the encoder onnx needs a folder: write onnx:FOLDER, with a folder made by `intentmatch export-onnx`"
        )
    if settings.device not in {"auto", "cpu"}:
        raise SettingsError(
            f"device {settings.device!r}: an exported model runs on the CPU; use auto or sentence_transformer:MODEL"
        )
    if settings.precision != "auto":
        raise SettingsError(
            f"precision {settings.precision!r}: the precision of an exported model is chosen by `intentmatch "
            "export-onnx --precision`; leave the setting at auto"
        )
    return OnnxEncoder(model, threads=settings.threads, prompts=settings.prompts)


class OnnxEncoder:
    """Encoder that runs an exported transformer. Safe to use from many threads.

    A call of `encode` uses its own thread and `threads` - 1 more. `prompts` are the prefixes of an `utterance` and a
    `query`; missing ones are the prompts that the model was exported with.

    Raises `MissingExtraError`, or `ModelUnavailableError` if the folder holds no exported model.
    """

    batches = True

    def __init__(
        self, folder: str | Path, *, threads: int = Settings.threads, prompts: Mapping[str, str] | None = None
    ) -> None:
        onnxruntime = plugins.require("onnxruntime", what=WHAT, extra="onnx")
        tokenizers = plugins.require("tokenizers", what=WHAT, extra="onnx")
        self._folder = home_path(folder)
        self.name = f"onnx:{folder}"
        hub.check_files(self._folder)
        for name in (CONFIG, GRAPH, TOKENIZER):
            if not is_file(self._folder / name):
                raise self._not_a_model(f"it has no {name}")
        config = self._config()
        self.dim = int(config["dim"])
        self.tolerance = _TOLERANCES[config["precision"]]
        self._prompts: Mapping[str, str] = {**config["prompts"], **(prompts or {})}
        self._tokenizer, self._padding = open_tokenizer(tokenizers, self._folder, self._not_a_model)
        self._session = open_graph(onnxruntime, self._folder, threads, self._not_a_model)
        self._inputs = [node.name for node in self._session.get_inputs()]
        self._outputs = [node.name for node in self._session.get_outputs()]
        shapes = [node.shape for node in self._session.get_outputs()]
        if not set(self._inputs) <= set(_INPUTS) or [shape[1:] for shape in shapes] != [[self.dim]]:
            raise self._not_a_model(f"{GRAPH} does not turn {', '.join(_INPUTS)} into rows of {self.dim} numbers")
        # Pieces that frame every text, such as [CLS], and pieces for unknown text.
        self._ignored = frozenset([*self._pieces(""), *map(self._tokenizer.token_to_id, ("[UNK]", "<unk>"))])
        self._known_in_prompt = {kind: self._known_count(self._pieces(text)) for kind, text in self._prompts.items()}

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the graph, its weights, the tokenizer (with the length limit) and the prompts."""
        digest = hashlib.sha256(_ALGORITHM)
        for file in [*sorted(self._folder.glob(f"{GRAPH}*")), self._folder / TOKENIZER]:
            for block in blocks(file):
                digest.update(block)
        digest.update(json.dumps(self._prompts, sort_keys=True).encode())
        return digest.hexdigest()[:16]

    @cached_property
    def languages(self) -> frozenset[str] | None:
        """BCP-47 codes from the model card; None if it names none."""
        return hub.card_languages(self._folder)

    @cached_property
    def translations(self) -> Translations | None:
        """Distances of translations' vectors, measured by `measure-languages`; None if the folder holds none.

        Raises `ModelUnavailableError` if their file is damaged.
        """
        return translations_beside(self._folder, self.dim)

    @cached_property
    def unseen_messages(self) -> UnseenMessages | None:
        """Answers to messages that the model was not trained on, written by `adapt`; None if the folder holds none.

        Raises `ModelUnavailableError` if their file is damaged.
        """
        return read_unseen_messages(self._folder)

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Return unit vectors, float32 of shape `(len(texts), dim)`; a text without a known piece gives zeros.

        Raises `IntentMatchError` if onnxruntime fails.
        """
        pieces = [self._pieces(self._prompts[kind] + text) for text in texts]
        known = [row for row, ids in enumerate(pieces) if self._known_count(ids) > self._known_in_prompt[kind]]
        if len(texts) == len(known) == 1:
            # A bot encodes single messages; skip the work that only batches need.
            return self._run(pieces)
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        # Longest first, so that batches hold texts of similar length and need little padding.
        known.sort(key=lambda row: -len(pieces[row]))
        for start in range(0, len(known), ONNX_ROWS):
            rows = known[start : start + ONNX_ROWS]
            vectors[rows] = self._run([pieces[row] for row in rows])
        return vectors

    @property
    def folder(self) -> Path:
        """Folder of the model's files."""
        return self._folder

    def beyond(self, text: str) -> tuple[int, int] | None:
        """Return the pieces of a query and how many the model reads if it cuts the query, otherwise None."""
        cut = self._tokenizer.truncation
        whole = self._prompts["query"] + text
        # A piece has a byte at least, so that most messages need no second look.
        if cut is None or len(whole.encode()) + _FRAME <= cut["max_length"]:
            return None
        encoding = self._tokenizer.encode(whole)
        frame = len(self._pieces(""))
        rest = sum(len(part.ids) - frame for part in encoding.overflowing)
        return (len(encoding.ids) + rest, len(encoding.ids)) if rest > 0 else None

    def _pieces(self, text: str) -> list[int]:
        pieces: list[int] = self._tokenizer.encode(text).ids
        return pieces

    def _known_count(self, pieces: Sequence[int]) -> int:
        return len([piece for piece in pieces if piece not in self._ignored])

    def _run(self, pieces: Sequence[Sequence[int]]) -> Vectors:
        """Return the vectors of tokenized texts, shape `(texts, dim)`. The first text must be the longest."""
        longest = len(pieces[0])
        padding = [longest - len(ids) for ids in pieces]
        # Building lists is faster than filling small arrays.
        features = {
            "input_ids": [[*ids, *[self._padding] * count] for ids, count in zip(pieces, padding, strict=True)],
            "attention_mask": [[*[1] * (longest - count), *[0] * count] for count in padding],
            "token_type_ids": [[0] * longest] * len(pieces),
        }
        inputs = {name: np.array(features[name], dtype=np.int64) for name in self._inputs}
        try:
            vectors: Vectors = self._session.run(self._outputs, inputs)[0]
        except Exception as error:  # noqa: BLE001 - onnxruntime's errors have no other common base class
            raise IntentMatchError(f"{self.name} failed: {str(error).strip()}") from None
        return vectors

    def _config(self) -> dict[str, Any]:
        try:
            config: dict[str, Any] = json.loads((self._folder / CONFIG).read_text(encoding="utf-8"))
            prompts = [config["prompts"][kind] for kind in get_args(Kind)]
            if (
                int(config["dim"]) > 0
                and config["precision"] in _TOLERANCES
                and all(isinstance(p, str) for p in prompts)
            ):
                return config
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            pass
        raise self._not_a_model(f"{CONFIG} cannot be read or lacks dim, precision or prompts")

    def _not_a_model(self, why: str) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"{self._folder} is not an exported model: {why}. Make one with `intentmatch export-onnx MODEL -o FOLDER`."
        )


def open_tokenizer(tokenizers: Any, folder: Path, refused: Callable[[str], Exception]) -> tuple[Any, int]:
    """Return the tokenizer of an exported model without its padding, and the piece that pads.

    Raises what `refused` makes of a reason.
    """
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
        padding = int(tokenizer.padding["pad_id"])
    except Exception as error:  # noqa: BLE001 - the tokenizers package raises plain Exception for a bad file
        raise refused(f"{TOKENIZER} cannot be read ({error})") from None
    tokenizer.no_padding()
    return tokenizer, padding


def open_graph(onnxruntime: Any, folder: Path, threads: int, refused: Callable[[str], Exception]) -> Any:
    """Return a session of an exported model's graph. Raises what `refused` makes of a reason."""
    try:
        return open_session(onnxruntime, folder / GRAPH, threads)
    except Exception as error:  # noqa: BLE001 - onnxruntime's errors have no other common base class
        raise refused(f"{GRAPH} cannot be run ({str(error).strip()})") from None


def open_session(onnxruntime: Any, graph: Path, threads: int) -> Any:
    """Open a graph on the CPU. onnxruntime raises errors of its own for a file that it cannot run."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Errors are raised as exceptions; do not log them as well.
    options.log_severity_level = _FATAL
    # Idle threads sleep instead of spinning, which would take cores from other messages.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
