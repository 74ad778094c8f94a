"""What a text says literally, as a vector: TF-IDF of its subword pieces and of pairs of neighbours.

Vectors of meaning blur names, product words and short questions; words do not. The pieces are those of the embedded
encoder, whatever encoder makes the vectors: they cut text of every language, and where that encoder is used the cutting
is done already. Pieces and pairs are hashed into a fixed number of places (Weinberger et al. 2009, "Feature Hashing for
Large Scale Multitask Learning"), so that a registry of any size keeps a small table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat
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
# What a piece or a pair stands for is worked out once for so many of them.
_REMEMBERED = 1 << 15


_Number = TypeVar("_Number", int, NDArray[Any])
"""Or many."""


class Words(NamedTuple):
    """A text's vector without its zeros."""

    places: NDArray[np.int64]
    """Where in the vector, each once, rising."""
    values: NDArray[np.float32]
    """Of unit length together; empty for a text without a known piece."""


class WordVectors:
    """Texts to vectors of words. Safe to use from many threads."""

    def __init__(self, rarity: NDArray[np.float32]) -> None:
        self.rarity = rarity
        """Inverse document frequency by hash, shape `(16384,)`."""
        self._remembered = lru_cache(_REMEMBERED)(self._placed)

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
        total: dict[int, float] = {}
        if known := _known(text):
            placed = self._remembered
            for first, second in (*zip(known, repeat(-1)), *zip((0, *known), (*known, 0), strict=True)):
                place, weight = placed(first, second)
                total[place] = total.get(place, 0.0) + weight
        places = sorted([place for place, weight in total.items() if weight])
        values = np.array([total[place] for place in places], dtype=np.float32)
        length = math.sqrt(math.fsum([value * value for value in values.tolist()])) or 1.0
        return Words(np.array(places, dtype=np.int64), values / np.float32(length))

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

    def _placed(self, first: int, second: int) -> tuple[int, float]:
        """Where a pair, or a piece with -1, has its place, and what it counts there."""
        mixed = _mixed(first, second + 1)
        rarity = float(self.rarity[mixed % _RARITIES])
        return _place(mixed), rarity if mixed >> 31 else -rarity

    def _weights(self, hashes: NDArray[np.uint32]) -> NDArray[np.float32]:
        values = self.rarity[hashes % _RARITIES]
        return np.where(hashes >> 31, values, -values)


def sparse(vector: NDArray[np.float32]) -> Words:
    """A row of `WordVectors.rows` without its zeros."""
    places = np.flatnonzero(vector)
    return Words(places, vector[places])


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


