"""Whether an answer gives a value that is in it: "Friday works", but not "Friday is too late for me".

`given_values.safetensors` weighs the words before a value and behind it, and what the network of `dialogue_acts` makes
of them; `intentmatch distill-values` trains it, anew whenever that network is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import tanh
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from intentmatch.pieces.convolutions import checked, pooled
from intentmatch.pieces.embedded import known_pieces
from intentmatch.pieces.vectors import embedded_piece_vectors
from intentmatch.reading.dialogue_acts import dialogue_acts
from intentmatch.reading.networks import Tensors, loaded
from intentmatch.text.normalize import clean

FILE = Path(__file__).with_name("given_values.safetensors")
_LEAST_LENGTH = 1e-6
_AROUND = 2
"""Pieces beside a value that are taken together with it."""
_MOST_BESIDE = 200
"""Characters on each side of a value that are read."""


class GivenValues:
    """The weights. Safe to use from many threads."""

    def __init__(self, tensors: Tensors) -> None:
        """Raises `ValueError` if a tensor is missing or has the wrong shape."""
        own = checked(tensors, {"gives": (len(features("", 0, 0)),), "gives_bias": (1,)})
        self._weights, self._bias = own["gives"], own["gives_bias"].item()

    def chance(self, text: str, start: int, end: int) -> float:
        """Return what `gives_value` does."""
        return (1 + tanh((self._weights.dot(features(text, start, end)).item() + self._bias) / 2)) / 2


def features(text: str, start: int, end: int) -> NDArray[np.float32]:
    """Return what is weighed, shape `(6 * width + 2 * DIM,)`: of the pieces around a value, before it and behind it.

    That is for each of them what `pooled` makes of the network's numbers, zeros without pieces, and for the latter two
    the sum of their vectors in the model, of length 1.
    """
    around = text[max(start - _MOST_BESIDE, 0) : start], text[start:end], text[end : end + _MOST_BESIDE]
    before, value, behind = (known_pieces(clean(part)) for part in around)
    first, last = len(before), len(before) + len(value)
    pieces = [*before, *value, *behind]
    hidden = dialogue_acts().read(pieces or [0]).hidden[: len(pieces)]
    parts = hidden[max(first - _AROUND, 0) : last + _AROUND], hidden[:first], hidden[last:]
    nothing = np.zeros(2 * hidden.shape[1], dtype=np.float32)
    return np.concatenate([*(pooled(part) if len(part) else nothing for part in parts), _sum(before), _sum(behind)])


def _sum(pieces: Sequence[int]) -> NDArray[np.float32]:
    vectors, ids = embedded_piece_vectors(), np.array(pieces, dtype=np.intp)
    total: NDArray[np.float32] = vectors.lengths(ids).dot(vectors.unit(ids))
    total /= max(float(np.sqrt(total.dot(total))), _LEAST_LENGTH)
    return total


@lru_cache(1)
def given_values() -> GivenValues:
    """Return the weights of this package, loaded once per process. Raises `ModelUnavailableError`."""
    return loaded(FILE, GivenValues)


def gives_value(text: str, start: int, end: int) -> float:
    """Return the probability that an answer gives the value at `text[start:end]`, and does not only speak of it."""
    return given_values().chance(text, start, end)
