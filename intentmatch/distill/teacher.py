"""Encode the English sentences with the teacher, keep the vectors on disk, and project them to the student's size."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from intentmatch.core.types import Encoder
from intentmatch.distill.corpus import StepProgress
from intentmatch.runtime.block_sizes import DISTILL_TARGET_ROWS

Half = NDArray[np.float16]

# Vectors per file: one or two minutes of work on a CPU, which is the most that an interruption loses.
_SHARD = 32_768


class Targets(NamedTuple):
    """Target vectors of the sentences."""

    vectors: Half
    """Unit rows, shape `(sentences, dim)`; dimensions are ordered by variance, largest first."""
    kept: float
    """Share of the teacher's variance that `dim` dimensions hold."""


def teacher_vectors(
    teacher: Encoder, sentences: Sequence[str], folder: Path, progress: StepProgress | None = None
) -> Half:
    """Return the teacher's vectors of distinct sentences, shape `(sentences, teacher.dim)`.

    Vectors that an earlier run saved in `folder` are read; the others are encoded and saved there.
    """
    shards = folder / f"teacher-{teacher.fingerprint}"
    shards.mkdir(parents=True, exist_ok=True)
    # Shards are by content: another corpus or order finds the sentences that were encoded before.
    keys = np.fromiter(map(_key, sentences), dtype=np.uint64, count=len(sentences))
    order = np.argsort(keys)
    vectors = np.empty((len(sentences), teacher.dim), dtype=np.float16)
    missing = np.ones(len(sentences), dtype=bool)
    for file in sorted(shards.glob("*.safetensors")):
        shard = _read(file)
        if shard is None:
            continue
        rows = order[np.searchsorted(keys, shard["keys"], sorter=order).clip(max=len(keys) - 1)]
        found = keys[rows] == shard["keys"]
        vectors[rows[found]] = shard["vectors"][found]
        missing[rows[found]] = False
    rest = np.flatnonzero(missing)
    for start in range(0, len(rest), _SHARD):
        batch = rest[start : start + _SHARD]
        if progress is not None:
            progress("encoding with the teacher", len(sentences) - len(rest) + start, len(sentences))
        vectors[batch] = teacher.encode([sentences[row] for row in batch])
        _write(shards, {"keys": keys[batch], "vectors": vectors[batch]})
    return vectors


def project(vectors: Half, dim: int) -> Targets:
    """Project vectors onto their first `dim` principal axes and scale them to unit length.

    The vectors are not centred, so that cosines are preserved as well as possible.
    """
    # In float64: sums over millions of rows of half precision would lose the weak axes.
    spread = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), DISTILL_TARGET_ROWS):
        batch = vectors[start : start + DISTILL_TARGET_ROWS].astype(np.float32)
        spread += batch.T @ batch
    strength, axes = principal_axes(spread)
    kept = axes[:, :dim].astype(np.float32)
    projected = np.empty((len(vectors), kept.shape[1]), dtype=np.float16)
    for start in range(0, len(vectors), DISTILL_TARGET_ROWS):
        batch = vectors[start : start + DISTILL_TARGET_ROWS].astype(np.float32) @ kept
        projected[start : start + DISTILL_TARGET_ROWS] = batch / np.linalg.norm(batch, axis=1, keepdims=True).clip(1e-9)
    return Targets(projected, float(strength[:dim].sum() / strength.sum()))


def principal_axes(spread: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the eigenvalues and eigenvectors (columns) of a second-moment matrix, largest eigenvalue first."""
    strength, axes = np.linalg.eigh(spread)
    strength, axes = strength[::-1], axes[:, ::-1]
    # The sign of an eigenvector is arbitrary; fixing it gives the same result on all machines.
    return strength, axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(axes))])


def _key(sentence: str) -> int:
    # Among ten million sentences, two have the same 64 bits with a chance of one in 370,000.
    return int.from_bytes(hashlib.blake2b(sentence.encode(), digest_size=8).digest(), "little")


def _read(file: Path) -> dict[str, NDArray[Any]] | None:
    """Read a shard; None if it is damaged, so that its sentences are encoded again."""
    try:
        shard = load_file(file)
    except (SafetensorError, OSError):
        return None
    return shard if {"keys", "vectors"} <= set(shard) else None


def _write(shards: Path, shard: dict[str, NDArray[Any]]) -> None:
    number = max((int(file.stem) for file in shards.glob("*.safetensors")), default=-1) + 1
    temporary = shards / "unfinished"
    save_file(shard, temporary)
    temporary.replace(shards / f"{number:05}.safetensors")
