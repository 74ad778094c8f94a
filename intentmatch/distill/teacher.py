"""What the teacher makes of each English sentence: encoded once, kept on disk, and turned to the student's size."""

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
from intentmatch.distill.corpus import Tell
from intentmatch.runtime.block_sizes import DISTILL_TARGET_ROWS

Half = NDArray[np.float16]

# One file holds so many vectors: a minute or two of work on a processor, and the most that a stop can lose.
_SHARD = 32_768


class Targets(NamedTuple):
    """Where the student shall put each sentence."""

    vectors: Half
    """Unit rows, shape `(sentences, dim)`; the numbers are ordered by how much they tell, most first."""
    kept: float
    """Share of the teacher's variance that fits into `dim` numbers."""


def teach(teacher: Encoder, sentences: Sequence[str], folder: Path, tell: Tell | None = None) -> Half:
    """The teacher's vectors of distinct sentences, shape `(sentences, teacher.dim)`.

    Those that an earlier run left in the folder are read; the others are encoded and left there.
    """
    shards = folder / f"teacher-{teacher.fingerprint}"
    shards.mkdir(parents=True, exist_ok=True)
    keys = np.fromiter(map(_key, sentences), dtype=np.uint64, count=len(sentences))
    order = np.argsort(keys)
    vectors = np.empty((len(sentences), teacher.dim), dtype=np.float16)
    todo = np.ones(len(sentences), dtype=bool)
    for file in sorted(shards.glob("*.safetensors")):
        shard = _read(file)
        if shard is None:
            continue
        rows = order[np.searchsorted(keys, shard["keys"], sorter=order).clip(max=len(keys) - 1)]
        wanted = keys[rows] == shard["keys"]
        vectors[rows[wanted]] = shard["vectors"][wanted]
        todo[rows[wanted]] = False
    rest = np.flatnonzero(todo)
    for start in range(0, len(rest), _SHARD):
        some = rest[start : start + _SHARD]
        if tell is not None:
            tell("asking the teacher", len(sentences) - len(rest) + start, len(sentences))
        vectors[some] = teacher.encode([sentences[row] for row in some])
        _write(shards, {"keys": keys[some], "vectors": vectors[some]})
    return vectors


def targets(vectors: Half, dim: int) -> Targets:
    """Vectors turned to their principal axes, the first `dim` of them kept, and scaled to unit length.

    The axes go through the origin, so that cosines stay what they are.
    """
    spread = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), DISTILL_TARGET_ROWS):
        some = vectors[start : start + DISTILL_TARGET_ROWS].astype(np.float32)
        spread += some.T @ some
    strength, axes = principal_axes(spread)
    kept = axes[:, :dim].astype(np.float32)
    turned = np.empty((len(vectors), kept.shape[1]), dtype=np.float16)
    for start in range(0, len(vectors), DISTILL_TARGET_ROWS):
        some = vectors[start : start + DISTILL_TARGET_ROWS].astype(np.float32) @ kept
        turned[start : start + DISTILL_TARGET_ROWS] = some / np.linalg.norm(some, axis=1, keepdims=True).clip(1e-9)
    return Targets(turned, float(strength[:dim].sum() / strength.sum()))


def principal_axes(spread: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Strengths and axes (columns) of a matrix of products, strongest first."""
    strength, axes = np.linalg.eigh(spread)
    strength, axes = strength[::-1], axes[:, ::-1]
    # Eigenvectors have no sign of their own; without one rule for it two machines would turn differently.
    return strength, axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(len(axes))])


def _key(sentence: str) -> int:
    return int.from_bytes(hashlib.blake2b(sentence.encode(), digest_size=8).digest(), "little")


def _read(file: Path) -> dict[str, NDArray[Any]] | None:
    """A shard, or None where it is damaged: it is then encoded again."""
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
