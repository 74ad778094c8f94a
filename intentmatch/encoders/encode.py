"""Encode many texts once each, with cached and known vectors taken over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import IntentMatchError
from intentmatch.core.types import Encoder, KeptVectors, Kind, Vectors
from intentmatch.runtime.block_sizes import COPY_ROWS, ENCODE_TEXTS
from intentmatch.storage.vector_cache import VectorCache


class Known(NamedTuple):
    """Vectors of utterances from an earlier build with the same encoder."""

    rows: Mapping[str, int]
    """Cleaned text to its row."""
    vectors: KeptVectors
    others: Mapping[str, NDArray[np.float32]]
    """Vectors that stand in no row, by cleaned text."""

    def fill(self, texts: Sequence[str], vectors: Vectors) -> list[int]:
        """Give cleaned texts that are known their vectors; the positions of those that are not."""
        rows = np.array([self.rows.get(text, -1) for text in texts], dtype=np.int64)
        for start in range(0, len(rows), COPY_ROWS):
            some = slice(start, start + COPY_ROWS)
            # What is not known has some vector or other until it has its own.
            vectors[some] = self.vectors.take(rows[some], axis=0, mode="clip")
        unknown = []
        for position in np.flatnonzero(rows < 0).tolist():
            if (vector := self.others.get(texts[position])) is None:
                unknown.append(position)
            else:
                vectors[position] = vector
        return unknown


Progress = Callable[[int, int], None]
"""Told (texts encoded, texts to encode) as a build goes on; the texts that the cache has do not count."""


_UNIT_WITHIN = 0.01


def encode_all(
    encoder: Encoder,
    texts: Sequence[str],
    kind: Kind,
    cache: VectorCache | None = None,
    progress: Progress | None = None,
    *,
    known: Known | None = None,
) -> Vectors:
    """Vectors of cleaned texts, shape `(len(texts), dim)`.

    Each distinct text that is neither `known` nor in the cache is encoded once.
    """
    cache = cache or VectorCache(None)
    vectors = np.empty((len(texts), encoder.dim), dtype=np.float32)
    asked = list(range(len(texts))) if known is None else known.fill(texts, vectors)
    cached = cache.get(encoder, [texts[position] for position in asked], kind)
    missing: dict[str, list[int]] = {}
    for number, position in enumerate(asked):
        if number in cached:
            vectors[position] = cached[number]
        else:
            missing.setdefault(texts[position], []).append(position)
    # Longest first over the whole build, so that each batch holds texts of like length.
    new = sorted(missing, key=lambda text: (-len(text), text))
    together: int = getattr(encoder, "texts_at_once", ENCODE_TEXTS)
    for start in range(0, len(new), together):
        if progress is not None:
            progress(start, len(new))
        some = new[start : start + together]
        encoded = _checked(encoder, encoder.encode(some, kind=kind), len(some))
        cache.put(encoder, some, encoded, kind)
        for text, vector in zip(some, encoded, strict=True):
            vectors[missing[text]] = vector
    if progress is not None:
        progress(len(new), len(new))
    return vectors


def _checked(encoder: Encoder, vectors: Vectors, count: int) -> Vectors:
    shape = getattr(vectors, "shape", None)
    if shape != (count, encoder.dim) or not bool(np.isfinite(vectors).all()):
        raise IntentMatchError(
            f"the encoder {encoder.name} broke its protocol: {count} texts must give finite numbers of shape "
            f"({count}, {encoder.dim}), and it gave {type(vectors).__name__} of shape {shape}"
        )
    lengths = np.linalg.norm(vectors, axis=1)
    wrong = lengths[(lengths > 0.0) & (np.abs(lengths - 1.0) > _UNIT_WITHIN)]
    if len(wrong):
        raise IntentMatchError(
            f"the encoder {encoder.name} broke its protocol: rows must be of length 1 or all zeros, and {len(wrong)} "
            f"of {count} are not (the first is of length {wrong[0]:.3g})"
        )
    return vectors
