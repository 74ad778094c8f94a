"""The classification head: logits of all intents from a message's vector and token features.

Multinomial logistic regression over frozen features with a quadratic penalty. Most of what distinguishes utterances
lies along a few principal axes, in which they are uncorrelated and the curvature of the problem is known beforehand.
The minimum is searched there first; a registry of few utterances has no other axes. Cross-validation reuses the axes
and leaves out rows. The optimiser is L-BFGS (`learning.lbfgs`). Everything is deterministic, to the last bit on any
number of threads.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.learning.background import Background
from intentmatch.learning.lbfgs import PENALTY, RowsLoss, minimise
from intentmatch.learning.token_features import SparseVector, TokenVectorizer
from intentmatch.learning.word_alignment import WordAlignment
from intentmatch.runtime.threads import Each, one_by_one

# Chosen on development sets, where 0.35 to 0.7 and 10 to 100 differ by less than half a point.
_TOKEN_WEIGHT = np.float32(0.6)
# The search stops when the gradient has fallen to this fraction of the first one: accuracy and confidence no longer
# change. With many rows a smaller fraction is needed.
_FLAT_ENOUGH, _FLAT_ENOUGH_OF_MANY = 7e-4, 2e-3
# The head that answers messages is searched for longer by this factor than those of the cross-validation: what is left
# of its gradient is what a one-line edit elsewhere moves. Chosen on clinc150 with ten examples.
_FINER = 0.4
_NO_STRENGTH = 1e-6
# Rows from which all axes are taken; of more rows, so many axes are taken, which hold nine tenths of the variance.
_ROWS_OF_AXES, _AXES = 512, 256
# Estimate of p(1 - p) per intent once most rows are classified rightly: an even share divided by this number. The upper
# bound of 1/4 would need twice the steps.
_CLASSIFIED = 6


@dataclass(frozen=True, slots=True)
class Head:
    """Weights of shape `(features, intents)`; the features are a vector, its token features, and a constant 1."""

    weights: NDArray[np.float32]

    def for_vectors(self, dim: int) -> HeadLogits:
        """Return the function from messages to logits, for vectors of `dim` numbers."""
        return HeadLogits(self.weights[:dim], _TOKEN_WEIGHT * self.weights[dim:-1], self.weights[-1])


@dataclass(frozen=True, slots=True)
class HeadLogits:
    """A head's logits, of one message or of many; `softmax` turns them into probabilities."""

    vector_weights: NDArray[np.float32]
    """Shape `(dim, intents)`."""
    word_weights: NDArray[np.float32]
    """Shape `(DIM, intents)`."""
    bias: NDArray[np.float32]
    """Shape `(intents,)`."""

    def logits(self, vector: NDArray[np.float32], words: SparseVector) -> NDArray[np.float32]:
        """Logits of one message, shape `(intents,)`."""
        # `dot` starts in half the time of `@`, which counts for one message.
        logits: NDArray[np.float32] = vector.dot(self.vector_weights)
        logits += words.values.dot(self.word_weights.take(words.places, axis=0))
        logits += self.bias
        return logits

    def logits_many(self, vectors: Vectors, words: Vectors) -> Vectors:
        """Logits of many messages, shape `(messages, intents)`; `words` are rows of `TokenVectorizer`."""
        logits = vectors @ self.vector_weights
        logits += words @ self.word_weights
        logits += self.bias
        return logits


