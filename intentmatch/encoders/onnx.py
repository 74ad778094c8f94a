"""A transformer that `export-onnx` wrote, run by onnxruntime: neither torch nor transformers is imported.

Pooling and normalisation are part of the graph; what remains here is to cut texts into pieces and to put rows of like
length together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np

from intentmatch.core import plugins
from intentmatch.core.errors import IntentMatchError, ModelUnavailableError, SettingsError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Kind, Vectors
from intentmatch.encoders import hub
from intentmatch.runtime.block_sizes import ONNX_ROWS

GRAPH, TOKENIZER, CONFIG = "model.onnx", "tokenizer.json", "encoder.json"
"""The files of an exported model; weights may stand beside the graph in a file whose name begins with its own."""

WHAT = "The encoder onnx"
# Part of the fingerprint; to be changed together with anything below that moves a vector.
_ALGORITHM = b"onnx/1"
# Kernels for 8 bits differ between processors, and one without any computes in float32 from the same weights.
_TOLERANCES = {"float32": 1e-5, "int8": 2e-2}
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_NOTHING_BUT_THE_END = 4


def load(model: str, settings: Settings) -> OnnxEncoder:
    """The encoder of an `onnx:FOLDER` setting."""
    if not model:
        raise ModelUnavailableError("write which folder: onnx:FOLDER, as `intentmatch export-onnx` makes it")
    if settings.device not in {"auto", "cpu"}:
        raise SettingsError(
            f"device {settings.device!r}: an exported model runs on the CPU; use auto or sentence_transformer:MODEL"
        )
    if settings.precision != "auto":
        raise SettingsError(
            f"precision {settings.precision!r}: that of an exported model is chosen by `intentmatch export-onnx "
            "--precision`; leave the setting at auto"
        )
    return OnnxEncoder(model, threads=settings.threads, prompts=settings.prompts)


class OnnxEncoder:
    """An exported transformer behind the `Encoder` protocol. Safe to use from many threads.

    Each call of `encode` is computed by the thread that makes it and by `threads` - 1 more. `prompts` are the texts put
    before an `utterance` and a `query`; where they are not given, those the model was exported with.

    Raises `MissingExtraError`, or `ModelUnavailableError` when the folder holds no such model.
    """

    batches = True

    def __init__(self, folder: str | Path, *, threads: int = 1, prompts: Mapping[str, str] | None = None) -> None:
        onnxruntime = plugins.require("onnxruntime", what=WHAT, extra="onnx")
        tokenizers = plugins.require("tokenizers", what=WHAT, extra="onnx")
        self._folder = Path(folder).expanduser()
        self.name = f"onnx:{folder}"
        for name in (CONFIG, GRAPH, TOKENIZER):
            if not (self._folder / name).is_file():
                raise self._not_a_model(f"no {name} there")
        config = self._config()
        self.dim = int(config["dim"])
        self.tolerance = _TOLERANCES[config["precision"]]
        self._prompts: Mapping[str, str] = {**config["prompts"], **(prompts or {})}
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(self._folder / TOKENIZER))
            self._padding = int(self._tokenizer.padding["pad_id"])
        except Exception as error:  # noqa: BLE001 - the tokenizers package raises just that for what it cannot read
            raise self._not_a_model(f"{TOKENIZER} cannot be read ({error})") from None
        self._tokenizer.no_padding()
        try:
            self._session = _session(onnxruntime, self._folder / GRAPH, threads)
        except Exception as error:  # noqa: BLE001 - the errors of onnxruntime have no other class in common
            raise self._not_a_model(f"{GRAPH} cannot be run ({str(error).strip()})") from None
        self._inputs = [one.name for one in self._session.get_inputs()]
        self._outputs = [one.name for one in self._session.get_outputs()]
        shapes = [one.shape for one in self._session.get_outputs()]
        if not set(self._inputs) <= set(_INPUTS) or [shape[1:] for shape in shapes] != [[self.dim]]:
            raise self._not_a_model(f"{GRAPH} does not turn {', '.join(_INPUTS)} into rows of {self.dim} numbers")
        # Those that frame any text, and those that stand for what the model does not know.
        self._silent = frozenset([*self._pieces(""), *map(self._tokenizer.token_to_id, ("[UNK]", "<unk>"))])
        self._told = {kind: self._telling(self._pieces(prompt)) for kind, prompt in self._prompts.items()}

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the graph, its weights, the tokenizer (with the length limit) and the prompts."""
        digest = hashlib.sha256(_ALGORITHM)
        for file in [*sorted(self._folder.glob(f"{GRAPH}*")), self._folder / TOKENIZER]:
            with file.open("rb") as content:
                while block := content.read(1 << 20):
                    digest.update(block)
        digest.update(json.dumps(self._prompts, sort_keys=True).encode())
        return digest.hexdigest()[:16]

    @cached_property
    def languages(self) -> frozenset[str] | None:
        """The languages that the model's card names; None where it names none."""
        return hub.card_languages(self._folder)

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Unit rows of shape `(len(texts), dim)`; a text without a known piece is a row of zeros."""
        pieces = [self._pieces(self._prompts[kind] + text) for text in texts]
        known = [row for row, some in enumerate(pieces) if self._telling(some) > self._told[kind]]
        if len(texts) == len(known) == 1:
            # One message is what a bot asks for; whatever else is done costs it more than in a batch.
            return self._run(pieces)
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        # Longest first, so that texts of like length go together and batches pad little.
        known.sort(key=lambda row: -len(pieces[row]))
        for start in range(0, len(known), ONNX_ROWS):
            rows = known[start : start + ONNX_ROWS]
            vectors[rows] = self._run([pieces[row] for row in rows])
        return vectors

    def _pieces(self, text: str) -> list[int]:
        pieces: list[int] = self._tokenizer.encode(text).ids
        return pieces

    def _telling(self, pieces: Sequence[int]) -> int:
        """How many of them say something."""
        return len([piece for piece in pieces if piece not in self._silent])

    def _run(self, pieces: Sequence[Sequence[int]]) -> Vectors:
        longest = len(pieces[0])
        missing = [longest - len(some) for some in pieces]
        # Lists are put together faster than small arrays are filled.
        given = {
            "input_ids": [[*some, *[self._padding] * few] for some, few in zip(pieces, missing, strict=True)],
            "attention_mask": [[*[1] * (longest - few), *[0] * few] for few in missing],
            "token_type_ids": [[0] * longest] * len(pieces),
        }
        inputs = {name: np.array(given[name], dtype=np.int64) for name in self._inputs}
        try:
            vectors: Vectors = self._session.run(self._outputs, inputs)[0]
        except Exception as error:  # noqa: BLE001 - as above
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
        raise self._not_a_model(f"{CONFIG} does not say what was exported")

    def _not_a_model(self, why: str) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"{self._folder} is no exported model: {why}. Make one with `intentmatch export-onnx MODEL -o FOLDER`."
        )


def _session(onnxruntime: Any, graph: Path, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # It raises whatever goes wrong; that is told once.
    options.log_severity_level = _NOTHING_BUT_THE_END
    # Threads that wait for work sleep: spinning they would take the cores of the other streams.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
