"""Run cases through a matcher, or through parts of its registry that are built as in production."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
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
from intentmatch.evaluation.pace import Pace
from intentmatch.matching.pipeline import Engine, Precomputed
from intentmatch.matching.question import Question
from intentmatch.matching.snapshot import Answers
from intentmatch.runtime import steps
from intentmatch.runtime.block_sizes import EVALUATION_MESSAGES

StepProgress = Callable[[str, int, int | None], None]
"""Called with the name of the step, the messages done so far, and the messages in total (None if unknown)."""

# Messages that are matched a second time, one by one and without caches, to measure latency.
_TIMED = 200


@dataclass(frozen=True, slots=True)
class Latency:
    """Microseconds per `match` call, including encoding, on the machine that ran the evaluation."""

    p50: float
    p99: float
    messages: int
    """Number of messages that were timed."""


class Runner:
    """Builds parts of a matcher's registry and runs cases through them. Each text is encoded once."""

    def __init__(
        self, matcher: Answers, step: str, total: int, progress: StepProgress | None = None, *, to_build: int = 0
    ) -> None:
        """Run `total` messages in all; `to_build` is the sum of the utterances of all registries for `run`."""
        self._matcher = matcher
        self._pace = Pace(total, to_build)
        self._encoder = CachingEncoder(matcher.encoder, vectors_of(matcher))
        # What the tests taught about the whole registry does not hold for its parts, except for the share.
        self._settings = replace(matcher.settings, out_of_scope_share=matcher.artefact.out_of_scope_share)
        self._question = Question(top_k=matcher.settings.top_k)
        self._step, self._total, self._progress = step, total, progress
        self._done = 0
        self._microseconds: list[float] = []

    def run(self, registry: Registry, cases: Sequence[Case], *, untimed: Sequence[Case] = ()) -> list[Outcome]:
        """Run cases through an engine that is trained and calibrated on this registry alone.

        The outcomes of the `untimed` cases follow those of `cases`; their latency is not measured.
        """
        with self._inside_step(), self._pace.building(len(registry.utterances)):
            artefact = build(registry, self._encoder, self._settings)
            engine = Engine(artefact, self._encoder, self._matcher.reranker)
        encoder = self._matcher.encoder

        def encoded(text: str) -> Precomputed:
            return Precomputed(encoder.encode([text], kind="query")[0])

        def match_many(messages: Sequence[str]) -> list[MatchResult]:
            return engine.match_many(messages, self._question)

        def match(message: str) -> MatchResult:
            return engine.answer(engine.read(message, self._question), encoded)

        outcomes = self._run_batches(cases, match_many, match)
        return outcomes + self._run_batches(untimed, match_many)

    def run_all(
        self, cases: Sequence[Case], *, untimed: Sequence[Case] = (), matcher: Answers | None = None
    ) -> list[Outcome]:
        """Run cases, then `untimed` ones, through the matcher itself or another one, with all context tags active."""
        matcher = matcher or self._matcher
        match, match_many, tags = matcher.match, matcher.match_many, matcher.registry.tags
        outcomes = self._run_batches(cases, partial(match_many, context=tags), partial(match, context=tags))
        return outcomes + self._run_batches(untimed, partial(match_many, context=tags))

    @property
    def latency(self) -> Latency | None:
        """Latency of the timed messages; None if there were none."""
        if not self._microseconds:
            return None
        p50, p99 = percentiles(self._microseconds, 50, 99)
        return Latency(p50, p99, len(self._microseconds))

    def _run_batches(
        self,
        cases: Sequence[Case],
        match_many: Callable[[Sequence[str]], list[MatchResult]],
        match: Callable[[str], MatchResult] | None = None,
    ) -> list[Outcome]:
        """Run cases in batches; with `match`, time a sample of them one by one."""
        outcomes: list[Outcome] = []
        for start in range(0, len(cases), EVALUATION_MESSAGES):
            batch = cases[start : start + EVALUATION_MESSAGES]
            with self._inside_step("answering"), self._pace.answering(len(batch)):
                results = match_many([case.text for case in batch])
                outcomes += [Outcome.from_result(case, result) for case, result in zip(batch, results, strict=True)]
                if match is not None:
                    self._time(batch, match)
            self._done += len(batch)
            if self._progress is not None:
                self._progress(self._step, self._done, self._total)
            steps.report(self._step, self._done, self._total, self._pace.seconds_left())
        return outcomes

    def _inside_step(self, detail: str = "") -> AbstractContextManager[None]:
        """Return a context in which steps of a build are reported as details of this runner's step."""
        return steps.inside(self._step, self._done, self._total, self._pace.seconds_left(), detail)

    def _time(self, cases: Sequence[Case], match: Callable[[str], MatchResult]) -> None:
        """Time a sample of the cases, spread evenly over the whole run."""
        stride = max(1, self._total // _TIMED)
        for case in cases[-self._done % stride :: stride]:
            start = perf_counter()
            match(case.text)
            self._microseconds.append((perf_counter() - start) * 1e6)


class CachingEncoder:
    """An `Encoder` that caches the vectors of another one; `known` holds vectors of utterances by cleaned text."""

    def __init__(self, encoder: Encoder, known: Mapping[str, NDArray[np.float32]]) -> None:
        self.name, self.dim = encoder.name, encoder.dim
        self.fingerprint, self.tolerance = encoder.fingerprint, encoder.tolerance
        self._encoder = encoder
        self._vectors: dict[Kind, dict[str, NDArray[np.float32]]] = {"utterance": dict(known), "query": {}}

    def __getattr__(self, name: str) -> Any:
        # Optional members of an encoder exist exactly if the wrapped encoder has them.
        return getattr(self._encoder, name)

    def encode(self, texts: Sequence[str], *, kind: Kind = "utterance") -> Vectors:
        """Encode texts; shape `(len(texts), dim)`."""
        known = self._vectors[kind]
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, self._encoder.encode(new, kind=kind), strict=True))
        rows = [known[text] for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.dim), dtype=np.float32)


def vectors_of(matcher: Answers) -> dict[str, NDArray[np.float32]]:
    """Return the vectors of all texts of a matcher's registry, keyed by cleaned text."""
    artefact = matcher.artefact
    vectors = (*artefact.wide_vectors, *artefact.negative_vectors, *artefact.label_vectors)
    return dict(zip(texts_of(artefact.registry), vectors, strict=True))
