"""What a text says literally, as a vector: TF-IDF of its subword pieces and of pairs of neighbours.

Vectors of meaning blur names, product words and short questions; words do not. The pieces are those of the embedded
encoder, whatever encoder makes the vectors: they cut text of every language, and where that encoder is used the cutting
is done already. Pieces and pairs are hashed into a fixed number of places (Weinberger et al. 2009, "Feature Hashing for
Large Scale Multitask Learning"), so that a registry of any size keeps a small table.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from intentmatch.encoders.static import MAX_PIECES, embedded_tokenizer
from intentmatch.types import Vectors

DIM = 1024
"""Numbers in a vector of words. On development sets 4096 and a table without collisions did no better."""

VERSION = 1
"""Of what the places mean; to be raised with anything here, or in the embedded tokenizer, that moves one."""

# What is worked out for many texts is dense for a while: for so many at once it stays in the processor's cache.
_TEXTS_AT_ONCE = 512
# Rarity is told apart more finely than the vector: what is common must not be weighed by a rare neighbour of its place.
_RARITIES = 1 << 14
_FIRST, _SECOND, _MIX, _BITS = 2654435761, 2246822519, 3266489917, 0xFFFFFFFF
# What neighbours stand for is worked out once for so many of them.
_REMEMBERED = 1 << 15


_Number = TypeVar("_Number", int, NDArray[Any])
"""Or many."""


class Words(NamedTuple):
    """A text's vector without its zeros."""

    places: NDArray[np.int64]
    """Where in the vector, each once."""
    values: NDArray[np.float32]
    """Of unit length together; empty for a text without a known piece."""


class _Placed(dict[tuple[int, int], tuple[tuple[int, float], ...]]):
    """Two neighbouring pieces to the places of the pair and of the second, and what each counts there.

    0 stands for what is before the first piece and after the last.
    """

    def __init__(self, rarity: NDArray[np.float32]) -> None:
        super().__init__()
        self._rarity = rarity

    def __missing__(self, pieces: tuple[int, int]) -> tuple[tuple[int, float], ...]:
        first, second = pieces
        hashes = [_mixed(first, second + 1)] + ([_mixed(second, 0)] if second else [])
        rarities = [float(self._rarity[mixed % _RARITIES]) for mixed in hashes]
        if len(self) >= _REMEMBERED:
            self.clear()
        value = self[pieces] = tuple(
            (_place(mixed), rarity if mixed >> 31 else -rarity) for mixed, rarity in zip(hashes, rarities, strict=True)
        )
        return value


class WordVectors:
    """Texts to vectors of words. Safe to use from many threads."""

    def __init__(self, rarity: NDArray[np.float32]) -> None:
        self.rarity = rarity
        """Inverse document frequency by hash, shape `(16384,)`."""
        self._placed = _Placed(rarity)

    @classmethod
    def fit(cls, texts: Sequence[str]) -> WordVectors:
        """Learn from a registry's cleaned texts how rare each piece and pair is."""
        counts = np.zeros(_RARITIES)
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            hashes, rows = _hashed(texts[start : start + _TEXTS_AT_ONCE])
            once = np.unique(rows * _RARITIES + hashes % _RARITIES)
            counts += np.bincount(once % _RARITIES, minlength=_RARITIES)
        return cls((np.log((1 + len(texts)) / (1 + counts)) + 1).astype(np.float32))

    def words(self, text: str) -> Words:
        """Of one cleaned text."""
        total: defaultdict[int, float] = defaultdict(float)
        if known := _known(text):
            for placed in map(self._placed.__getitem__, zip((0, *known), (*known, 0), strict=True)):
                for place, weight in placed:
                    total[place] += weight
        values = np.array([*total.values()], dtype=np.float32)
        values /= np.float32(math.hypot(*values.tolist()) or 1.0)
        return Words(np.array([*total], dtype=np.int64), values)

    def rows(self, texts: Sequence[str]) -> Vectors:
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

    def _weights(self, hashes: NDArray[np.uint32]) -> NDArray[np.float32]:
        values = self.rarity[hashes % _RARITIES]
        return np.where(hashes >> 31, values, -values)


def _hashed(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """A number for each piece and each pair of neighbours (a text's two ends among them), and of which text it is."""
    flat: list[int] = []
    lengths = []
    for text in texts:
        known = _known(text)
        lengths.append(len(known) + 2 if known else 0)
        if known:
            flat += [0, *known, 0]
    pieces = np.array(flat, dtype=np.uint32)
    rows = np.repeat(np.arange(len(texts)), lengths)
    inside, pairs = pieces > 0, (pieces[:-1] > 0) | (pieces[1:] > 0)
    first = np.concatenate([pieces[inside], pieces[:-1][pairs]])
    second = np.concatenate([np.zeros(int(inside.sum()), dtype=np.uint32), pieces[1:][pairs] + 1])
    return _mixed(first, second), np.concatenate([rows[inside], rows[:-1][pairs]])


def _known(text: str) -> list[int]:
    """The pieces of a text, counted from 1, but for those that are unknown; none where the others only part words."""
    tokenizer = embedded_tokenizer()
    known = [piece + 1 for piece in tokenizer.encode(text, MAX_PIECES) if piece != tokenizer.unknown]
    # Words of unknown letters begin all alike.
    return [] if all(piece - 1 == tokenizer.blank for piece in known) else known


def _place(hashed: _Number) -> _Number:
    return (hashed >> 14) % DIM


def _mixed(first: _Number, second: _Number) -> _Number:
    """A hash of 32 bits, of two numbers or, each with each, of two arrays of them."""
    mixed = (first * _FIRST & _BITS) ^ (second * _SECOND & _BITS)
    mixed = (mixed ^ (mixed >> 15)) * _MIX & _BITS
    return mixed ^ (mixed >> 13)
