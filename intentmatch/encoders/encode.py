"""Encode many texts, reusing cached vectors and vectors of an earlier build."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import IntentMatchError
from intentmatch.core.types import Encoder, KeptVectors, Kind, Vectors
from intentmatch.runtime import steps
from intentmatch.runtime.block_sizes import COPY_ROWS, ENCODE_TEXTS
from intentmatch.storage.vector_cache import VectorCache


class Known(NamedTuple):
    """Vectors from an earlier build with the same encoder."""

    rows: Mapping[str, int]
    """Cleaned text to its row in `vectors`."""
    vectors: KeptVectors
    """Shape `(rows, dim)`."""
    others: Mapping[str, NDArray[np.float32]]
    """Cleaned text to its vector, shape `(dim,)`, for texts that are not in `rows`."""

    def fill(self, texts: Sequence[str], vectors: Vectors) -> list[int]:
        """Write the vectors of known cleaned texts into `vectors`; return the positions of unknown texts."""
        rows = np.array([self.rows.get(text, -1) for text in texts], dtype=np.intp)
        for start in range(0, len(rows), COPY_ROWS):
            block = slice(start, start + COPY_ROWS)
            # Rows of unknown texts (-1) get an arbitrary vector here; the caller overwrites it.
            vectors[block] = self.vectors.take(rows[block], axis=0, mode="clip")
        unknown = []
        for position in np.flatnonzero(rows < 0).tolist():
            if (vector := self.others.get(texts[position])) is None:
                unknown.append(position)
            else:
                vectors[position] = vector
        return unknown


Progress = Callable[[int, int], None]
"""Callback with (texts encoded, texts to encode) during a build. Cached texts do not count."""

# Tolerance of the check that rows have unit length.
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
    """Return the vectors of cleaned texts, float32 of shape `(len(texts), dim)`.

    Each distinct text that is neither `known` nor in the cache is encoded once. Raises `IntentMatchError` if the
    encoder returns a wrong shape, or rows that are not finite or not of unit length.
    """
    cache = cache or VectorCache(None)
    vectors = np.empty((len(texts), encoder.dim), dtype=np.float32)
    unknown = list(range(len(texts))) if known is None else known.fill(texts, vectors)
    # All in one call: a shared cache answers from a database, in one round trip.
    cached = cache.get(encoder, [texts[position] for position in unknown], kind)
    missing: dict[str, list[int]] = {}
    for number, position in enumerate(unknown):
        if number in cached:
            vectors[position] = cached[number]
        else:
            missing.setdefault(texts[position], []).append(position)
    # Longest first, so that each batch holds texts of similar length.
    new = sorted(missing, key=lambda text: (-len(text), text))
    batch_size: int = getattr(encoder, "texts_at_once", ENCODE_TEXTS)
    for start in range(0, len(new), batch_size):
        if progress is not None:
            progress(start, len(new))
        steps.report("encoding", start, len(new))
        batch = new[start : start + batch_size]
        encoded = _checked(encoder, encoder.encode(batch, kind=kind), len(batch))
        # After each batch, so that a build that is interrupted goes on where it stopped.
        cache.put(encoder, batch, encoded, kind)
        for text, vector in zip(batch, encoded, strict=True):
            vectors[missing[text]] = vector
    if progress is not None:
        progress(len(new), len(new))
    return vectors


def _checked(encoder: Encoder, vectors: Vectors, count: int) -> Vectors:
    shape = getattr(vectors, "shape", None)
    if shape != (count, encoder.dim) or not bool(np.isfinite(vectors).all()):
        raise IntentMatchError(
            f"the encoder {encoder.name} broke its protocol: for {count} texts it must return finite numbers of shape "
            f"({count}, {encoder.dim}), but it returned {type(vectors).__name__} of shape {shape}"
        )
    lengths = np.linalg.norm(vectors, axis=1)
    wrong = lengths[(lengths > 0.0) & (np.abs(lengths - 1.0) > _UNIT_WITHIN)]
    if len(wrong):
        raise IntentMatchError(
            f"the encoder {encoder.name} broke its protocol: rows must be of length 1 or all zeros, but {len(wrong)} "
            f"of {count} are not (the first is of length {wrong[0]:.3g})"
        )
    return vectors
