"""Train the weights of `reading.given_values` on answers with a value in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from intentmatch.distill.messages import LabelledValue
from intentmatch.reading.given_values import features

_PENALTY = 0.05
"""Weight of the squares of the weights beside the mean loss."""
_STEPS = 12
_LEAST_SPREAD = 1e-3


def train_values(values: Sequence[LabelledValue]) -> dict[str, NDArray[np.float32]]:
    """Return the weights and their bias by name: a logistic regression with a penalty, by Newton's method."""
    rows = np.array([features(one.text, one.start, one.end) for one in values], dtype=np.float64)
    gives = np.array([one.gives for one in values], dtype=np.float64)
    means, spreads = rows.mean(0), rows.std(0) + _LEAST_SPREAD
    # The last column is the bias, which is not penalised.
    rows = np.column_stack([(rows - means) / spreads, np.ones(len(rows))])
    penalties = np.full(rows.shape[1], 2 * _PENALTY)
    penalties[-1] = 0.0
    weights = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chances = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (chances - gives) / len(rows) + penalties * weights
        curvature = (rows.T * (chances * (1 - chances))) @ rows / len(rows) + np.diag(penalties)
        weights -= np.linalg.solve(curvature, slope)
    own = weights[:-1] / spreads
    bias = weights[-1] - own @ means
    return {"gives": own.astype(np.float32), "gives_bias": np.array([bias], dtype=np.float32)}
