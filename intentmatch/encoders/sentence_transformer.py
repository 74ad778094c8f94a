"""Encoder for sentence-transformers models, by hub name or folder, on the GPU if there is one.

Only safetensors weights are read. Code in a model's repository is not run.
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
from intentmatch.encoders.translations import FILE as TRANSLATIONS
from intentmatch.encoders.translations import Translations, translations_beside
from intentmatch.encoders.unseen_messages import FILE as UNSEEN_MESSAGES
from intentmatch.encoders.unseen_messages import UnseenMessages, read_unseen_messages
from intentmatch.runtime.block_sizes import ENCODE_TEXTS_BY_DEVICE
from intentmatch.storage.regular_files import blocks

_PROMPT_NAMES: Mapping[Kind, tuple[str, ...]] = {"utterance": ("document", "passage"), "query": ("query",)}
_FINGERPRINTED = (".safetensors", ".json", ".txt", ".model")
_TOLERANCES = {"float32": 1e-4, "float16": 5e-3, "bfloat16": 3e-2}
# Small on a CPU, where larger batches only need more padding.
_BATCH = {"cpu": 8, "mps": 64, "cuda": 256}
_FRAME = 8
"""Pieces that may frame a text, such as [CLS]."""
# Fewest texts for a process pool over several GPUs, because its processes take seconds to start.
_LEAST_TEXTS_FOR_POOL = 8192


def load(model: str, settings: Settings) -> SentenceTransformerEncoder:
    """Load the encoder of a `sentence_transformer:MODEL` setting.

    Raises the same errors as `SentenceTransformerEncoder`.
    """
    if not model:
        raise ModelUnavailableError(
            "the encoder sentence_transformer needs a model: write sentence_transformer:NAME_OR_FOLDER"
        )
    return SentenceTransformerEncoder(
        model, device=settings.device, precision=settings.precision, prompts=settings.prompts
    )


class SentenceTransformerEncoder:
    """Encoder that runs a sentence-transformers model.

    `precision` "auto" is float16 on a GPU and float32 on a CPU; bfloat16 is faster on recent CPUs. The precision is not
    part of the fingerprint: it changes a cosine by less than `tolerance`, and a registry built on a GPU must run on a
    machine without one.

    `prompts` are the prefixes of an `utterance` and a `query`; missing ones are the model's own. The attribute `model`
    is the library's object, and `folder` holds its files.

    Raises `MissingExtraError`, `ModelUnavailableError`, or `SettingsError` if there is no such device.
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
        """Dimension of the vectors."""
        # Measured on a vector: the library's method has been renamed, and some models do not provide it.
        return int(self.encode(["a"]).shape[1])

    @property
    def tolerance(self) -> float:
        """Largest difference of a number between batches or devices, depending on the precision."""
        return _TOLERANCES[self._precision]

    @property
    def texts_at_once(self) -> int:
        """Number of texts that a build should pass to one call of `encode`."""
        return self._for_device(ENCODE_TEXTS_BY_DEVICE) * len(self._devices)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the model's files (weights, tokenizer, pooling, length limit) and the prompts."""
        digest = hashlib.sha256(b"sentence_transformer/1")
        for file in sorted(f for f in self.folder.rglob("*") if f.suffix in _FINGERPRINTED and f.is_file()):
            if file in (self.folder / TRANSLATIONS, self.folder / UNSEEN_MESSAGES):
                continue  # measured on the vectors, which stay the same
            digest.update(file.relative_to(self.folder).as_posix().encode())
            for block in blocks(file):
                digest.update(block)
        digest.update(json.dumps(self.prompts, sort_keys=True).encode())
        return digest.hexdigest()[:16]

    @cached_property
    def languages(self) -> frozenset[str] | None:
        """BCP-47 codes from the model card; None if it names none."""
        return hub.card_languages(self.folder)

    @cached_property
    def translations(self) -> Translations | None:
        """Distances of translations' vectors, measured by `measure-languages`; None if the folder holds none.

        Raises `ModelUnavailableError` if their file is damaged.
        """
        return translations_beside(self.folder, self.dim)

    @cached_property
    def unseen_messages(self) -> UnseenMessages | None:
        """Answers to messages that the model was not trained on, written by `adapt`; None if the folder holds none.

        Raises `ModelUnavailableError` if their file is damaged.
        """
        return read_unseen_messages(self.folder)

    def beyond(self, text: str) -> tuple[int, int] | None:
        """Return the pieces of a query and the `max_seq_length` of the model if it cuts the query, otherwise None."""
        most = getattr(self.model, "max_seq_length", None)
        whole = self.prompts["query"] + text
        # A piece has at least one byte, and few pieces frame a text.
        if not isinstance(most, int) or len(whole.encode()) + _FRAME <= most:
            return None
        pieces = len(self.model.tokenizer(whole, truncation=False, verbose=False)["input_ids"])
        return (pieces, most) if pieces > most else None

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Return unit vectors, float32 of shape `(len(texts), dim)`. The library sorts texts by length for batches."""
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        options = {
            "prompt": self.prompts[kind],
            "batch_size": self._for_device(_BATCH),
            "show_progress_bar": False,
        }
        if len(self._devices) > 1 and len(texts) >= _LEAST_TEXTS_FOR_POOL:
            vectors = self.model.encode(list(texts), device=self._devices, **options)
            # The pool leaves the model on the CPU.
            self.model.to(self.device)
            return _unit_rows(np.asarray(vectors, dtype=np.float32))
        # Keep all batches on the device until the last is computed, so that a GPU does not wait for copies.
        stacked = self.model.encode(list(texts), convert_to_tensor=True, **options)
        return _unit_rows(stacked.float().cpu().numpy())

    def _for_device(self, numbers: Mapping[str, int]) -> int:
        return numbers[self.device.partition(":")[0]]

    def _prompt(self, kind: Kind, model: str, given: Mapping[str, str]) -> str:
        if kind in given:
            return given[kind]
        own = next((self.model.prompts[name] for name in _PROMPT_NAMES[kind] if self.model.prompts.get(name)), "")
        return own or usual_prompts(model)[kind]


def _unit_rows(vectors: Vectors) -> Vectors:
    # Normalise in float32, not in the model, because rows in half precision would not be of unit length.
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0.0)
    return unit
