"""The fitted head: which intent a message belongs to, from its vector and its words together.

Multinomial logistic regression over frozen vectors, with a quadratic penalty. It is fitted in the coordinates in which
the features of all utterances are uncorrelated: there the problem is never larger than the number of utterances, its
curvature is known beforehand, and leaving utterances out changes nothing but their rows. The minimum is found by L-BFGS
(Liu & Nocedal 1989, "On the Limited Memory BFGS Method for Large Scale Optimization"). Everything is deterministic.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.types import Vectors
from intentmatch.words import WordRows, Words, WordVectors

# Chosen on development sets, where 0.35 to 0.7 and 10 to 100 differ by less than half a point.
_WORDS_WEIGHT = np.float32(0.5)
_INVERSE_PENALTY = 30.0
_MOST_STEPS, _STEPS_REMEMBERED = 100, 8
# Where the steepest slope has fallen to this part of the first one, neither accuracy nor confidence changes any more.
_FLAT_ENOUGH, _GAIN_ENOUGH = 5e-3, 1e-6
_SUFFICIENT, _LENGTHS = 1e-4, tuple(0.5**halvings for halvings in range(14))
_BEND_ENOUGH = 1e-10
_NO_STRENGTH = 1e-6


@dataclass(frozen=True, slots=True)
class Head:
    """Linear in the features. `weights` has shape `(features, intents)`: a vector's numbers, its words, and a 1."""

    weights: NDArray[np.float32]

    def of_words(self, dim: int) -> NDArray[np.float32]:
        """What each place of the words counts for each intent, shape `(DIM, intents)`, beside vectors of `dim`."""
        return _WORDS_WEIGHT * self.weights[dim:-1]

    def logits(self, vector: NDArray[np.float32], words: Words) -> NDArray[np.float32]:
        """One for each intent, shape `(intents,)`; `softmax` makes probabilities of them."""
        of_words = self.weights[len(vector) : -1]
        said: NDArray[np.float32] = vector @ self.weights[: len(vector)] + self.weights[-1]
        said += (_WORDS_WEIGHT * words.values) @ of_words[words.places]
        return said


@dataclass(frozen=True, slots=True)
class Opinion:
    """All that is needed to hear the head and the words about a message."""

    head: Head
    words: WordVectors
    rows: WordRows
    """Of the utterances."""

    def to_tensors(self) -> dict[str, NDArray[Any]]:
        """As named arrays, for a file."""
        of_rows = {f"words_{name}": array for name, array in self.rows._asdict().items()}
        return {"head": self.head.weights, "rarity": self.words.rarity, **of_rows}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]]) -> Opinion | None:
        """The inverse of `to_tensors`, whatever else stands there; None where there is no head among them."""
        if "head" not in tensors:
            return None
        rows = WordRows(*(tensors[f"words_{name}"] for name in WordRows._fields))
        return cls(Head(tensors["head"]), WordVectors(tensors["rarity"]), rows)


class Fitting(NamedTuple):
    """Features of a registry's utterances, and of hints, in coordinates that are easy to fit in."""

    rows: NDArray[np.float32]
    """Shape `(utterances + hints, axes)`; the columns are orthogonal."""
    strengths: NDArray[np.float32]
    """Their squared lengths."""
    axes: NDArray[np.float32]
    """Shape `(features, axes)`; from the features to these coordinates."""
    owners: NDArray[np.int64]
    """The intent of each row."""
    intents: int
    utterances: int
    """How many of the rows, the first ones, are utterances; the rest are hints."""


def prepare(vectors: Vectors, words: Vectors, owners: Sequence[int], intents: int, hints: int = 0) -> Fitting:
    """From the vectors and the vectors of words of all utterances, shapes `(utterances, dim)` and `(..., DIM)`.

    The last `hints` rows are no utterances but something else that says what an intent is about: they are learned from
    with the utterances of their intent, and never asked about.
    """
    ones = np.ones((len(vectors), 1), dtype=np.float32)
    features = np.hstack([vectors, _WORDS_WEIGHT * words, ones]).astype(np.float32)
    wide = len(features) < features.shape[1]
    products = features @ features.T if wide else features.T @ features
    strengths, axes = np.linalg.eigh(products.astype(np.float64))
    kept = strengths > _NO_STRENGTH * strengths[-1]
    strengths, axes = strengths[kept], axes[:, kept]
    if wide:
        axes = features.T @ (axes / np.sqrt(strengths))
    axes = axes.astype(np.float32)
    owned = np.asarray(owners, dtype=np.int64)
    return Fitting(features @ axes, strengths.astype(np.float32), axes, owned, intents, len(owned) - hints)


def fit_head(fitting: Fitting, near: NDArray[np.float32] | None = None) -> Head:
    """The head for all rows; found sooner from weights that are near to those sought, shape `(features, intents)`."""
    start = None if near is None else fitting.axes.T @ near
    weights = _fitted(fitting, fitting.rows, fitting.owners, fitting.intents, start)
    return Head(np.ascontiguousarray(fitting.axes @ weights, dtype=np.float32))


