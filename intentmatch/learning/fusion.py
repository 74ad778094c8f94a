"""Fuse similarity scores, head logits and word alignment into one number per intent: the evidence.

Intents are ranked by their evidence. The head tells the intents of a registry apart; cosine similarity and word
alignment tell out-of-scope messages from the rest. The weights were chosen on development sets.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp

import numpy as np
from numpy.typing import NDArray

from intentmatch.learning.head import softmax

PROBABILITY_WEIGHT, LOGIT_WEIGHT = 0.5, 0.15
"""Weights of the head's probability and of its logit; a score has weight 1."""

WORD_WEIGHT = 1.2
"""Weight of the word similarity of an intent's nearest utterance, for the leading intents of a message. On development
sets 1.0 and 1.3 differ by less than 0.002 in AUROC."""


def fused_score(scores: NDArray[np.float32], logits: NDArray[np.float32] | None) -> NDArray[np.float64]:
    """Evidence per intent along the last axis: `scores + head_term(logits)`, or the scores alone without a head.

    `scores` are aggregated cosine similarities. Both arrays have the shape of the result.
    """
    total = scores.astype(np.float64)
    if logits is not None:
        total += head_term(logits)
    return total


def head_term(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Head term per intent along the last axis: `0.5 * softmax(logits) + 0.15 * logits`."""
    term = softmax(logits)
    term *= np.float32(PROBABILITY_WEIGHT)
    term += np.float32(LOGIT_WEIGHT) * logits
    return term


def head_term_of_one(logits: NDArray[np.float32]) -> Callable[[float], float]:
    """Return a function from one logit of a message to its head term, for when only a few intents are needed.

    `logits` are all logits of the message, shape `(intents,)`.
    """
    most = logits[logits.argmax()]
    highest, scale = float(most), PROBABILITY_WEIGHT / float(np.add.reduce(np.exp(logits - most)))

    def term(logit: float) -> float:
        return scale * exp(logit - highest) + LOGIT_WEIGHT * logit

    return term
