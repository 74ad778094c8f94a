"""The fitted head: which intent a message belongs to, from its vector and its words together.

Multinomial logistic regression over frozen vectors, with a quadratic penalty. Most of what tells utterances apart lies
along a few axes, in which they are uncorrelated and the curvature of the problem is known beforehand: there the minimum
is looked for first, and of a registry of few utterances, which has no other axes, it is found there. Leaving utterances
out changes nothing but their rows. The search is L-BFGS (Liu & Nocedal 1989, "On the Limited Memory BFGS Method for
Large Scale Optimization"). Everything is deterministic, to the last bit on any number of cores.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.learning.token_features import Words, WordVectors
from intentmatch.runtime.block_sizes import HEAD_ROWS
from intentmatch.runtime.threads import Each, one_by_one

_Eased = Callable[[NDArray[np.float32]], NDArray[np.float32]]

# Chosen on development sets, where 0.35 to 0.7 and 10 to 100 differ by less than half a point.
_WORDS_WEIGHT = np.float32(0.6)
_PENALTY = np.float32(1 / 30)
_MOST_STEPS, _STEPS_REMEMBERED = 100, 8
# Where the slope has fallen to this part of the first one, neither accuracy nor confidence changes any more.
# Many rows hide more of what is left of it.
_FLAT_ENOUGH, _FLAT_ENOUGH_OF_MANY, _GAIN_ENOUGH = 7e-4, 2e-3, 1e-6
_SUFFICIENT, _LENGTHS = 1e-4, tuple(0.5**halvings for halvings in range(14))
_BEND_ENOUGH = 1e-10
_NO_STRENGTH = 1e-6
# So many rows show the axes, and of more rows than that so many axes are taken: those of text hold nine tenths of it.
_ROWS_OF_AXES, _AXES = 512, 256
# About what p(1 - p) comes to, for each intent, once most rows are understood: one part in so many of an even share.
# The bound of a quarter, which holds everywhere, needs twice the steps.
_UNDERSTOOD = 6


@dataclass(frozen=True, slots=True)
class Head:
    """Linear in the features. `weights` has shape `(features, intents)`: a vector's numbers, its words, and a 1."""

    weights: NDArray[np.float32]

    def for_vectors(self, dim: int) -> HeadLogits:
        """Return the function from messages to logits, for vectors of `dim` numbers."""
        return HeadLogits(self.weights[:dim], _WORDS_WEIGHT * self.weights[dim:-1], self.weights[-1])


@dataclass(frozen=True, slots=True)
class HeadLogits:
    """A head's logits, of one message or of many; `softmax` turns them into probabilities."""

    vector_weights: NDArray[np.float32]
    """Shape `(dim, intents)`."""
    word_weights: NDArray[np.float32]
    """Shape `(DIM, intents)`."""
    bias: NDArray[np.float32]
    """Shape `(intents,)`."""

    def logits(self, vector: NDArray[np.float32], words: Words) -> NDArray[np.float32]:
        """Logits of one message, shape `(intents,)`."""
        # `dot` starts in half the time of `@`, which counts for one message.
        logits: NDArray[np.float32] = vector.dot(self.vector_weights)
        logits += words.values.dot(self.word_weights.take(words.places, axis=0))
        logits += self.bias
        return logits

    def logits_many(self, vectors: Vectors, words: Vectors) -> Vectors:
        """Logits of many messages, shape `(messages, intents)`; `words` are rows of `WordVectors`."""
        logits = vectors @ self.vector_weights
        logits += words @ self.word_weights
        logits += self.bias
        return logits


@dataclass(frozen=True, slots=True)
class Opinion:
    """All that is needed to hear the head about a message."""

    head: Head
    words: WordVectors

    def to_tensors(self) -> dict[str, NDArray[Any]]:
        """As named arrays, for a file."""
        return {"head": self.head.weights, "rarity": self.words.rarity}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]]) -> Opinion | None:
        """The inverse of `to_tensors`, whatever else stands there; None where there is no head among them."""
        if "head" not in tensors:
            return None
        return cls(Head(tensors["head"]), WordVectors(tensors["rarity"]))


