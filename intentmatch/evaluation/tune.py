"""Choose the encoder, scorer and aggregation for a registry by cross-validation on its own utterances.

The criterion is the share of messages that are correctly answered or correctly refused at the registry's target. Few
messages are expected to be out of scope, so that this share hardly shows how well they are told apart. Choices that are
equal by it are therefore compared by their refusals, too. The target itself is not tuned, because it states what the
author wants.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.setting_values import AGGREGATIONS, SCORERS
from intentmatch.core.settings import Settings
from intentmatch.core.types import Encoder, Registry
from intentmatch.encoders.encode import encode_all
from intentmatch.evaluation.metrics import auroc
from intentmatch.evaluation.runner import StepProgress
from intentmatch.learning.calibration import RIVALS, Calibration, asked_about, calibrate, shares_of
from intentmatch.learning.cross_validation import HeldOut
from intentmatch.learning.labelled_share import labelled_share, share_in_use
from intentmatch.learning.training import TrainingData, background_for, cross_validate_registry
from intentmatch.runtime import steps
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import clean

TARGETS: tuple[Mapping[str, Any], ...] = (
    {"precision": 0.9},
    {"precision": 0.95},
    {"precision": 0.98},
    {"balance": True},
    {"false_accept": 0.05},
)
"""Targets to compare in the report."""

# A gain below this many standard errors does not justify a slower or more complex choice.
_ERRORS = 1.0
_TIMED_TEXTS = 25
# Refusals are compared at the threshold that so many of the messages in scope pass.
_COVERAGE = 0.9


_Key = TypeVar("_Key")


class Combination(NamedTuple):
    """One combination of settings to try."""

    encoder: str
    scorer: str
    aggregation: str


class TargetRow(NamedTuple):
    """Expected results of a target with the chosen settings; None if the registry is too small to calibrate."""

    target: Mapping[str, Any]
    current: bool
    threshold: float | None
    precision: float | None
    coverage: float | None
    refused: float | None
    note: str


@dataclass(frozen=True)
class Trial:
    """Cross-validation results of one choice."""

    choice: Combination
    accuracy: float
    """Share of in-scope messages whose first candidate is correct."""
    auroc: float | None
    """Probability that an in-scope message has more evidence than an out-of-scope message."""
    overall: float
    """Expected share of messages that are correctly answered or refused at the target; the accuracy if the registry is
    too small to calibrate."""
    microseconds: float
    """Median time to encode one message."""
    calibrated: bool
    """Whether the registry is large enough to calibrate a threshold."""
    results: Mapping[tuple[bool, int], tuple[float, float]]
    """(in scope, utterance row) to (1 if correct else 0, weight)."""
    refusals: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    """Utterance row of each left-out intent to (1 if refused else 0, 1), at the threshold that nine of ten messages in
    scope pass."""


class Gain(NamedTuple):
    """Difference between two trials in percentage points, with its standard error."""

    points: float
    error: float

    def __str__(self) -> str:
        # Rounded first: no -0.0.
        return f"{round(self.points, 1) + 0.0:+.1f} ± {self.error:.1f}"

    @property
    def certain(self) -> bool:
        """Whether the gain exceeds its standard error."""
        return self.points > _ERRORS * self.error


@dataclass(frozen=True)
class Tuning:
    """All trials, best first, and the recommended one."""

    trials: tuple[Trial, ...]
    chosen: Trial
    current: Combination
    targets: tuple[TargetRow, ...]
    out_of_scope_share: float
    """Share of all messages that `overall` and the targets expect to be out of scope."""

    @property
    def best(self) -> Trial:
        """The trial with the highest `overall`; its lead over others may be within the standard error."""
        return self.trials[0]

    def gain_of(self, name: str) -> str:
        """Describe the gain from the chosen value of a setting over the best trial that differs in it alone."""
        chosen = self.chosen.choice
        others = [
            trial
            for trial in self.trials
            if trial.choice != chosen
            and all(getattr(trial.choice, f) == getattr(chosen, f) for f in chosen._fields if f != name)
        ]
        if not others:
            return "the only value tried"
        gain, refused = compared(self.chosen, others[0]), refusals_compared(self.chosen, others[0])
        text = f"{gain} points against {getattr(others[0].choice, name)}"
        if abs(gain.points) > _ERRORS * gain.error:
            return text
        if refused.certain:
            return f"{text}, and {refused} points of the out-of-scope messages that are refused"
        return f"{text}: no significant difference{_advantage(name, self.chosen, others[0], self.current)}"


def tune(
    registry: Registry,
    settings: Settings,
    encoders: Mapping[str, Encoder],
    *,
    cache: VectorCache | None = None,
    progress: StepProgress | None = None,
) -> Tuning:
    """Cross-validate every combination of encoder, scorer and aggregation, and choose one.

    `encoders` maps the value of the setting `encoder` to the loaded encoder. Each one encodes the registry once.
    """
    current = Combination(settings.encoder, settings.scorer, settings.aggregation)
    share = share_in_use(settings, labelled_share(registry.tests))
    texts = [clean(utterance.text) for utterance in registry.utterances]
    labels = [clean(intent.label) for intent in registry]
    trials: list[Trial] = []
    results: dict[Combination, HeldOut] = {}
    total = len(encoders) * len(SCORERS) * len(AGGREGATIONS)
    with_head = replace(settings, scorer="head")
    for name, encoder in encoders.items():
        encoded = encode_all(encoder, [*texts, *labels], "utterance", cache)
        vectors, label_vectors = encoded[: len(texts)], encoded[len(texts) :]
        background = background_for(registry, with_head, encoder, cache)
        microseconds = microseconds_a_message(encoder, texts)
        for choice in (Combination(name, s, a) for s in SCORERS for a in AGGREGATIONS):
            if progress is not None:
                progress("trying settings", len(trials), total)
            with steps.inside("trying settings", len(trials), total):
                tried = replace(settings, scorer=choice.scorer, aggregation=choice.aggregation)
                data = TrainingData(registry, vectors, label_vectors, tried, name, background)
                results[choice] = cross_validate_registry(data).held_out
                trials.append(trial_of(choice, results[choice], settings.target, share, microseconds))
    trials.sort(key=lambda trial: (-trial.overall, trial.choice))
    chosen = choose(trials, current)
    targets = _target_rows(results[chosen.choice], settings.target, share)
    return Tuning(tuple(trials), chosen, current, tuple(targets), share)


def choose(trials: Sequence[Trial], current: Combination) -> Trial:
    """Choose, among the trials that no other one beats, by speed, simplicity and current use.

    A trial is beaten by one with a higher `overall`, or by one that is as good and refuses more out-of-scope messages,
    each by more than a standard error. The current choice stays if the registry is too small to calibrate a threshold.
    """
    best = trials[0]
    # Without a threshold the trials compare only first candidates, of too few utterances to justify a change.
    if not best.calibrated:
        return next((trial for trial in trials if trial.choice == current), best)
    equal = [trial for trial in trials if not any(_beats(other, trial) for other in trials)]
    return min(
        equal or [best],
        key=lambda t: (
            t.microseconds,
            t.choice.scorer != "cosine",
            t.choice.aggregation != current.aggregation,
            -t.overall,
        ),
    )


def compared(one: Trial, other: Trial) -> Gain:
    """Compute the gain of one trial over another in `overall`, in percentage points, over the cases they share."""
    if one is other:
        return Gain(0.0, 0.0)
    return _paired(one.results, other.results) or Gain(100 * (one.overall - other.overall), 0.0)


def refusals_compared(one: Trial, other: Trial) -> Gain:
    """Compute how many more out-of-scope messages one trial refuses than another, in percentage points of these."""
    return _paired(one.refusals, other.refusals) or Gain(0.0, 0.0)


def _beats(one: Trial, other: Trial) -> bool:
    if compared(one, other).certain:
        return True
    return not compared(other, one).certain and refusals_compared(one, other).certain


def _paired(one: Mapping[_Key, tuple[float, float]], other: Mapping[_Key, tuple[float, float]]) -> Gain | None:
    """Return the weighted mean difference over the shared keys, in percentage points; None without any."""
    shared = [key for key in one if key in other]
    gains = np.array([one[key][0] - other[key][0] for key in shared])
    weights = np.array([one[key][1] for key in shared])
    total = float(weights.sum())
    if total <= 0.0:
        return None
    mean = float((weights * gains).sum()) / total
    # Standard error under the hypothesis of no difference, so that one changed case is never significant.
    error = math.sqrt(float(((weights * gains) ** 2).sum())) / total
    return Gain(100 * mean, 100 * error)


def trial_of(
    choice: Combination, held_out: HeldOut, target: Mapping[str, Any], share: float, microseconds: float
) -> Trial:
    """Return the results of a choice from its held-out cases; `share` of the messages are out of scope."""
    known = held_out.known
    calibration = calibrate(held_out, target, out_of_scope_share=share)
    correct, weights = _correct(held_out, calibration, share)
    keys = zip(known.tolist(), held_out.rows.tolist(), strict=True)
    results = dict(zip(keys, zip(correct.tolist(), weights.tolist(), strict=True), strict=True))
    total = float(weights.sum())
    return Trial(
        choice=choice,
        accuracy=float(held_out.right[known].mean()) if known.any() else 0.0,
        auroc=auroc(known.tolist(), held_out.evidence.tolist()),
        overall=float((correct * weights).sum()) / total if total else 0.0,
        microseconds=microseconds,
        calibrated=calibration.cut is not None,
        results=results,
        refusals=_refusals(held_out),
    )


def _refusals(held_out: HeldOut) -> dict[int, tuple[float, float]]:
    """Return whether each utterance of a left-out intent is refused if nine of ten messages in scope are not."""
    known, evidence = held_out.known, held_out.evidence
    if not known.any():
        return {}
    # At one coverage for all, since choices differ in the thresholds that they learn.
    refused = evidence[~known] < np.quantile(evidence[known], 1.0 - _COVERAGE)
    return {row: (float(of), 1.0) for row, of in zip(held_out.rows[~known].tolist(), refused.tolist(), strict=True)}


def _correct(
    held_out: HeldOut, calibration: Calibration, out_of_scope_share: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return whether each case is correct at the default threshold, and its weight; shape `(cases,)` each.

    A question that offers the right intent is correct.
    """
    known, confidences = held_out.known, calibration.confidences_many(held_out.ranked)
    if confidences is None or calibration.cut is None:
        return held_out.right.astype(np.float64), known.astype(np.float64)
    # The confidences of all intents add up to the in-scope probability.
    passes = confidences.sum(axis=1) >= calibration.cut.value
    helped = np.where(asked_about(confidences), held_out.place < RIVALS, held_out.right)
    return np.where(known, helped & passes, ~passes).astype(np.float64), shares_of(held_out, out_of_scope_share)


