"""How much of a message an intent lacks: distances between pieces are remembered, as few pieces are new."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from operator import mul

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Vectors

# Distances that are remembered, of about 100 bytes each.
_MOST_REMEMBERED = 200_000


class IntentPieces:
    """The different pieces of each intent of a registry. Safe to use from many threads."""

    def __init__(self, pieces_of_rows: Sequence[NDArray[np.int32]], owners: Sequence[int], vectors: Vectors) -> None:
        """Take the pieces of each utterance as positions among the unit `vectors`, and its intent; intents rise."""
        self._pieces_of_rows, self._owners, self._vectors = pieces_of_rows, owners, vectors
        self._counted: dict[int, tuple[NDArray[np.int32], NDArray[np.intp]]] = {}
        self._remembered: defaultdict[int, dict[int, float]] = defaultdict(dict)
        self._room = _MOST_REMEMBERED

    def lacking(
        self,
        pieces: Sequence[int],
        vectors: Vectors,
        weights: Sequence[float],
        intent: int,
        without: Collection[int] = (),
    ) -> float:
        """Return how much of a text an intent lacks: the weighted sum of the squared distances of the text's pieces.

        A piece is as far away as one minus its cosine to the nearest piece of the intent; an intent without pieces is 1
        away. The rows `without` do not count.
        """
        if without and (left_out := [row for row in without if self._owners[row] == intent]):
            return _weighted(weights, self._distances(vectors, self._pieces_without(intent, left_out)))
        # Another thread may begin anew with an empty dictionary; this one keeps what it holds.
        remembered = self._remembered[intent]
        try:
            return _weighted(weights, map(remembered.__getitem__, pieces))
        except KeyError:
            missing = [place for place, piece in enumerate(pieces) if piece not in remembered]
        of_intent = self._vectors.take(self._pieces(intent)[0], 0)
        for place in missing:
            # One by one: the last bit must not depend on which pieces were asked for before.
            away = 1.0 - float(of_intent.dot(vectors[place]).max()) if len(of_intent) else 1.0
            remembered[pieces[place]] = away * away
        self._room -= len(missing)
        if self._room < 0:
            self._remembered, self._room = defaultdict(dict), _MOST_REMEMBERED
        return _weighted(weights, map(remembered.__getitem__, pieces))

    def _pieces(self, intent: int) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """Return the pieces of an intent in rising order, and how often it has each."""
        if intent not in self._counted:
            first, end = bisect_left(self._owners, intent), bisect_right(self._owners, intent)
            self._counted[intent] = np.unique(np.concatenate(self._pieces_of_rows[first:end]), return_counts=True)
        return self._counted[intent]

    def _pieces_without(self, intent: int, rows: Sequence[int]) -> NDArray[np.int32]:
        """Return the pieces of an intent that it has without some of its rows."""
        pieces, counts = self._pieces(intent)
        left = counts.copy()
        np.subtract.at(left, pieces.searchsorted(np.concatenate([self._pieces_of_rows[row] for row in rows])), 1)
        return pieces[left > 0]

    def _distances(self, vectors: Vectors, pieces: NDArray[np.int32]) -> list[float]:
        if not len(pieces):
            return [1.0] * len(vectors)
        distances = 1.0 - vectors.dot(self._vectors.take(pieces, 0).T).max(axis=1)
        distances *= distances
        found: list[float] = distances.tolist()
        return found


def _weighted(weights: Iterable[float], distances: Iterable[float]) -> float:
    # For so few numbers this is faster than numpy.
    total: float = sum(map(mul, weights, distances))
    return total
