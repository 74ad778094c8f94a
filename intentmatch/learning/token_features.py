"""Token features: TF-IDF of a text's subword pieces and of pairs of neighbouring pieces.

Embeddings blur names, product words and short questions; token features do not. The pieces come from the embedded
tokenizer, whatever encoder makes the vectors: it handles text of every language. Pieces and pairs are hashed into a
fixed number of dimensions, so that a registry of any size keeps a small table.

Source: Weinberger et al. 2009, "Feature Hashing for Large Scale Multitask Learning".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.runtime.block_sizes import TOKEN_FEATURE_TEXTS

DIM = 1024
"""Dimensions of token features. On development sets 4096, and a table without collisions, did no better."""

VERSION = 1
"""Version of the hashing; raise it with any change here or in the embedded tokenizer that moves a feature."""

# Rarity has more hash buckets than the vector, so that a common token does not get the weight of a rare one.
RARITIES = 1 << 14
"""Number of inverse document frequencies, each of many hashes."""
_MOST_KEPT = 1 << 14
_SIGNS = np.array([-1.0, 1.0], dtype=np.float32)
# numpy scalars: mixed arithmetic with Python integers is slower.
_RARITY_OF, _PLACE_FROM, _PLACE_OF, _SIGN_FROM = map(np.int64, (RARITIES - 1, 14, DIM - 1, 31))
_NUMBERS, _BITS = (2654435761, 2246822519, 3266489917, 15, 13), (1 << 32) - 1
_FIRST, _SECOND, _MIX, _HALF, _REST = map(np.uint32, _NUMBERS)


class SparseVector(NamedTuple):
    """A sparse vector of token features."""

    places: NDArray[np.intp]
    """Dimensions; a dimension may occur several times, then its values add up."""
    values: NDArray[np.float32]
    """Values, of unit length when added up; empty for a text without known pieces."""


NO_WORDS = SparseVector(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32))
"""Token features of a text without known pieces."""


class TokenVectorizer:
    """Turns texts, given by their known pieces, into token features. Safe to use from many threads."""

    def __init__(self, rarity: NDArray[np.float32]) -> None:
        self.rarity = rarity
        """Inverse document frequency by hash, shape `(16384,)`."""
        self._table = _PairFeatures(rarity)

    @classmethod
    def fit(cls, texts: Sequence[Sequence[int]]) -> TokenVectorizer:
        """Fit the inverse document frequencies on a registry's texts, each given by its known pieces."""
        counts = np.zeros(RARITIES)
        for start in range(0, len(texts), TOKEN_FEATURE_TEXTS):
            hashes, rows = _hashed(texts[start : start + TOKEN_FEATURE_TEXTS])
            once = np.unique(rows * RARITIES + (hashes & _RARITY_OF))
            counts += np.bincount(_indices(once % RARITIES), minlength=RARITIES)
        return cls((np.log((1 + len(texts)) / (1 + counts)) + 1).astype(np.float32))

    def sparse(self, pieces: Sequence[int]) -> SparseVector:
        """Return the token features of one text."""
        if not pieces:
            return NO_WORDS
        # For so few pairs a dictionary takes a third of the time of hashing.
        table = self._table
        features = [table[pair] for pair in zip(*_neighbours(pieces), strict=True)]
        if len(table) > _MOST_KEPT:
            # Nothing is taken out of a table, because other threads may be reading it.
            self._table = _PairFeatures(self.rarity)
        places, values = zip(*features, strict=True)
        if len({*places}) < len(places):
            total: dict[int, float] = {}
            for place, value in features:
                total[place] = total.get(place, 0.0) + value
            length = math.sqrt(sum([value * value for value in total.values()])) or 1.0
        else:
            length = math.sqrt(sum(map(mul, values, values)))
        return SparseVector(np.array(places, dtype=np.intp), np.array(values, dtype=np.float32) / np.float32(length))

    def dense(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """Return dense token features, shape `(len(texts), DIM)`; rows of unit length, or of zeros."""
        vectors = np.empty((len(texts), DIM), dtype=np.float32)
        for start in range(0, len(texts), TOKEN_FEATURE_TEXTS):
            some = vectors[start : start + TOKEN_FEATURE_TEXTS]
            hashes, rows = _hashed(texts[start : start + TOKEN_FEATURE_TEXTS])
            total = np.bincount(rows * DIM + _place(hashes), self._weights(hashes), some.size)
            some[:] = total.reshape(some.shape)
            # In double precision, so that the result equals that of the sparse form.
            lengths = np.sqrt(np.einsum("ij,ij->i", some, some, dtype=np.float64)).astype(np.float32)
            some /= np.where(lengths > 0.0, lengths, np.float32(1.0))[:, None]
        return vectors

    def _weights(self, hashes: NDArray[np.int64]) -> NDArray[np.float32]:
        values = self.rarity.take(_indices(hashes & _RARITY_OF))
        values *= _SIGNS.take(_indices(hashes >> _SIGN_FROM))
        return values


class _PairFeatures(dict[tuple[int, int], tuple[int, float]]):
    """Map a pair of `_neighbours` to place and value of its feature, computed once per pair."""

    def __init__(self, rarity: NDArray[np.float32]) -> None:
        self._rarity = rarity

    def __missing__(self, pair: tuple[int, int]) -> tuple[int, float]:
        # As `_mixed`, in whole numbers of Python.
        one, other, mix, half, rest = _NUMBERS
        mixed = (pair[0] * one ^ pair[1] * other) & _BITS
        mixed = (mixed ^ mixed >> half) * mix & _BITS
        mixed ^= mixed >> rest
        rarity: float = self._rarity.item(mixed & RARITIES - 1)
        value = mixed >> 14 & DIM - 1, rarity if mixed >> 31 else -rarity
        self[pair] = value
        return value


def _hashed(texts: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a hash for each piece and pair of neighbours (the ends of a text included), and the number of its text."""
    before: list[int] = []
    behind: list[int] = []
    counts = []
    for pieces in texts:
        first, second = _neighbours(pieces)
        before += first
        behind += second
        counts.append(len(first))
    return _mixed(before, behind), np.repeat(np.arange(len(texts)), counts)


def _neighbours(pieces: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return first and second member of each pair of neighbouring pieces, and of each single piece.

    The first member is counted from 1, the second from 2; the ends of the text count as the piece before all others. A
    second member of 0 stands for a single piece.
    """
    if not pieces:
        return [], []
    first = [piece + 1 for piece in pieces]
    return [0, *first, *first], [*[piece + 2 for piece in pieces], 1, *[0] * len(first)]


def _place(hashes: NDArray[np.int64]) -> NDArray[np.intp]:
    return _indices((hashes >> _PLACE_FROM) & _PLACE_OF)


def _indices(numbers: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return small numbers as numpy's type of indices, which has 32 bits on some systems."""
    return numbers.astype(np.intp, copy=False)


def _mixed(first: Sequence[int], second: Sequence[int]) -> NDArray[np.int64]:
    """Return a 32-bit hash of each pair of numbers."""
    mixed: NDArray[np.uint32] = np.array(first, dtype=np.uint32) * _FIRST
    mixed ^= np.array(second, dtype=np.uint32) * _SECOND
    mixed = (mixed ^ (mixed >> _HALF)) * _MIX
    return (mixed ^ (mixed >> _REST)).astype(np.int64)
