"""Measure what a reranker gains, how often it would be asked, and what that costs."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from numpy.typing import NDArray

from intentmatch.core.errors import BudgetUsedUpError, UnavailableError
from intentmatch.core.types import Case, Reranker
from intentmatch.evaluation.folds import Folds
from intentmatch.evaluation.metrics import share_asked
from intentmatch.evaluation.reports.report import PartName, Report, ReportPart
from intentmatch.evaluation.run import evaluate
from intentmatch.evaluation.runner import StepProgress
from intentmatch.matching.opinions.judging import IntentOption, Judge, Opinion
from intentmatch.matching.pipeline import Engine
from intentmatch.matching.snapshot import BaseMatcher, Snapshot


class RerankerEffect(NamedTuple):
    """What a reranker changes in one part. Shares of cases are in [0, 1], and None if there are no such cases."""

    part: PartName
    without: float | None
    """Overall accuracy without the reranker."""
    with_it: float | None
    """Overall accuracy with it."""
    asked: float | None
    """Share of all cases that the reranker was asked about, weighed as the overall accuracy."""
    asked_in_scope: float | None
    asked_out_of_scope: float | None


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """What a reranker changes in an evaluation."""

    name: str
    gains: tuple[RerankerEffect, ...]
    calls: int
    """How often the reranker was asked."""
    unanswered: int
    """Calls without an answer, for which the verdict stood: faults, time limits and budgets."""
    reason: str | None
    """Why the first of these calls had no answer."""
    used_up: bool
    """Whether a budget of requests was used up."""
    seconds: float
    """Mean time of a call."""
    requests: int | None
    """Requests that reached a server; None for a reranker on this machine."""
    tokens: int
    """Tokens that the server counted, both ways; 0 if it counts none."""


def measure_reranker(
    matcher: BaseMatcher,
    reranker: Reranker,
    before: Report,
    *,
    tests: Sequence[Case] | None = None,
    folds: Folds = 5,
    seed: int = 0,
    progress: StepProgress | None = None,
) -> SecondOpinion:
    """Evaluate a registry with `reranker` and compare with `before`, the report of the same evaluation of `matcher`.

    Raises what `evaluate` raises.
    """
    # The engine asks a judge in another way, and tells it by its methods.
    counted = _CountedJudge(reranker) if isinstance(reranker, Judge) else _Counted(reranker)
    second = Snapshot(Engine(matcher.artefact, matcher.encoder, counted))
    # Without robustness, which would multiply the calls to a server that may cost money.
    after = evaluate(second, tests=tests, folds=folds, seed=seed, robustness=False, progress=progress)
    accuracy = {part.name: part.numbers.overall for part in before.parts}
    usage = getattr(reranker, "usage", None)
    return SecondOpinion(
        name=reranker.name,
        gains=tuple(_gain(part, accuracy[part.name]) for part in after.parts if part.name in accuracy),
        calls=counted.calls,
        unanswered=counted.unanswered,
        reason=counted.reason,
        used_up=counted.used_up,
        seconds=counted.seconds / max(1, counted.calls),
        requests=usage.requests if usage else None,
        tokens=usage.tokens if usage else 0,
    )


def _gain(part: ReportPart, without: float | None) -> RerankerEffect:
    """Return the gain of a part that was evaluated with the reranker."""
    return RerankerEffect(
        part=part.name,
        without=without,
        with_it=part.numbers.overall,
        asked=share_asked(part.outcomes, part.out_of_scope_share),
        asked_in_scope=share_asked([o for o in part.outcomes if o.in_scope]),
        asked_out_of_scope=share_asked([o for o in part.outcomes if not o.in_scope]),
    )


class _Counted:
    """A reranker whose calls are counted and timed."""

    def __init__(self, inner: Reranker) -> None:
        self.name, self._inner = inner.name, inner
        self.remote = getattr(inner, "remote", False)
        self.used_up = False
        self.calls = self.unanswered = 0
        self.seconds = 0.0
        self.reason: str | None = None
        self._lock = threading.Lock()

    def score(self, message: str, utterances: Sequence[str]) -> NDArray[Any]:
        """Return the scores of the reranker."""
        scores: NDArray[Any] = self._timed(message, self._inner.score, utterances)
        return scores

    def _timed(self, message: str, call: Any, argument: Any) -> Any:
        began = perf_counter()
        failure: UnavailableError | None = None
        try:
            return call(message, argument)
        except UnavailableError as error:
            failure = error
            raise
        # Also for calls that fail, which take time too.
        finally:
            with self._lock:
                self.calls += 1
                if failure is not None:
                    self.unanswered += 1
                    self.reason = self.reason or str(failure)
                    self.used_up = self.used_up or isinstance(failure, BudgetUsedUpError)
                self.seconds += perf_counter() - began


class _CountedJudge(_Counted):
    """A judge whose calls are counted and timed."""

    def judge(self, message: str, options: Sequence[IntentOption]) -> Opinion:
        """Return the opinion of the judge."""
        opinion: Opinion = self._timed(message, self._inner.judge, options)  # type: ignore[attr-defined]
        return opinion
