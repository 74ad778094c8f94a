"""The cross-encoder: reads message and utterance together, and is asked only when the vectors leave doubt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.errors import ModelUnavailableError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Reranker
from intentmatch.encoders import hub

_NO_BOUND = 1_000_000
_FEWEST, _FORGIVEN = 2, 0.9


def load_reranker(settings: Settings) -> Reranker | None:
    """The reranker that `settings.reranker` names, or None for "none".

    A name without a known kind in front is a cross-encoder. Raises `MissingExtraError` or `ModelUnavailableError`.
    """
    if settings.reranker == "none":
        return None
    kind, separator, model = settings.reranker.partition(":")
    if not separator or kind not in plugins.names("rerankers"):
        kind, model = "cross_encoder", settings.reranker
    reranker: Reranker = plugins.factory("rerankers", kind)(model, settings)
    return reranker


def reranker_key(settings: Settings) -> tuple[str, ...]:
    """The settings that `load_reranker` reads: equal keys make equal rerankers, so that one can serve both."""
    return settings.reranker, settings.device


def load(model: str, settings: Settings) -> CrossEncoderReranker:
    """A cross-encoder of sentence-transformers by hub name or folder."""
    loaded = hub.load("CrossEncoder", model, settings.device, what="A cross-encoder")
    return CrossEncoderReranker(loaded.model, name=f"cross_encoder:{model}")


class Pace:
    """How many utterances a reranker manages in its time, going by how long it took of late."""

    def __init__(self, budget: float) -> None:
        self.budget = budget
        """Seconds for a message."""
        self._seconds = 0.0

    def room(self) -> int:
        """Utterances that there is time for; no bound before the first were asked about."""
        if self._seconds == 0.0:
            return _NO_BOUND
        room = int(min(self.budget / self._seconds, _NO_BOUND))
        if room < _FEWEST:
            # The first time is the slowest; what is given up today is tried again after some messages.
            self._seconds *= _FORGIVEN
        return room

    def took(self, seconds: float, utterances: int) -> None:
        """Take note of one call: half of it counts, and half of what was known."""
        pace = seconds / max(1, utterances)
        self._seconds = (self._seconds + pace) / 2 if self._seconds else pace


class CrossEncoderReranker:
    """Any sentence-transformers `CrossEncoder` with a single output, read through a sigmoid into [0, 1]."""

    def __init__(self, cross_encoder: Any, name: str = "cross_encoder") -> None:
        if cross_encoder.num_labels != 1:
            raise ModelUnavailableError(
                f"{name} gives {cross_encoder.num_labels} numbers for a pair; a reranker must give one. Name a model "
                "trained for relevance or similarity (quora, stsb, ms-marco), not one for entailment."
            )
        self._cross_encoder = cross_encoder
        self.name = name

    def score(self, message: str, utterances: Sequence[str]) -> NDArray[np.float32]:
        """Shape `(len(utterances),)`, in [0, 1]."""
        if not utterances:
            return np.empty(0, dtype=np.float32)
        sigmoid = plugins.require("torch", what="A cross-encoder", extra="torch").nn.Sigmoid()
        pairs = [(message, utterance) for utterance in utterances]
        scores = self._cross_encoder.predict(pairs, activation_fn=sigmoid, show_progress_bar=False)
        return np.asarray(scores, dtype=np.float32).reshape(len(utterances))
