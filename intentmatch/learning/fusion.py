"""Fuse similarity scores, head logits and word alignment into one number per intent: the evidence.

Intents are ranked by their evidence. The head tells the intents of a registry apart; cosine similarity and word
alignment tell out-of-scope messages from the rest. The weights were chosen on development sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from intentmatch.learning.head import softmax

PROBABILITY_WEIGHT, LOGIT_WEIGHT = 0.5, 0.15
"""Weights of the head's probability and of its logit; a score has weight 1."""

_SMALLEST = np.float32(np.finfo(np.float32).tiny)

Apart = Mapping[int, frozenset[int]]
"""Position of an intent that shares lines, to the intents that do not compete with it; see `core.shared_lines`."""


def fused_score(
    scores: NDArray[np.float32], logits: NDArray[np.float32], apart: Apart = MappingProxyType({})
) -> NDArray[np.float64]:
    """Evidence per intent along the last axis: `scores + head_term(logits)`.

    `scores` are aggregated cosine similarities. Both arrays have the shape of the result; `apart` are as in
    `head_term`.
    """
    return scores.astype(np.float64) + head_term(logits, apart)


def head_term(logits: NDArray[np.float32], apart: Apart = MappingProxyType({})) -> NDArray[np.float32]:
    """Head term per intent along the last axis: `0.5 * softmax(logits) + 0.15 * logits`.

    Where intents have lines in common, their tags tell them `apart`, and not the words: the softmax of each leaves the
    others out.
    """
    term = softmax(logits)
    if apart:
        # Less the largest, because `exp` of a float32 overflows at 89.
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        for others, intents in _by_others(apart).items():
            competing = np.delete(powers, [*others], axis=-1).sum(axis=-1, keepdims=True)
            term[..., intents] = _share(powers[..., intents], competing)
    term *= np.float32(PROBABILITY_WEIGHT)
    term += np.float32(LOGIT_WEIGHT) * logits
    return term


def head_term_of_one(logits: NDArray[np.float32], apart: Apart = MappingProxyType({})) -> Callable[[float, int], float]:
    """Return a function from one logit of a message and its intent to its head term, for when few intents are needed.

    `logits` are all logits of the message, shape `(intents,)`; `apart` are as in `head_term`.
    """
    most = logits[logits.argmax()]
    highest, scale = float(most), PROBABILITY_WEIGHT / float(np.add.reduce(np.exp(logits - most)))

    scales: dict[frozenset[int], float] = {}

    def term(logit: float, intent: int) -> float:
        if others := apart.get(intent):
            if others not in scales:
                competing = np.delete(np.exp(logits - most), [*others]).sum()
                scales[others] = PROBABILITY_WEIGHT / max(float(competing), float(_SMALLEST))
            return scales[others] * exp(logit - highest) + LOGIT_WEIGHT * logit
        return scale * exp(logit - highest) + LOGIT_WEIGHT * logit

    return term


def _by_others(apart: Apart) -> Mapping[frozenset[int], list[int]]:
    """Return the intents with the same others; many intents share no line and have the same context."""
    found: dict[frozenset[int], list[int]] = {}
    for intent, others in apart.items():
        if others:
            found.setdefault(others, []).append(intent)
    return found


def _share(own: NDArray[np.float32], competing: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return shares of sums that may be zero, where a logit is far below those of the intents left out."""
    share: NDArray[np.float32] = (own / np.maximum(competing, _SMALLEST)).astype(np.float32, copy=False)
    return share