class Fitting(NamedTuple):
    """Features of a registry's utterances, and of hints, and the directions in which they differ most."""

    features: NDArray[np.float32]
    """Shape `(utterances + hints, features)`."""
    axes: NDArray[np.float32]
    """Those directions, shape `(features, axes)`; orthogonal, and of unit length."""
    rows: NDArray[np.float32]
    """The features along the axes, shape `(utterances + hints, axes)`; the columns are orthogonal."""
    strengths: NDArray[np.float32]
    """Their squared lengths."""
    beyond: NDArray[np.float32]
    """Of the squared length of each row, what is not along the axes."""
    directions: int
    """How many there are besides the axes; 0 where the axes are all there is."""
    owners: NDArray[np.int64]
    """The intent of each row."""
    intents: int
    utterances: int
    """How many of the rows, the first ones, are utterances; the rest are hints."""


class Near(NamedTuple):
    """Weights that are near to those sought; see `nearby`."""

    weights: NDArray[np.float32]
    """Shape `(features, intents)`."""
    along: NDArray[np.float32]
    """The part of them that lies along the axes, shape `(axes, intents)`."""
    beyond: NDArray[np.float32]
    """What the rest of them says of every row, shape `(utterances + hints, intents)`."""


def prepare(vectors: Vectors, words: Vectors, owners: Sequence[int], intents: int, hints: int = 0) -> Fitting:
    """From the vectors and the vectors of words of all utterances, shapes `(utterances, dim)` and `(..., DIM)`.

    The last `hints` rows are no utterances but something else that says what an intent is about: they are learned from
    with the utterances of their intent, and never asked about.
    """
    ones = np.ones((len(vectors), 1), dtype=np.float32)
    features = np.hstack([vectors, _WORDS_WEIGHT * words, ones]).astype(np.float32, copy=False)
    owned = np.asarray(owners, dtype=np.int64)
    axes, strengths = _axes(features)
    rows, directions = features @ axes, 0
    if len(features) > _ROWS_OF_AXES:
        # Only some rows showed the axes; how long and how square to one another the columns are is for all to say.
        directions = min(features.shape) - len(strengths)
        strengths, turns = np.linalg.eigh((rows.T @ rows).astype(np.float64))
        axes, rows = axes @ turns.astype(np.float32), rows @ turns.astype(np.float32)
    lengths = np.einsum("ij,ij->i", features, features)
    beyond = (lengths - np.einsum("ij,ij->i", rows, rows)).clip(0.0)
    return Fitting(
        features, axes, rows, strengths.astype(np.float32), beyond, directions, owned, intents, len(owned) - hints
    )


def _axes(features: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Where the rows are long, shape `(features, axes)`, and how long, squared, all of them together.

    All axes that there are of few rows; of many the longest, as some of the rows show them.
    """
    taken = min(len(features), _ROWS_OF_AXES)
    some = features[np.arange(taken) * len(features) // taken]
    strengths, turns = np.linalg.eigh((some @ some.T).astype(np.float64))
    kept = strengths > _NO_STRENGTH * strengths[-1]
    if taken < len(features):
        kept[:-_AXES] = False
    strengths = strengths[kept]
    return some.T @ (turns[:, kept] / np.sqrt(strengths)).astype(np.float32), strengths


def nearby(fitting: Fitting, weights: NDArray[np.float32]) -> Near:
    """Weights of shape `(features, intents)` to begin with."""
    along = fitting.axes.T @ weights
    return Near(weights, along, fitting.features @ weights - fitting.rows @ along)


def fit_head(fitting: Fitting, near: Near | None = None, each: Each = one_by_one) -> Head:
    """The head for all rows; found sooner from weights that are near to those sought."""
    return Head(_fitted(fitting, None, near, each))


def held_out_logits(
    fitting: Fitting,
    left_out: NDArray[np.bool_],
    near: Near | None = None,
    *,
    asked: NDArray[np.bool_] | None = None,
) -> NDArray[np.float32]:
    """What a head that has not seen the utterances `left_out` says of them, shape `(left out, intents)`.

    An intent of which no utterance is left to learn from gets -inf, and its hints are left out with them. The weights
    of the head for all rows may be given as `near`: from there the search takes fewer than half the steps, and ends as
    flat as it would from anywhere. Where only some are `asked`, the rows are theirs.
    """
    asked = left_out if asked is None else asked
    known = np.unique(fitting.owners[: fitting.utterances][~left_out])
    logits = np.full((int(asked.sum()), fitting.intents), -np.inf, dtype=np.float32)
    if len(known):
        hinted = np.isin(fitting.owners[fitting.utterances :], known)
        seen = np.flatnonzero(np.concatenate([~left_out, hinted]))
        start = near and Near(near.weights[:, known], near.along[:, known], near.beyond[seen][:, known])
        logits[:, known] = fitting.features[: fitting.utterances][asked] @ _fitted(fitting, seen, start)
    return logits


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Probabilities along the last axis; -inf counts as nothing."""
    powers: NDArray[np.float32] = logits - logits.max(axis=-1, keepdims=True)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=-1, keepdims=True)
    return powers