@dataclass(frozen=True, slots=True)
class TrainedHead:
    """Head weights, token features, words of the utterances and background needed at inference."""

    head: Head
    vectorizer: TokenVectorizer
    words: WordAlignment
    background: Background | None = None
    """None if it does not count."""

    def to_tensors(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, to be stored in a file."""
        words = self.words.to_tensors()
        if self.background is not None:
            direction, offset = self.background
            words |= {"background": np.append(direction, np.float32(offset))}
        return {"head": self.head.weights, "rarity": self.vectorizer.rarity, **words}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]], owners: Sequence[int]) -> TrainedHead | None:
        """Make a head from the arrays of `to_tensors`, others are ignored; None if there is no head among them.

        `owners` are the intents of the utterances, by position.
        """
        if "head" not in tensors:
            return None
        words = WordAlignment.from_tensors(tensors, owners)
        background = None
        if "background" in tensors:
            *_, offset = both = tensors["background"]
            background = Background(both[:-1], float(offset))
        return cls(Head(tensors["head"]), TokenVectorizer(tensors["rarity"]), words, background)


class Fitting(NamedTuple):
    """Features of a registry's utterances and hints, with the directions in which they differ most."""

    features: NDArray[np.float32]
    """Shape `(utterances + hints, features)`."""
    axes: NDArray[np.float32]
    """Orthonormal directions, shape `(features, axes)`."""
    rows: NDArray[np.float32]
    """Features along the axes, shape `(utterances + hints, axes)`; the columns are orthogonal."""
    strengths: NDArray[np.float32]
    """Squared lengths of these columns, shape `(axes,)`."""
    beyond: NDArray[np.float32]
    """Squared length of each row that is not along the axes, shape `(utterances + hints,)`."""
    directions: int
    """Number of directions besides the axes; 0 if the axes span everything."""
    owners: NDArray[np.int64]
    """Intent of each row."""
    intents: int
    """Number of intents."""
    utterances: int
    """Number of rows that are utterances; they come first, the rest are hints."""
    apart: NDArray[np.int64] | None = None
    """Pairs of a row and an intent that has the same line, shape `(pairs, 2)`, rows rising; None if there are none.
    Tags tell such intents apart, so they do not compete for the row."""

    def without_words(self, vectors: Vectors) -> NDArray[np.float32]:
        """Return the features of vectors whose texts share no token with the registry, shape `(rows, features)`."""
        features = np.zeros((len(vectors), self.features.shape[1]), dtype=np.float32)
        features[:, : vectors.shape[1]] = vectors
        features[:, -1] = 1.0
        return features


class Near(NamedTuple):
    """Weights near the ones sought, to start from; see `nearby`."""

    weights: NDArray[np.float32]
    """Shape `(features, intents)`."""
    along: NDArray[np.float32]
    """Their part along the axes, shape `(axes, intents)`."""
    beyond: NDArray[np.float32]
    """Logits that the rest of them gives every row, shape `(utterances + hints, intents)`."""


def prepare(
    vectors: Vectors,
    words: Vectors,
    owners: Sequence[int],
    intents: int,
    hints: int = 0,
    *,
    apart: NDArray[np.int64] | None = None,
) -> Fitting:
    """Prepare the training data from vectors and token features, shapes `(rows, dim)` and `(rows, DIM)`.

    The last `hints` rows are titles or names instead of utterances. They are trained on like utterances of their
    intent, but are never held out. `apart` is as in `Fitting`.
    """
    ones = np.ones((len(vectors), 1), dtype=np.float32)
    features = np.hstack([vectors, _TOKEN_WEIGHT * words, ones]).astype(np.float32, copy=False)
    owned = np.asarray(owners, dtype=np.int64)
    axes, strengths = _axes(features, vectors)
    rows, directions = features @ axes, 0
    if len(features) > _ROWS_OF_AXES:
        # The axes come from a sample of the rows; their lengths and their orthogonality must hold for all rows.
        directions = min(features.shape) - len(strengths)
        strengths, turns = np.linalg.eigh((rows.T @ rows).astype(np.float64))
        axes, rows = axes @ turns.astype(np.float32), rows @ turns.astype(np.float32)
    lengths = np.einsum("ij,ij->i", features, features)
    beyond = (lengths - np.einsum("ij,ij->i", rows, rows)).clip(0.0)
    return Fitting(
        features,
        axes,
        rows,
        strengths.astype(np.float32),
        beyond,
        directions,
        owned,
        intents,
        len(owned) - hints,
        apart,
    )


def _axes(features: NDArray[np.float32], vectors: Vectors) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return the principal axes, shape `(features, axes)`, and the squared lengths of the rows along them.

    Few rows give all their axes; many rows give the strongest axes of a sample. It is drawn by a checksum of the
    vectors and not by place: with one more line, the other rows stay. With other axes, the search would stop elsewhere
    near the same minimum, and answers that lie on a threshold would change.
    """
    taken = min(len(features), _ROWS_OF_AXES)
    keys = np.array([zlib.crc32(row) for row in np.ascontiguousarray(vectors)])
    # Copies of a row come last: they add no direction.
    distinct = np.unique(keys, return_index=True)[1]
    copies = np.setdiff1d(np.arange(len(keys)), distinct)
    some = features[np.sort(np.concatenate([distinct, copies])[:taken])]
    # In float64: the eigenvalues span more orders of magnitude than float32 has digits.
    strengths, turns = np.linalg.eigh((some @ some.T).astype(np.float64))
    # Rows that depend on each other give axes of rounding errors, which the division below would blow up.
    kept = strengths > _NO_STRENGTH * strengths[-1]
    if taken < len(features):
        kept[:-_AXES] = False
    strengths = strengths[kept]
    return some.T @ (turns[:, kept] / np.sqrt(strengths)).astype(np.float32), strengths


def nearby(fitting: Fitting, weights: NDArray[np.float32]) -> Near:
    """Return a starting point from weights of shape `(features, intents)`."""
    along = fitting.axes.T @ weights
    return Near(weights, along, fitting.features @ weights - fitting.rows @ along)


def fit_head(fitting: Fitting, near: Near | None = None, each: Each = one_by_one) -> Head:
    """Train a head on all rows; `near` is a starting point that shortens the search."""
    return Head(_fitted(fitting, None, near, each))


class HeldOutHead(NamedTuple):
    """A head trained without some utterances."""

    weights: NDArray[np.float32]
    """Shape `(features, known intents)`."""
    known: NDArray[np.int64]
    """Positions of the intents that have utterances left."""
    intents: int
    """Number of all intents."""

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the logits of some rows, shape `(rows, intents)`; -inf for an intent without utterances."""
        logits = np.full((len(features), self.intents), -np.inf, dtype=np.float32)
        if len(self.known):
            logits[:, self.known] = features @ self.weights
        return logits


def held_out_head(fitting: Fitting, left_out: NDArray[np.bool_], near: Near | None = None) -> HeldOutHead:
    """Train a head without the utterances `left_out`.

    An intent without remaining utterances is unknown to it, and its hints are left out too. `near` may hold the weights
    of the head for all rows: the search then takes less than half the steps and reaches the same minimum.
    """
    known = np.unique(fitting.owners[: fitting.utterances][~left_out])
    if not len(known):
        return HeldOutHead(np.empty((fitting.features.shape[1], 0), dtype=np.float32), known, fitting.intents)
    hinted = np.isin(fitting.owners[fitting.utterances :], known)
    seen = np.flatnonzero(np.concatenate([~left_out, hinted]))
    start = near and Near(near.weights[:, known], near.along[:, known], near.beyond[seen][:, known])
    return HeldOutHead(_fitted(fitting, seen, start), known, fitting.intents)


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return probabilities along the last axis; -inf has probability 0."""
    powers: NDArray[np.float32] = logits - logits.max(axis=-1, keepdims=True)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=-1, keepdims=True)
    return powers


def _fitted(
    fitting: Fitting, seen: NDArray[np.int64] | None, near: Near | None = None, each: Each = one_by_one
) -> NDArray[np.float32]:
    """Minimise the summed cross-entropy plus |weights|² / (2 * 30) over the rows `seen`, or all.

    Returns weights of shape `(features, intents seen)`: zeros for one intent, which has nothing to be told apart from.
    """
    rows, features, beyond, owners = fitting.rows, fitting.features, fitting.beyond, fitting.owners
    finer = _FINER if seen is None else 1.0
    apart = _seen_pairs(fitting, seen)
    if seen is not None:
        # One copy of the rows costs less than indexing them in every step.
        rows, beyond, owners = rows[seen], beyond[seen], owners[seen]
        features = features[seen] if fitting.directions else features
    _, owners, counts = np.unique(owners, return_inverse=True, return_counts=True)
    intents = len(counts)
    if intents < 2:
        return np.zeros((fitting.features.shape[1], intents), dtype=np.float32)
    # Every intent has the same weight, however many utterances it has: users do not ask for it more often.
    shares = (len(rows) / intents / counts).astype(np.float32)[owners]
    nothing = np.zeros((rows.shape[1], intents), dtype=np.float32)
    _, gradient = RowsLoss(rows, owners, shares, each, apart=apart).loss_and_gradient(nothing)
    # A zero gradient is the minimum already.
    if near is None or not gradient.any():
        zeros = np.zeros((len(fitting.axes), intents), dtype=np.float32)
        near = Near(zeros, nothing, np.zeros((len(rows), intents), dtype=np.float32))

    curvature = (fitting.strengths / (_CLASSIFIED * intents) + PENALTY).astype(np.float32)[:, None]
    problem = RowsLoss(rows, owners, shares, each, near.beyond if fitting.directions else None, apart=apart)
    found = minimise(
        problem, near.along, lambda gradient: gradient / curvature, _stopping_value(fitting, gradient, curvature, finer)
    )
    if not fitting.directions:
        return fitting.axes @ found

    # From here on the curvature is estimated from the probabilities of each row.
    variance = softmax(problem.logits(found))
    variance *= (1 - variance) * shares[:, None]
    along_axes = np.add((rows * rows).T @ variance, PENALTY)
    elsewhere = beyond @ variance / np.float32(fitting.directions) + PENALTY
    more = 1 / along_axes - 1 / elsewhere

    def preconditioner(gradient: NDArray[np.float32]) -> NDArray[np.float32]:
        return gradient / elsewhere + fitting.axes @ (more * (fitting.axes.T @ gradient))

    weights = near.weights + fitting.axes @ (found - near.along)
    return minimise(
        RowsLoss(features, owners, shares, each, apart=apart),
        weights,
        preconditioner,
        _stopping_value(fitting, gradient, along_axes, finer),
    )


def _seen_pairs(fitting: Fitting, seen: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """Return the pairs of `Fitting.apart` among the rows `seen` and the intents that these have, by their places."""
    if fitting.apart is None or seen is None:
        return fitting.apart
    row, intent = fitting.apart.T
    intents = np.unique(fitting.owners[seen])
    kept = np.isin(row, seen) & np.isin(intent, intents)
    return np.stack([seen.searchsorted(row[kept]), intents.searchsorted(intent[kept])], axis=1)


def _stopping_value(
    fitting: Fitting, first: NDArray[np.float32], curvature: NDArray[np.float32], finer: float
) -> float:
    """Return the stopping value of `minimise`, given the gradient `first` at zero weights."""
    part = finer * (_FLAT_ENOUGH_OF_MANY if fitting.directions else _FLAT_ENOUGH)
    return part**2 * float((first * first / curvature).sum())