def _stable_order(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """As `argsort` of numbers below 2³²; in two rounds of 16 bits, which numpy sorts by counting, in half the time."""
    order = np.argsort((numbers & 0xFFFF).astype(np.uint16), kind="stable")
    if len(numbers) and numbers.max() > 0xFFFF:
        order = order[np.argsort((numbers >> 16).astype(np.uint16)[order], kind="stable")]
    return order


class WordRows(NamedTuple):
    """The words of many texts, by place: an inverted file, of which a text looks only at its own places."""

    begins: NDArray[np.int64]
    """Where each place begins in the other two, and at last where the last one ends: shape `(DIM + 1,)`."""
    rows: NDArray[np.int32]
    """The texts that have something at a place."""
    values: NDArray[np.float32]
    texts: NDArray[np.int64]
    """How many there are, shape `(1,)`."""

    @classmethod
    def joined(cls, parts: Sequence[WordRows]) -> WordRows:
        """The texts of all parts, one part after the other."""
        if len(parts) == 1:
            return parts[0]
        counts = np.array([int(part.texts[0]) for part in parts])
        firsts = np.cumsum(counts) - counts
        places = np.concatenate([part._places() for part in parts])
        rows = np.concatenate([part.rows + np.int32(first) for part, first in zip(parts, firsts, strict=True)])
        return cls._ordered(places, rows, np.concatenate([part.values for part in parts]), int(counts.sum()))

    @classmethod
    def of(cls, vectors: Vectors) -> WordRows:
        """From rows of `WordVectors.rows`, shape `(texts, DIM)`."""
        rows, places = np.nonzero(vectors)
        return cls._ordered(places.astype(np.int16), rows.astype(np.int32), vectors[rows, places], len(vectors))

    def numbered(self, numbers: NDArray[np.int32], texts: int) -> WordRows:
        """Each text under another of so many numbers, and those without one (-1) left out; what is there stays."""
        rows = numbers[self.rows]
        stays = rows >= 0
        begins = np.append(0, np.cumsum(stays))[self.begins]
        return WordRows(begins, rows[stays], self.values[stays], np.array([texts]))

    def with_more(self, more: WordRows) -> WordRows:
        """Texts with other numbers under the same ones, of which there are as many."""
        at = np.repeat(self.begins[1:], np.diff(more.begins))
        rows, values = np.insert(self.rows, at, more.rows), np.insert(self.values, at, more.values)
        return WordRows(self.begins + more.begins, rows, values, self.texts)

    @classmethod
    def _ordered(
        cls, places: NDArray[np.int16], rows: NDArray[np.int32], values: NDArray[np.float32], texts: int
    ) -> WordRows:
        """By place, from what is ordered by text."""
        order = np.argsort(places, kind="stable")
        begins = np.append(0, np.cumsum(np.bincount(places, minlength=DIM)))
        return cls(begins, rows[order], values[order], np.array([texts]))

    def _places(self) -> NDArray[np.int16]:
        return np.repeat(np.arange(DIM, dtype=np.int16), np.diff(self.begins))

    def cosines(self, words: Words) -> NDArray[np.float32]:
        """Of one text to each of these, shape `(texts,)`."""
        begins = self.begins[words.places]
        lengths = self.begins[words.places + 1] - begins
        ends = np.cumsum(lengths)
        there = np.arange(ends[-1] if len(ends) else 0) + np.repeat(begins - ends + lengths, lengths)
        products = self.values[there] * np.repeat(words.values, lengths)
        return np.bincount(self.rows[there], products, int(self.texts[0])).astype(np.float32)


class OwnedWords:
    """The words of many texts by owner, grouped as in `ExactIndex`: for a look at those of a few owners."""

    def __init__(self, rows: WordRows, owners: NDArray[np.int64]) -> None:
        # A text without words has nothing at the first place.
        empty = np.flatnonzero(np.bincount(rows.rows, minlength=len(owners)) == 0).astype(np.int32)
        text_of = np.concatenate([rows.rows, empty])
        order = _stable_order(text_of)
        places = np.concatenate([np.repeat(np.arange(DIM), np.diff(rows.begins)), np.zeros(len(empty), dtype=np.int64)])
        values = np.concatenate([rows.values, np.zeros(len(empty), dtype=np.float32)])
        lengths = np.bincount(text_of, minlength=len(owners))
        first_texts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1]))
        begins = np.cumsum(lengths) - lengths
        firsts = begins[first_texts]
        self._places = np.split(places[order].astype(np.int16), firsts[1:])
        self._values = np.split(values[order], firsts[1:])
        sizes = np.diff(np.append(first_texts, len(owners)))
        self._lengths = np.split(lengths, first_texts[1:])
        self._sizes = sizes
        self.greatest = np.zeros((DIM, len(sizes)), dtype=np.float32)
        """The largest absolute value that any text of an owner has at a place, shape `(DIM, owners)`."""
        # One number for a place and an owner: two take four times as long.
        cells = places * len(sizes) + np.repeat(np.arange(len(sizes)), sizes)[text_of]
        np.maximum.at(self.greatest.reshape(-1), cells, np.abs(values))

    def best(self, words: Words, owners: Sequence[int]) -> list[float]:
        """The largest cosine to a text of each of these owners."""
        sought = np.zeros(DIM, dtype=np.float32)
        sought[words.places] = words.values
        products = sought.take(np.concatenate([self._places[owner] for owner in owners]))
        products *= np.concatenate([self._values[owner] for owner in owners])
        lengths = np.concatenate([self._lengths[owner] for owner in owners])
        cosines = np.add.reduceat(products, lengths.cumsum() - lengths)
        sizes = self._sizes[owners]
        best: list[float] = np.maximum.reduceat(cosines, sizes.cumsum() - sizes).tolist()
        return best

    def best_many(self, rows: Vectors, owner: int) -> NDArray[np.float32]:
        """The largest cosine of each of some `WordVectors.rows` to a text of this owner."""
        products = rows.take(self._places[owner], axis=1)
        products *= self._values[owner]
        lengths = self._lengths[owner]
        best: NDArray[np.float32] = np.add.reduceat(products, lengths.cumsum() - lengths, axis=1).max(axis=1)
        return best
