"""What the parts of a message do: ask for something, refuse, tell, greet, or hang on the turn before.

`dialogue_acts.safetensors` holds a small network over the embedded pieces; `intentmatch distill-acts` trains it on
labelled messages in many languages. For each piece it tells whether a part begins there, for each part its dialogue
acts. No part that does none of `ACTS` is named: it asks for something, as most do.

The pieces are those of the embedded model, whatever encoder makes the vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import tanh
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from intentmatch.pieces.convolutions import blocks, checked, logistic, pooled
from intentmatch.pieces.embedded import known_pieces
from intentmatch.reading.networks import Tensors, embedded_convolutions, loaded
from intentmatch.runtime.block_sizes import CONTEXT_PIECES

FILE = Path(__file__).with_name("dialogue_acts.safetensors")
_LEAST_ODDS = 1e-4

Act = Literal["refuses", "settled", "tale", "courtesy", "depends", "undecided"]
"""What a part of a message may do beside asking for something.

- `refuses`: it says that something shall not or need not be done, or takes back what was asked;
- `settled`: it says that all is well, done, or somebody else's business, so that nothing is asked;
- `tale`: it tells what led to a request;
- `courtesy`: it greets, thanks, apologises or chats;
- `depends`: it cannot be understood without the turn before;
- `undecided`: its writer considers something or puts it off, so that nothing is asked yet.
"""
ACTS: tuple[Act, ...] = get_args(Act)


class Acts(NamedTuple):
    """Probability of each dialogue act of a part of a message."""

    refuses: float
    settled: float
    tale: float
    courtesy: float
    depends: float
    undecided: float

    @property
    def denies(self) -> float:
        """Probability that it does one of the first two."""
        return self.refuses + self.settled


def odds(probability: float) -> float:
    """Return the odds of a probability, between 0.0001 and 10,000."""
    return max(probability, _LEAST_ODDS) / max(1.0 - probability, _LEAST_ODDS)


NO_ACTS = Acts(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The acts of a part that does nothing but ask."""


class ReadActs(NamedTuple):
    """What the network makes of a text."""

    hidden: NDArray[np.float32]
    """The numbers of each piece, shape `(pieces, width)`, for `DialogueActs.acts` of a part."""
    begins: Sequence[float]
    """For each piece a logit: at least 0 if a part of the message more likely than not begins with it."""
    acts: Acts
    """What the text does as a whole."""


class DialogueActs:
    """The network. Safe to use from many threads."""

    def __init__(self, tensors: Tensors) -> None:
        """Raises `ValueError` if a tensor is missing or has the wrong shape."""
        self._convolutions = embedded_convolutions(tensors)
        width = self._convolutions.width
        own = checked(
            tensors,
            {"acts": (2 * width, len(ACTS)), "acts_bias": (len(ACTS),), "begins": (width,), "begins_bias": (1,)},
        )
        self._acts, self._acts_bias = own["acts"], own["acts_bias"]
        self._begins, self._begins_bias = own["begins"], own["begins_bias"]

    def read(self, pieces: Sequence[int]) -> ReadActs:
        """Read a text, given by its pieces, of which there must be one."""
        hidden = self._convolutions.read(pieces)[0]
        return ReadActs(hidden, (hidden.dot(self._begins) + self._begins_bias).tolist(), self.acts(hidden))

    def read_many(self, texts: Sequence[Sequence[int]]) -> list[ReadActs]:
        """Return for each text what `read` returns, up to rounding, in less time."""
        found: list[ReadActs] = []
        for some in blocks(texts, CONTEXT_PIECES):
            block = self._convolutions.read_block(texts[some])
            hidden, begins = block.hidden, (block.hidden.dot(self._begins) + self._begins_bias).tolist()
            acts = logistic(block.pooled().dot(self._acts) + self._acts_bias).tolist()
            spans = map(slice, block.starts.tolist(), block.gaps.tolist())
            found += [
                ReadActs(hidden[span], begins[span], Acts(*of_whole))
                for span, of_whole in zip(spans, acts, strict=True)
            ]
        return found

    def acts(self, hidden: NDArray[np.float32]) -> Acts:
        """Return what a part does, given by the `hidden` numbers of its pieces."""
        scores = pooled(hidden).dot(self._acts)
        scores += self._acts_bias
        # For six numbers Python takes less time than numpy.
        return Acts(*[(1 + tanh(score / 2)) / 2 for score in scores.tolist()])


@lru_cache(1)
def dialogue_acts() -> DialogueActs:
    """Return the network of this package, loaded once per process. Raises `ModelUnavailableError`."""
    return loaded(FILE, DialogueActs)


def acts_of(text: str) -> Acts:
    """Return what a cleaned text does as a whole."""
    pieces = known_pieces(text)
    return dialogue_acts().read(pieces).acts if pieces else NO_ACTS
