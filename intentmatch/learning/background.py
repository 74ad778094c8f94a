"""How much more a message is like a registry than like what people write to other bots: its background.

A registry's own cases say little about messages from elsewhere. So a direction is learned that tells its utterances
from a broad sample of what people write to bots. A message gains evidence along it, or loses some, for all intents
alike.

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
from intentmatch.storage.vector_cache import VectorCache

WIDEST = 1024
"""Most numbers of a vector with which evidence counts on the background: wider ones would delay a build by seconds."""

# Weight of the direction, if that of a score is 1. Chosen on development sets.
_WEIGHT = 0.2
# Penalty of the direction, in units of the mean square of a vector's numbers.
_PENALTY = 0.25
# More utterances would not move the direction.
_MOST_UTTERANCES = 2048

_known: dict[str, Sample] = {}


class Sample:
    """The vectors of what people write to other bots, and what every registry is compared with."""

    def __init__(self, vectors: Vectors) -> None:
        """`vectors` have unit length, shape `(sample, dim)`."""
        self.vectors = vectors
        self.products, self.mean = _moments(vectors)


class Background(NamedTuple):
    """The direction from the sample to a registry's utterances."""

    direction: NDArray[np.float32]
    """Shape `(dim,)`."""
    offset: float
    """Added to the product of a vector with the direction."""

    @classmethod
    def of(cls, sample: Sample, utterances: Vectors) -> Background:
        """Find the direction along which utterances lie near a positive number, and the sample near its negative.

        `utterances` are their vectors, shape `(utterances, dim)`, at least one. Both sides weigh the same. It is the
        least-squares solution with a quadratic penalty.
        """
        products, mean = _moments(utterances[:: -(-len(utterances) // _MOST_UTTERANCES)])
        products += sample.products
        dim = len(mean) - 1
        # Both are sums of two means, and so twice what they stand for.
        products[np.diag_indices(dim)] += 2.0 * _PENALTY / dim
        found = (_WEIGHT * np.linalg.solve(products, mean - sample.mean)).astype(np.float32)
        return cls(found[:-1], float(found[-1]))

    def evidence(self, vector: NDArray[np.float32]) -> float:
        """Return the evidence that a message gains, from its vector of shape `(dim,)`."""
        return float(vector.dot(self.direction)) + self.offset

    def evidence_many(self, vectors: Vectors) -> NDArray[np.float64]:
        """Return the evidence that each of many messages gains, shape `(len(vectors),)`."""
        gained: NDArray[np.float64] = (vectors @ self.direction).astype(np.float64) + self.offset
        return gained


def background_sample(encoder: Encoder, vector_cache: VectorCache | None = None) -> Sample:
    """Return `background_texts`, encoded; a process encodes them once for each encoder."""
    if (found := _known.get(encoder.fingerprint)) is None:
        found = Sample(encode_all(encoder, background_texts(), "utterance", vector_cache))
        _known[encoder.fingerprint] = found
    return found


@cache
def background_texts() -> tuple[str, ...]:
    """Return a broad sample of what people write to bots, in English: four messages to each of 131 subjects.

    They were written for this purpose, by somebody who knew no messages that intentmatch is measured with; those that
    are such messages all the same were taken out.
    """
    return tuple(files(__package__).joinpath("background.txt").read_text(encoding="utf-8").splitlines())


def _moments(vectors: Vectors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean product of the numbers of each vector, and their mean, with a 1 behind each vector."""
    with_one = np.ones((len(vectors), vectors.shape[1] + 1))
    with_one[:, :-1] = vectors
    return with_one.T @ with_one / len(vectors), with_one.mean(axis=0)
