"""Which encoder, scorer and aggregation serve a registry best, by its own held-out utterances.

What decides is the share of all messages that are rightly answered or rightly refused at the registry's target. The
target itself is not chosen: it says what the author wants.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.settings import AGGREGATIONS, SCORERS, Settings
from intentmatch.core.types import Encoder, Registry, Vectors
from intentmatch.encoders.encode import encode_all
from intentmatch.evaluation.metrics import auroc
from intentmatch.evaluation.runner import Tell
from intentmatch.learning.calibration import Calibration, calibrate, shares_of
from intentmatch.learning.cross_validation import HeldOut
from intentmatch.learning.training import cross_validate_registry
from intentmatch.storage.vector_cache import VectorCache
from intentmatch.text.normalize import clean

TARGETS: tuple[Mapping[str, Any], ...] = (
    {"precision": 0.9},
    {"precision": 0.95},
    {"precision": 0.98},
    {"balance": True},
    {"false_accept": 0.05},
)
"""What an author may want, to be shown beside what it costs."""

# A gain smaller than this many standard errors is no reason for the slower or the less simple.
_ERRORS = 1.0
_TIMED = 25


class Choice(NamedTuple):
    """The settings that are tried."""

    encoder: str
    scorer: str
    aggregation: str


class TargetRow(NamedTuple):
    """What a target gives under the chosen settings; None where the registry is too small to tell."""

    target: Mapping[str, Any]
    current: bool
    threshold: float | None
    precision: float | None
    coverage: float | None
    refused: float | None
    note: str


@dataclass(frozen=True)
class Trial:
    """One choice and what came of it."""

    choice: Choice
    accuracy: float
    """Of the messages in scope: the right intent leads."""
    auroc: float | None
    """Chance that a message in scope has more evidence than one out of scope."""
    overall: float
    """Expected share of all messages that are rightly answered or refused at the target; without enough utterances to
    learn a threshold from, the accuracy."""
    microseconds: float
    """The encoder's, for one message."""
    calibrated: bool
    """Whether the registry is large enough to learn a threshold from."""
    worth: Mapping[tuple[bool, int], tuple[float, float]]
    """For each case (in scope or not, utterance): whether it came out right, and how much it counts."""


class Gain(NamedTuple):
    """How much better one trial is than another, and the standard error of that."""

    points: float
    error: float

    def __str__(self) -> str:
        # Rounded first: no -0.0.
        return f"{round(self.points, 1) + 0.0:+.1f} ± {self.error:.1f}"

    @property
    def certain(self) -> bool:
        """Whether it is more than chance might bring."""
        return self.points > _ERRORS * self.error


@dataclass(frozen=True)
class Tuning:
    """All trials, the best first, and the one to take."""

    trials: tuple[Trial, ...]
    chosen: Trial
    current: Choice
    targets: tuple[TargetRow, ...]

    @property
    def best(self) -> Trial:
        """The trial with the highest number, which another may equal for all that can be told."""
        return self.trials[0]

    def worth(self, name: str) -> str:
        """What the choice of one setting is worth, in words: against the best that differs in it alone."""
        mine = self.chosen.choice
        others = [
            trial
            for trial in self.trials
            if trial.choice != mine
            and all(getattr(trial.choice, f) == getattr(mine, f) for f in mine._fields if f != name)
        ]
        if not others:
            return "the only one tried"
        gain = compared(self.chosen, others[0])
        said = f"{gain} points against {getattr(others[0].choice, name)}"
        if abs(gain.points) > _ERRORS * gain.error:
            return said
        return f"{said}: no difference to be told{_cheaper(name, self.chosen, others[0], self.current)}"


def tune(
    registry: Registry,
    settings: Settings,
    encoders: Mapping[str, Encoder],
    *,
    cache: VectorCache | None = None,
    tell: Tell | None = None,
) -> Tuning:
    """Try every choice. `encoders` are by the names that the setting would have; each encodes everything once."""
    current = Choice(settings.encoder, settings.scorer, settings.aggregation)
    texts = [clean(utterance.text) for utterance in registry.utterances]
    labels = [clean(intent.label) for intent in registry]
    trials: list[Trial] = []
    kept: dict[Choice, HeldOut] = {}
    total = len(encoders) * len(SCORERS) * len(AGGREGATIONS)
    for name, encoder in encoders.items():
        encoded = encode_all(encoder, [*texts, *labels], "utterance", cache)
        vectors, of_labels = encoded[: len(texts)], encoded[len(texts) :]
        microseconds = _microseconds(encoder, texts)
        for choice in (Choice(name, s, a) for s in SCORERS for a in AGGREGATIONS):
            if tell is not None:
                tell("trying settings", len(trials), total)
            kept[choice] = _tested(registry, vectors, of_labels, settings, choice)
            trials.append(_trial(choice, kept[choice], settings.target, microseconds))
    trials.sort(key=lambda trial: (-trial.overall, trial.choice))
    chosen = choose(trials, current)
    targets = _target_rows(kept[chosen.choice], settings.target)
    return Tuning(tuple(trials), chosen, current, tuple(targets))