def _target_rows(held_out: HeldOut, current: Mapping[str, Any], share: float) -> Iterator[TargetRow]:
    """Yield a row for each target; only the threshold is fitted again."""
    for target in (*TARGETS, *([] if current in TARGETS else [current])):
        cut = calibrate(held_out, target, out_of_scope_share=share).cut
        if cut is None:
            yield TargetRow(target, target == current, None, None, None, None, "too few utterances to calibrate")
        else:
            numbers = cut.value, cut.precision, cut.coverage, cut.refused
            yield TargetRow(target, target == current, *numbers, cut.note)


def _advantage(name: str, chosen: Trial, other: Trial, current: Combination) -> str:
    """Say why the chosen trial was preferred to one that is as good."""
    if not chosen.calibrated:
        return ""
    if name == "encoder":
        times = other.microseconds / max(chosen.microseconds, 1e-9)
        return f", and {times:.1f} times as fast" if times >= 1.1 else ""
    if name == "scorer" and chosen.choice.scorer == "cosine":
        return ", and simpler"
    return ", and already in use" if getattr(chosen.choice, name) == getattr(current, name) else ""


def microseconds_a_message(encoder: Encoder, texts: Sequence[str]) -> float:
    """Return the median time to encode one message."""
    sample = texts[:: max(1, len(texts) // _TIMED_TEXTS)][:_TIMED_TEXTS]
    # The first call loads what later ones find loaded.
    encoder.encode(sample[:1], kind="query")
    times = []
    for text in sample:
        start = perf_counter()
        encoder.encode([text], kind="query")
        times.append((perf_counter() - start) * 1e6)
    return float(np.median(times)) if times else 0.0
