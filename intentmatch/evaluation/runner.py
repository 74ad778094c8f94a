"""Run cases through a matcher, or through parts of its registry that are built as in production."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.artefact.build import build, texts_of
from intentmatch.core.result import MatchResult
from intentmatch.core.shared_lines import SharedLines
from intentmatch.core.types import Case, Encoder, Kind, Registry, Vectors
from intentmatch.evaluation.metrics import percentiles
from intentmatch.evaluation.outcomes import Outcome
from intentmatch.evaluation.pace import Pace
from intentmatch.learning.training import PreviousTraining
from intentmatch.matching.batch import Precomputed
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.pipeline import Engine
from intentmatch.matching.snapshot import BaseMatcher
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.runtime import steps
from intentmatch.runtime.block_sizes import EVALUATION_MESSAGES

StepProgress = Callable[[str, int, int | None], None]
"""Called with the name of the step, the messages done so far, and the messages in total (None if unknown)."""

_Context = frozenset[str] | None

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
        self,
        matcher: BaseMatcher,
        step: str,
        total: int,
        progress: StepProgress | None = None,
        *,
        to_build: int = 0,
        encoder: CachingEncoder | None = None,
    ) -> None:
        """Run `total` messages in all; `to_build` is the sum of the utterances of all registries for `run`.

        Runners may share an `encoder`, so that a text is encoded once for all of them.
        """
        self._matcher = matcher
        self._pace = Pace(total, to_build)
        self._encoder = encoder or CachingEncoder(matcher.encoder, vectors_of(matcher))
        # What the tests taught about the whole registry does not hold for its parts, except for the share.
        self._settings = replace(matcher.settings, out_of_scope_share=matcher.artefact.out_of_scope_share)
        self._options = ResolvedOptions(top_k=matcher.settings.top_k)
        self._shared = SharedLines(matcher.registry)
        self._step, self._total, self._progress = step, total, progress
        self._done = 0
        self._microseconds: list[float] = []

    def run(
        self,
        registry: Registry,
        cases: Sequence[Case],
        *,
        untimed: Sequence[Case] = (),
        meant: Sequence[str] | None = None,
        provisional: PreviousTraining | None = None,
    ) -> list[Outcome]:
        """Run cases through an engine that is trained and calibrated on this registry alone.

        With `provisional`, only its head is trained, and that of a whole registry lends its calibration.

        The outcomes of the `untimed` cases follow those of `cases`; their latency is not measured. Where intents share
        lines, each case is said in the context of the intent that is `meant`, by default the expected one.
        """
        with self._inside_step(), self._pace.building(len(registry.utterances)):
            # The intents are evaluated here; `evaluation.traits` evaluates the questions.
            artefact = build(replace(registry, questions=()), self._encoder, self._settings, provisional=provisional)
            engine = Engine(artefact, self._encoder, self._matcher.reranker)
        encoder = self._matcher.encoder

        def encoded(text: str) -> Precomputed:
            # Not the caching encoder: the time of encoding is a part of the latency.
            return Precomputed(encoder.encode([text], kind="query")[0])

        def options_of(context: _Context) -> ResolvedOptions:
            if context is None:
                return self._options
            return engine.resolve(MatchOptions(top_k=self._options.top_k, context=context))

        def match_many(messages: Sequence[str], context: _Context) -> list[MatchResult]:
            return engine.match_many(messages, options_of(context))

        def match(message: str, context: _Context) -> MatchResult:
            return engine.answer(engine.read(message, options_of(context)), encoded)

        outcomes = self._run_batches(cases, match_many, match, self._contexts(cases if meant is None else meant))
        return outcomes + self._run_batches(untimed, match_many, None, self._contexts(untimed))

    def run_all(
        self, cases: Sequence[Case], *, untimed: Sequence[Case] = (), matcher: BaseMatcher | None = None
    ) -> list[Outcome]:
        """Run cases, then `untimed` ones, through the matcher itself or another one, with all context tags active.

        Where intents share lines, only the tags that are active in the context of the expected intent.
        """
        answers = matcher or self._matcher
        tags = answers.registry.tags

        def match_many(messages: Sequence[str], context: _Context) -> list[MatchResult]:
            return answers.match_many(messages, context=tags if context is None else context)

        def match(message: str, context: _Context) -> MatchResult:
            return answers.match(message, context=tags if context is None else context)

        outcomes = self._run_batches(cases, match_many, match, self._contexts(cases))
        return outcomes + self._run_batches(untimed, match_many, None, self._contexts(untimed))

    def _contexts(self, cases: Sequence[Case] | Sequence[str]) -> list[_Context]:
        """Return the active tags of each case; None without shared lines."""
        return [self._shared.context_of(case) if self._shared else None for case in cases]

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
        match_many: Callable[[Sequence[str], _Context], list[MatchResult]],
        match: Callable[[str, _Context], MatchResult] | None,
        contexts: Sequence[_Context],
    ) -> list[Outcome]:
        """Run cases in batches, each in its context; with `match`, time a sample of them one by one."""
        outcomes: list[Outcome] = []
        for start in range(0, len(cases), EVALUATION_MESSAGES):
            batch = cases[start : start + EVALUATION_MESSAGES]
            with self._inside_step("answering"), self._pace.answering(len(batch)):
                outcomes += self._answered(batch, match_many, contexts[start : start + len(batch)])
                if match is not None:
                    self._time(batch, match, contexts[start : start + len(batch)])
            self._done += len(batch)
            if self._progress is not None:
                self._progress(self._step, self._done, self._total)
            steps.report(self._step, self._done, self._total, self._pace.seconds_left())
        return outcomes

    def _answered(
        self,
        batch: Sequence[Case],
        match_many: Callable[[Sequence[str], _Context], list[MatchResult]],
        contexts: Sequence[_Context],
    ) -> list[Outcome]:
        """Return the outcomes of a batch; cases of one context are matched together."""
        places: dict[_Context, list[int]] = {}
        # A call of the matcher has one context for all of its messages.
        for place, context in enumerate(contexts):
            places.setdefault(context, []).append(place)
        found: dict[int, Outcome] = {}
        for context, some in places.items():
            results = match_many([batch[place].text for place in some], context)
            for place, result in zip(some, results, strict=True):
                found[place] = Outcome.from_result(batch[place], result)
        return [found[place] for place in range(len(batch))]

    def _inside_step(self, detail: str = "") -> AbstractContextManager[None]:
        """Return a context in which steps of a build are reported as details of this runner's step."""
        return steps.inside(self._step, self._done, self._total, self._pace.seconds_left(), detail)

    def _time(
        self, cases: Sequence[Case], match: Callable[[str, _Context], MatchResult], contexts: Sequence[_Context]
    ) -> None:
        """Time a sample of the cases, spread evenly over the whole run."""
        stride = max(1, self._total // _TIMED)
        # Counted over the whole run, since a batch may be smaller than the stride.
        sample = slice(-self._done % stride, None, stride)
        for case, context in zip(cases[sample], contexts[sample], strict=True):
            start = perf_counter()
            match(case.text, context)
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


def vectors_of(matcher: BaseMatcher) -> dict[str, NDArray[np.float32]]:
    """Return the vectors of all texts of a matcher's registry, keyed by cleaned text."""
    artefact = matcher.artefact
    return dict(zip(texts_of(artefact.registry), artefact.all_vectors, strict=True))
