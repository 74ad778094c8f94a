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

from intentmatch.encoders.endpoint import FORM, Endpoint
from intentmatch.encoders.prompts import usual_prompts
from intentmatch.errors import SettingsError
from intentmatch.settings import Settings
from intentmatch.types import Kind, Vectors

KEY = "INTENTMATCH_REMOTE_KEY"
"""The variable of the environment that holds the key; with `_FILE` behind it, one that names a file with the key."""

# Part of the fingerprint; to be changed together with anything below that moves a vector.
_ALGORITHM = b"remote/1"
# As many as text-embeddings-inference takes at a time, and as long as our own webhook does.
_TEXTS_AT_ONCE, _MOST_CHARACTERS = 32, 2000
_PROBES = ("where is my order", "wie ist das Wetter morgen", "cancel it", "请转人工客服")
_NUMBERS_OF_A_PROBE = 32
# Of the signs, that may change without another model: bfloat16 changes 1 in 100, a cosine of 0.9 changes 7 to 14.
_SHARE_OF_SIGNS = 0.05


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
        signs = np.packbits(probes[:, :_NUMBERS_OF_A_PROBE] > 0.0)
        self.fingerprint = f"{identity}-{signs.tobytes().hex()}"
        """Digest of the model's name, `dim` and the prompts, and the signs of the first numbers of the probes."""

    def same_as(self, fingerprint: str) -> bool:
        """Whether another fingerprint is this one but for a few signs: the last digits of a server move."""
        (ours, our_signs), (theirs, _, their_signs) = self.fingerprint.split("-"), fingerprint.partition("-")
        if ours != theirs or len(our_signs) != len(their_signs):
            return False
        try:
            different = bin(int(our_signs, 16) ^ int(their_signs, 16)).count("1")
        except ValueError:
            return False
        return different <= _SHARE_OF_SIGNS * len(_PROBES) * min(self.dim, _NUMBERS_OF_A_PROBE)

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Unit rows of shape `(len(texts), dim)`; a blank text, which servers refuse, is a row of zeros."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        told = [row for row, text in enumerate(texts) if text.strip()]
        for start in range(0, len(told), _TEXTS_AT_ONCE):
            rows = told[start : start + _TEXTS_AT_ONCE]
            some = self._endpoint.vectors([(self._prompts[kind] + texts[row])[:_MOST_CHARACTERS] for row in rows])
            if some.shape[1] != self.dim:
                raise self._endpoint.unavailable(f"its vectors had {self.dim} numbers and have {some.shape[1]} now")
            lengths = np.linalg.norm(some, axis=1, keepdims=True)
            vectors[rows] = some / np.where(lengths > 0.0, lengths, 1.0)
        return vectors


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
