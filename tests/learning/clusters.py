"""Makes vectors of utterances in clusters, one for each intent."""

from __future__ import annotations

import numpy as np

from intentmatch.learning.token_features import DIM


def unit_rows(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def clusters(
    *sizes: int, spread: float = 0.5, dim: int = 16, seed: int = 7
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return vectors scattered around intent centres, token features of which some are the intent's own, and owners."""
    random = np.random.default_rng(seed)
    owners = [intent for intent, size in enumerate(sizes) for _ in range(size)]
    centres = unit_rows(random.normal(size=(len(sizes), dim)))
    vectors = unit_rows(centres[owners] + spread * random.normal(size=(len(owners), dim)))
    words = np.zeros((len(owners), DIM))
    for row, owner in enumerate(owners):
        words[row, random.choice(30, 3, replace=False)] = 1.0
        words[row, 30 + owner] = 1.0
    return vectors, unit_rows(words), owners
