"""Any sentence-transformers model, by hub name or folder, on the GPU where there is one.

Weights are read as safetensors only, and code that a model repository brings along is not run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from intentmatch.core import plugins
from intentmatch.core.errors import ModelUnavailableError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Kind, Vectors
from intentmatch.encoders import hub
from intentmatch.encoders.prompts import usual_prompts
from intentmatch.runtime.block_sizes import ENCODE_TEXTS_BY_DEVICE

_PROMPT_NAMES: Mapping[Kind, tuple[str, ...]] = {"utterance": ("document", "passage"), "query": ("query",)}
_FINGERPRINTED = (".safetensors", ".json", ".txt", ".model")
_TOLERANCES = {"float32": 1e-4, "float16": 5e-3, "bfloat16": 3e-2}
# Few on a processor: it gains nothing from more of them, and pads the more.
_BATCH = {"cpu": 8, "mps": 64, "cuda": 256}
# Processes of other GPUs take seconds to start.
_WORTH_A_POOL = 8192


def load(model: str, settings: Settings) -> SentenceTransformerEncoder:
    """The encoder of a `sentence_transformer:MODEL` setting."""
    if not model:
        raise ModelUnavailableError("write which model: sentence_transformer:NAME_OR_FOLDER")
    return SentenceTransformerEncoder(
        model, device=settings.device, precision=settings.precision, prompts=settings.prompts
    )


class SentenceTransformerEncoder:
    """A transformer behind the `Encoder` protocol.

    `precision` "auto" is half on a GPU and float32 elsewhere; new processors are faster in bfloat16. It is not part of
    the fingerprint: half precision moves a cosine by less than `tolerance`, and a registry built on a GPU must serve on
    a machine without one.
    `prompts` are the texts put before an `utterance` and a `query`; where they are not given, the model's own. `model`
    is the library's object, and `folder` where its files are.

    Raises `MissingExtraError`, `ModelUnavailableError` (with the way out) or `SettingsError` (no such device).
    """

    batches = True

    def __init__(
        self,
        model: str,
        *,
        device: str = "auto",
        precision: str = "auto",
        prompts: Mapping[str, str] | None = None,
        trust_remote_code: bool = False,
    ) -> None:
        self.model, self.folder, self.device = hub.load(
            "SentenceTransformer", model, device, what="A transformer encoder", trust_remote_code=trust_remote_code
        )
        self._devices = hub.devices(device)
        self.name = f"sentence_transformer:{model}"
        self._precision = ("float32" if self.device == "cpu" else "float16") if precision == "auto" else precision
        if self._precision != "float32":
            self.model.to(getattr(plugins.require("torch", what="A transformer", extra="torch"), self._precision))
        self.prompts = {kind: self._prompt(kind, model, prompts or {}) for kind in _PROMPT_NAMES}

    @cached_property
    def dim(self) -> int:
        """Numbers in a vector."""
        # Asked of a vector: the library's own answer has changed its name, and some models do not know it.
        return int(self.encode(["a"]).shape[1])

    @property
    def tolerance(self) -> float:
        """Padding in a batch moves the last digits; half precision moves more."""
        return _TOLERANCES[self._precision]

    @property
    def texts_at_once(self) -> int:
        """As many as a build should encode together."""
        return self._per_kind(ENCODE_TEXTS_BY_DEVICE) * len(self._devices)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the model's files (weights, tokenizer, pooling, length limit) and the prompts."""
        digest = hashlib.sha256(b"sentence_transformer/1")
        for file in sorted(f for f in self.folder.rglob("*") if f.suffix in _FINGERPRINTED and f.is_file()):
            digest.update(file.relative_to(self.folder).as_posix().encode())
            with file.open("rb") as content:
                while block := content.read(1 << 22):
                    digest.update(block)
        digest.update(json.dumps(self.prompts, sort_keys=True).encode())
        return digest.hexdigest()[:16]

    @cached_property
    def languages(self) -> frozenset[str] | None:
        """The languages that the model's card names; None where it names none."""
        return hub.card_languages(self.folder)

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Unit rows of shape `(len(texts), dim)`; longest texts go through the model first, so batches pad little."""
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        how = {"prompt": self.prompts[kind], "batch_size": self._per_kind(_BATCH), "show_progress_bar": False}
        if len(self._devices) > 1 and len(texts) >= _WORTH_A_POOL:
            vectors = self.model.encode(list(texts), device=self._devices, **how)
            # The pool leaves the model on the CPU.
            self.model.to(self.device)
            return _unit_rows(np.asarray(vectors, dtype=np.float32))
        # Batches stay where they are computed until the last one is, so that a GPU waits for no copy.
        stacked = self.model.encode(list(texts), convert_to_tensor=True, **how)
        return _unit_rows(stacked.float().cpu().numpy())

    def _per_kind(self, numbers: Mapping[str, int]) -> int:
        return numbers[self.device.partition(":")[0]]

    def _prompt(self, kind: Kind, model: str, given: Mapping[str, str]) -> str:
        if kind in given:
            return given[kind]
        own = next((self.model.prompts[name] for name in _PROMPT_NAMES[kind] if self.model.prompts.get(name)), "")
        return own or usual_prompts(model)[kind]


def _unit_rows(vectors: Vectors) -> Vectors:
    # Done here and not in the model, so that half-precision rows are of unit length in full precision.
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0.0)
    return unit
