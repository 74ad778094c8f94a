"""What a text says literally, as a vector: TF-IDF of its subword pieces and of pairs of neighbours.

Vectors of meaning blur names, product words and short questions; words do not. The pieces are those of the embedded
encoder, whatever encoder makes the vectors: they cut text of every language, and where that encoder is used the cutting
is done already. Pieces and pairs are hashed into a fixed number of places (Weinberger et al. 2009, "Feature Hashing for
Large Scale Multitask Learning"), so that a registry of any size keeps a small table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors
from intentmatch.encoders.tokenizer.embedded import MAX_PIECES, embedded_tokenizer

DIM = 1024
"""Numbers in a vector of words. On development sets 4096 and a table without collisions did no better."""

VERSION = 1
"""Of what the places mean; to be raised with anything here, or in the embedded tokenizer, that moves one."""

# What is worked out for many texts is dense for a while: for so many at once it stays in the processor's cache.
_TEXTS_AT_ONCE = 512
# Rarity is told apart more finely than the vector: what is common must not be weighed by a rare neighbour of its place.
_RARITIES = 1 << 14
_SIGNS = np.array([-1.0, 1.0], dtype=np.float32)
# Of numpy's own kind, which it takes less time to reckon with.
_RARITY_OF, _PLACE_FROM, _PLACE_OF, _SIGN_FROM = map(np.int64, (_RARITIES - 1, 14, DIM - 1, 31))
_FIRST, _SECOND, _MIX, _HALF, _REST = map(np.uint32, (2654435761, 2246822519, 3266489917, 15, 13))


class SparseVector(NamedTuple):
    """A text's vector without its zeros."""

    places: NDArray[np.int64]
    """Where in the vector; what stands at one place together may be there one by one, to be added up."""
    values: NDArray[np.float32]
    """Of unit length when added up; empty for a text without a known piece."""


class TokenVectorizer:
    """Texts to vectors of words. Safe to use from many threads."""

    def __init__(self, rarity: NDArray[np.float32]) -> None:
        self.rarity = rarity
        """Inverse document frequency by hash, shape `(16384,)`."""

    @classmethod
    def fit(cls, texts: Sequence[str]) -> TokenVectorizer:
        """Learn from a registry's cleaned texts how rare each piece and pair is."""
        counts = np.zeros(_RARITIES)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            hashes, rows = _hashed(texts[start : start + _TEXTS_AT_ONCE])
            once = np.unique(rows * _RARITIES + (hashes & _RARITY_OF))
            counts += np.bincount(once % _RARITIES, minlength=_RARITIES)
        return cls((np.log((1 + len(texts)) / (1 + counts)) + 1).astype(np.float32))

    def sparse(self, text: str) -> SparseVector:
        """Of one cleaned text."""
        hashes = _mixed(*_neighbours(text))
        places, values = _place(hashes), self._weights(hashes)
        total = np.bincount(places, values, DIM)
        values /= np.float32(math.sqrt(total.dot(total)) or 1.0)
        return SparseVector(places, values)

    def dense(self, texts: Sequence[str]) -> Vectors:
        """Shape `(len(texts), DIM)`; rows of unit length, or of zeros."""
        vectors = np.empty((len(texts), DIM), dtype=np.float32)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            some = vectors[start : start + _TEXTS_AT_ONCE]
            hashes, rows = _hashed(texts[start : start + _TEXTS_AT_ONCE])
            total = np.bincount(rows * DIM + _place(hashes), self._weights(hashes), some.size)
            some[:] = total.reshape(some.shape)
            # In double precision, so that zeros between the values change nothing of it.
            lengths = np.sqrt(np.einsum("ij,ij->i", some, some, dtype=np.float64)).astype(np.float32)
            some /= np.where(lengths > 0.0, lengths, np.float32(1.0))[:, None]
        return vectors

    def _weights(self, hashes: NDArray[np.int64]) -> NDArray[np.float32]:
        values = self.rarity.take(hashes & _RARITY_OF)
        values *= _SIGNS.take(hashes >> _SIGN_FROM)
        return values


def _hashed(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for each piece and each pair of neighbours (a text's two ends among them), and of which text it is."""
    before: list[int] = []
    behind: list[int] = []
    counts = []
    for text in texts:
        first, second = _neighbours(text)
        before += first
        behind += second
        counts.append(len(first))
    return _mixed(before, behind), np.repeat(np.arange(len(texts)), counts)


def _neighbours(text: str) -> tuple[list[int], list[int]]:
    """Of each pair of neighbouring pieces, 0 before the first and after the last, the one and the other; each piece.

    What stands behind is counted from 1, so that 0 is nothing at all.
    """
    if not (known := _known(text)):
        return [], []
    return [0, *known, *known], [*[piece + 1 for piece in known], 1, *[0] * len(known)]


def _known(text: str) -> list[int]:
    """The pieces of a text, counted from 1, but for those that are unknown; none where the others only part words."""
    tokenizer = embedded_tokenizer()
    known = [piece + 1 for piece in tokenizer.encode(text, MAX_PIECES) if piece != tokenizer.unknown]
    # Words of unknown letters begin all alike.
    return [] if all(piece - 1 == tokenizer.blank for piece in known) else known


def _place(hashes: NDArray[np.int64]) -> NDArray[np.int64]:
    return (hashes >> _PLACE_FROM) & _PLACE_OF


def _mixed(first: Sequence[int], second: Sequence[int]) -> NDArray[np.int64]:
    """A hash of 32 bits of each number and the other one that goes with it, in the kind that numpy looks up by."""
    mixed: NDArray[np.uint32] = np.array(first, dtype=np.uint32) * _FIRST
    mixed ^= np.array(second, dtype=np.uint32) * _SECOND
    mixed = (mixed ^ (mixed >> _HALF)) * _MIX
    return (mixed ^ (mixed >> _REST)).astype(np.int64)
