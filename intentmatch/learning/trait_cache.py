"""Cache the heads of questions that were trained."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from intentmatch.learning.training_cache import TRAINING_VERSION, read_cached, write_cached
from intentmatch.learning.trait_heads import TraitHeads
from intentmatch.learning.traits import TraitLines, Unlabelled, train_traits


def load_or_train_traits(data: Sequence[tuple[TraitLines, Unlabelled]], folder: Path | None) -> TraitHeads:
    """Train the heads of questions, or load from the cache folder what was trained on the same data.

    A cache file that cannot be read or written is logged as a warning and costs only time.
    """
    file = folder and folder / "learned_questions" / f"{_digest(data)}.safetensors"
    found = read_cached(file, lambda stored: TraitHeads.from_tensors(stored.tensors)) if file else None
    if found is None:
        found = train_traits(data)
        if file:
            write_cached(file, found.to_tensors(), {})
    return found


def _digest(data: Sequence[tuple[TraitLines, Unlabelled]]) -> str:
    """Return a digest of everything that the training uses."""
    digest = hashlib.sha256(str(TRAINING_VERSION).encode())
    for lines, unlabelled in data:
        arrays = (lines.vectors, lines.owners, lines.folds, unlabelled.vectors, unlabelled.shares)
        digest.update(str([len(lines.question.answers), *(array.shape for array in arrays)]).encode())
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:32]