def _fitted(
    fitting: Fitting, seen: NDArray[np.int64] | None, near: Near | None = None, each: Each = one_by_one
) -> NDArray[np.float32]:
    """Weights of shape `(features, intents seen)` that minimise the summed cross-entropy plus |weights|² / (2 * 30).

    Of the rows `seen`, or of all.
    """
    rows, features, beyond, owners = fitting.rows, fitting.features, fitting.beyond, fitting.owners
    if seen is not None:
        # A copy of all features costs less than fetching them anew with every step.
        rows, beyond, owners = rows[seen], beyond[seen], owners[seen]
        features = features[seen] if fitting.directions else features
    _, owners, counts = np.unique(owners, return_inverse=True, return_counts=True)
    intents = len(counts)
    # An intent counts as much as any other, however many utterances its author found for it: users do not ask for it
    # the more often.
    shares = (len(rows) / intents / counts).astype(np.float32)[owners]
    nothing = np.zeros((rows.shape[1], intents), dtype=np.float32)
    _, slope = _Problem(rows, owners, shares, each).at(nothing)
    # A slope of nothing is the minimum: there is one intent.
    if near is None or not slope.any():
        zeros = np.zeros((len(fitting.axes), intents), dtype=np.float32)
        near = Near(zeros, nothing, np.zeros((len(rows), intents), dtype=np.float32))

    curved = (fitting.strengths / (_UNDERSTOOD * intents) + _PENALTY).astype(np.float32)[:, None]
    problem = _Problem(rows, owners, shares, each, near.beyond if fitting.directions else None)
    found = _minimum(problem, near.along, lambda slope: slope / curved, _flat(fitting, slope, curved))
    if not fitting.directions:
        return fitting.axes @ found

    # From here on each row tells how sure of it one is.
    unsure = softmax(problem.logits(found))
    unsure *= (1 - unsure) * shares[:, None]
    bent = np.add((rows * rows).T @ unsure, _PENALTY)
    elsewhere = beyond @ unsure / np.float32(fitting.directions) + _PENALTY
    more = 1 / bent - 1 / elsewhere

    def eased(slope: NDArray[np.float32]) -> NDArray[np.float32]:
        return slope / elsewhere + fitting.axes @ (more * (fitting.axes.T @ slope))

    weights = near.weights + fitting.axes @ (found - near.along)
    return _minimum(_Problem(features, owners, shares, each), weights, eased, _flat(fitting, slope, bent))


def _flat(fitting: Fitting, first: NDArray[np.float32], curved: NDArray[np.float32]) -> float:
    """What `_minimum` is to reach, where the slope is `first` at no weights at all."""
    part = _FLAT_ENOUGH_OF_MANY if fitting.directions else _FLAT_ENOUGH
    return part**2 * float((first * first / curved).sum())