def held_out_logits(
    fitting: Fitting, left_out: NDArray[np.bool_], near: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """What a head that has not seen them says of the utterances `left_out`, shape `(left out, intents)`.

    An intent of which no utterance is left to learn from gets -inf, and its hints are left out with them. The weights
    of the head for all rows may be given as `near`: from there the search takes fewer than half the steps, and ends as
    flat as it would from anywhere.
    """
    known = np.unique(fitting.owners[: fitting.utterances][~left_out])
    logits = np.full((int(left_out.sum()), fitting.intents), -np.inf, dtype=np.float32)
    if len(known):
        hinted = np.isin(fitting.owners[fitting.utterances :], known)
        seen = np.flatnonzero(np.concatenate([~left_out, hinted]))
        numbers = np.searchsorted(known, fitting.owners[seen])
        asked = fitting.rows[: fitting.utterances][left_out]
        start = None if near is None else fitting.axes.T @ near[:, known]
        logits[:, known] = asked @ _fitted(fitting, fitting.rows[seen], numbers, len(known), start)
    return logits


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Probabilities along the last axis; -inf counts as nothing."""
    powers: NDArray[np.float32] = logits - logits.max(axis=-1, keepdims=True)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=-1, keepdims=True)
    return powers


def _fitted(
    fitting: Fitting,
    rows: NDArray[np.float32],
    owners: NDArray[np.int64],
    intents: int,
    start: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Weights of shape `(axes, intents)` that minimise the summed cross-entropy plus |weights|² / (2 * 30).

    Every one of the intents has at least one row.
    """
    penalty = np.float32(1 / _INVERSE_PENALTY)
    # About what p(1 - p) comes to, for each intent, once most rows are understood: in coordinates scaled by the root of
    # the curvature the bowl is nearly round. The bound of a quarter, which holds everywhere, needs twice the steps.
    scales = (1 / np.sqrt(fitting.strengths / (2 * intents) + penalty)).astype(np.float32)
    scaled = rows * scales
    penalties = (penalty * scales * scales)[:, None]
    places = np.arange(len(rows)), owners
    # An intent counts as much as any other, however many utterances its author found for it: users do not ask for it
    # the more often.
    shares = (len(rows) / intents / np.bincount(owners, minlength=intents)).astype(np.float32)[owners]

    def loss_and_slope(weights: NDArray[np.float32]) -> tuple[float, NDArray[np.float32]]:
        logits = scaled @ weights
        logits -= logits.max(axis=1, keepdims=True)
        own = logits[places]
        np.exp(logits, out=logits)
        totals = logits.sum(axis=1)
        loss = float((shares * (np.log(totals) - own)).sum()) + float((penalties * weights * weights).sum()) / 2
        logits /= totals[:, None]
        logits[places] -= 1
        logits *= shares[:, None]
        return loss, scaled.T @ logits + penalties * weights

    weights = np.zeros((len(scales), intents), dtype=np.float32)
    loss, slope = loss_and_slope(weights)
    steepest = _steepest(slope, scales)
    # A slope of nothing is the minimum: there is one intent.
    if start is not None and steepest > 0.0:
        weights = start / scales[:, None]
        loss, slope = loss_and_slope(weights)
    history: deque[tuple[NDArray[np.float32], NDArray[np.float32], float]] = deque(maxlen=_STEPS_REMEMBERED)
    for _ in range(_MOST_STEPS):
        direction = _direction(slope, history)
        falls = float((direction * slope).sum())
        for length in _LENGTHS:
            moved = weights + np.float32(length) * direction
            new_loss, new_slope = loss_and_slope(moved)
            if new_loss <= loss + _SUFFICIENT * length * falls:
                break
        else:
            # No step helps: what is left of the slope is rounding.
            break
        step, turn = moved - weights, new_slope - slope
        bend = float((step * turn).sum())
        if bend > _BEND_ENOUGH * float((turn * turn).sum()):
            history.append((step, turn, bend))
        gained, weights, loss, slope = loss - new_loss, moved, new_loss, new_slope
        if _steepest(slope, scales) <= _FLAT_ENOUGH * steepest or gained <= _GAIN_ENOUGH * abs(loss):
            break
    return weights * scales[:, None]


def _steepest(slope: NDArray[np.float32], scales: NDArray[np.float32]) -> float:
    """The greatest slope in the coordinates of the features."""
    return float(np.abs(slope / scales[:, None]).max())


def _direction(
    slope: NDArray[np.float32], history: Sequence[tuple[NDArray[np.float32], NDArray[np.float32], float]]
) -> NDArray[np.float32]:
    """Downhill, bent by what the last steps showed of the curvature (the two-loop recursion)."""
    direction = -slope
    shares = []
    for step, turn, bend in reversed(history):
        share = np.float32(float((step * direction).sum()) / bend)
        shares.append(share)
        direction = direction - share * turn
    if history:
        _, turn, bend = history[-1]
        direction *= np.float32(bend / float((turn * turn).sum()))
    for (step, turn, bend), share in zip(history, reversed(shares), strict=True):
        direction = direction + (share - np.float32(float((turn * direction).sum()) / bend)) * step
    return direction
