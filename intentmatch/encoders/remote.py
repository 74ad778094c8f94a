"""Encoder for embedding servers: OpenAI, OpenAI-compatible servers and text-embeddings-inference.

The weights of the server are unknown. The fingerprint is made from the model's name and the vectors of a few probe
texts, so that another model under the same name is detected.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import SettingsError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Kind, Vectors
from intentmatch.encoders.endpoint import FORM, Endpoint
from intentmatch.encoders.keys import key_for
from intentmatch.encoders.prompts import usual_prompts
from intentmatch.runtime.block_sizes import REMOTE_TEXTS

KEY = "INTENTMATCH_REMOTE_KEY"
"""Environment variable with the API key, see `encoders.keys`."""

# Part of the fingerprint. Change it together with any code below that changes vectors.
_ALGORITHM = b"remote/1"
# The webhook's default limit on a message.
_MOST_CHARACTERS = 2000
_PROBES = ("where is my order", "wie ist das Wetter morgen", "cancel it", "请转人工客服")
_BITS_OF_A_PROBE = 32
# Bits of all probes that may differ: bfloat16 changes up to 4, vectors with cosine 0.9 differ in 16.
_MOST_BITS = 6


def load(model: str, settings: Settings) -> RemoteEncoder:
    """Load the encoder of a `remote:URL#MODEL` setting. Raises the same errors as `RemoteEncoder`."""
    url, _, name = model.partition("#")
    if not url:
        raise SettingsError(f"the encoder remote needs a URL: write {FORM}")
    if settings.precision != "auto":
        raise SettingsError(f"precision {settings.precision!r}: a remote encoder's server chooses it; use auto")
    key = key_for(url, KEY, by_operator="encoder" in settings.by_operator)
    return RemoteEncoder(url, name, key=key, seconds=settings.remote_seconds, prompts=settings.prompts)


class RemoteEncoder:
    """Encoder that uses a model on a server. Safe to use from many threads.

    The constructor sends the probe texts to the server. Texts are cut to 2,000 characters. `seconds` is the read
    timeout. `prompts` are the prefixes of an `utterance` and a `query`; missing ones are the usual prompts of a model
    of this name.

    Raises `MissingExtraError`, `SettingsError` if the URL or the key is invalid, and, like `encode`,
    `ModelUnavailableError` if the server cannot be reached or does not return vectors.
    """

    batches = True
    # The server's precision is unknown; this is the tolerance of bfloat16.
    tolerance = 3e-2

    def __init__(
        self,
        url: str,
        model: str = "",
        *,
        key: str | None = None,
        seconds: float = Settings.remote_seconds,
        prompts: Mapping[str, str] | None = None,
    ) -> None:
        self._endpoint = Endpoint(url, model, key=key, seconds=seconds)
        self.name = f"remote:{url}#{model}" if model else f"remote:{url}"
        self._prompts: dict[str, str] = {**usual_prompts(model), **(prompts or {})}
        probes = self._endpoint.vectors(_PROBES)
        self.dim = int(probes.shape[1])
        known = json.dumps([model, self.dim, self._prompts], sort_keys=True).encode()
        identity = hashlib.sha256(_ALGORITHM + known).hexdigest()[:16]
        self.fingerprint = f"{identity}-{_sketch(probes)}"
        """Digest of model name, `dim` and prompts, followed by a sketch of the probe vectors."""

    def same_as(self, fingerprint: str) -> bool:
        """Return whether a fingerprint differs in few bits only. The last digits of a server's vectors vary."""
        (ours, our_sketch), (theirs, _, their_sketch) = self.fingerprint.split("-"), fingerprint.partition("-")
        if ours != theirs:
            return False
        try:
            return (int(our_sketch, 16) ^ int(their_sketch, 16)).bit_count() <= _MOST_BITS
        except ValueError:
            return False

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Return unit vectors, float32 of shape `(len(texts), dim)`. Blank texts, which servers refuse, give zeros."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        # OpenAI answers an error for an empty input, and with it for the whole batch.
        not_blank = [row for row, text in enumerate(texts) if text.strip()]
        for start in range(0, len(not_blank), REMOTE_TEXTS):
            rows = not_blank[start : start + REMOTE_TEXTS]
            batch = self._endpoint.vectors([(self._prompts[kind] + texts[row])[:_MOST_CHARACTERS] for row in rows])
            if batch.shape[1] != self.dim:
                raise self._endpoint.unavailable(f"its vectors had {self.dim} numbers, now they have {batch.shape[1]}")
            lengths = np.linalg.norm(batch, axis=1, keepdims=True)
            vectors[rows] = batch / np.where(lengths > 0.0, lengths, 1.0)
        return vectors


def _sketch(rows: NDArray[np.float64]) -> str:
    """Return the random-hyperplane hash of rows of shape `(texts, dim)`, in hex.

    The share of differing bits of two rows estimates their angle divided by 180 degrees (Charikar 2002, "Similarity
    Estimation Techniques from Rounding Algorithms").
    """
    drawn = hashlib.shake_256(_ALGORITHM).digest(rows.shape[1] * _BITS_OF_A_PROBE)
    planes = np.frombuffer(drawn, dtype=np.uint8).reshape(rows.shape[1], _BITS_OF_A_PROBE) - 127.5
    return np.packbits(rows @ planes > 0.0).tobytes().hex()