class _Problem:
    """What is to be minimised: of some rows, with their intents and how much each of them counts."""

    def __init__(
        self,
        rows: NDArray[np.float32],
        owners: NDArray[np.int64],
        shares: NDArray[np.float32],
        each: Each,
        beyond: NDArray[np.float32] | None = None,
    ) -> None:
        """`beyond` are logits that come on top, whatever the weights."""
        self._rows, self._owners, self._shares, self._each, self._beyond = rows, owners, shares, each, beyond
        self._parts = [slice(start, start + HEAD_ROWS) for start in range(0, len(rows), HEAD_ROWS)]

    def at(self, weights: NDArray[np.float32]) -> tuple[float, NDArray[np.float32]]:
        """The loss and its slope."""
        loss, slope = float((weights * weights).sum()) * float(_PENALTY) / 2, _PENALTY * weights
        for more, steeper in self._each(lambda part: self._part(part, weights), self._parts):
            loss += more
            slope += steeper
        return loss, slope

    def logits(self, weights: NDArray[np.float32], part: slice = slice(None)) -> NDArray[np.float32]:
        """Of some rows."""
        logits: NDArray[np.float32] = self._rows[part] @ weights
        if self._beyond is not None:
            logits += self._beyond[part]
        return logits

    def _part(self, part: slice, weights: NDArray[np.float32]) -> tuple[float, NDArray[np.float32]]:
        """What some rows add to both: few enough for the processor's cache, where all that follows is then done."""
        owners, shares = self._owners[part], self._shares[part]
        places = np.arange(len(owners)), owners
        logits = self.logits(weights, part)
        logits -= logits.max(axis=1, keepdims=True)
        own = logits[places]
        np.exp(logits, out=logits)
        totals = logits.sum(axis=1)
        loss = float((shares * (np.log(totals) - own)).sum())
        logits *= (shares / totals)[:, None]
        logits[places] -= shares
        return loss, self._rows[part].T @ logits


def _minimum(problem: _Problem, weights: NDArray[np.float32], eased: _Eased, flat: float) -> NDArray[np.float32]:
    """Where the product of the slope and of what `eased` makes of it is no greater than `flat`."""
    loss, slope = problem.at(weights)
    downhill = eased(slope)
    history: deque[_Step] = deque(maxlen=_STEPS_REMEMBERED)
    for _ in range(_MOST_STEPS):
        direction = _direction(slope, downhill, history)
        falls = float(np.vdot(direction, slope))
        for length in _LENGTHS:
            moved = weights + np.float32(length) * direction
            new_loss, new_slope = problem.at(moved)
            if new_loss <= loss + _SUFFICIENT * length * falls:
                break
        else:
            # No step helps: what is left of the slope is rounding.
            break
        new_downhill = eased(new_slope)
        made = _Step(moved - weights, new_slope - slope, new_downhill - downhill)
        if made.bend > _BEND_ENOUGH * made.expected:
            history.append(made)
        gained, weights, loss, slope, downhill = loss - new_loss, moved, new_loss, new_slope, new_downhill
        if float(np.vdot(slope, downhill)) <= flat or gained <= _GAIN_ENOUGH * abs(loss):
            break
    return weights


class _Step:
    """A step that was made, how the slope changed with it, and what `eased` makes of that."""

    __slots__ = ("bend", "eased", "expected", "step", "turn")

    def __init__(self, step: NDArray[np.float32], turn: NDArray[np.float32], eased: NDArray[np.float32]) -> None:
        self.step, self.turn, self.eased = step, turn, eased
        self.bend, self.expected = float(np.vdot(step, turn)), float(np.vdot(turn, eased))


def _direction(
    slope: NDArray[np.float32], downhill: NDArray[np.float32], history: Sequence[_Step]
) -> NDArray[np.float32]:
    """Downhill, bent by what the last steps showed of the curvature (the two-loop recursion)."""
    left, direction = -slope, -downhill
    shares = []
    for made in reversed(history):
        share = np.float32(float(np.vdot(made.step, left)) / made.bend)
        shares.append(share)
        left -= share * made.turn
        # The same as to ease what is left in the end, which would take as long as all of this.
        direction -= share * made.eased
    if history:
        direction *= np.float32(history[-1].bend / history[-1].expected)
    for made, share in zip(history, reversed(shares), strict=True):
        direction += (share - np.float32(float(np.vdot(made.turn, direction)) / made.bend)) * made.step
    return direction
