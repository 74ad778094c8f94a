"""Stand-ins for encoders: one that obeys every law of an encoder, and one that breaks them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intentmatch.core.types import Kind, Vectors
from intentmatch.text.normalize import fold


class WordHashEncoder:
    """An `Encoder` without a model: it hashes words and their character trigrams into 64 dimensions.

    `encoded` lists all texts in the order in which they were encoded.
    """

    dim = 64
    tolerance = 1e-6

    def __init__(self, name: str = "fake", fingerprint: str = "word-hash-1") -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Encode texts as unit rows, shape `(len(texts), dim)`; a text without words is a row of zeros."""
        self.encoded += texts
        rows = [_row(fold(text), self.dim) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dim)


class BrokenEncoder(WordHashEncoder):
    """An encoder that returns whatever `spoil` makes of the right vectors."""

    def __init__(self, spoil: Callable[[Vectors], Any]) -> None:
        super().__init__(name="broken")
        self.spoil = spoil

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Any:
        """The spoilt vectors."""
        return self.spoil(super().encode(texts, kind=kind))


def _row(folded: str, dim: int) -> Vectors:
    row = np.zeros(dim, dtype=np.float64)
    for word in folded.split():
        padded = f" {word} "
        for piece in (word, *(padded[start : start + 3] for start in range(len(padded) - 2))):
            digest = zlib.crc32(piece.encode("utf-8", "surrogatepass"))
            row[digest % dim] += 1.0 if digest & 0x80000000 else -1.0
    length = float(np.linalg.norm(row))
    return (row / length if length > 0.0 else row).astype(np.float32)
