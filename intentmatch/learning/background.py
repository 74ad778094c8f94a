"""How much more a message is like what people write to other bots than like a registry: its background.

A registry's own cases say little about messages from elsewhere. So each message is also compared with a broad sample of
what people write to bots. Its evidence falls, for all intents alike, by how much nearer it is to one of these messages
than any utterance is. Where the registry is near to the sample itself, the sample says little. And it rises along the
direction that tells the utterances from the sample best.

Sources: Hendrycks et al. 2019, "Deep Anomaly Detection with Outlier Exposure", for the sample; Fisher 1936, "The Use of
Multiple Measurements in Taxonomic Problems", for the direction, here with a penalty.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import Encoder, Vectors
from intentmatch.encoders.encode import encode_all
from intentmatch.runtime.block_sizes import BACKGROUND_UTTERANCES
from intentmatch.storage.vector_cache import VectorCache

# Weight of the direction; the nearness counts as a score does. Both were chosen on development sets.
_ALONG = 0.15
# Penalty of the direction, in units of the mean square of a vector's numbers.
_PENALTY = 0.25
# More utterances would not move the direction.
_MOST_FOR_DIRECTION = 2048


class Background(NamedTuple):
    """The sample of messages to other bots, as a registry sees it."""

    vectors: Vectors
    """Unit vectors of the sample, shape `(sample, dim)`."""
    nearness: NDArray[np.float32]
    """Cosine of each to the nearest utterance, shape `(sample,)`."""
    direction: NDArray[np.float32]
    """From the sample to the utterances, shape `(dim + 1,)`; the last number is added to each message's product."""

    @classmethod
    def of(cls, vectors: Vectors, utterances: Vectors) -> Background:
        """Compare the `vectors` of the sample with those of utterances, shape `(utterances, dim)`, at least one."""
        nearness = np.full(len(vectors), -1.0, dtype=np.float32)
        for start in range(0, len(utterances), BACKGROUND_UTTERANCES):
            cosines = vectors @ utterances[start : start + BACKGROUND_UTTERANCES].T
            np.maximum(nearness, cosines.max(axis=1), out=nearness)
        return cls(vectors, nearness, _direction(vectors, utterances))

    def against(self, vector: NDArray[np.float32]) -> float:
        """Return how much evidence a message loses for what it is like, from its vector of shape `(dim,)`."""
        nearer = self.vectors.dot(vector)
        nearer -= self.nearness
        along = float(vector.dot(self.direction[:-1])) + float(self.direction[-1])
        return float(nearer[nearer.argmax()]) - _ALONG * along

    def says(self, vector: NDArray[np.float32]) -> str:
        """Return what a message is like and how much evidence it loses for that, in words."""
        text = background_texts()[int((self.vectors.dot(vector) - self.nearness).argmax())]
        return f"{-self.against(vector):+.2f}, as other bots are told “{text}”"

    def against_many(self, vectors: Vectors) -> NDArray[np.float32]:
        """Return `against` of many messages, shape `(len(vectors),)`."""
        nearer = vectors @ self.vectors.T
        nearer -= self.nearness
        along = vectors @ self.direction[:-1] + self.direction[-1]
        against: NDArray[np.float32] = nearer.max(axis=1) - _ALONG * along
        return against


def _direction(sample: Vectors, utterances: Vectors) -> NDArray[np.float32]:
    """Return the direction along which utterances lie near 1 and the sample near -1, as in `Background`.

    Both weigh the same. It is the least-squares solution with a quadratic penalty.
    """
    some = utterances[:: -(-len(utterances) // _MOST_FOR_DIRECTION)]
    dim = sample.shape[1]
    products, wanted = np.zeros((dim + 1, dim + 1)), np.zeros(dim + 1)
    for side, vectors in ((1.0, some), (-1.0, sample)):
        with_one = np.hstack([vectors, np.ones((len(vectors), 1), dtype=vectors.dtype)]).astype(np.float64)
        products += with_one.T @ with_one / (2 * len(vectors))
        wanted += side * with_one.mean(axis=0) / 2
    penalty = _PENALTY / dim
    products[np.diag_indices(dim)] += penalty
    return np.linalg.solve(products, wanted).astype(np.float32)


def background_vectors(encoder: Encoder, vector_cache: VectorCache | None = None) -> Vectors:
    """Return the vectors of what people write to other bots, shape `(sample, dim)`."""
    return encode_all(encoder, background_texts(), "utterance", vector_cache)


@cache
def background_texts() -> tuple[str, ...]:
    """Return a broad sample of what people write to bots, in English: four messages to each of 131 subjects.

    They were written for this purpose, by somebody who knew no messages that intentmatch is measured with; those that
    are such messages all the same were taken out. Artefacts hold their vectors: raise `artefact.store.FORMAT` with
    any change.
    """
    return tuple(files(__package__).joinpath("background.txt").read_text(encoding="utf-8").splitlines())
