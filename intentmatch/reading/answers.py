"""What an answer says: yes, no, undecided, on a condition, the words that were asked for, or none of these.

`answers.safetensors` holds a small network over the embedded pieces; `intentmatch distill-answers` trains it on answers
in many languages. The pieces are those of the embedded model, whatever encoder makes the vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from intentmatch.pieces.convolutions import checked, pooled
from intentmatch.pieces.embedded import known_pieces
from intentmatch.reading.networks import Tensors, embedded_convolutions, loaded
from intentmatch.text.normalize import clean

FILE = Path(__file__).with_name("answers.safetensors")

Answer = Literal["yes", "no", "unsure", "conditional", "value", "neither"]
"""What a message may say to a question.

- `yes`, `no`: it agrees or declines, and says no more than that;
- `unsure`: it does not decide, does not know, or wants to wait;
- `conditional`: it agrees or declines on a condition, in part, or with a change;
- `value`: it is what a question for free text asks for, such as an address, a name, a note or a reason;
- `neither`: it is no answer, but another request, a question, or anything else.
"""
ANSWERS: tuple[Answer, ...] = get_args(Answer)


class AnswerChances(NamedTuple):
    """Probability of each answer; they add up to 1."""

    yes: float
    no: float
    unsure: float
    conditional: float
    value: float
    neither: float


NO_ANSWER = AnswerChances(0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
"""A message without a known piece."""


class AnswerReader:
    """The network. Safe to use from many threads."""

    def __init__(self, tensors: Tensors) -> None:
        """Raises `ValueError` if a tensor is missing or has the wrong shape."""
        self._convolutions = embedded_convolutions(tensors)
        shapes = {"answers": (2 * self._convolutions.width, len(ANSWERS)), "answers_bias": (len(ANSWERS),)}
        own = checked(tensors, shapes)
        self._answers, self._bias = own["answers"], own["answers_bias"]

    def read(self, pieces: Sequence[int]) -> AnswerChances:
        """Read a text, given by its pieces, of which there must be one."""
        hidden = self._convolutions.read(pieces)[0]
        logits = pooled(hidden).dot(self._answers) + self._bias
        powers = np.exp(logits - logits.max())
        return AnswerChances(*(powers / powers.sum()).tolist())


@lru_cache(1)
def answer_reader() -> AnswerReader:
    """Return the network of this package, loaded once per process. Raises `ModelUnavailableError`."""
    return loaded(FILE, AnswerReader)


@lru_cache(64)
def answer_of(text: str) -> AnswerChances:
    """Return what a text says to a yes-or-no question."""
    pieces = known_pieces(clean(text))
    return answer_reader().read(pieces) if pieces else NO_ANSWER
