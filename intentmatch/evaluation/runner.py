"""Asks a registry, or parts of it built exactly as production would, and writes down what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.build import build, texts_of
from intentmatch.core.result import MatchResult
from intentmatch.core.types import Case, Encoder, Kind, Registry, Vectors
from intentmatch.evaluation.metrics import percentiles
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.matching.matcher import Matcher
from intentmatch.matching.pipeline import Engine, Precomputed, Question
from intentmatch.runtime.block_sizes import EVALUATION_MESSAGES

Tell = Callable[[str, int, int | None], None]
"""Told (what is being done, messages asked, messages to ask) as an evaluation goes on."""

# Messages that are asked a second time, one by one and without any memory, to take the time.
_TIMED = 200


@dataclass(frozen=True, slots=True)
class Latency:
    """Microseconds that one `match` took, encoding included, on the machine of the evaluation."""

    p50: float
    p99: float
    messages: int
    """As many were timed."""


class Asker:
    """Builds parts of a matcher's registry and asks them. No text is encoded twice."""

    def __init__(self, matcher: Matcher, what: str, total: int, tell: Tell | None = None) -> None:
        self._matcher = matcher
        self._encoder = RememberingEncoder(matcher.encoder, vectors_of(matcher))
        self._question = Question(top_k=matcher.settings.top_k)
        self._what, self._total, self._tell = what, total, tell
        self._asked = 0
        self._microseconds: list[float] = []

    def ask(self, registry: Registry, cases: Sequence[Case]) -> list[Outcome]:
        """What a matcher of just this registry makes of the cases: thresholds and all are learned from it alone."""
        artefact = build(registry, self._encoder, self._matcher.settings)
        engine = Engine(artefact, self._encoder, self._matcher.reranker)
        encoder = self._matcher.encoder

        def encoded(text: str) -> Precomputed:
            return Precomputed(encoder.encode([text], kind="query")[0])

        return self._asked_in_turn(
            cases,
            lambda messages: engine.match_many(messages, self._question),
            lambda message: engine.match(message, self._question, encoded),
        )

    def ask_all(self, cases: Sequence[Case]) -> list[Outcome]:
        """What the matcher itself makes of the cases, all tags being active."""
        match, match_many, tags = self._matcher.match, self._matcher.match_many, self._matcher.registry.tags
        return self._asked_in_turn(cases, partial(match_many, context=tags), partial(match, context=tags))

    @property
    def latency(self) -> Latency | None:
        """Of the messages that were timed; None if nothing was asked."""
        if not self._microseconds:
            return None
        p50, p99 = percentiles(self._microseconds, 50, 99)
        return Latency(p50, p99, len(self._microseconds))

    def _asked_in_turn(
        self,
        cases: Sequence[Case],
        match_many: Callable[[Sequence[str]], list[MatchResult]],
        match: Callable[[str], MatchResult],
    ) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for start in range(0, len(cases), EVALUATION_MESSAGES):
            some = cases[start : start + EVALUATION_MESSAGES]
            results = match_many([case.text for case in some])
            outcomes += [Outcome.from_result(case, result) for case, result in zip(some, results, strict=True)]
            self._time(some, match)
            self._asked += len(some)
            if self._tell is not None:
                self._tell(self._what, self._asked, self._total)
        return outcomes

    def _time(self, cases: Sequence[Case], match: Callable[[str], MatchResult]) -> None:
        """Time a share of the cases, spread evenly over all that will be asked."""
        stride = max(1, self._total // _TIMED)
        for case in cases[-self._asked % stride :: stride]:
            start = perf_counter()
            match(case.text)
            self._microseconds.append((perf_counter() - start) * 1e6)


class RememberingEncoder:
    """An `Encoder` that asks another for each text only once. Also knows the vectors of utterances it is given."""

    def __init__(self, encoder: Encoder, known: Mapping[str, NDArray[np.float32]]) -> None:
        self.name, self.dim = encoder.name, encoder.dim
        self.fingerprint, self.tolerance = encoder.fingerprint, encoder.tolerance
        self._encoder = encoder
        self._vectors: dict[Kind, dict[str, NDArray[np.float32]]] = {"utterance": dict(known), "query": {}}

    def __getattr__(self, name: str) -> Any:
        # The optional members of an encoder are there exactly when the other has them.
        return getattr(self._encoder, name)

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Shape `(len(texts), dim)`."""
        known = self._vectors[kind]
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, self._encoder.encode(new, kind=kind), strict=True))
        rows = [known[text] for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dim), dtype=np.float32)


def vectors_of(matcher: Matcher) -> dict[str, NDArray[np.float32]]:
    """The vectors of all texts of a matcher's registry, by cleaned text."""
    artefact = matcher.artefact
    vectors = (*artefact.wide_vectors, *artefact.negative_vectors, *artefact.label_vectors)
    return dict(zip(texts_of(artefact.registry), vectors, strict=True))
