"""What is needed of the heads of questions to read messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import exp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.types import KeptVectors, TraitQuestion

MOST_LOGIT = 50.0
"""Larger logits do not matter."""


class TraitCurve(NamedTuple):
    """What turns the logits of one question into confidences."""

    sharpness: float
    """Factor of the logits in the softmax over the answers: its inverse temperature."""
    slope: float
    """Weight of the largest logit in the evidence that a message says something."""
    doubt: float
    """Share of the probability that all answers have alike: the fewer lines, the more."""
    certain: list[float]
    """For each answer, the value of the logistic curve from which on a message certainly says something."""

    def confidences(self, logits: Sequence[float]) -> list[float]:
        """Return the confidence of each answer; they add up to at most 1. The last logit is evidence for all."""
        *own, evidence = logits
        most = max(own)
        powers = [exp(self.sharpness * (logit - most)) for logit in own]
        chance = 1.0 / (1.0 + exp(min(MOST_LOGIT, -self.slope * most - evidence)))
        says = min(1.0, chance / self.certain[own.index(most)])
        factor, least = says * (1.0 - self.doubt) / sum(powers), says * self.doubt / len(powers)
        return [factor * power + least for power in powers]


@dataclass(frozen=True, slots=True)
class TraitHeads:
    """The heads of all questions side by side; a question has a column for each answer and one more."""

    vector_weights: NDArray[np.float32]
    """Shape `(dim, columns)`."""
    bias: NDArray[np.float32]
    """Shape `(columns,)`."""
    numbers: NDArray[np.float32]
    """Sharpness, slope and doubt of each question, shape `(questions, 3)`."""
    certain: NDArray[np.float32]
    """The values of all answers and a 1 for each question, shape `(columns,)`."""

    def logits(self, vector: KeptVectors) -> NDArray[np.float32]:
        """Return the logits of one message, shape `(columns,)`, or of many, shape `(messages, columns)`."""
        logits: NDArray[np.float32] = vector.dot(self.vector_weights)
        logits += self.bias
        return logits

    def curves(self, questions: Sequence[TraitQuestion]) -> list[tuple[TraitCurve, slice]]:
        """Return the curve of each question and its columns."""
        ends = accumulate((len(question.answers) + 1 for question in questions), initial=0)
        certain = self.certain.tolist()
        return [
            (TraitCurve(sharpness, slope, doubt, certain[start : end - 1]), slice(start, end))
            for (sharpness, slope, doubt), (start, end) in zip(self.numbers.tolist(), pairwise(ends), strict=True)
        ]

    def to_tensors(self) -> dict[str, NDArray[np.float32]]:
        """Return the arrays by name, to be stored in a file."""
        return {
            "traits": np.vstack([self.vector_weights, self.bias]),
            "trait_numbers": self.numbers,
            "trait_certain": self.certain,
        }

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[np.float32]]) -> TraitHeads:
        """Make the heads from the arrays of `to_tensors`; others are ignored. Raises `KeyError` without them."""
        return cls(tensors["traits"][:-1], tensors["traits"][-1], tensors["trait_numbers"], tensors["trait_certain"])
