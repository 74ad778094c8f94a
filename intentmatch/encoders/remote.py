"""The model of a server: OpenAI's embeddings or any server that speaks like it, or text-embeddings-inference.

What the server computes with is not seen from here. Its model is told by its name and by the vectors of a few texts,
so that another model under the same name is found out.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import SettingsError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Kind, Vectors
from intentmatch.encoders.endpoint import FORM, Endpoint
from intentmatch.encoders.prompts import usual_prompts
from intentmatch.runtime.block_sizes import REMOTE_TEXTS

KEY = "INTENTMATCH_REMOTE_KEY"
"""The variable of the environment that holds the key; with `_FILE` behind it, one that names a file with the key."""

# Part of the fingerprint; to be changed together with anything below that moves a vector.
_ALGORITHM = b"remote/1"
# The webhook's own limit on a message.
_MOST_CHARACTERS = 2000
_PROBES = ("where is my order", "wie ist das Wetter morgen", "cancel it", "请转人工客服")
_BITS_OF_A_PROBE = 32
# Of the bits of all probes, that may differ: bfloat16 changes up to 4, vectors at a cosine of 0.9 are 16 apart.
_MOST_BITS = 6


def load(model: str, settings: Settings) -> RemoteEncoder:
    """The encoder of a `remote:URL#MODEL` setting."""
    url, _, name = model.partition("#")
    if not url:
        raise SettingsError(f"write where the model is: {FORM}")
    if settings.precision != "auto":
        raise SettingsError(f"precision {settings.precision!r}: the server of a remote encoder chooses it; use auto")
    return RemoteEncoder(url, name, key=_key(), seconds=settings.remote_seconds, prompts=settings.prompts)


class RemoteEncoder:
    """The model of a server behind the `Encoder` protocol. Safe to use from many threads.

    The server is asked when this is made. Texts are cut to 2,000 characters. `prompts` are the texts put before an
    `utterance` and a `query`; where they are not given, those that a model of that name was trained with, as far as
    they are known here.

    Raises `MissingExtraError`, `SettingsError` (the URL or the key cannot be), or `ModelUnavailableError`, as `encode`
    does, where the server is away or does not give vectors.
    """

    batches = True
    # In which precision the server computes is its own affair; this is that of bfloat16.
    tolerance = 3e-2

    def __init__(
        self,
        url: str,
        model: str = "",
        *,
        key: str | None = None,
        seconds: float = 20.0,
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
        """Digest of the model's name, `dim` and the prompts, and a sketch of what it makes of the probes."""

    def same_as(self, fingerprint: str) -> bool:
        """Whether another fingerprint is this one but for a few bits: the last digits of a server move."""
        (ours, our_sketch), (theirs, _, their_sketch) = self.fingerprint.split("-"), fingerprint.partition("-")
        if ours != theirs:
            return False
        try:
            return (int(our_sketch, 16) ^ int(their_sketch, 16)).bit_count() <= _MOST_BITS
        except ValueError:
            return False

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Unit rows of shape `(len(texts), dim)`; a blank text, which servers refuse, is a row of zeros."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        told = [row for row, text in enumerate(texts) if text.strip()]
        for start in range(0, len(told), REMOTE_TEXTS):
            rows = told[start : start + REMOTE_TEXTS]
            some = self._endpoint.vectors([(self._prompts[kind] + texts[row])[:_MOST_CHARACTERS] for row in rows])
            if some.shape[1] != self.dim:
                raise self._endpoint.unavailable(f"its vectors had {self.dim} numbers and have {some.shape[1]} now")
            lengths = np.linalg.norm(some, axis=1, keepdims=True)
            vectors[rows] = some / np.where(lengths > 0.0, lengths, 1.0)
        return vectors


def _sketch(rows: NDArray[np.float64]) -> str:
    """On which side of fixed planes each row lies (Charikar 2002, "Similarity Estimation Techniques"), in hex.

    Two rows differ in a share of the bits that is their angle as a share of half a turn.
    """
    drawn = hashlib.shake_256(_ALGORITHM).digest(rows.shape[1] * _BITS_OF_A_PROBE)
    planes = np.frombuffer(drawn, dtype=np.uint8).reshape(rows.shape[1], _BITS_OF_A_PROBE) - 127.5
    return np.packbits(rows @ planes > 0.0).tobytes().hex()


def _key() -> str | None:
    """The key in the environment. Raises `SettingsError` for a file that cannot be read."""
    if KEY in os.environ:
        return os.environ[KEY].strip()
    if (file := os.environ.get(f"{KEY}_FILE")) is None:
        return None
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SettingsError(f"the key in {file!r} cannot be read: {reason}") from None
