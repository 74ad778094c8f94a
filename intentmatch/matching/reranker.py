"""Cross-encoder rerankers: score message and utterance together, only where the vectors leave doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core import plugins
from intentmatch.core.errors import ModelUnavailableError, UnavailableError
from intentmatch.core.result import Candidate
from intentmatch.core.settings import Settings
from intentmatch.core.types import Registry, Reranker
from intentmatch.encoders import hub
from intentmatch.learning.cross_validation import RANKED
from intentmatch.matching.policy import Decision, Policy, decide
from intentmatch.matching.scoring import Scoring
from intentmatch.reading.reader import Reading
from intentmatch.text.normalize import clean

_UTTERANCES_OF_AN_INTENT = 3
_NO_BOUND = 1_000_000
_FEWEST, _FORGIVEN = 2, 0.9


def load_reranker(settings: Settings) -> Reranker | None:
    """Return the reranker that `settings.reranker` names; None for "none".

    A name without a known kind before a colon is a cross-encoder, except "words", which has no model. Raises
    `MissingExtraError` or `ModelUnavailableError`.
    """
    if settings.reranker == "none":
        return None
    kind, separator, model = settings.reranker.partition(":")
    if settings.reranker != "words" and (not separator or kind not in plugins.names("rerankers")):
        kind, model = "cross_encoder", settings.reranker
    reranker: Reranker = plugins.factory("rerankers", kind)(model, settings)
    return reranker


def reranker_key(settings: Settings) -> tuple[str, ...]:
    """The settings that `load_reranker` reads: equal keys make equal rerankers, so that one can serve both."""
    budget = ",".join(f"{time}={count}" for time, count in settings.reranker_budget.items())
    seconds, threads = str(settings.reranker_seconds), str(settings.threads)
    return settings.reranker, settings.device, threads, seconds, budget


def load(model: str, settings: Settings) -> CrossEncoderReranker:
    """Load a sentence-transformers cross-encoder by hub name or folder."""
    loaded = hub.load("CrossEncoder", model, settings.device, what="A cross-encoder")
    return CrossEncoderReranker(loaded.model, name=f"cross_encoder:{model}")


class RerankerPace:
    """How many utterances a reranker can score within its time budget, from its recent speed."""

    def __init__(self, budget: float) -> None:
        self.budget = budget
        """Seconds per message."""
        self._seconds = 0.0

    def room(self) -> int:
        """Return the number of utterances there is time for; unbounded before the first measurement."""
        if self._seconds == 0.0:
            return _NO_BOUND
        room = int(min(self.budget / self._seconds, _NO_BOUND))
        if room < _FEWEST:
            # The first call is the slowest: a reranker that seems too slow is tried again after some messages.
            self._seconds *= _FORGIVEN
        return room

    def took(self, seconds: float, utterances: int) -> None:
        """Record one call: an exponential average with weight one half."""
        pace = seconds / max(1, utterances)
        self._seconds = (self._seconds + pace) / 2 if self._seconds else pace


class Reranking:
    """Rescores the first candidates of a message with a reranker, within a time budget."""

    def __init__(self, reranker: Reranker, registry: Registry, seconds: float) -> None:
        self._reranker, self._pace = reranker, RerankerPace(seconds)
        self._utterances = registry.utterances
        self._positions = registry.positions

    def decide(
        self, reading: Reading, vector: NDArray[np.float32], decision: Decision, by: tuple[Policy, Scoring]
    ) -> tuple[Decision | None, str]:
        """Return the decision on reranked candidates, None if the verdict stands, and a sentence for the trace.

        `by` are the thresholds and the scoring that made the first decision.

        Each score becomes its mean with the reranker's best score among the intent's nearest utterances. Candidates and
        utterances are limited to what the time budget allows. The verdict stands without time for two candidates, or
        without an answer from the reranker's server.
        """
        (policy, scoring), options = by, reading.options
        room = self._pace.room()
        first = decision.ranked[: min(RANKED, room)]
        if len(first) < min(2, len(decision.ranked)):
            return None, f"in doubt, but {self._reranker.name} is too slow for {self._pace.budget:g} s"
        each = min(_UTTERANCES_OF_AN_INTENT, room // len(first))
        rows = [scoring.nearest_rows(vector, self._positions[c.intent], each, options.hidden) for c in first]
        texts = [clean(self._utterances[row].text) for some in rows for row in some]
        began = perf_counter()
        try:
            scores = iter(self._reranker.score(reading.meant.text, texts).tolist())
        except UnavailableError as error:
            return None, f"in doubt, but the verdict stands: {error}"
        self._pace.took(perf_counter() - began, len(texts))
        best = [max((next(scores), row) for row in some) for some in rows]
        reranked = scoring.with_confidences(
            [
                self._rescored(candidate, (candidate.score + score) / 2, row)
                for candidate, (score, row) in zip(first, best, strict=True)
            ]
        )
        changes = zip(first, reranked, strict=True)
        moves = ", ".join(f"{old.intent} {old.score:.2f} to {new.score:.2f}" for old, new in changes)
        decided = decide(reranked, policy, options.language)
        return decided, f"in doubt ({decision.verdict}), {self._reranker.name} moved {moves}"

    def _rescored(self, candidate: Candidate, score: float, row: int) -> Candidate:
        """Return the candidate with another score, and its evidence moved by the same amount."""
        evidence = candidate.rank + score - candidate.score
        return replace(candidate, score=score, evidence=evidence, utterance=self._utterances[row])


class CrossEncoderReranker:
    """A sentence-transformers `CrossEncoder` with a single output, mapped to [0, 1] by a sigmoid."""

    def __init__(self, cross_encoder: Any, name: str = "cross_encoder") -> None:
        if cross_encoder.num_labels != 1:
            raise ModelUnavailableError(
                f"{name} returns {cross_encoder.num_labels} numbers for a pair; a reranker must return one. "
                "Use a model trained for relevance or similarity (quora, stsb, ms-marco), not one for entailment."
            )
        self._cross_encoder = cross_encoder
        self.name = name

    def score(self, message: str, utterances: Sequence[str]) -> NDArray[np.float32]:
        """Return scores in [0, 1], shape `(len(utterances),)`."""
        if not utterances:
            return np.empty(0, dtype=np.float32)
        # Named explicitly, because some models (ms-marco) have a configuration that returns raw logits.
        sigmoid = plugins.require("torch", what="A cross-encoder", extra="torch").nn.Sigmoid()
        pairs = [(message, utterance) for utterance in utterances]
        scores = self._cross_encoder.predict(pairs, activation_fn=sigmoid, show_progress_bar=False)
        return np.asarray(scores, dtype=np.float32).reshape(len(utterances))
