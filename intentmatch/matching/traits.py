"""Read what a message says to the questions of a registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.result import Trait
from intentmatch.core.types import KeptVectors, TraitQuestion
from intentmatch.core.when_read import when_read
from intentmatch.learning.trait_heads import TraitHeads
from intentmatch.text.normalize import fold


class TraitReader:
    """Reads the traits of messages to one registry. Immutable."""

    def __init__(self, questions: Sequence[TraitQuestion], heads: TraitHeads) -> None:
        self._heads = heads
        self._questions = [
            (question.name, [*question.answers], curve, columns)
            for question, (curve, columns) in zip(questions, heads.curves(questions), strict=True)
        ]
        self._lines: dict[str, dict[str, str]] = {}
        """Folded line to the answers that it is a line of, by question."""
        for question in questions:
            for answer, lines in question.answers.items():
                for line in lines:
                    self._lines.setdefault(fold(line.text), {})[question.name] = answer

    def read(self, key: str, vector: KeptVectors | None) -> Mapping[str, Trait]:
        """Return what a message says to each question, given its folded text, as a stand-in of `when_read`.

        `vector` is None for a message that says nothing, such as noise.
        """
        return when_read(self._traits, key, None if vector is None else self._heads.logits(vector))

    def _traits(self, key: str, found: NDArray[np.float32] | None) -> Mapping[str, Trait]:
        equal = self._lines.get(key, {})
        logits = None if found is None else found.tolist()
        traits = {}
        for name, answers, curve, columns in self._questions:
            if name in equal:
                confidences = dict.fromkeys(answers, 0.0)
                confidences[equal[name]] = 1.0
            elif logits is None:
                confidences = dict.fromkeys(answers, 0.0)
            else:
                confidences = dict(zip(answers, curve.confidences(logits[columns]), strict=True))
            traits[name] = Trait.of(confidences)
        return traits
