"""Draw the pairs that a cross-encoder is trained on: a message and an utterance, of the same intent or not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.adaptation.recipe import RerankerRecipe
from intentmatch.core.types import Registry, Vectors
from intentmatch.text.normalize import clean

_ROWS_AT_ONCE = 1024
_NEGATIVE = 0.25
"""Chance that a `not:` line of the intent takes the place of the message in the pair of different intents."""


class LabelledPair(NamedTuple):
    """A message, an utterance, and whether both are of one intent."""

    message: str
    utterance: str
    same: bool


class Pairs:
    """All batches of a training. Each step has its own random numbers, so a training can continue anywhere.

    `vectors` are those of the utterances by the bot's encoder, shape `(utterances, dim)`. The nearest utterances of
    other intents are those that the bot confuses a message with.
    """

    def __init__(self, registry: Registry, vectors: Vectors, recipe: RerankerRecipe) -> None:
        self._recipe = recipe
        self._texts = [clean(utterance.text) for utterance in registry.utterances]
        self._negatives = [[clean(line.text) for line in intent.all_negatives] for intent in registry]
        self._owners = np.asarray(registry.owners, dtype=np.int64)
        # Intents that context tells apart may share a line: it must be no negative of itself.
        _, self._keys = np.unique(np.array(registry.folded, dtype=object).astype(str), return_inverse=True)
        self._own = [self._others_of(row) for row in range(len(self._owners))]
        self._hardest = _nearest_of_others(vectors, self._owners, self._keys, recipe.hardest)
        self._usable = np.array(
            [row for row, own in enumerate(self._own) if len(own) and len(self._hardest[row])], dtype=np.int64
        )

    @property
    def messages(self) -> int:
        """Number of utterances that have another one of their intent, and one of another intent."""
        return len(self._usable)

    def draw(self, step: int) -> list[LabelledPair]:
        """Return the pairs of a step; the same ones whenever they are asked for."""
        random = np.random.default_rng((self._recipe.seed, step))
        count = min(self._recipe.messages, self.messages)
        found = []
        for row in random.choice(self._usable, size=count, replace=False).tolist():
            own, other = int(random.choice(self._own[row])), int(random.choice(self._hardest[row]))
            found.append(LabelledPair(self._texts[row], self._texts[own], same=True))
            negatives = self._negatives[self._owners[row]]
            if negatives and random.random() < _NEGATIVE:
                line = negatives[int(random.integers(len(negatives)))]
                found.append(LabelledPair(line, self._texts[row], same=False))
            else:
                found.append(LabelledPair(self._texts[row], self._texts[other], same=False))
        return found

    def _others_of(self, row: int) -> NDArray[np.int64]:
        """Return the other utterances of a row's intent that have another text."""
        found: NDArray[np.int64] = np.flatnonzero((self._owners == self._owners[row]) & (self._keys != self._keys[row]))
        return found


def _nearest_of_others(
    vectors: Vectors, owners: NDArray[np.int64], keys: NDArray[np.int64], most: int
) -> list[NDArray[np.int64]]:
    """Return for each row the nearest rows of other intents, without those of the same text."""
    found = []
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        similar = vectors[block] @ vectors.T
        similar[(owners[block, None] == owners) | (keys[block, None] == keys)] = -np.inf
        order = np.argsort(-similar, axis=1, kind="stable")[:, :most]
        # In a registry of few intents, the first so many also hold rows that were ruled out.
        found += [row[np.isfinite(similar[place, row])] for place, row in enumerate(order)]
    return found