def choose(trials: Sequence[Trial], current: Choice) -> Trial:
    """Of those that cannot be told from the best: the fastest encoder, the simplest scorer, what is in use already.

    A registry that is too small to learn a threshold from has too little to say: what is in use stays.
    """
    best = trials[0]
    if not best.calibrated:
        return next((trial for trial in trials if trial.choice == current), best)
    equal = [trial for trial in trials if not compared(best, trial).certain]
    return min(
        equal,
        key=lambda t: (
            t.microseconds,
            t.choice.scorer != "cosine",
            t.choice.aggregation != current.aggregation,
            -t.overall,
        ),
    )


def compared(one: Trial, other: Trial) -> Gain:
    """In points, case by case where both were asked the same."""
    if one is other:
        return Gain(0.0, 0.0)
    shared = [key for key in one.worth if key in other.worth]
    gains = np.array([one.worth[key][0] - other.worth[key][0] for key in shared])
    weights = np.array([one.worth[key][1] for key in shared])
    total = float(weights.sum())
    if total <= 0.0:
        return Gain(100 * (one.overall - other.overall), 0.0)
    mean = float((weights * gains).sum()) / total
    # As if there were no difference: a single case that came out otherwise is then no more than its own error.
    error = math.sqrt(float(((weights * gains) ** 2).sum())) / total
    return Gain(100 * mean, 100 * error)


def _tested(registry: Registry, vectors: Vectors, labels: Vectors, settings: Settings, choice: Choice) -> HeldOut:
    chosen = replace(settings, scorer=choice.scorer, aggregation=choice.aggregation)
    return cross_validate_registry(registry, vectors, labels, chosen).held_out


def _trial(choice: Choice, held_out: HeldOut, target: Mapping[str, Any], microseconds: float) -> Trial:
    known = held_out.known
    calibration = calibrate(held_out, target)
    good, weights = _good(held_out, calibration)
    keys = zip(known.tolist(), held_out.rows.tolist(), strict=True)
    worth = dict(zip(keys, zip(good.tolist(), weights.tolist(), strict=True), strict=True))
    total = float(weights.sum())
    return Trial(
        choice=choice,
        accuracy=float(held_out.right[known].mean()) if known.any() else 0.0,
        auroc=auroc(known.tolist(), held_out.evidence.tolist()),
        overall=float((good * weights).sum()) / total if total else 0.0,
        microseconds=microseconds,
        calibrated=calibration.cut is not None,
        worth=worth,
    )


def _good(held_out: HeldOut, calibration: Calibration) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Whether each case comes out right at the common threshold, and how much it counts."""
    known, confidences = held_out.known, calibration.confidences(held_out.evidence)
    if confidences is None or calibration.cut is None:
        return held_out.right.astype(np.float64), known.astype(np.float64)
    given = confidences >= calibration.cut.value
    return np.where(known, held_out.right & given, ~given).astype(np.float64), shares_of(held_out)


def _target_rows(held_out: HeldOut, current: Mapping[str, Any]) -> Iterator[TargetRow]:
    """Cuts for each target, from cases that are there already: nothing is fitted again but the threshold."""
    for target in (*TARGETS, *([] if current in TARGETS else [current])):
        cut = calibrate(held_out, target).cut
        if cut is None:
            yield TargetRow(target, target == current, None, None, None, None, "too few utterances to learn from")
        else:
            numbers = cut.value, cut.precision, cut.coverage, cut.refused
            yield TargetRow(target, target == current, *numbers, cut.note)


def _cheaper(name: str, chosen: Trial, other: Trial, current: Choice) -> str:
    """Why it was preferred to its equal."""
    if not chosen.calibrated:
        return ""
    if name == "encoder":
        times = other.microseconds / max(chosen.microseconds, 1e-9)
        return f", and {times:.1f} times as fast" if times >= 1.1 else ""
    if name == "scorer" and chosen.choice.scorer == "cosine":
        return ", and simpler"
    return ", and in use already" if getattr(chosen.choice, name) == getattr(current, name) else ""


def _microseconds(encoder: Encoder, texts: Sequence[str]) -> float:
    """Of encoding one message, the median of a few."""
    some = texts[:: max(1, len(texts) // _TIMED)][:_TIMED]
    encoder.encode(some[:1], kind="query")
    taken = []
    for text in some:
        start = perf_counter()
        encoder.encode([text], kind="query")
        taken.append((perf_counter() - start) * 1e6)
    return float(np.median(taken)) if taken else 0.0
